"""Sets of axes and concepts go into the cache and come back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.axes.axis import Axis, Pole, user_pole
from core.axes.concepts import Concept, ConceptSet
from core.errors import CacheError, InputError
from core.store.axes import (
    concept_id,
    get_axes,
    get_axis,
    get_concepts,
    put_axes,
    put_concepts,
    set_names,
)
from core.store.gate import Cache

BAD, GOOD, KIND = (
    Pole(f"{word}.a.01", n, (word, f"{word} by far"), f"of a {word} sort")
    for n, word in enumerate(("bad", "good", "kind"), start=1)
)
AXES = (
    Axis(BAD, GOOD, source="wordnet"),
    Axis(KIND, BAD, source="scm", dimension="warmth", facet="morality"),
    Axis(user_pole(("kalt",), "ohne Wärme", "de"), user_pole(("warm",), "", "de"), source="own"),
)
GROUPS = ConceptSet("groups", (Concept("men", 5.5, 1, -1), Concept("nurses")), language="nl")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_sets_come_back_as_they_were(cache: Cache) -> None:
    put_axes(cache, "some", AXES)
    put_axes(cache, "one", AXES[1:2])
    put_concepts(cache, GROUPS)
    assert get_axes(cache, "some") == AXES
    assert get_axes(cache, "one") == AXES[1:2]
    assert get_concepts(cache, "groups") == GROUPS
    assert set_names(cache) == {"axis": ["one", "some"], "concept": ["groups"]}


def test_one_axis_of_a_set(cache: Cache) -> None:
    put_axes(cache, "some", AXES)
    put_axes(cache, "one", AXES[1:2])
    assert [get_axis(cache, "some", axis.axis_id) for axis in AXES] == list(AXES)
    with pytest.raises(InputError, match=f"axes 'one' have no axis '{AXES[0].axis_id}'; choose"):
        get_axis(cache, "one", AXES[0].axis_id)
    with pytest.raises(InputError, match="no axes 'mine'; it has one, some"):
        get_axis(cache, "mine", AXES[0].axis_id)


def test_another_set_takes_a_name_only_when_asked_to(cache: Cache) -> None:
    put_axes(cache, "some", AXES)
    put_concepts(cache, GROUPS)
    put_axes(cache, "some", AXES)
    put_concepts(cache, GROUPS)
    other = replace(GROUPS, concepts=GROUPS.concepts[::-1])
    with pytest.raises(InputError, match="other axes under the name 'some'; use --replace"):
        put_axes(cache, "some", AXES[::-1])
    with pytest.raises(InputError, match="other concepts under the name 'groups'"):
        put_concepts(cache, other)
    assert (get_axes(cache, "some"), get_concepts(cache, "groups")) == (AXES, GROUPS)
    put_axes(cache, "some", AXES[::-1], replace=True)
    put_concepts(cache, other, replace=True)
    assert (get_axes(cache, "some"), get_concepts(cache, "groups")) == (AXES[::-1], other)


def test_another_definition_of_a_pole_waits_for_replace_and_reaches_all_sets(cache: Cache) -> None:
    put_axes(cache, "some", AXES)
    put_axes(cache, "one", AXES[1:2])
    other = replace(BAD, definition="not good")
    changed = [replace(AXES[0], negative=other)]
    with pytest.raises(InputError, match=r"another definition of bad.a.01, .*; use --replace"):
        put_axes(cache, "two", changed)
    assert set_names(cache)["axis"] == ["one", "some"]
    put_axes(cache, "two", changed, replace=True)
    put_axes(cache, "two", changed)
    assert get_axes(cache, "two") == tuple(changed)
    assert get_axes(cache, "one") == (replace(AXES[1], positive=other),)


def test_axes_that_disagree_on_a_pole_are_not_stored(cache: Cache) -> None:
    other = replace(BAD, definition="not good")
    with pytest.raises(InputError, match="have the same pole with different words or definitions"):
        put_axes(cache, "some", [AXES[0], replace(AXES[1], positive=other)])
    assert set_names(cache)["axis"] == []


def test_a_set_that_lost_a_pole_is_no_smaller_set(cache: Cache) -> None:
    put_axes(cache, "some", AXES)
    with cache.writing() as con:
        con.execute("DELETE FROM pole WHERE pole = 'kind.a.01'")
    with pytest.raises(CacheError, match="has lost a pole of the axes 'some'; give the table"):
        get_axes(cache, "some")
    for axis in AXES:
        if "kind.a.01" in (axis.negative.key, axis.positive.key):
            with pytest.raises(CacheError, match="has lost a pole"):
                get_axis(cache, "some", axis.axis_id)
        else:
            assert get_axis(cache, "some", axis.axis_id) == axis
    put_axes(cache, "some", AXES, replace=True)
    assert get_axes(cache, "some") == AXES


def test_a_set_that_is_not_there_is_named_with_those_that_are(cache: Cache) -> None:
    put_axes(cache, "some", AXES)
    with pytest.raises(InputError, match="no axes 'mine'; it has some"):
        get_axes(cache, "mine")
    with pytest.raises(InputError, match="no concepts 'mine'; it has none"):
        get_concepts(cache, "mine")


def test_concepts_are_known_by_the_sentence_they_are_asked_about_with() -> None:
    assert concept_id("men") == concept_id("men") != concept_id("Men")
    assert len(concept_id("men")) == 32
