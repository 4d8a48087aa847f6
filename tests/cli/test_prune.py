"""`python -m core prune` and `status --verify`: what arrays take, and what is wrong with them."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store, stored_axis_table
from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.folder import FILL_READER, one_at_a_time
from core.jobs.own_axis import OWN_AXES
from core.jobs.running import running_job
from core.jobs.spec import JobSpec
from core.store.axes import add_axis, get_axes
from core.store.gate import Cache
from core.store.prune import files_of, forget
from core.store.tensors import TENSORS, write_tensors
from tests.conftest import Run
from tests.planted_cache import AXES, CONCEPTS, FAMILY, REFERENCE, fill_planted, made_axes
from tests.planted_heads import planted_heads


@pytest.fixture
def reader_id(cache: Cache) -> str:
    return fill_planted(cache, planted_heads(n_axes=7)).reader_id


def test_without_options_it_only_counts(run: Run, cache: Cache, reader_id: str) -> None:
    code, out, _ = run("prune", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["forgotten"], found["deleted"]) == ({}, [])
    assert [(row["family"], row["n_axes"]) for row in found["held"]] == [("", 0), (FAMILY, 7)]
    said = run("prune")[1]
    assert "planted" in said
    heads = next(line for line in said.splitlines() if "Reader" in line)
    assert heads.split() == [
        "Reader",
        "Model",
        "Family",
        "Poles",
        "Axes",
        "Concepts",
        "Files",
        "Size",
    ]


def test_a_family_and_then_all_of_a_reader(run: Run, cache: Cache, reader_id: str) -> None:
    code, out, _ = run("prune", "--reader", reader_id, "--family", FAMILY)
    assert (code, f"Forgotten: {reader_id}/axes.safetensors" in " ".join(out.split())) == (0, True)
    assert len(files_of(cache, reader_id)) == 2
    assert run("prune", "--reader", reader_id)[0] == 0
    assert files_of(cache, reader_id) == []
    assert "No model's heads were read yet" in run("prune", "--reader", reader_id)[2]
    assert "The cache holds no arrays." in run("prune")[1]


def test_damage_is_found_and_forgotten(run: Run, cache: Cache, reader_id: str) -> None:
    code, out, _ = run("status", "--verify")
    assert (code, "every array is consistent" in out) == (0, True)
    (cache.folder / TENSORS / reader_id / "axes.safetensors").unlink()
    code, out, _ = run("status", "--verify")
    said = " ".join(out.split())
    assert code == 3
    assert f"{reader_id}/axes.safetensors is missing." in said
    assert "prune --broken" in said
    assert json.loads(run("status", "--verify", "--json")[1])["broken_arrays"] == {
        f"{reader_id}/axes.safetensors": "is missing"
    }
    assert run("prune", "--broken")[0] == 0
    assert run("status", "--verify")[0] == 0


def test_files_of_a_killed_job_are_deleted(run: Run, cache: Cache, reader_id: str) -> None:
    write_tensors(cache, f"{reader_id}/left.safetensors", {"a": np.zeros(3)})
    code, out, _ = run("prune", "--unclaimed")
    assert (code, "left.safetensors" in out) == (0, True)
    assert not (cache.folder / TENSORS / reader_id / "left.safetensors").exists()
    assert len(files_of(cache, reader_id)) == 3


def test_a_result_goes_with_the_heads_that_it_rests_on(
    run: Run, cache: Cache, reader_id: str
) -> None:
    question = HeadsQuestion(
        reader_id=reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=3
    )
    compute_and_store(cache, question)
    assert run("status", "--verify")[0] == 0
    assert run("prune", "--reader", reader_id, "--family", FAMILY)[0] == 0
    assert stored_axis_table(cache, question) is None
    assert run("status", "--verify")[0] == 0


def test_what_cannot_be_pruned(run: Run, cache: Cache, reader_id: str) -> None:
    assert "No reader is called 'nobody'" in run("prune", "--reader", "nobody")[2]
    assert "--family belongs to" in run("prune", "--family", FAMILY)[2]
    spec = JobSpec(command="axes", request=HeadsRequest(model="demo", axes="demo"))
    with running_job(cache, spec) as job:
        code, _, err = run("prune", "--unclaimed")
    assert (code, f"Run {job.run_id} reads heads; wait" in err) == (2, True)
    assert len(files_of(cache, reader_id)) == 3


@pytest.mark.parametrize("words", [["--reader=planted"], ["--broken"], ["--unclaimed"]])
def test_nothing_goes_while_a_job_reads_the_same_heads(
    run: Run, cache: Cache, reader_id: str, words: list[str]
) -> None:
    (cache.folder / TENSORS / reader_id / "axes.safetensors").write_bytes(b"half of it")
    write_tensors(cache, f"{reader_id}/left.safetensors", {"a": np.zeros(3)})
    with one_at_a_time(cache, FILL_READER, reader_id, "20261129-204512-3f9a"):
        code, _, err = run("prune", *words)
    assert (code, "Run 20261129-204512-3f9a is" in err) == (2, True)
    assert len(files_of(cache, reader_id)) == 3
    assert (cache.folder / TENSORS / reader_id / "left.safetensors").exists()
    assert run("prune", *words)[0] == 0


def test_no_job_begins_to_read_heads_that_are_being_forgotten(
    run: Run, cache: Cache, reader_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []

    def forget_while_a_job_begins(cache: Cache, paths: list[str]) -> None:
        with pytest.raises(InputError), one_at_a_time(cache, FILL_READER, reader_id, "a"):
            pass
        refused.append(list(paths))
        forget(cache, paths)

    monkeypatch.setattr("core.cli.prune.forget", forget_while_a_job_begins)
    assert run("prune", "--reader", "planted")[0] == 0
    assert [len(paths) for paths in refused] == [3]
    with one_at_a_time(cache, FILL_READER, reader_id, "a"):
        assert files_of(cache, reader_id) == []


def test_files_of_a_job_that_begins_meanwhile_are_left_alone(
    run: Run, cache: Cache, reader_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.cli.prune._check_idle", partial(_write_for, "other"))
    write_tensors(cache, f"{reader_id}/left.safetensors", {"a": np.zeros(3)})
    code, out, _ = run("prune", "--unclaimed")
    assert (code, "left.safetensors" in out, "other" in out) == (0, True, False)
    assert (cache.folder / TENSORS / "other" / "new.safetensors").exists()


def _write_for(reader_id: str, cache: Cache) -> None:
    write_tensors(cache, f"{reader_id}/new.safetensors", {"a": np.zeros(3)})


def test_an_own_axis_is_taken_out(run: Run, cache: Cache) -> None:
    fill_planted(cache, planted_heads())
    for axis in made_axes(2):
        add_axis(cache, OWN_AXES, axis)
    code, _, err = run("prune", "--own-axis", "word0")
    assert (code, "word0.a.01~word1.a.01 is out of own-words." in err) == (0, True)
    assert get_axes(cache, OWN_AXES) == made_axes(2)[1:]
    code, _, err = run("prune", "--own-axis", "word0")
    assert code == 2
    assert "name one of: word2.a.01~word3.a.01." in " ".join(err.split())
