"""The state of a page survives the way through an address; what cannot be read is named."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.axes.templates import FAMILIES
from core.items.alignment import UNITS
from core.selection import (
    ATLAS_BY,
    ATLAS_COLOURS,
    ATLAS_OF,
    AXIS_FLAGS,
    AXIS_READS,
    AXIS_SORTS,
    GRIDS,
    LONGEST_QUERY,
    POOLINGS,
    SORTS,
    TEMPLATES,
    Selection,
    active_filters,
    from_query,
    link_query,
    parse_link,
    to_query,
    without,
    without_filters,
)
from core.stats.scores import KINDS

texts = st.text(st.characters(codec="utf-8"), max_size=20)
names = st.lists(texts.filter(bool), max_size=3, unique=True).map(tuple)


def some_of(known: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(known), unique=True).map(tuple)


scores = st.none() | st.floats(-1, 1)
selections = st.builds(
    Selection,
    dataset=texts, scorer=texts, compare=texts, slice=texts, text=texts, item=texts,
    condition=texts, content=texts, conditions=names, sources=names, categories=names,
    dimensions=names, states=names, flags=names, ss_min=scores, ss_max=scores, change_min=scores,
    change_max=scores, regex=st.booleans(), descending=st.booleans(), page=st.integers(0, 10**6),
    sort=st.sampled_from(list(SORTS)), unit=st.sampled_from(UNITS), preferences=names,
    models=names, kind=st.sampled_from(KINDS), margin=st.floats(0.001, 1),
    seed=st.integers(0, 10**8), against=texts, quality=texts, shifted=texts, points=texts,
    delta=st.floats(-5, 5), share=st.floats(0, 1), subgroup=texts,
    reader=texts, reader_compare=texts, axes=texts, axis=texts, concepts=texts,
    reference_set=texts, family=st.sampled_from(FAMILIES), pooling=st.sampled_from(POOLINGS),
    templates=st.sampled_from(TEMPLATES), heads=texts, grid=st.sampled_from(GRIDS),
    axis_words=texts, axis_dimensions=names, axis_flags=some_of(AXIS_FLAGS),
    axis_reads=some_of(AXIS_READS),
    beyond=st.booleans(), length_free=st.booleans(),
    axis_sort=st.sampled_from(list(AXIS_SORTS)),
    atlas_of=st.sampled_from(ATLAS_OF), atlas_by=st.sampled_from(ATLAS_BY),
    atlas_colour=st.sampled_from(ATLAS_COLOURS),
)  # fmt: skip


@given(selections)
def test_a_selection_survives_the_way_through_a_link(selection):
    assert from_query(to_query(selection)) == (selection, [])
    assert parse_link(link_query(selection)) == (selection, [])
    assert parse_link(f"http://localhost:8501/items?{link_query(selection)}") == (selection, [])


def test_a_link_holds_every_field_and_the_version():
    query = to_query(Selection())
    assert set(query) == {"v"} | {field.name for field in fields(Selection)}
    assert query["v"] == ["1"]


def test_no_parameters_are_the_default_without_a_word():
    assert from_query({}) == (Selection(), [])


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("ss_min", "high", "not a number"),
        ("ss_max", "nan", "not between"),
        ("change_min", "-7", "not between"),
        ("delta", "9", "not between -5 and 5"),
        ("share", "inf", "not between 0 and 1"),
        ("margin", "0", "not between 0.001 and 1"),
        ("kind", "best", "not one of mean"),
        ("page", "-1", "not a whole number"),
        ("unit", "letter", "not one of word, token"),
        ("page", "9" * 30, "not a whole number"),
        ("regex", "yes", "not 0 or 1"),
        ("descending", "", "not 0 or 1"),
        ("sort", "beauty", "not one of"),
        ("family", "long", "not one of simple, listing"),
        ("pooling", "max", "not one of mean, last"),
        ("templates", "7", "not one of 30, 15"),
        ("grid", "three", "not one of one, side by side, difference"),
        ("atlas_by", "tsne", "not one of pca, umap"),
    ],
)
def test_what_cannot_be_read_is_named_and_left_out(name, value, word):
    query = to_query(Selection(dataset="demo")) | {name: [value]}
    selection, problems = from_query(query)
    assert selection == Selection(dataset="demo")
    (problem,) = problems
    assert name in problem
    assert word in problem


def test_a_link_of_another_version_and_unknown_names_are_told():
    selection, problems = from_query({"v": ["2"], "dataset": ["demo"], "colour": ["red"]})
    assert selection.dataset == "demo"
    assert "version '2'" in problems[0]
    assert "colour" in problems[1]


def test_a_megabyte_of_state_is_refused_whole():
    selection, problems = from_query({"text": ["x" * 1_000_000], "dataset": ["demo"]})
    assert selection == Selection()
    assert str(LONGEST_QUERY) in problems[0]


@given(st.dictionaries(texts, st.lists(texts, max_size=3), max_size=8))
def test_no_parameters_whatever_raise(query):
    selection, problems = from_query(query)
    assert isinstance(selection, Selection)
    assert all(isinstance(problem, str) for problem in problems)


@given(selections)
def test_filters_can_be_taken_off_one_by_one(selection):
    for name in active_filters(selection):
        assert name not in active_filters(without(selection, name))
    assert active_filters(without_filters(selection)) == []
    assert without_filters(selection).item == selection.item
