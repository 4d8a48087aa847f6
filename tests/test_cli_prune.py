"""`python -m core prune` and `status --verify`: what arrays take, and what is wrong with them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store, stored_axis_table
from core.heads_request import HeadsRequest
from core.jobs.running import running_job
from core.jobs.spec import JobSpec
from core.store.gate import Cache
from core.store.prune import files_of
from core.store.tensors import TENSORS, write_tensors
from tests.conftest import Run
from tests.planted_cache import AXES, CONCEPTS, FAMILY, REFERENCE, fill_planted
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
    assert "planted" in run("prune")[1]


def test_a_family_and_then_all_of_a_reader(run: Run, cache: Cache, reader_id: str) -> None:
    code, out, _ = run("prune", "--reader", reader_id, "--family", FAMILY)
    assert (code, f"Forgotten: {reader_id}/axes.safetensors" in " ".join(out.split())) == (0, True)
    assert len(files_of(cache, reader_id)) == 2
    assert run("prune", "--reader", reader_id)[0] == 0
    assert files_of(cache, reader_id) == []
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
    assert "no heads read as nobody" in run("prune", "--reader", "nobody")[2]
    assert "--family belongs to" in run("prune", "--family", FAMILY)[2]
    spec = JobSpec(command="axes", request=HeadsRequest(model="demo", axes="demo"))
    with running_job(cache, spec) as job:
        code, _, err = run("prune", "--unclaimed")
    assert (code, f"Run {job.run_id} reads heads; wait" in err) == (2, True)
    assert len(files_of(cache, reader_id)) == 3
