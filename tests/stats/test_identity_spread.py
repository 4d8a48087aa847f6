"""The spread of identities and their sides: by hand, and how often chance passes for more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.stats.identity_bias import interval_of_share, interval_over_predicates
from core.stats.identity_spread import clear_sides, spread_interval
from core.stats.shares import wilson_interval

MANY = np.full(9, 10_000)


def drawn(shares: np.ndarray, sd: float, rng: np.random.Generator, n: int = 4_000) -> np.ndarray:
    return shares + rng.normal(0, sd, (n, len(shares)))


def test_the_interval_of_the_spread_is_the_quantile_of_ranges_on_both_sides() -> None:
    rng = np.random.default_rng(1)
    shares = np.array([0.2, 0.5, 0.9])
    found = spread_interval(shares, drawn(shares, 0.03, rng), MANY[:3])
    # The range of three independent normal numbers is the studentised range without a denominator.
    q = 0.03 * stats.studentized_range(3, np.inf).ppf(0.95)
    assert found.value == pytest.approx(0.7)
    assert (found.low, found.high) == pytest.approx((0.7 - q, 0.7 + q), abs=0.004)


def test_equal_shares_have_a_spread_of_nothing_in_their_interval() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        shares = 0.5 + rng.normal(0, 0.04, 9)  # what chance makes of equal identities
        held += spread_interval(shares, drawn(shares, 0.04, rng, 500), MANY).low == 0
    assert held >= 180


@pytest.mark.parametrize("n_identities", [2, 9, 60])
def test_chance_is_rarely_taken_for_a_clear_side(n_identities: int) -> None:
    rng = np.random.default_rng(3)
    wrong = 0
    n = np.full(n_identities, 10_000)
    for _ in range(200):
        shares = 0.5 + rng.normal(0, 0.04, n_identities)
        wrong += bool(clear_sides(shares, drawn(shares, 0.04, rng, 500), n).any())
    assert wrong <= 22  # 5 % of 200, and three standard errors


def test_identities_far_from_one_half_are_clear_whatever_their_number() -> None:
    rng = np.random.default_rng(4)
    shares = np.array([0.97, 0.06, *[0.5] * 58])
    sides = clear_sides(shares, drawn(shares, 0.02, rng), np.full(60, 40))
    assert sides[:2].tolist() == [1, -1]


def test_all_or_nothing_is_judged_by_its_predicates() -> None:
    shares = np.array([1.0, 0.0, 1.0, 0.5])
    draws = np.tile(shares, (100, 1))
    sides = clear_sides(shares, draws, np.array([30, 30, 5, 30]))
    assert sides.tolist() == [1, -1, 0, 0]  # five predicates that agree are no proof among four
    assert wilson_interval(5, 5, level=1 - 0.05 / 4).low < 0.5
    assert clear_sides(shares, draws, np.array([4, 30, 30, 30])).tolist() == [0, -1, 1, 0]


def test_a_share_on_which_all_resamples_agree_has_the_interval_of_its_predicates() -> None:
    found = interval_of_share(1.0, np.ones(100), 12)
    expected = wilson_interval(12, 12)
    assert (found.low, found.high) == (expected.low, expected.high)
    assert math.isnan(interval_of_share(1.0, np.ones(100), 4).low)
    assert math.isnan(interval_of_share(0.5, np.full(100, 0.5), 12).low), "all ties"
    assert math.isnan(interval_over_predicates(0.0, np.zeros(100), 12).low), "a difference"
    draws = np.linspace(0.2, 0.4, 101)
    assert interval_of_share(0.3, draws, 12) == interval_over_predicates(0.3, draws, 12)


def test_what_has_no_spread_or_no_interval_of_it() -> None:
    rng = np.random.default_rng(5)
    one = spread_interval(np.array([0.5, np.nan]), np.full((10, 2), 0.5), MANY[:2])
    assert math.isnan(one.value)
    shares = np.array([0.4, 0.6])
    few = spread_interval(shares, drawn(shares, 0.03, rng), np.array([4, 40]))
    assert few.value == pytest.approx(0.2) and math.isnan(few.low)
    still = spread_interval(np.array([0.0, 1.0]), np.tile([0.0, 1.0], (50, 1)), MANY[:2])
    assert still.value == 1 and math.isnan(still.low)


def test_an_identity_that_some_resamples_lack_is_left_out_of_these() -> None:
    rng = np.random.default_rng(6)
    shares = np.array([0.3, 0.5, 0.7])
    draws = drawn(shares, 0.03, rng)
    draws[::3, 1] = np.nan
    found = spread_interval(shares, draws, MANY[:3])
    assert 0.2 < found.low < 0.4 < found.high < 0.6
    assert clear_sides(shares, draws, MANY[:3]).tolist() == [-1, 0, 1]


def test_an_interval_never_leaves_what_a_spread_can_be() -> None:
    rng = np.random.default_rng(7)
    shares = np.array([0.02, 0.98])
    found = spread_interval(shares, drawn(shares, 0.05, rng), MANY[:2])
    assert found.high == 1.0 and 0 < found.low < 0.96


def test_one_pair_that_dissents_does_not_make_an_interval_narrow() -> None:
    draws = np.full(1_000, 719 / 720)
    draws[::3] = 718 / 720
    found = interval_of_share(719 / 720, draws, 12)
    usual = wilson_interval(12 * 719 / 720, 12)
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high))
    assert abs(found.low - interval_of_share(1.0, np.ones(1_000), 12).low) < 0.01


def test_a_share_that_does_not_move_in_the_middle_is_on_no_side() -> None:
    sides = clear_sides(np.array([0.75]), np.full((100, 1), 0.75), np.array([40]))
    assert sides.tolist() == [0]
