"""Agreement: statsmodels' kappa, scipy's correlation pair by pair, counts made by hand."""

from __future__ import annotations

import math
from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from core.stats.agreement import (
    change_correlation_if_unrelated,
    fates,
    mean_distance,
    pairwise_correlation,
    residuals,
    same_choice,
)

NAN = float("nan")
score = st.one_of(st.just(0.5), st.floats(0, 1), st.just(NAN))
versions = st.lists(st.tuples(score, score), max_size=25).map(
    lambda rows: np.array(rows).reshape(-1, 2).T
)


def scores(n_models: int = 4, n_items: int = 60, missing: float = 0.15, seed: int = 0):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.5, 0.1, n_items) + rng.normal(0, 0.1, (n_models, n_items))
    values[rng.random(values.shape) < missing] = NAN
    return values


def pairwise(values, expected=lambda a, b: stats.pearsonr(a, b).statistic):
    """Means over pairs, one pair at a time."""
    found = []
    for a, b in combinations(values, 2):
        both = np.isfinite(a) & np.isfinite(b)
        found.append(expected(a[both], b[both]))
    return np.mean(found)


def test_kappa_agrees_with_statsmodels():
    before, after = scores(seed=1), 0.4 * scores(seed=1) + 0.6 * scores(seed=2)
    both = np.isfinite(before) & np.isfinite(after)
    a, b = before[both] > 0.5, after[both] > 0.5
    table = [[(~a & ~b).sum(), (~a & b).sum()], [(a & ~b).sum(), (a & b).sum()]]
    expected = cohens_kappa(table)
    found = same_choice(before, after)
    assert found.kappa == pytest.approx(expected.kappa)
    assert found.n == both.sum()
    assert found.same == pytest.approx((table[0][0] + table[1][1]) / both.sum())


@given(versions)
def test_the_rate_of_independent_versions_is_that_of_all_combinations(rows):
    found = same_choice(*rows)
    whole = np.isfinite(rows).all(axis=0)
    a, b = rows[:, whole] > 0.5
    if len(a) == 0:
        assert np.isnan([found.same, found.expected, found.kappa]).all()
        return
    assert found.expected == pytest.approx(np.equal.outer(a, b).mean())
    if found.expected < 1:
        assert found.kappa == pytest.approx((found.same - found.expected) / (1 - found.expected))
    else:
        assert found.same == 1
        assert math.isnan(found.kappa)


def test_a_tie_is_no_choice_of_the_stereotype():
    found = same_choice([0.5, 0.5, 0.5, 0.7], [0.4, 0.5, 0.6, 0.5])
    assert (found.n, found.same) == (4, 0.5)


def test_choices_on_another_scale_turn_at_its_neutral_score():
    u = np.array([-1.0, 0.2, 3.0, -0.1]), np.array([0.3, 0.1, 2.0, -2.0])
    assert same_choice(*u, neutral=0).same == 0.75


def test_opposite_choices_have_a_kappa_of_minus_one():
    found = same_choice([0.9, 0.1] * 5, [0.1, 0.9] * 5)
    assert (found.same, found.expected, found.kappa) == (0, 0.5, -1)


def test_fates_counted_by_hand():
    before = [0.9, 0.9, 0.9, 0.9, 0.55, 0.5, 0.45, 0.1, 0.1, 0.1, 0.1, 0.1, NAN, 0.9]
    after = [0.8, 0.55, 0.45, 0.2, 0.99, 0.9, 0.01, 0.2, 0.45, 0.5, 0.55, 0.8, 0.9, NAN]
    assert astuple(fates(before, after)) == (12, 4, 1, 2, 1, 5, 1, 3, 1)


@given(versions)
def test_fates_mirror_when_the_poles_change_places(rows):
    # Sixteenths are exact, so 1 - x lies on the mirrored side of every border.
    rows = np.round(rows * 16) / 16
    here, there = fates(*rows, clear=1 / 16), fates(*(1 - rows), clear=1 / 16)
    assert astuple(here)[1:5] == astuple(there)[5:]
    assert astuple(here)[5:] == astuple(there)[1:5]
    assert here.n_above == here.kept + here.neutral + here.reversed
    assert here.n_below == here.kept_below + here.neutral_below + here.reversed_below


def test_distance_counts_both_sides_of_neutral_alike():
    assert mean_distance([0.2, 0.8, 0.5, NAN]) == pytest.approx(0.2)
    assert mean_distance([-2.0, 1.0], neutral=0) == 1.5
    assert math.isnan(mean_distance([NAN]))


