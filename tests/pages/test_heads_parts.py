"""Parts of pages about heads that cannot be drawn say so; texts are never Markdown."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads import stored
from core.axes.concepts import Concept, ConceptSet
from core.errors import InputError
from core.heads_request import ProjectionsRequest
from core.jobs.spec import JobSpec
from core.selection import Selection
from core.store.axes import put_axes, put_concepts
from core.store.gate import Cache
from core.types import HeadReader
from pages.shared import widgets
from pages.shared.figures import literal
from pages.shared.heads import choice, jobs
from pages.shared.heads.sets import References
from tests.audit_pages import opened, words
from tests.heads_pages import LABELLED, MODEL, WARM, asked, frames, planted
from tests.planted_cache import AXES, REFERENCE, _fill_axes, made_axes

IDS = [axis.axis_id for axis in made_axes(len(MODEL.axes))]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def reader(cache: Cache) -> HeadReader:
    return planted(cache)


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "axes")


def test_accuracy_and_settings_do_without_phrases(show, cache, reader) -> None:
    fields = {"axes": WARM, "concepts": LABELLED, "reference_set": "(none)", "heads": "k3"}
    app = show(cache.folder, **asked(reader, **fields))
    for key in ("positions-shown", "settings-shown"):
        app.toggle(key=key).set_value(True).run()
    assert not app.error
    assert len(frames(app, "majority")) == 2
    assert app.text_input(key="own-negative")  # the page goes on to its end


def test_a_part_that_cannot_be_drawn_leaves_the_rest(show, cache, reader) -> None:
    put_concepts(cache, ConceptSet("shared", (Concept(f"{REFERENCE} 0"), Concept("not read"))))
    fields = {"axes": WARM, "concepts": "shared", "heads": "k3"}
    app = show(cache.folder, **asked(reader, **fields))
    app.toggle(key="positions-shown").set_value(True).run()
    assert [error.value for error in app.error if "shared" in error.value or "both" in error.value]
    assert app.text_input(key="own-negative")


PICTURE = "![x](http://example.org/x.png)"


def test_words_of_poles_are_never_markdown(monkeypatch, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    first, *others = made_axes(len(MODEL.axes))
    axes = (replace(first, negative=replace(first.negative, lemmas=(PICTURE,))), *others)
    put_axes(cache, AXES, axes, replace=True)
    _fill_axes(cache, reader, MODEL, axes, np.random.default_rng(0))
    app = opened(monkeypatch, "atlas", tmp_path, **asked(reader, heads="k3", axis=IDS[0]))
    assert f"Like {PICTURE}" in words(app)
    kinds = (app.subheader, app.markdown, app.caption, app.error, app.warning, app.info)
    assert not [e for kind in kinds for e in kind if PICTURE in str(e.value)]


def test_names_of_sets_in_help_are_never_markdown(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    phrases = tuple(Concept(f"{REFERENCE} {i}") for i in range(20))
    put_concepts(cache, ConceptSet("*loud*", phrases))
    app = show(cache.folder, **asked(reader, heads="k3", reference_set="*loud*"))
    (listed,) = (frame for frame in app.dataframe if "statistic" in frame.value)
    helps = [column.get("help") or "" for column in json.loads(listed.proto.columns).values()]
    assert [text for text in helps if literal("*loud*") in text]
    assert not [text for text in helps if "*loud*" in text]


def test_one_job_computes_the_tests_against_both_sets(monkeypatch, show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    phrases = tuple(Concept(f"{REFERENCE} {i}") for i in range(20))
    put_concepts(cache, ConceptSet("reference-people", phrases))
    monkeypatch.setattr(stored, "AT_ONCE", 0)
    launched: list[JobSpec] = []
    monkeypatch.setattr(jobs, "launch", lambda _, spec: launched.append(spec))
    app = show(cache.folder, **asked(reader))
    app.button(key="compute-tests").click().run()
    (spec,) = launched
    assert isinstance(spec.request, ProjectionsRequest)
    assert spec.request.reference == (REFERENCE, "reference-people")


def test_a_fresh_page_asks_for_a_family_that_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "read_held_against", lambda _: [])
    rows = [("axis", "own", "listing"), ("axis", "scm", "simple"), ("concept", "groups", "")]
    sets = pd.DataFrame(rows, columns=["kind", "name", "family"])
    shown = choice._known_sets(Selection(reader="r"), sets)
    assert (shown.axes, shown.family) == ("own", "listing")
    shown = choice._known_sets(Selection(reader="r", axes="scm"), sets)
    assert (shown.axes, shown.family) == ("scm", "simple")


def test_an_error_is_never_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    monkeypatch.setattr(widgets.st, "error", lambda text, **_: said.append(text))
    with widgets.errors_end_this_part():
        raise InputError(PICTURE)
    assert said == [literal(PICTURE)] and PICTURE not in said[0]


def test_the_second_set_of_phrases_is_the_one_matched_to_the_concepts() -> None:
    sets = ["groups25", "groups50", "reference50", "groups25-people", "groups50-people"]
    held = [(c, r) for c in sets[:2] for r in sets[2:]]
    kinds = References(sets, held)
    assert kinds.concepts == ["groups25", "groups50"]
    for concepts, other in (("groups25", "groups50"), ("groups50", "groups25")):
        expected = ["reference50", f"{other}-people", f"{concepts}-people"]
        assert kinds.usual(concepts) == expected
