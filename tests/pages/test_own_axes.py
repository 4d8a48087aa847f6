"""Axes of one's own words on the pages: typed in, followed, left undone, opened and taken out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.heads import stored
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store
from core.axes.concepts import Concept, ConceptSet
from core.axes.user_axes import axis_of_words
from core.heads_request import HeadsRequest
from core.jobs.folder import RunFolder, create_run, release
from core.jobs.heads_line import SetsToRead, reading_line
from core.jobs.own_axis import OWN_AXES
from core.jobs.spec import AXES, JobSpec
from core.store.axes import add_axis, get_axes, put_concepts, set_names
from core.store.gate import Cache
from core.store.runs import end_run, start_run
from core.types import HeadReader
from pages.shared.heads import jobs as heads_jobs
from pages.shared.heads import own_axes
from pages.shared.heads.share import command
from pages.shared.jobs import jobs
from tests.audit_pages import address, opened, words
from tests.heads_pages import asked, frames, planted
from tests.jobs.test_follow import line
from tests.planted_cache import AXES as PLANTED
from tests.planted_cache import CONCEPTS, REFERENCE, made_axes

REQUEST = HeadsRequest(
    model="demo", axes=OWN_AXES, concepts=(CONCEPTS,), reference=(REFERENCE,), device="cpu"
)
SPEC = JobSpec(command=AXES, request=REQUEST)
Make = Callable[..., RunFolder]


@pytest.fixture
def reader(cache: Cache) -> HeadReader:
    """A planted reader, and the run that tells how its model was opened."""
    found = planted(cache)
    run_id = "20261130-101010-abcd"
    start_run(
        cache, run_id, command="axes", scorer_id=found.reader_id, dataset=PLANTED,
        spec=asdict(REQUEST),
    )  # fmt: skip
    end_run(cache, run_id, status="finished")
    return found


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, cache: Cache):
    return partial(opened, monkeypatch, "axes", cache.folder)


@pytest.fixture
def make(cache: Cache) -> Iterator[Make]:
    """A run folder as a job would leave it, the lock held by this test if it is alive."""
    held: list[int] = []

    def run(*lines: dict, alive: bool = False, spec: JobSpec = SPEC) -> RunFolder:
        folder, lock = create_run(cache, spec)
        folder.progress.write_text("".join(json.dumps(each) + "\n" for each in lines))
        held.append(lock) if alive else release(lock)
        return folder

    yield run
    for lock in held:
        release(lock)


def typed(app: AppTest, one: str, other: str) -> AppTest:
    """The page after an axis was typed in."""
    for label, text in (("One pole", one), ("The other", other)):
        (field,) = (each for each in app.text_input if each.label == label)
        field.set_value(text)
    (button,) = (each for each in app.button if each.label == "Read this axis")
    return button.click().run()


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def test_an_axis_is_followed_where_it_was_typed_in_and_opened(
    show, cache: Cache, reader, make: Make, monkeypatch
) -> None:
    app = show(**asked(reader, axis_words="word9"))
    monkeypatch.setattr(own_axes, "launch", lambda *_: make(line(1, 20), alive=True).run_id)
    typed(app, "stingy|mean", "generous")
    assert not app.exception
    assert labels(app).count("Stop") == 1  # one card, in the form's place
    assert get_axes(cache, OWN_AXES)[0].negative.lemmas == ("stingy", "mean")
    assert "No definition of 'stingy|mean' and 'generous'" in words(app)


def test_an_axis_that_was_read_is_offered_to_be_opened(show, cache: Cache, reader) -> None:
    first = made_axes(1)[0]
    add_axis(cache, OWN_AXES, first)
    app = show(**asked(reader, axis_words="word9"))
    axis = heads_jobs.TypedIn(first.axis_id, "word0 – word1", ())
    app.session_state["own-axis-typed-in"] = axis
    app.run()
    app.button(key="own-axis-open").click().run()
    held = address(app)
    assert (held["axes"], held["axis"]) == (OWN_AXES, first.axis_id)
    assert "axis_words" not in held or not held["axis_words"]
    assert "own-axis-open" not in [button.key for button in app.button]


def test_a_killed_job_of_an_own_axis_leaves_the_others_their_tests(
    show, cache: Cache, reader, make: Make, monkeypatch
) -> None:
    for axis in (*made_axes(2), axis_of_words({"negative": "stingy", "positive": "generous"})[0]):
        add_axis(cache, OWN_AXES, axis)
    folder = make(line(1, 20))
    resumed: list[str] = []
    monkeypatch.setattr(jobs, "resume", lambda _, run_id: resumed.append(run_id))
    app = show(**asked(reader, axes=OWN_AXES))
    said = words(app)
    assert not app.error
    assert "The heads were read for 2 of 3 axes of own-words, and only these are shown" in said
    assert "It ended without a word: it was killed" in said
    assert len(frames(app, "statistic")[0]) == 2
    assert "user:en:" not in said
    assert any("--axes=own-words" in block.value for block in app.code)
    app.button(key=f"resume-{folder.run_id}").click().run()
    assert resumed == [folder.run_id]
    app = show(**asked(reader))  # another set: nothing of it is left undone
    assert f"resume-{folder.run_id}" not in [button.key for button in app.button]


def test_a_pole_of_absurd_length_is_refused_before_it_is_stored(show, cache, reader) -> None:
    app = typed(show(**asked(reader)), "A" * 6000, "b")
    assert len(app.error) == 1
    assert f"negative has 6,000 characters ('{'A' * 20}' …); write at most 200." in words(app)
    assert OWN_AXES not in set_names(cache)["axis"]


def test_the_job_that_holds_the_model_is_named_where_one_has_pressed(
    show, cache: Cache, reader, make: Make
) -> None:
    app = show(**asked(reader))
    folder = make(line(1, 20), alive=True, spec=JobSpec(command=AXES, request=REQUEST))
    typed(app, "stingy", "generous")
    assert len(app.error) == 1
    said = f"Run {folder.run_id} reads the heads of this model now, for own-words"
    assert f"{said} (20 of 1,000 texts)" in words(app)
    assert OWN_AXES not in set_names(cache)["axis"]


def test_an_own_axis_is_taken_out_again(show, cache: Cache, reader) -> None:
    for axis in made_axes(2):
        add_axis(cache, OWN_AXES, axis)
    app = show(**asked(reader))
    out = app.selectbox(key="own-axis-out")
    assert out.options == ["word0 – word1", "word2 – word3"]
    assert app.button(key="own-axis-take-out").disabled
    out.select(made_axes(2)[0].axis_id).run()
    app.button(key="own-axis-take-out").click().run()
    assert get_axes(cache, OWN_AXES) == made_axes(2)[1:]
    assert app.selectbox(key="own-axis-out").options == ["word2 – word3"]


def test_jobs_have_a_place_that_is_always_there(show, reader, make: Make) -> None:
    """Inserting an element above them makes the browser forget which expanders are open."""
    app = show(**asked(reader))

    def places(app: AppTest) -> list[str]:
        return [type(child).__name__ for child in app.main.children.values()]

    before = places(app)
    make(line(1, 20), alive=True)
    app.run()
    assert "Stop" in labels(app)
    assert places(app) == before


def test_the_line_that_reads_the_rest_is_complete(cache: Cache, reader) -> None:
    sets = SetsToRead(axes="scm", concepts=("groups25",), reference=("a", "b"), family="listing")
    expected = (
        "python -m core axes --model=demo --axes=scm --concepts=groups25 --reference=a "
        f"--reference=b --family=listing --device=cpu --cache {cache.folder}"
    )
    assert reading_line(cache, reader.reader_id, sets) == expected


def test_the_table_s_line_names_both_sets_of_phrases_and_the_cache(cache: Cache, reader) -> None:
    question = HeadsQuestion(
        reader_id=reader.reader_id, axes="own words", concepts="groups", reference="phrases", k=3
    )
    line = command(cache, question, "people")
    assert line.startswith(f"python -m core stereotypes --reader {reader.reader_id} --axes 'own ")
    assert "--reference phrases --reference people" in line
    assert line.endswith(f"--json --cache {cache.folder}")


def test_an_empty_page_says_that_a_job_will_read_heads(
    monkeypatch, cache: Cache, make: Make
) -> None:
    with cache.writing():
        pass
    app = opened(monkeypatch, "head_map", cache.folder)
    assert "No model's heads were read yet" in words(app)
    (block,) = app.code
    assert block.value.endswith(f"people --cache {cache.folder}")
    make(line(1, 20), alive=True, spec=JobSpec(command="demo"))
    app = opened(monkeypatch, "head_map", cache.folder)
    assert "A job is at it and reads some, once it has scored its items" in words(app)
    assert "Stop" in labels(app)
    assert not app.code


def test_one_set_of_phrases_is_said_with_the_line_that_reads_another(
    show, cache: Cache, reader, monkeypatch
) -> None:
    app = show(**asked(reader, reference_set="(none)"))
    assert "The concepts are held against one set of phrases" in words(app)
    (line_to_run,) = (b.value for b in app.code if "--reference=people" in b.value)
    assert line_to_run.startswith(f"python -m core axes --model=demo --axes={PLANTED} --concepts=")
    question = HeadsQuestion(
        reader_id=reader.reader_id, axes=PLANTED, concepts=CONCEPTS, reference=REFERENCE, k=None
    )
    compute_and_store(cache, question)
    put_concepts(cache, ConceptSet("groups-people", (Concept(f"{REFERENCE} 0"),)))
    monkeypatch.setattr(stored, "AT_ONCE", 0)  # the second set's tests take a job
    app = show(**asked(reader))
    assert "All axes are drawn here once their tests are computed" in words(app)
    assert "held against one set" not in words(app)
