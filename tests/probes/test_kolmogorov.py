"""Two-sample Kolmogorov-Smirnov for many samples at once, against scipy one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.stats.probes.kolmogorov import (
    critical_gap,
    ks_gaps,
    ks_method,
    ks_pvalues,
    resampled_gaps,
    resampling_steps,
    splitting_steps,
)

LEVEL = 0.05


def _gap(x: list[float], y: list[float]) -> float:
    """D n1 n2 by looking at every value."""
    shares = [(sum(v <= t for v in x) / len(x), sum(v <= t for v in y) / len(y)) for t in [*x, *y]]
    return max(abs(a - b) for a, b in shares) * len(x) * len(y)


@given(st.lists(st.integers(0, 4), min_size=1), st.lists(st.integers(0, 4), min_size=1))
@settings(max_examples=100, deadline=None)
def test_the_gap_is_the_largest_difference_of_shares_with_ties_too(
    x: list[float], y: list[float]
) -> None:
    assert int(ks_gaps(x, y)) == pytest.approx(_gap(x, y), abs=1e-9)


@pytest.mark.parametrize(("n1", "n2"), [(1, 7), (4, 4), (10, 7), (50, 50), (100, 97), (3, 200)])
def test_exact_pvalues_are_scipys(n1: int, n2: int) -> None:
    rng = np.random.default_rng(n1)
    x, y = rng.normal(size=(40, n1)), rng.normal(rng.random((40, 1)), size=(40, n2))
    expected = [stats.ks_2samp(a, b, method="exact") for a, b in zip(x, y, strict=True)]
    gaps = ks_gaps(x, y)
    assert ks_method(n1, n2) == "exact"
    np.testing.assert_allclose(gaps / (n1 * n2), [e.statistic for e in expected], rtol=1e-12)
    np.testing.assert_allclose(ks_pvalues(gaps, n1, n2), [e.pvalue for e in expected], rtol=1e-9)


def test_small_exact_pvalues_are_shares_of_all_splits() -> None:
    n1, n2 = 3, 4
    gaps = np.array(
        [
            int(ks_gaps(list(chosen), [v for v in range(7) if v not in chosen]))
            for chosen in itertools.combinations(range(7), n1)
        ]
    )
    for gap in np.unique(gaps):
        assert float(ks_pvalues(gap, n1, n2)) == pytest.approx((gaps >= gap).mean(), abs=1e-12)
    assert float(ks_pvalues(0, n1, n2)) == 1.0


def test_the_smallest_exact_pvalue_keeps_its_digits() -> None:
    # Two walks of all C(200, 100) keep the samples wholly apart.
    expected = 2 / math.comb(200, 100)
    assert float(ks_pvalues(100 * 100, 100, 100)) == pytest.approx(expected, rel=1e-9)


def test_many_values_take_the_asymptotic_pvalue_of_scipy() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=600), rng.normal(0.1, size=550)
    expected = stats.ks_2samp(x, y, method="asymp").pvalue
    assert ks_method(600, 550) == "asymptotic"
    assert float(ks_pvalues(ks_gaps(x, y), 600, 550)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n1", "n2"), [(1, 200), (2, 3), (50, 50), (100, 97), (600, 500)])
def test_the_critical_gap_is_the_first_that_rejects(n1: int, n2: int) -> None:
    step = np.gcd(n1, n2)
    gaps = np.arange(0, n1 * n2 + 1, step)
    if len(gaps) > 20_000:  # around the place is enough
        found = critical_gap(n1, n2, LEVEL)
        gaps = np.arange(found - 50 * step, found + 50 * step, step)
    rejects = gaps[ks_pvalues(gaps, n1, n2) < LEVEL]
    expected = int(rejects[0]) if len(rejects) else n1 * n2 + 1
    assert critical_gap(n1, n2, LEVEL) == expected


@pytest.mark.parametrize("ties", [False, True])
def test_resampled_gaps_are_those_of_the_samples_drawn(ties: bool) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=30), rng.normal(0.4, size=23)
    if ties:
        x, y = x.round(1), y.round(1)
    steps = resampling_steps(30, 23, 200, rng=rng)
    gaps = resampled_gaps(np.append(x, y), steps)
    for drawn, gap in zip(steps.T, gaps, strict=True):
        a, b = np.repeat(x, drawn[:30] // 23), np.repeat(y, drawn[30:] // -30)
        assert (len(a), len(b)) == (30, 23)
        assert gap == pytest.approx(_gap(a.tolist(), b.tolist()), abs=1e-9)


def test_gaps_of_random_splits_are_those_of_the_two_parts() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(size=25)
    steps = splitting_steps(25, 10, 100, rng=rng)
    for drawn, gap in zip(steps.T, resampled_gaps(values, steps), strict=True):
        a, b = values[drawn > 0], values[drawn < 0]
        assert (len(a), len(b)) == (10, 10)
        assert gap == pytest.approx(_gap(a.tolist(), b.tolist()), abs=1e-9)
    assert len(np.unique(steps, axis=1).T) == 100


def test_draws_are_those_of_the_seed() -> None:
    first, again = (resampling_steps(9, 8, 50, rng=np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
