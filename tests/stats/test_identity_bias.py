"""Bias by identity: a hand-computed example, and naive loops over drawn pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.stats.identity_bias import (
    interval_over_predicates,
    multiway_tallies,
    predicate_tallies,
    tally,
    with_choices,
)
from core.stats.pairs import preferred, published_preferred
from core.stats.resampling import bootstrap_weights
from core.stats.shares import wilson_interval

NAN = math.nan


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_three_identities_by_hand() -> None:
    # identity 0: 3 of 4; identity 1: a tie and a loss, one uninformative; identity 2: 1 of 1;
    # identity 3 has no pair with a choice.
    choices = np.array([[1, 1, 1, 0, 0.5, 0, NAN, 1, NAN]])
    found = tally(choices, np.array([0, 0, 0, 0, 1, 1, 1, 2, 3]), 4)
    assert found.shares[0].tolist() == pytest.approx([0.75, 0.25, 1.0, NAN], nan_ok=True)
    assert found.counts[0].tolist() == [4, 2, 1, 0]
    assert found.weighted[0] == pytest.approx(4.5 / 7)
    assert found.mean[0] == pytest.approx((0.75 + 0.25 + 1) / 3)
    assert found.spread[0] == pytest.approx(0.75)


def test_an_average_near_one_half_hides_what_lies_far_apart() -> None:
    choices = np.repeat([1, 0, 1, 0], [97, 3, 6, 94])[None].astype(float)
    found = tally(choices, np.repeat([0, 1], 100), 2)
    assert found.weighted[0] == found.mean[0] == 0.515
    assert found.shares[0].tolist() == [0.97, 0.06]
    assert found.spread[0] == pytest.approx(0.91)


def test_nothing_is_undefined_and_one_identity_has_no_spread() -> None:
    nothing = tally(np.full((1, 2), NAN), np.array([0, 1]), 2)
    values = (nothing.weighted[0], nothing.mean[0], nothing.spread[0])
    assert all(math.isnan(value) for value in values)
    one = tally(np.array([[1.0, 0.0, NAN]]), np.array([0, 0, 1]), 2)
    assert (one.weighted[0], one.mean[0]) == (0.5, 0.5)
    assert math.isnan(one.spread[0])


def made(seed: int = 3) -> tuple[np.ndarray, ...]:
    """Two models; pairs with and without a name, ties and pairs without a choice among them."""
    draw = rng(seed)
    n = 400
    choices = draw.choice([0.0, 0.5, 1.0, NAN], (2, n), p=[0.4, 0.05, 0.45, 0.1])
    identities, predicates = draw.integers(0, 3, n), draw.integers(0, 8, n)
    templates = draw.integers(0, 6, n)
    names = np.where(templates == 0, draw.integers(0, 7, n), -1)
    return choices, identities, predicates, templates, names


def naive(choices: np.ndarray, identities: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Shares over a list that holds every pair as often as it was drawn. (M, I)"""
    drawn = np.repeat(np.arange(len(times)), times.astype(int))
    shares = np.full((len(choices), 3), NAN)
    for m, row in enumerate(choices):
        for i in range(3):
            of = row[drawn][identities[drawn] == i]
            if (~np.isnan(of)).any():
                shares[m, i] = np.nanmean(of)
    return shares


def test_predicates_are_drawn_with_all_their_pairs() -> None:
    choices, identities, predicates, *_ = made()
    found = predicate_tallies(choices, identities, predicates, 3, n_resamples=20, rng=rng(5))
    weights = bootstrap_weights(8, 20, rng=rng(5))
    for r in range(20):
        expected = naive(choices, identities, weights[r][predicates])
        assert found.shares[r] == pytest.approx(expected, nan_ok=True)
    same = predicate_tallies(
        choices, identities, predicates, 3, n_resamples=20, rng=rng(), weights=weights
    )
    assert np.array_equal(same.sums, found.sums)


def test_predicates_templates_and_names_are_drawn_at_once() -> None:
    choices, identities, predicates, templates, names = made()
    factors = (predicates, templates, names)
    found = multiway_tallies(choices, identities, factors, 3, n_resamples=20, rng=rng(5))
    draw = rng(5)
    weights = [bootstrap_weights(n, 20, rng=draw) for n in (8, 6, 7)]
    for r in range(20):
        times = weights[0][r][predicates] * weights[1][r][templates]
        times *= np.where(names < 0, 1, weights[2][r][names])
        assert found.shares[r] == pytest.approx(naive(choices, identities, times), nan_ok=True)


def test_a_factor_of_few_levels_is_held() -> None:
    choices, identities, predicates, templates, names = made()
    few = (predicates, templates % 4, np.full_like(names, -1))
    crossed = multiway_tallies(choices, identities, few, 3, n_resamples=20, rng=rng(5))
    alone = predicate_tallies(choices, identities, predicates, 3, n_resamples=20, rng=rng(5))
    assert crossed.sums == pytest.approx(alone.sums)
    assert crossed.counts == pytest.approx(alone.counts)


def test_the_published_choice_is_of_rounded_scores_and_a_tie_is_against() -> None:
    more = np.array([-1.0, -1.0004, -1.0006, -1.00149, -2.0, NAN])
    less = np.array([-1.0, -1.0, -1.0, -1.00051, -1.0, -1.0])
    expected = [0, 0, 0, 0, 0, NAN]
    assert published_preferred(more, less).tolist() == pytest.approx(expected, nan_ok=True)
    back = published_preferred(less, more).tolist()
    assert back == pytest.approx([0, 0, 1, 0, 1, NAN], nan_ok=True)
    assert preferred(less, more).tolist() == pytest.approx([0.5, 1, 1, 1, 1, NAN], nan_ok=True)


def test_published_choices_are_those_of_rounding_every_score() -> None:
    more, less = rng().normal(-30, 0.002, (2, 5_000))
    rounded = [[round(x, 3) for x in side.tolist()] for side in (more, less)]
    expected = [float(a > b) for a, b in zip(*rounded, strict=True)]
    assert published_preferred(more, less).tolist() == expected


def test_half_a_choice_counts_half_in_the_binomial_interval() -> None:
    low, high = (wilson_interval(n, 10).low for n in (4, 5))
    assert low < wilson_interval(4.5, 10).low < high
    assert wilson_interval(4.5, 10).value == 0.45


def test_quantiles_lie_further_out_for_few_predicates() -> None:
    draws = np.linspace(0, 1, 10_001)
    many, few = (interval_over_predicates(0.5, draws, n) for n in (10_000, 6))
    assert (many.low, many.high) == pytest.approx((0.025, 0.975), abs=1e-3)
    z = stats.t.ppf(0.975, 5) * math.sqrt(6 / 5)
    assert (few.low, few.high) == pytest.approx((stats.norm.cdf(-z), stats.norm.cdf(z)), abs=1e-6)
    assert math.isnan(interval_over_predicates(0.5, draws, 4).low)


def test_predicates_count_where_they_have_a_choice() -> None:
    choices = np.array([[1.0, 0.0, NAN], [NAN, NAN, 1.0]])
    there = with_choices(choices, np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    assert there.tolist() == [[[True, True], [False, False]], [[False, False], [False, True]]]
