"""Concepts against reference phrases: every test against scipy's, axis by axis."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.stats.multiple import benjamini_hochberg
from core.stats.probes.stereotypicality import stereotypicality
from core.stats.probes.undefined import Undefined


def _values(n1: int, n2: int, n_axes: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shifts, spreads = rng.normal(0, 0.6, (n_axes, 1)), rng.uniform(0.5, 2, (n_axes, 1))
    return rng.normal(shifts, spreads, (n_axes, n1)), rng.normal(size=(n_axes, n2))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n1", "n2"), [(50, 50), (40, 57), (8, 30), (5, 6)])
def test_every_test_is_scipys(n1: int, n2: int, ties: bool) -> None:
    x, y = _values(n1, n2)
    if ties:
        x, y = x.round(1), y.round(1)
    found = stereotypicality(x, y)
    assert (found.n_concepts, found.n_reference, found.method) == (n1, n2, "exact")
    for axis, (a, b) in enumerate(zip(x, y, strict=True)):
        ks = stats.ks_2samp(a, b, method="exact")
        assert found.statistic[axis] == pytest.approx(ks.statistic)
        assert found.pvalue[axis] == pytest.approx(ks.pvalue, rel=1e-9)
        mw = stats.mannwhitneyu(a, b)
        assert found.pvalue_location[axis] == pytest.approx(mw.pvalue, rel=1e-9)
        assert found.superiority[axis] == pytest.approx(mw.statistic / (n1 * n2))
        spread = stats.levene(a, b, center="median")
        assert found.pvalue_spread[axis] == pytest.approx(spread.pvalue, rel=1e-9)
        distances = [np.abs(v - np.median(v)).mean() for v in (a, b)]
        assert found.spread_ratio[axis] == pytest.approx(distances[0] / distances[1])
        assert found.difference[axis] == pytest.approx(a.mean() - b.mean())
    np.testing.assert_array_equal(found.pvalue_adjusted, benjamini_hochberg(found.pvalue))
    np.testing.assert_array_equal(found.flagged, found.pvalue < 0.05)


def test_swapping_poles_keeps_the_tests_and_turns_the_difference() -> None:
    x, y = _values(30, 30)
    there, back = stereotypicality(x, y), stereotypicality(-x, -y)
    np.testing.assert_array_equal(there.pvalue, back.pvalue)
    np.testing.assert_allclose(there.pvalue_spread, back.pvalue_spread)
    np.testing.assert_allclose(there.difference, -back.difference)
    np.testing.assert_allclose(there.superiority, 1 - back.superiority)


def test_undefined_axes_carry_a_reason_are_never_flagged_and_count_in_no_family() -> None:
    x, y = _values(30, 40, n_axes=5)
    x[0], y[0] = 0.25, 0.25
    x[1, 3] = np.nan
    x[2] = y[2] = np.nan
    y[3, 0] = np.inf
    found = stereotypicality(x, y)
    assert found.undefined == (
        Undefined.CONSTANT,
        Undefined.NOT_FINITE,
        Undefined.NO_HEAD,
        Undefined.NOT_FINITE,
        Undefined.NO,
    )
    numbers = [found.statistic, found.pvalue, found.pvalue_adjusted, found.pvalue_location]
    numbers += [found.pvalue_spread, found.difference, found.superiority, found.spread_ratio]
    for values in numbers:
        assert np.isnan(values[:4]).all() and np.isfinite(values[4])
    assert not found.flagged[:4].any()
    assert found.pvalue_adjusted[4] == found.pvalue[4]  # a family of one
    assert all(reason for reason in found.undefined[:4])


def test_values_that_differ_by_rounding_only_are_constant() -> None:
    x = np.full((1, 30), 0.3) + np.random.default_rng(0).normal(0, 1e-16, (1, 30))
    found = stereotypicality(x, x + 1e-14)
    assert found.undefined == (Undefined.CONSTANT,) and not found.flagged.any()


def test_one_concept_is_too_few() -> None:
    x, y = _values(1, 200)
    found = stereotypicality(x + 100, y)
    assert set(found.undefined) == {Undefined.TOO_FEW}
    assert not found.flagged.any() and np.isnan(found.pvalue_adjusted).all()
    assert (found.n_concepts, found.n_reference) == (1, 200)


def test_a_phrase_without_any_value_is_left_out_and_not_counted() -> None:
    x, y = _values(20, 25)
    broken = np.insert(x, 4, np.nan, axis=1)
    found, whole = stereotypicality(broken, y), stereotypicality(x, y)
    assert found.n_concepts == 20
    np.testing.assert_array_equal(found.pvalue, whole.pvalue)


def test_groups_without_spread_have_no_test_of_spread() -> None:
    found = stereotypicality(np.zeros((1, 10)), np.ones((1, 10)))
    assert found.undefined == (Undefined.NO,) and found.statistic[0] == 1.0 and found.flagged[0]
    assert np.isnan(found.pvalue_spread[0]) and np.isnan(found.spread_ratio[0])


def test_no_axis_and_no_phrase_are_no_error() -> None:
    assert stereotypicality(np.zeros((0, 5)), np.zeros((0, 6))).undefined == ()
    nothing = stereotypicality(np.zeros((2, 0)), np.ones((2, 6)))
    assert set(nothing.undefined) == {Undefined.TOO_FEW} and np.isnan(nothing.statistic).all()


def test_other_axes_on_either_side_are_refused() -> None:
    with pytest.raises(ValueError, match=r"have the shape \(axes, phrases\)"):
        stereotypicality(np.zeros((2, 5)), np.zeros((3, 5)))
