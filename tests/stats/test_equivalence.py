"""Equivalence: against two one-sided t tests of scipy, and by simulating the promised power."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.stats.equivalence import equivalence_n, is_equivalent
from core.stats.levels import LEAST_ITEMS

NAN = math.nan


@given(st.floats(-0.05, 0.05), st.floats(0.001, 0.05), st.integers(3, 500))
def test_the_interval_decides_as_two_one_sided_tests_do(mean: float, se: float, n: int) -> None:
    margin = 0.02
    half = scipy.stats.t.ppf(0.95, n - 1) * se
    p_low = scipy.stats.t.sf((mean + margin) / se, n - 1)
    p_high = scipy.stats.t.cdf((mean - margin) / se, n - 1)
    p = max(p_low, p_high)
    if abs(p - 0.05) > 1e-9:
        assert is_equivalent(mean - half, mean + half, margin) is bool(p < 0.05)


def test_an_end_on_the_margin_is_not_inside() -> None:
    assert is_equivalent(-0.01, 0.02, 0.02) is False
    assert is_equivalent(-0.02, 0.01, 0.02) is False
    assert is_equivalent(-0.0199, 0.0199, 0.02) is True


@pytest.mark.parametrize("ends", [(NAN, 0.01), (-0.01, NAN), (NAN, NAN)])
def test_an_undefined_interval_is_undecided_and_not_refused(ends: tuple[float, float]) -> None:
    assert is_equivalent(*ends, 0.02) is None


def test_items_needed_by_hand() -> None:
    # ((1.6449 + 1.2816) * 0.2 / 0.02)^2 = 29.264^2 = 856.4
    assert equivalence_n(0.2, 0.02) == 857
    assert equivalence_n(0.4, 0.02) == pytest.approx(4 * 857, abs=4)
    assert math.isnan(equivalence_n(0.0, 0.02))  # items that do not vary tell nothing
    assert math.isnan(equivalence_n(1e-17, 0.02))
    assert math.isnan(equivalence_n(NAN, 0.02))
    assert equivalence_n(1e-4, 0.02) == LEAST_ITEMS  # fewer have no interval


def test_with_that_many_items_no_shift_is_found_equivalent_four_times_in_five() -> None:
    sd, margin = 0.2, 0.02
    n = equivalence_n(sd, margin)
    means = np.random.default_rng(0).normal(0, sd / math.sqrt(n), 20_000)
    half = 1.6448536 * sd / math.sqrt(n)
    share = np.mean([is_equivalent(m - half, m + half, margin) for m in means.tolist()])
    assert share == pytest.approx(0.80, abs=0.01)


@pytest.mark.parametrize("margin", [0.0, -0.02, NAN, math.inf])
def test_a_margin_that_holds_nothing_is_refused(margin: float) -> None:
    with pytest.raises(InputError, match="positive"):
        is_equivalent(-0.01, 0.01, margin)
    with pytest.raises(InputError, match="positive"):
        equivalence_n(0.2, margin)
