"""Shares of a few people's answers and their intervals."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binomtest

from core.stats.shares import wilson_interval


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("n_yes", "n"), [(0, 6), (2, 6), (5, 7), (9, 9), (1, 1), (150, 400)])
def test_the_interval_is_that_of_scipy(n_yes: int, n: int, level: float) -> None:
    found = wilson_interval(n_yes, n, level=level)
    expected = binomtest(n_yes, n).proportion_ci(level, method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (found.value, found.n) == (n_yes / n, n)


def test_no_answer_has_no_share() -> None:
    found = wilson_interval(0, 0)
    assert all(math.isnan(each) for each in (found.value, found.low, found.high))
    assert found.n == 0