def test_agreement_between_models_agrees_with_scipy_pair_by_pair():
    values = scores()
    found = pairwise_correlation(values)
    assert found.r == pytest.approx(pairwise(values), abs=1e-12)
    assert (found.n_pairs, found.n_undefined) == (6, 0)
    assert found.n_items == (np.isfinite(values).sum(axis=0) > 1).sum()


def test_models_that_share_too_little_make_no_pair():
    values = np.array(
        [
            [0.1, 0.4, 0.3, 0.9, NAN, NAN],
            [0.2, 0.3, 0.4, NAN, 0.1, NAN],
            [NAN, NAN, 0.4, 0.8, 0.9, 0.3],
        ]
    )
    found = pairwise_correlation(values)
    assert found.r == pytest.approx(stats.pearsonr(values[0, :3], values[1, :3]).statistic)
    assert (found.n_pairs, found.n_undefined, found.n_items) == (1, 2, 3)


def test_a_model_that_does_not_vary_on_the_shared_items_makes_no_pair():
    values = np.array([[0.3, 0.3, 0.3, 0.9], [0.2, 0.3, 0.4, NAN], [0.1, 0.6, 0.2, 0.3]])
    found = pairwise_correlation(values)
    assert (found.n_pairs, found.n_undefined) == (2, 1)


@pytest.mark.parametrize(
    "values", [np.zeros((0, 3)), scores(1), np.full((3, 4), NAN), np.full((2, 5), 0.3)]
)
def test_without_a_pair_agreement_is_undefined(values):
    found = pairwise_correlation(values)
    assert math.isnan(found.r)
    assert (found.n_pairs, found.n_items) == (0, 0)


def test_residuals_agree_with_scipy_model_by_model():
    before, after = scores(seed=3), 0.3 * scores(seed=3) + scores(seed=4)
    found = residuals(before, after)
    for x, y, left in zip(before, after, found, strict=True):
        both = np.isfinite(x) & np.isfinite(y)
        fit = stats.linregress(x[both], y[both])
        np.testing.assert_allclose(
            left[both], (y - fit.intercept - fit.slope * x)[both], atol=1e-12
        )
        assert np.isnan(left[~both]).all()


def test_residuals_without_spread_before_are_undefined():
    assert np.isnan(residuals(np.full((1, 5), 0.5), scores(1, 5, missing=0))).all()


def test_changes_agree_by_construction_when_the_scores_after_are_noise():
    rng = np.random.default_rng(5)
    before = scores(6, 40_000, missing=0)
    after = rng.normal(0.5, 0.12, before.shape)
    found = change_correlation_if_unrelated(before, after)
    assert found == pytest.approx(pairwise(after - before), abs=0.01)
    assert found > 0.2


def test_the_agreement_by_construction_is_the_covariance_before_over_the_spread_of_changes():
    before, after = scores(missing=0), scores(seed=9, missing=0)

    def expected(i, j):
        total = [before[m].var() + after[m].var() for m in (i, j)]
        return np.cov(before[i], before[j], ddof=0)[0, 1] / np.sqrt(total[0] * total[1])

    value = np.mean([expected(i, j) for i, j in combinations(range(4), 2)])
    assert change_correlation_if_unrelated(before, after) == pytest.approx(value)


def test_one_model_agrees_with_nobody_by_construction():
    assert math.isnan(change_correlation_if_unrelated(scores(1), scores(1)))
    assert math.isnan(change_correlation_if_unrelated(np.full((2, 4), NAN), np.full((2, 4), NAN)))


@pytest.mark.parametrize("function", [same_choice, fates])
def test_scores_of_other_shapes_are_refused(function):
    with pytest.raises(ValueError, match="one shape"):
        function([0.1, 0.2], [0.1])


def test_the_agreement_by_construction_is_of_the_items_and_pairs_of_the_changes():
    before, after = scores(5, missing=0.2), scores(5, missing=0.2, seed=9)
    after[4] = before[4] + 0.1  # its changes do not vary, so no pair of it has an r of them
    whole = np.isfinite(before) & np.isfinite(after)

    def expected(i, j):
        both = whole[i] & whole[j]
        total = [before[m, both].var() + after[m, both].var() for m in (i, j)]
        return np.cov(before[i, both], before[j, both], ddof=0)[0, 1] / np.sqrt(np.prod(total))

    value = np.mean([expected(i, j) for i, j in combinations(range(4), 2)])
    assert pairwise_correlation(after - before).n_pairs == 6
    assert change_correlation_if_unrelated(before, after) == pytest.approx(value)
