"""`python -m core axes`: sets by name, an estimate first, what is missing, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.analysis.heads.stored import compute_axes, stored_axis_table, usual_questions
from core.cli.terminal import SHOWN_PROBLEMS
from core.errors import InputError
from core.heads.pool import Unpooled
from core.heads_request import HeadsRequest
from core.jobs import head_units, heads
from core.jobs.folder import FILL_READER, one_at_a_time
from core.jobs.follow import follow
from core.jobs.spec import JobSpec, spec_from_json, spec_to_json
from core.store.axes import get_axes, get_concepts, set_names
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.heads import array_bytes
from core.store.tensors import TENSORS
from core.types import Reason
from tests.conftest import Run
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

pytestmark = pytest.mark.usefixtures("one_thread")

OWN = "negative,positive,negative_definition,positive_definition\ncold,warm,no heat,some heat\n"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder, "llama", byte_level_bpe(add_bos=True), max_position_embeddings=256)
    return folder


@pytest.fixture
def asked(tmp_path: Path, model_folder: Path) -> list[str]:
    (tmp_path / "own.csv").write_text(OWN)
    (tmp_path / "jobs.csv").write_text("text\nbakers\nmillers\nsmiths\n")
    (tmp_path / "things.csv").write_text("text\nstones\nrivers\n")
    return [
        *("axes", f"--model={model_folder}", f"--axes={tmp_path / 'own.csv'}"),
        *(f"--concepts={tmp_path / 'jobs.csv'}", f"--reference={tmp_path / 'things.csv'}"),
    ]


def test_the_estimate_is_what_the_job_then_takes(run: Run, cache: Cache, asked: list[str]) -> None:
    code, out, err = run(*asked, "--dry-run", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["missing_axes"], found["missing_concepts"], found["sentences"]) == (1, 5, 65)
    assert (found["fits"], found["seconds"]) == (True, None)
    code, out, _ = run(*asked, "--json")
    assert code == 0
    result = json.loads(out)
    assert (result["sentences"], result["failures"], result["stopped"]) == (65, [], False)
    reader = get_reader(cache, result["reader_id"])
    assert found["disk_bytes"] == array_bytes(reader, 2, 1, 5)
    files = [file for file in (cache.folder / TENSORS).rglob("*") if file.is_file()]
    headers = 2_000 * len(files)
    assert 0 <= sum(file.stat().st_size for file in files) - found["disk_bytes"] < headers


def test_the_same_command_reads_nothing_again_and_needs_no_file(
    run: Run, cache: Cache, asked: list[str], tmp_path: Path, model_folder: Path
) -> None:
    assert run(*asked)[0] == 0
    assert set_names(cache) == {"axis": ["own"], "concept": ["jobs", "things"]}
    for name in ("own", "jobs", "things"):
        (tmp_path / f"{name}.csv").unlink()
    words = ["axes", f"--model={model_folder}", "--axes=own", "--concepts=jobs"]
    code, _, err = run(*words, "--reference=things")
    assert code == 0
    assert "own (simple): done; read 0 sentences for 0 missing axes and 0 phrases" in err
    assert "Tokens that the model reads for a phrase, on average: " in err
    assert [view.state for view in follow(cache)] == ["finished", "finished"]


def test_another_table_of_the_same_name_waits_for_replace(
    run: Run, cache: Cache, asked: list[str], tmp_path: Path
) -> None:
    assert run(*asked, "--dry-run")[0] == 0
    (tmp_path / "own.csv").write_text(OWN.replace("warm", "hot"))
    code, _, err = run(*asked, "--dry-run")
    assert (code, "other axes under the name 'own'; use --replace" in err) == (2, True)
    assert run(*asked, "--dry-run", "--replace")[0] == 0
    assert get_axes(cache, "own")[0].positive.lemmas == ("hot",)


def test_replace_leaves_sets_whose_file_is_gone_as_they_are(
    run: Run, cache: Cache, asked: list[str], tmp_path: Path
) -> None:
    assert run(*asked, "--dry-run")[0] == 0
    (tmp_path / "own.csv").write_text(OWN.replace("warm", "hot"))
    for name in ("jobs", "things"):
        (tmp_path / f"{name}.csv").unlink()
    code, _, err = run(
        *asked[:3], "--concepts=jobs", "--reference=things", "--dry-run", "--replace"
    )
    assert code == 0, err
    assert get_axes(cache, "own")[0].positive.lemmas == ("hot",)
    assert len(get_concepts(cache, "jobs").concepts) == 3
    code, _, err = run(*asked[:2], "--axes=other", "--dry-run", "--replace")
    assert (code, "'other' is none of wordnet, scm, demo" in err) == (2, True)


def test_the_next_step_is_a_command_that_works(run: Run, cache: Cache, asked: list[str]) -> None:
    code, _, err = run(*asked, "--family=listing")
    assert code == 0
    (line,) = re.findall("Next: `python -m core ([^`]+)`", err)
    assert line.startswith("stereotypes --axes=own --concepts=jobs --reference=things")
    words = shlex.split(line)
    code, out, err = run(*words[: words.index("--cache")] if "--cache" in words else words)
    assert (code, "3 of jobs against 2 of things" in out) == (0, True), err


def test_a_job_says_what_it_does_and_can_be_asked_for_again(
    run: Run, cache: Cache, asked: list[str], model_folder: Path
) -> None:
    assert run(*asked)[0] == 0
    (view,) = follow(cache)
    assert (view.command, view.dataset, view.work) == ("axes", "own", f"heads of {model_folder}")
    assert (view.progress.done_texts, view.progress.total_texts) == (65, 65)
    spec = view.spec
    assert spec is not None
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec
    assert spec.arguments() == [
        *("axes", f"--model={model_folder}", "--axes=own"),
        *("--concepts=jobs", "--reference=things"),
    ]
    request = HeadsRequest(
        model="demo", axes="own", families=("listing", "simple"), bos="out", dtype="bfloat16"
    )
    assert JobSpec(command="axes", request=request).arguments() == [
        *("axes", "--model=demo", "--axes=own", "--family=listing", "--family=simple", "--bos=out"),
        "--dtype=bfloat16",
    ]


def test_what_was_read_is_projected_and_stored(run: Run, cache: Cache, asked: list[str]) -> None:
    code, out, _ = run(*asked, "--family=simple", "--family=listing", "--json")
    assert code == 0
    reader_id = json.loads(out)["reader_id"]
    for family in ("simple", "listing"):
        (question,) = usual_questions(cache, reader_id, "own", ["jobs"], ["things"], [family])
        assert question.k is None  # a tiny model has few heads
        found = stored_axis_table(cache, question)
        assert found is not None
        pd.testing.assert_frame_equal(found.table, compute_axes(cache, question).table)
    (view,) = follow(cache)
    assert (view.progress.phase, view.fraction) == ("projecting", 1.0)


def test_a_question_that_is_refused_leaves_the_others(
    run: Run, cache: Cache, asked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "shared.csv").write_text("text\nbakers\nclouds\n")
    code, _, err = run(*asked[:-1], f"--reference={tmp_path / 'shared.csv'}", asked[-1])
    assert code == 0
    assert err.count("Not projected: ") == 1
    (view,) = follow(cache)
    of = cache, view.progress.scorer_id, "own", ["jobs"]
    (refused,) = usual_questions(*of, ["shared"], ["simple"])
    (question,) = usual_questions(*of, ["things"], ["simple"])
    assert stored_axis_table(cache, question) is not None
    with pytest.raises(InputError, match="bakers"):
        stored_axis_table(cache, refused)


def test_a_job_stopped_before_projecting_goes_on_from_there(
    run: Run, cache: Cache, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("core.cli.axes.keep_results", lambda *asked: [])
        code, _, err = run(*asked)
    assert (code, "stopped; read 65 sentences" in err) == (130, True)
    (view,) = follow(cache)
    assert view.state == "stopped"
    assert run(*asked[:3], "--concepts=jobs", "--reference=things")[0] == 0
    reader_id = view.progress.scorer_id
    (question,) = usual_questions(cache, reader_id, "own", ["jobs"], ["things"], ["simple"])
    assert stored_axis_table(cache, question) is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--axes=smc",), "'smc' is none of wordnet, scm, demo, and no file either"),
        (("--concepts=people",), "'people' is none of groups25, groups50"),
        (("--reference=random",), "'random' is none of published, phrases, people"),
        (("--family=plain",), "--family is 'plain'; write simple or listing."),
        (("--bos=maybe",), "--bos is 'maybe'; write in or out."),
        (("--heads-at=model.layers.{}.mlp",), "names no projections"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_choice(
    run: Run, asked: list[str], words: tuple[str, ...], said: str
) -> None:
    options = {word.partition("=")[0] for word in words}
    kept = [word for word in asked if word.partition("=")[0] not in options]
    code, _, err = run(*kept, *words)
    assert (code, said in " ".join(err.split())) == (2, True), err


def test_too_little_disk_is_said_before_anything_is_read(
    run: Run, cache: Cache, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10}))
    code, _, err = run(*asked)
    assert code == 2
    assert "free some space, choose fewer axes, or another --cache" in " ".join(err.split())
    assert not (cache.folder / TENSORS).exists()


def test_what_could_not_be_read_is_told_pole_by_pole_each_time(
    run: Run, cache: Cache, asked: list[str], tmp_path: Path
) -> None:
    long = "雪" * 400  # of three bytes, and so of three tokens
    (tmp_path / "own.csv").write_text(OWN.replace("no heat", long))
    long_words = "\n".join(f"{'雪' * 190}{i}" for i in range(25))
    (tmp_path / "jobs.csv").write_text(f"text\nmillers\nsmiths\n{long_words}\n")
    for _ in range(2):
        code, _, err = run(*asked)
        assert code == 3
        (pole,) = (line for line in err.splitlines() if line.startswith("Not read: cold"))
        numbers = ", ".join(str(n) for n in range(1, 31))
        assert f"(simple, 30 of 30 sentences: {numbers}): " in pole
        assert "more than the model's window" in pole
        assert err.count("Not read: ") == SHOWN_PROBLEMS
        assert f"showing {SHOWN_PROBLEMS} of 26; --json gives all of them" in err


def test_axes_for_which_memory_ran_out_are_named(
    run: Run, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = head_units.pole_sums
    full = Unpooled(Reason.OUT_OF_MEMORY, "The text alone does not fit into memory.")

    def short_of_memory(*args: Any, **options: Any) -> Any:
        return [replace(pole, unpooled=((3, full),)) for pole in read(*args, **options)]

    monkeypatch.setattr(head_units, "pole_sums", short_of_memory)
    code, _, err = run(*asked)
    words = " ".join(err.split())
    assert code == 3
    assert "read 5 sentences for 1 missing axes and 5 phrases" in words
    assert "Memory ran out, so these stay missing: cold~warm" in words
    assert "free memory, then run the same command again" in words


def test_another_job_on_the_same_heads_is_waited_for(
    run: Run, cache: Cache, asked: list[str]
) -> None:
    code, out, _ = run(*asked, "--json")
    reader_id = json.loads(out)["reader_id"]
    with one_at_a_time(cache, FILL_READER, reader_id, "first-one"):
        code, _, err = run(*asked)
    assert (code, "Run first-one is reading the same heads" in " ".join(err.split())) == (2, True)


def test_a_job_that_is_asked_for_again_reads_no_other_phrases(
    run: Run, cache: Cache, asked: list[str]
) -> None:
    assert run(*asked)[0] == 0
    spec = follow(cache)[0].spec
    assert spec is not None
    code, _, err = run(*spec.arguments())
    assert (code, "read 0 sentences for 0 missing axes and 0 phrases" in " ".join(err.split())) == (
        0,
        True,
    )
    assert set_names(cache)["concept"] == ["jobs", "things"]


def test_a_wrong_option_puts_nothing_into_the_cache(
    run: Run, cache: Cache, asked: list[str]
) -> None:
    assert run(*asked, "--family=plain")[0] == 2
    assert not cache.exists()
