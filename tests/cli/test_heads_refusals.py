"""What cannot be done leaves no run; what is missing is told with the line that reads it."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from core.axes.concepts import Concept, ConceptSet
from core.errors import DataSetMissing, HubUnreachable, InputError, NotNow
from core.heads_request import HeadsRequest
from core.jobs.folder import FILL_READER, one_at_a_time
from core.jobs.follow import follow
from core.jobs.running import is_hopeless
from core.store.axes import put_axes, put_concepts
from core.store.gate import Cache
from core.store.runs import end_run, start_run
from tests.conftest import Run
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import planted_heads

SETS = ("--axes", AXES, "--concepts", CONCEPTS)


@pytest.fixture
def reader_id(cache: Cache) -> str:
    """A planted reader that a run tells how to open."""
    found = fill_planted(cache, planted_heads()).reader_id
    request = HeadsRequest(model="demo", axes=AXES, device="cpu")
    start_run(
        cache, "20261130-101010-abcd", command="axes", scorer_id=found, dataset=AXES,
        spec=asdict(request),
    )  # fmt: skip
    end_run(cache, "20261130-101010-abcd", status="finished")
    return found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("atlas", "--neighbors", 1), "at least 2 neighbours, not 1"),
        (("atlas", "--min-dist", 2), "from 0 to 1, not 2"),
        (("atlas", "--min-dist", "nan"), "from 0 to 1, not nan"),
        (("atlas", "--k", 271), "24 heads, not 271"),
        (("atlas", "--k", -3), "-3"),
        (("atlas", "--templates", 16), "Directions come from 15 or 30 templates"),
        (("atlas", "--reference", "nobody"), "no concepts 'nobody'"),
        (("stereotypes", "--k", 271), "24 heads, not 271"),
        (("stereotypes", "--reference", CONCEPTS), "phrases in common"),
        (("stereotypes", "--templates", 16), "Directions come from 15 or 30 templates"),
    ],
)
def test_wrong_arguments_leave_no_run(run: Run, cache: Cache, reader_id, words, said) -> None:
    k = () if "--k" in words else ("--k", 3)
    code, _, err = run(words[0], *SETS, *k, *words[1:])
    assert code == 2
    assert said in " ".join(err.split())
    assert follow(cache) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--dtype", "float7"), 'dtype is "float7", which is none of'),
        (("--quantization", "int3"), 'quantization is "int3"'),
        (("--compute-dtype", "float16"), "belong to quantization nf4"),
        (("--device", "mars"), 'device is "mars"'),
    ],
)
def test_options_of_no_model_leave_no_run(run: Run, cache: Cache, reader_id, options, said) -> None:
    put_concepts(cache, ConceptSet("two", (Concept("a"), Concept("b"))))
    words = ("--model", "demo", "--axes", AXES, "--concepts", "two", "--reference", REFERENCE)
    code, _, err = run("axes", *words, *options)
    assert code == 2
    assert said in " ".join(err.split())
    assert follow(cache) == []


def test_what_failed_on_its_input_is_not_offered_again(cache: Cache) -> None:
    assert is_hopeless(InputError("no such thing"))
    assert is_hopeless(DataSetMissing("gone"))
    assert not is_hopeless(HubUnreachable("offline"))
    assert not is_hopeless(OSError("killed"))
    with (
        one_at_a_time(cache, FILL_READER, "r", "20261130-101010-abcd"),
        pytest.raises(NotNow) as busy,
        one_at_a_time(cache, FILL_READER, "r", "20261130-101011-abcd"),
    ):
        pass
    assert not is_hopeless(busy.value)


def test_a_set_that_was_read_in_part_is_tested_in_part(run: Run, cache: Cache, reader_id) -> None:
    put_axes(cache, "growing", made_axes(11)[6:])
    words = ("--axes", "growing", "--concepts", CONCEPTS, "--reference", REFERENCE, "--k", 3)
    line = (
        "python -m core axes --model=demo --axes=growing --concepts=groups --reference=phrases "
        f"--device=cpu --cache {cache.folder}"
    )
    for command in ("stereotypes", "probe", "atlas"):
        more = ("--table", "labels") if command == "probe" else ()
        more = ("--of", "concepts") if command == "atlas" else more
        code, _, err = run(command, *words, *more)
        said = " ".join(err.split())
        assert code == 0, err
        assert f"2 of 5 axes of growing were read, and only these are tested; `{line}`" in said


def test_a_set_that_was_not_read_is_told_with_all_its_numbers(run: Run, cache, reader_id) -> None:
    put_axes(cache, "unread", made_axes(11)[8:])
    code, _, err = run("stereotypes", "--axes", "unread", "--concepts", CONCEPTS, "--k", 3)
    said = " ".join(err.split())
    assert code == 2
    assert (
        "The heads were not read for 3 of 3, such as word16.a.01~word17.a.01; run `python" in said
    )
    assert f"--axes=unread --concepts=groups --device=cpu --cache {cache.folder}` first." in said
    code, _, err = run("stereotypes", "--axes", "scm", "--concepts", CONCEPTS)
    assert (
        "The cache has no 'scm' yet; run `python -m core axes --model=demo --axes=scm"
        in " ".join(err.split())
    )


@pytest.mark.parametrize("command", ["stereotypes", "probe", "atlas"])
def test_reference_phrases_go_by_the_words_that_axes_takes(
    run: Run, cache: Cache, reader_id, command: str
) -> None:
    words = (command, *SETS, "--k", 3, "--reference", "people")
    more = ("--table", "labels") if command == "probe" else ()
    more = ("--of", "concepts") if command == "atlas" else more
    code, _, err = run(*words, *more)
    said = " ".join(err.split())
    assert code == 2
    assert "The cache has no 'groups-people' yet; run `python -m core axes" in said
    assert "--concepts=groups --reference=people" in said
    phrases = tuple(Concept(f"{REFERENCE} {i}") for i in range(20))
    put_concepts(cache, ConceptSet("groups-people", phrases))
    code, _, err = run(*words, *more)
    assert code == 0, err
