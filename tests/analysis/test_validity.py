"""Checks of planted axes: what is true of them, and what is missing, is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.analysis.heads.stored import StoredAxes, compute_axes
from core.analysis.heads.validity import validity
from core.axes.concepts import Concept, ConceptSet
from core.axes.content import axis_content
from core.errors import InputError
from core.store.axes import get_axes, put_concepts
from core.store.gate import Cache
from core.store.heads import AXIS, Source, get_arrays
from core.store.phrase_lengths import put_lengths
from tests.planted_cache import CONCEPTS, FAMILY
from tests.planted_heads import planted_heads
from tests.planted_labels import AXES, fill_labelled

MODEL = planted_heads()


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("validity"))
    question = fill_labelled(cache, MODEL)
    few = [Concept(f"{CONCEPTS} {i}") for i in range(20)]  # half as many as reference phrases
    put_concepts(cache, ConceptSet("few", tuple(few)))
    found = compute_axes(cache, replace(question, concepts="few"))
    return cache, found, validity(cache, found)


def test_planted_heads_are_found_in_either_half_and_above_every_swap(checked):
    cache, _, check = checked
    rows = check.axes
    assert rows["axis_id"].tolist() == [axis.axis_id for axis in get_axes(cache, AXES)]
    assert (rows["halves_overlap"] == 1).all() and (rows["halves_cosine"] > 0.9).all()
    assert (rows["halves_overlap_expected"] == 3 / 24).all() and (rows["n_heads"] == 3).all()
    assert (rows["separability_held_out"] > 5 * rows["held_out_chance"]).all()
    np.testing.assert_allclose(rows["held_out_chance"], 1 / 28)  # 15 sentences of a pole
    assert (rows["above_swapped"] >= 3 / 24).all() and (rows["above_swapped"] < 0.7).all()
    assert (rows["above_swapped_expected"] == 1 / 9).all() and (rows["n_patterns"] == 8).all()
    assert (rows["reason"] == "").all()


def test_the_share_above_swaps_is_that_of_a_loop_over_heads(checked):
    cache, found, check = checked
    axes = get_axes(cache, AXES)
    contents = {axis.axis_id: axis_content(axis, FAMILY) for axis in axes}
    held = get_arrays(cache, Source(found.question.reader_id, FAMILY), AXIS, contents)
    for i, share in enumerate(check.axes["above_swapped"]):
        observed, swapped = held["separability"][i, 0, 2].ravel(), held["chance"][i, 0]
        above = [r > max(grid.ravel()[h] for grid in swapped) for h, r in enumerate(observed)]
        assert share == pytest.approx(np.mean(above))


def test_length_is_spearmans_with_the_characters(checked):
    _, found, check = checked
    held = found.held
    lengths = [len(text) for text in (*held.concepts, *held.reference)]
    for i, row in enumerate(check.axes.to_dict("records")):
        expected = stats.spearmanr(held.values[i], lengths)
        assert row["length_r"] == pytest.approx(expected.statistic)
        assert row["length_pvalue"] == pytest.approx(expected.pvalue)
        assert (row["n_phrases"], row["length_unit"]) == (60, "characters")
    q = stats.false_discovery_control(check.axes["length_pvalue"])
    np.testing.assert_allclose(check.axes["length_qvalue"], q)
    assert (check.axes["n_tests"] == 8).all()


def test_length_is_in_tokens_once_all_are_counted(tmp_path):
    cache = Cache(tmp_path)
    found = compute_axes(cache, fill_labelled(cache, MODEL))
    phrases = (*found.held.concepts, *found.held.reference)
    rng = np.random.default_rng(0)
    tokens = dict(zip(phrases, rng.integers(4, 20, len(phrases)).tolist(), strict=True))
    reader = found.question.reader_id
    put_lengths(cache, reader, {p: n for p, n in tokens.items() if p != phrases[0]})
    assert set(validity(cache, found).axes["length_unit"]) == {"characters"}
    put_lengths(cache, reader, tokens)
    rows = validity(cache, found).axes
    assert set(rows["length_unit"]) == {"tokens"}
    for values, row in zip(found.held.values, rows.to_dict("records"), strict=True):
        expected = stats.spearmanr(values, list(tokens.values()))
        assert row["length_r"] == pytest.approx(expected.statistic)


def test_the_floor_is_near_the_level_and_says_its_n(checked):
    _, found, check = checked
    (row,) = check.floor.to_dict("records")
    assert 0 < row["share"] < 0.15 and row["expected"] == 0.05
    assert (row["n_each"], row["n_axes"], row["n_splits"], row["reason"]) == (20, 8, 1000, "")
    assert row["flagged"] == pytest.approx(found.table["flagged"].mean())
    smallest = found.table.set_index("axis_id")["statistic"][check.axes["axis_id"]].to_numpy()
    assert (check.axes["floor_statistic"].to_numpy()[[1, 4, 6]] < smallest[[1, 4, 6]]).all()


def test_some_axes_alone_have_the_same_rows(checked):
    cache, found, check = checked
    some = check.axes["axis_id"].tolist()[2:4]
    alone = validity(cache, found, some).axes
    expected = check.axes.iloc[2:4].reset_index(drop=True)
    assert alone.to_dict("records") == expected.to_dict("records")
    with pytest.raises(InputError, match="No axis of the set is called x"):
        validity(cache, found, ["x"])


def _reasons(cache: Cache, found: StoredAxes, **change: str) -> tuple[set[str], str, bool]:
    check = validity(cache, compute_axes(cache, replace(found.question, **change)))
    return (
        set(check.axes["reason"]),
        check.floor["reason"].iloc[0],
        check.floor.isna().any(axis=None),
    )


def test_too_few_reference_phrases_and_none_are_said(checked):
    cache, found, _ = checked
    for change, said in (
        ({"concepts": CONCEPTS}, "A floor for 40 concepts needs 80 reference phrases, not 40"),
        ({"reference": ""}, "no reference phrases were chosen"),
    ):
        reasons, of_floor, undefined = _reasons(cache, found, **change)
        assert {said in reason for reason in reasons} == {True}
        assert said in of_floor and undefined
