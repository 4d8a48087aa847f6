"""Paired differences against hand-computed numbers and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.stats.paired import paired_correlation, paired_difference

NAN = float("nan")
score = st.floats(0, 1)
pairs = st.lists(st.tuples(score, score), min_size=2, max_size=30)


def test_differences_equal_hand_values() -> None:
    found = paired_difference([0.5, 0.4, 0.3, 0.6], [0.6, 0.2, 0.6, 0.6])
    # d = 0.1, -0.2, 0.3, 0.0: mean 0.05, squares around it sum to 0.13
    assert found.n == 4
    assert found.mean == pytest.approx(0.05)
    assert found.sd == pytest.approx(math.sqrt(0.13 / 3))
    half = 3.182446305 * math.sqrt(0.13 / 3) / 2  # t_.975 with 3 degrees of freedom, from a table
    assert found.confidence_interval == pytest.approx((0.05 - half, 0.05 + half))
    assert found.median_absolute == pytest.approx(0.15)
    assert found.largest_absolute == pytest.approx(0.3)


@given(pairs)
def test_the_interval_is_that_of_the_paired_t_test(values: list[tuple[float, float]]) -> None:
    a, b = np.array(values).T
    found = paired_difference(a, b)
    if np.ptp(b - a) < 1e-9:  # the t statistic itself is undefined or rounding error
        return
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert found.confidence_interval == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.mean == pytest.approx(np.mean(b) - np.mean(a), abs=1e-12)


def test_a_pair_with_one_value_missing_does_not_count() -> None:
    whole = paired_difference([0.1, 0.2, 0.4], [0.3, 0.1, 0.4])
    gaps = paired_difference([0.1, NAN, 0.2, 0.9, 0.4, NAN], [0.3, 0.5, 0.1, NAN, 0.4, NAN])
    assert gaps == whole
    assert gaps.n == 3


def test_one_pair_has_a_difference_but_no_interval() -> None:
    found = paired_difference([0.5], [0.25])
    assert (found.n, found.mean) == (1, -0.25)
    assert found.median_absolute == found.largest_absolute == 0.25
    assert np.isnan([found.sd, *found.confidence_interval]).all()


@pytest.mark.parametrize(("a", "b"), [([], []), ([NAN], [0.5]), ([0.5, NAN], [NAN, 0.5])])
def test_without_a_whole_pair_everything_is_undefined(a: list[float], b: list[float]) -> None:
    found = paired_difference(a, b)
    assert found.n == 0
    numbers = [found.mean, found.sd, *found.confidence_interval]
    assert np.isnan([*numbers, found.median_absolute, found.largest_absolute]).all()
    assert math.isnan(paired_correlation(a, b))


def test_equal_values_differ_by_zero_and_have_no_interval() -> None:
    found = paired_difference([0.2, 0.7], [0.2, 0.7])
    assert (found.mean, found.sd, found.largest_absolute) == (0, 0, 0)
    assert np.isnan(found.confidence_interval).all(), "no other items are known to do the same"


@given(pairs)
def test_the_other_way_round_only_the_sign_changes(values: list[tuple[float, float]]) -> None:
    a, b = np.array(values).T
    one, other = paired_difference(a, b), paired_difference(b, a)
    low, high = other.confidence_interval
    assert one.mean == -other.mean
    assert one.confidence_interval == pytest.approx((-high, -low), nan_ok=True)
    assert (one.sd, one.largest_absolute) == pytest.approx((other.sd, other.largest_absolute))


def test_the_correlation_is_pearsons_r_over_the_whole_pairs() -> None:
    a, b = np.random.default_rng(1).random((2, 40))
    with_gaps = paired_correlation([*a, NAN, 0.5], [*b, 0.5, NAN])
    assert with_gaps == pytest.approx(stats.pearsonr(a, b).statistic)
    # d_a = -1, 0, 1 and d_b = -1, 1, 0: r = 1 / 2
    assert paired_correlation([0, 1, 2], [0, 2, 1]) == pytest.approx(0.5)


@pytest.mark.parametrize(("a", "b"), [([0.1, 0.2], [0.3, 0.5]), ([0.1, 0.1, 0.1], [0.1, 0.2, 0.3])])
def test_two_points_or_a_constant_have_no_correlation(a: list[float], b: list[float]) -> None:
    assert math.isnan(paired_correlation(a, b))
    assert math.isnan(paired_correlation(b, a))


def test_unequal_shapes_are_refused() -> None:
    for function in (paired_difference, paired_correlation):
        with pytest.raises(ValueError, match="shape"):
            function([0.1, 0.2], [0.1])


def test_differences_that_are_all_alike_have_no_interval() -> None:
    found = paired_difference([0.5, 0.25, 0.75], [0.625, 0.375, 0.875])
    assert (found.n, found.mean, found.sd) == (3, 0.125, 0.0)
    assert np.isnan(found.confidence_interval).all(), "equal ends claim a certainty nobody has"
