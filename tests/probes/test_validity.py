"""Checks of an axis against loops, scipy and what is known to be there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.errors import InputError
from core.stats.multiple import benjamini_hochberg
from core.stats.probes.direction import PoleSums, direction, separability
from core.stats.probes.undefined import Undefined
from core.stats.probes.validity import (
    above_swapped,
    compare_probes,
    direction_null,
    length_association,
    random_directions,
    reference_floor,
    value_agreement,
)
from tests.planted_heads import pole_sums

RNG = np.random.default_rng


def test_the_floor_is_the_share_of_splits_that_reject() -> None:
    values = RNG(0).normal(size=(3, 25))
    found = reference_floor(values, 10, n_splits=200, rng=RNG(1))
    assert (found.n_each, found.n_axes, found.n_splits) == (10, 3, 200)
    labels = np.repeat([1, -1, 0], [10, 10, 5]).astype(np.int32)
    splits = RNG(1).permuted(np.tile(labels, (200, 1)), axis=1)  # the draws behind it
    tests = [
        [stats.ks_2samp(row[s > 0], row[s < 0], method="exact") for s in splits] for row in values
    ]
    rejected = np.array([[t.pvalue < 0.05 for t in row] for row in tests])
    np.testing.assert_allclose(found.shares, rejected.mean(axis=0))
    assert found.share == pytest.approx(rejected.mean())
    assert found.high == pytest.approx(np.quantile(rejected.mean(axis=0), 0.95))
    np.testing.assert_allclose(
        found.statistic, [np.mean([t.statistic for t in row]) for row in tests]
    )


def test_axes_that_share_their_phrases_are_flagged_together() -> None:
    values = RNG(2).normal(size=(1, 60))
    alike, apart = np.tile(values, (50, 1)), RNG(3).normal(size=(50, 60))
    together = reference_floor(alike, 30, n_splits=400, rng=RNG(4))
    alone = reference_floor(apart, 30, n_splits=400, rng=RNG(4))
    assert together.shares.std() > 4 * alone.shares.std()
    for found in (together, alone):
        assert found.share < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)


def test_undefined_axes_enter_no_floor_and_few_phrases_are_refused() -> None:
    values = RNG(5).normal(size=(3, 20))
    values[0], values[1, 3] = 1.5, np.nan
    found = reference_floor(values, 10, n_splits=50, rng=RNG(6))
    assert found.n_axes == 1 and np.isnan(found.statistic[:2]).all()
    nothing = reference_floor(values[:1], 10, n_splits=50, rng=RNG(6))
    assert nothing.n_axes == 0 and math.isnan(nothing.share) and math.isnan(nothing.high)
    with pytest.raises(InputError, match="11 concepts needs 22 reference phrases, not 20: add 2"):
        reference_floor(values, 11, rng=RNG(6))
    with pytest.raises(InputError, match="at least 2 concepts"):
        reference_floor(values, 1, rng=RNG(6))


def _pair(seed: int, shift: float) -> tuple[PoleSums, PoleSums]:
    rng = RNG(seed)
    at = np.zeros((3, 4, 5))
    at[0, :2] = shift  # two heads tell the poles apart
    low, high = rng.normal(size=(2, 15, 3, 4, 5))
    return pole_sums(low.astype(np.float32)), pole_sums((high + at).astype(np.float32))


def test_compared_probes_are_looked_at_in_the_heads_of_the_first() -> None:
    first, second = _pair(0, 2.0), _pair(1, 2.0)
    found = compare_probes(first, second, k=3)
    r, other = separability(*first).ravel(), separability(*second).ravel()
    heads, others = np.argsort(-r)[:3], np.argsort(-other)[:3]
    a, b = (direction(*pair).reshape(12, 5) for pair in (first, second))
    cosines = [a[h] @ b[h] / (np.linalg.norm(a[h]) * np.linalg.norm(b[h])) for h in heads]
    assert found.n_heads == 3 and found.expected_overlap == 0.25
    assert found.cosine == pytest.approx(np.mean(cosines))
    assert found.overlap == pytest.approx(len(set(heads) & set(others)) / 3)
    assert found.separability == pytest.approx(r[heads].mean())
    assert found.separability_other == pytest.approx(other[heads].mean())
    assert found.chance == pytest.approx(1 / 28)


def test_swapped_poles_in_the_second_turn_the_cosine_alone() -> None:
    first, (low, high) = _pair(0, 2.0), _pair(1, 2.0)
    there, back = compare_probes(first, (low, high), k=3), compare_probes(first, (high, low), k=3)
    assert back.cosine == pytest.approx(-there.cosine)
    assert (back.overlap, back.separability_other) == (there.overlap, there.separability_other)


def test_probes_without_a_varying_head_are_undefined() -> None:
    still = pole_sums(np.ones((5, 3, 4, 5), dtype=np.float32))
    found = compare_probes((still, still), _pair(0, 1.0), k=3)
    assert found.n_heads == 0 and math.isnan(found.cosine) and math.isnan(found.overlap)
    assert math.isnan(found.separability_other) and math.isnan(found.expected_overlap)


def test_heads_above_swaps_are_counted_among_those_looked_at() -> None:
    observed = np.array([[0.5, 0.1, np.nan], [0.3, 0.2, 0.9]])
    swapped = np.full((8, 2, 3), 0.2)
    swapped[3, 1, 0] = 0.4
    every = above_swapped(observed, swapped, np.arange(6))
    assert (every.share, every.n_heads, every.n_patterns) == (pytest.approx(2 / 5), 5, 8)
    assert every.expected == pytest.approx(1 / 9)
    assert above_swapped(observed, swapped, np.array([0, 5])).share == 1.0
    assert math.isnan(above_swapped(observed, swapped, np.array([2])).share)


def test_exchangeable_labels_are_above_swaps_as_often_as_expected() -> None:
    grids = RNG(7).random((9, 60, 60))
    found = above_swapped(grids[0], grids[1:], np.arange(3600))
    error = math.sqrt(found.expected * (1 - found.expected) / 3600)
    assert found.share == pytest.approx(found.expected, abs=4 * error)


def test_meaningless_directions_are_tested_as_axes_are() -> None:
    rng = RNG(8)
    concepts, reference = rng.normal(0.2, 1, (20, 4, 6)), rng.normal(size=(22, 4, 6))
    directions = random_directions(60, 4, 6, rng=rng)
    found = direction_null(concepts, reference, directions)
    expected = []
    for theta in directions:
        z = [
            stats.zscore(np.concatenate([concepts[:, h] @ theta[h], reference[:, h] @ theta[h]]))
            for h in range(4)
        ]
        values = np.mean(z, axis=0)
        expected.append(stats.ks_2samp(values[:20], values[20:], method="exact"))
    np.testing.assert_allclose(found.statistic, [e.statistic for e in expected])
    assert found.share == pytest.approx(np.mean([e.pvalue < 0.05 for e in expected]))
    assert (found.n_directions, found.n_heads) == (60, 4)
    largest = float(found.statistic.max())
    assert found.pvalue(largest + 0.01) == pytest.approx(1 / 61)
    assert found.pvalue(0.0) == 1.0 and math.isnan(found.pvalue(math.nan))


def test_directions_in_heads_that_do_not_vary_are_none() -> None:
    still = np.ones((9, 2, 3))
    found = direction_null(still, still, random_directions(5, 2, 3, rng=RNG(9)))
    assert found.n_directions == 0 and math.isnan(found.share) and math.isnan(found.pvalue(0.9))


def test_agreement_of_values_is_pearsons_r_and_nan_where_nothing_varies() -> None:
    first, second = RNG(10).normal(size=(3, 12)), RNG(11).normal(size=(3, 12))
    first[0, 2], first[2] = np.nan, 1.0
    found = value_agreement(first, second)
    whole = np.isfinite(first[0])
    assert found[0] == pytest.approx(stats.pearsonr(first[0, whole], second[0, whole])[0])
    assert found[1] == pytest.approx(stats.pearsonr(first[1], second[1])[0])
    assert math.isnan(found[2])


def test_association_with_length_is_spearmans_of_scipy() -> None:
    lengths = RNG(13).integers(5, 12, 30).astype(float)
    values = 0.3 * lengths * np.array([[0.0], [1.0], [-2.0]]) + RNG(14).normal(size=(3, 30))
    found = length_association(values, lengths)
    for axis, row in enumerate(values):
        expected = stats.spearmanr(row, lengths)
        assert found.r[axis] == pytest.approx(expected.statistic)
        assert found.pvalue[axis] == pytest.approx(expected.pvalue, rel=1e-9)
    np.testing.assert_array_equal(found.pvalue_adjusted, benjamini_hochberg(found.pvalue))
    assert found.n == 30 and set(found.undefined) == {Undefined.NO}
    perfect = length_association(lengths[None], lengths)
    assert perfect.r[0] == pytest.approx(1.0) and perfect.pvalue[0] == pytest.approx(0.0)


def test_association_with_length_is_undefined_with_its_reason() -> None:
    values = RNG(15).normal(size=(3, 10))
    values[0], values[1, 2] = 2.0, np.nan
    lengths = np.arange(10.0)
    found = length_association(values, lengths)
    assert found.undefined == (Undefined.CONSTANT, Undefined.NOT_FINITE, Undefined.NO)
    assert np.isnan(found.r[:2]).all() and np.isnan(found.pvalue[:2]).all()
    same = length_association(values, np.full(10, 7.0))
    assert set(same.undefined) == {Undefined.ONE_LENGTH} and np.isnan(same.pvalue).all()
    few = length_association(values[:, :2], lengths[:2])
    assert set(few.undefined) == {Undefined.TOO_FEW}
    with pytest.raises(ValueError, match="lengths"):
        length_association(values, lengths[:4])
