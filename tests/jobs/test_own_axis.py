"""An axis typed in becomes a set of its own and a job that reads a known model for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest

from core.axes.axis import Axis, Pole
from core.axes.user_axes import TYPED, axis_of_words
from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.own_axis import OWN_AXES, known_heads_request, own_axis_spec, remove_own_axis
from core.jobs.progress import Progress
from core.jobs.running import running_job
from core.jobs.spec import AXES, JobSpec
from core.store.axes import add_axis, get_axes, set_names
from core.store.gate import Cache
from core.store.read_sets import axes_read
from core.store.runs import end_run, start_run
from core.store.verify import verify
from tests.planted_cache import CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import planted_heads

TYPED_IN = {
    "negative": " stingy|mean ",
    "positive": "generous",
    "negative_definition": "giving nothing",
    "positive_definition": "giving much",
}


def read_by(cache: Cache, request: HeadsRequest) -> str:
    """A reader, and the run in which its heads were read."""
    reader_id = fill_planted(cache, planted_heads()).reader_id
    start_run(
        cache, "20261130-101010-abcd", command="axes", scorer_id=reader_id, dataset=request.axes,
        spec=asdict(request),
    )  # fmt: skip
    end_run(cache, "20261130-101010-abcd", status="finished")
    return reader_id


def test_words_become_an_axis_with_notes() -> None:
    axis, notes = axis_of_words(TYPED_IN)
    assert (axis.negative.lemmas, axis.positive.lemmas) == (("stingy", "mean"), ("generous",))
    assert (axis.positive.definition, axis.source, notes) == ("giving much", TYPED, ())
    bare, notes = axis_of_words({"negative": "koud", "positive": "warm", "language": "nl"})
    assert bare.negative.language == "nl"
    assert ["No definition" in notes[0], "English templates" in notes[1]] == [True, True]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"negative": "cold", "positive": " "}, "There is no positive pole; write a word"),
        ({"negative": "", "positive": ""}, "no negative pole.*no positive pole"),
        ({"negative": "warm", "positive": "Warm|hot"}, "Both poles are 'warm'; write two opposite"),
        ({"negative": "a\0b", "positive": "c"}, "holds a character that cannot be written"),
        ({"negative": "x", "positive": "y", "language": "klingon!"}, "klingon"),
        (
            {"negative": "A" * 6000, "positive": "b"},
            r"^negative has 6,000 .*\('A{20}' …\)",
        ),
        (
            {"negative": "a", "positive": "b" * 201},
            r"^positive has 201 .*at most 200\.$",
        ),
        (
            {"negative": "a", "positive": "b", "positive_definition": "x" * 501},
            "^positive_definition has 501 characters .*at most 500",
        ),
    ],
)
def test_words_that_make_no_axis_are_refused_in_a_sentence(values: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        axis_of_words(values)


def test_the_longest_pole_is_taken() -> None:
    values = {"negative": "a" * 200, "positive": "b", "negative_definition": "x " * 250}
    axis, _ = axis_of_words(values)
    assert (len(axis.negative.synset), len(axis.negative.definition)) == (200, 499)


def test_own_axes_gather_in_one_set_and_the_model_is_read_as_before(cache: Cache) -> None:
    asked = HeadsRequest(
        model="demo", axes="demo", concepts=("groups25",), families=("listing",), dtype="bfloat16"
    )
    reader_id = read_by(cache, asked)
    first, second = (
        axis_of_words(values)[0] for values in (TYPED_IN, {"negative": "cold", "positive": "warm"})
    )
    for axis in (first, second, first):
        spec = own_axis_spec(
            cache, axis, reader_id=reader_id, concepts=[CONCEPTS], reference=[REFERENCE],
            family="simple",
        )  # fmt: skip
    assert get_axes(cache, OWN_AXES) == (first, second)
    assert spec.arguments() == [
        *("axes", "--model=demo", f"--axes={OWN_AXES}", f"--concepts={CONCEPTS}"),
        *(f"--reference={REFERENCE}", "--dtype=bfloat16", "--device=cpu"),
    ]


def test_axes_that_are_added_at_once_are_all_kept(cache: Cache) -> None:
    poles = [Pole(f"{word}.a.01", i, (word,), "") for i, word in enumerate("abcdefghijkl")]
    axes = [Axis(*pair, source=TYPED) for pair in zip(poles[::2], poles[1::2], strict=True)]
    with ThreadPoolExecutor(len(axes)) as pool:
        list(pool.map(partial(add_axis, cache, OWN_AXES), axes))
    assert set(get_axes(cache, OWN_AXES)) == set(axes)


def test_a_model_that_cannot_be_opened_again_adds_no_axis(cache: Cache, tmp_path: Path) -> None:
    axis, _ = axis_of_words(TYPED_IN)
    unknown = fill_planted(cache, planted_heads(), seed=3).reader_id
    with pytest.raises(InputError, match="How the heads of planted were read is not known here"):
        known_heads_request(cache, unknown)
    gone = HeadsRequest(model=str(tmp_path / "gone"), axes="demo")
    reader_id = read_by(cache, gone)
    with pytest.raises(InputError, match=r"weights of planted are no longer in .*gone; put them"):
        own_axis_spec(cache, axis, reader_id=reader_id, concepts=[CONCEPTS], family="simple")
    assert OWN_AXES not in set_names(cache)["axis"]


def test_an_axis_is_not_stored_while_a_job_reads_the_same_model(cache: Cache) -> None:
    asked = HeadsRequest(model="demo", axes="demo")
    reader_id = read_by(cache, asked)
    axis, _ = axis_of_words(TYPED_IN)
    with running_job(cache, JobSpec(command=AXES, request=asked)) as job:
        job.report(Progress("reading", done_texts=3, total_texts=60))
        with pytest.raises(InputError, match=rf"Run {job.run_id} reads .*demo \(3 of 60 texts\)"):
            own_axis_spec(cache, axis, reader_id=reader_id, concepts=[CONCEPTS], family="simple")
    assert OWN_AXES not in set_names(cache)["axis"]
    own_axis_spec(cache, axis, reader_id=reader_id, concepts=[CONCEPTS], family="simple")
    assert get_axes(cache, OWN_AXES) == (axis,)


def test_an_own_axis_is_taken_out_by_its_words(cache: Cache) -> None:
    stingy, cold, colder = (
        axis_of_words({"negative": negative, "positive": positive})[0]
        for negative, positive in (("stingy|mean", "generous"), ("cold", "warm"), ("cold", "hot"))
    )
    for axis in (stingy, cold, colder):
        add_axis(cache, OWN_AXES, axis)
    with pytest.raises(InputError, match=r"^None of your own axes is called so.*stingy\|mean~gen"):
        remove_own_axis(cache, "nobody")
    with pytest.raises(InputError, match=r"^More than one of .*: cold~warm, cold~hot\.$"):
        remove_own_axis(cache, "cold")
    assert remove_own_axis(cache, "cold~warm") == cold
    assert remove_own_axis(cache, "stingy|") == stingy
    assert get_axes(cache, OWN_AXES) == (colder,)
    remove_own_axis(cache, colder.axis_id)
    assert OWN_AXES not in set_names(cache)["axis"]


def test_what_was_read_for_an_axis_is_there_when_it_comes_back(cache: Cache) -> None:
    reader_id = fill_planted(cache, planted_heads()).reader_id
    first, second = made_axes(2)
    for axis in (first, second):
        add_axis(cache, OWN_AXES, axis)
    remove_own_axis(cache, first.axis_id)
    assert axes_read(cache, reader_id, "simple", OWN_AXES) == {second.axis_id}
    add_axis(cache, OWN_AXES, first)
    assert axes_read(cache, reader_id, "simple", OWN_AXES) == {first.axis_id, second.axis_id}
    assert verify(cache) == []
