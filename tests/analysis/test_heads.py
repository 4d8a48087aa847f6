"""From the cache to values and to the table of axes: what is planted is found, nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads.arrays import grids
from core.analysis.heads.axis_table import axis_rows
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_axes
from core.analysis.heads.validity import validity
from core.analysis.heads.values import heads_values
from core.axes.concepts import Concept, ConceptSet
from core.axes.content import pole_content
from core.errors import InputError
from core.stats.probes.direction import PoleSums, direction, separability
from core.stats.probes.projection import axis_values
from core.store.axes import concept_id, get_axes, get_concepts, put_concepts
from core.store.gate import Cache
from core.store.heads import CONCEPT, POLE, Source, get_arrays, get_outputs, put_unread
from core.store.unread import Unread
from tests.planted_cache import AXES, CONCEPTS, FAMILY, REFERENCE, STEREOTYPED, fill_planted
from tests.planted_heads import planted_heads

MODEL = planted_heads()


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    cache = Cache(tmp_path_factory.mktemp("planted"))
    reader = fill_planted(cache, MODEL)
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    return cache, HeadsQuestion(reader_id=reader.reader_id, k=3, **names)


@pytest.mark.parametrize(("pooling", "n_templates"), [("mean", 30), ("last", 15)])
def test_values_are_those_of_the_stored_arrays(planted, pooling, n_templates):
    cache, question = planted
    question = replace(question, pooling=pooling, n_templates=n_templates)
    found = heads_values(cache, question)
    p, halves = ("mean", "last").index(pooling), range(n_templates // 15)
    phrases = [c.text for name in (CONCEPTS, REFERENCE) for c in get_concepts(cache, name).concepts]
    wanted = {text: concept_id(text) for text in phrases}
    outputs = get_outputs(cache, Source(question.reader_id), wanted, p)
    directions, grids = [], []
    for axis in get_axes(cache, AXES):
        contents = {pole.key: pole_content(pole, FAMILY) for pole in (axis.negative, axis.positive)}
        held = get_arrays(cache, Source(question.reader_id, FAMILY), POLE, contents)
        poles = [
            PoleSums(
                sum(held["sums"][i, p, h].astype(float) for h in halves),
                sum(held["squares"][i, p, h] for h in halves),
                n_templates,
            )
            for i in range(2)
        ]
        directions.append(direction(*poles))
        grids.append(separability(*poles))
    expected = axis_values(np.moveaxis(outputs, 2, 0), directions, grids, k=3)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    for mine, other in zip(found.heads, expected.heads, strict=True):
        assert mine.tolist() == other.tolist()


def test_only_axes_on_which_the_groups_lie_elsewhere_are_flagged(planted):
    cache, question = planted
    rows = compute_axes(cache, question).table
    names = [axis.axis_id for axis in get_axes(cache, AXES)]
    assert set(rows.loc[rows["qvalue"] < 0.05, "axis_id"]) == {names[i] for i in STEREOTYPED}
    top = rows.head(len(STEREOTYPED))
    assert set(top["axis_id"]) == {names[i] for i in STEREOTYPED}
    assert (top["difference"] > 0).all()
    assert (top["stability"] == "well-powered").all()
    assert rows["statistic"].is_monotonic_decreasing
    assert (rows["separability"] > 20 * rows["separability_chance"]).all()
    assert rows[["n_heads", "n_concepts", "n_reference"]].drop_duplicates().values.tolist() == [
        [3, 40, 40]
    ]


@pytest.mark.parametrize("n_templates", [15, 30])
def test_r_is_also_told_where_its_heads_were_not_chosen(planted, n_templates):
    cache, question = planted
    question = replace(question, n_templates=n_templates)
    found = compute_axes(cache, question)
    rows = found.table.set_index("axis_id")
    checked = validity(cache, found).axes.set_index("axis_id")
    for name in ("separability_held_out", "held_out_chance"):
        expected = checked.loc[rows.index, name]
        np.testing.assert_allclose(rows[name], expected, rtol=1e-5)
    if n_templates == 15:  # the heads of the table are those of the first half
        held = grids(cache, question, found.held.axes).separability[:, 1]
        for axis, heads, r in zip(found.held.axes, found.held.heads, held, strict=True):
            told = rows.loc[axis.axis_id, "separability_held_out"]
            assert told == pytest.approx(r.ravel()[heads].mean())


def test_where_no_head_separates_r_anew_is_that_of_chance(tmp_path):
    model = planted_heads()
    cache = Cache(tmp_path / "nothing")
    reader = fill_planted(cache, replace(model, axes=0 * model.axes))
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    rows = compute_axes(cache, HeadsQuestion(reader_id=reader.reader_id, k=3, **names)).table
    assert (rows["separability"] > 1.1 * rows["separability_chance"]).all()  # by the choice alone
    assert rows["separability_held_out"].mean() < rows["held_out_chance"].mean()


def test_the_heads_of_each_axis_are_those_it_was_planted_in(planted):
    found = heads_values(*planted)
    assert [set(heads.tolist()) for heads in found.heads] == [set(h) for h in MODEL.heads]


def test_an_axis_without_values_is_undefined_and_comes_last(planted):
    cache, question = planted
    held = heads_values(cache, question)
    values = held.values.copy()
    values[STEREOTYPED[0]] = np.nan
    rows = axis_rows(replace(held, values=values), question)
    last = rows.iloc[-1]
    assert last["axis_id"] == held.axes[STEREOTYPED[0]].axis_id
    assert np.isnan(last["pvalue"])
    assert rows["flagged"].isna().tolist() == [False] * 7 + [True]
    assert (last["stability"], last["reason"] != "") == ("undefined", True)


def test_an_axis_whose_pole_could_not_be_read_says_so(planted):
    """Not that no head varies: nothing is known about the heads."""
    cache, question = planted
    held = heads_values(cache, question)
    assert held.n_sentences.shape == (len(held.axes), 2)
    values, n_sentences = held.values.copy(), held.n_sentences.copy()
    values[0], n_sentences[0] = np.nan, (30, 0)
    rows = axis_rows(replace(held, values=values, n_sentences=n_sentences), question)
    last = rows.iloc[-1]
    assert last["reason"] == "the model could read no sentence of one of its poles"
    assert (last["n_negative"], last["n_positive"]) == (30, 0)
    assert (rows["reason"].iloc[:-1] == "").all()
    half = heads_values(cache, replace(question, n_templates=15))
    assert (2 * half.n_sentences == held.n_sentences).all()


def test_a_phrase_that_cannot_be_read_leaves_the_others_as_they_are(planted):
    """It has no value on any axis, and n says that it is left out."""
    cache, question = planted
    held = get_concepts(cache, question.concepts)
    put_concepts(cache, ConceptSet("one more", (*held.concepts, Concept("too long"))))
    failed = Unread(
        family="",
        kind=CONCEPT,
        of="too long",
        content_id=concept_id("too long"),
        template=0,
        reason="too_long",
        detail="Too long.",
    )
    put_unread(cache, question.reader_id, [failed])
    more = replace(question, concepts="one more")
    rows, expected = compute_axes(cache, more).table, compute_axes(cache, question).table
    pd.testing.assert_frame_equal(rows, expected)
    values = heads_values(cache, more).of_concepts
    assert np.isnan(values[:, -1]).all()
    assert np.isfinite(values[:, :-1]).all()


def test_what_was_not_read_is_named(planted):
    cache, question = planted
    put_concepts(cache, ConceptSet("more", (Concept("kings"), Concept("queens"))))
    with pytest.raises(InputError, match="not read for 2 of 42, such as kings; run"):
        heads_values(cache, replace(question, concepts="more"))
    with pytest.raises(InputError, match="not read for"):
        heads_values(cache, replace(question, family="listing"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 25}, "has 24 heads, not 25"),
        ({"n_templates": 20}, "15 or 30 templates"),
        ({"reader_id": "x"}, "no heads read as x"),
        ({"axes": "mine"}, "no axes 'mine'"),
    ],
)
def test_questions_that_cannot_be_answered(planted, change, words):
    cache, question = planted
    with pytest.raises(InputError, match=words):
        heads_values(cache, replace(question, **change))
