"""Association: scipy's regression, statsmodels' dummies, and draws fitted one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS

from core.stats.association import (
    association,
    explained,
    line,
    line_within,
    resampled_sums,
    row_sums,
)
from core.stats.resampling import bootstrap_weights

NAN = float("nan")
NUMBERS = ("r", "slope", "at_neutral")
score = st.integers(0, 64).map(lambda n: n / 64)


def scores(n_models: int = 3, n_items: int = 40, seed: int = 0, missing: float = 0.1):
    """Scores of models with levels of their own, a third carried over, some missing."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(0.3, 0.7, (n_models, 1))
    shared = rng.normal(0, 0.1, n_items)
    before = level + shared + rng.normal(0, 0.08, (n_models, n_items))
    after = 0.4 + 0.3 * (before - 0.5) + rng.normal(0, 0.1, (n_models, n_items))
    before[rng.random(before.shape) < missing] = NAN
    after[rng.random(after.shape) < missing] = NAN
    return before, after


def whole(before, after):
    both = np.isfinite(before) & np.isfinite(after)
    return before[both], after[both]


def test_the_pooled_line_agrees_with_scipy():
    before, after = scores()
    found = association(before, after, n_resamples=50, rng=np.random.default_rng(1))
    x, y = whole(before, after)
    fit = stats.linregress(x, y)
    assert found.r.value == pytest.approx(fit.rvalue, abs=1e-12)
    assert found.r.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert found.slope.value == pytest.approx(fit.slope, abs=1e-12)
    assert found.at_neutral.value == pytest.approx(fit.intercept + 0.5 * fit.slope, abs=1e-12)
    assert found.sd_ratio == pytest.approx(y.std(ddof=1) / x.std(ddof=1), abs=1e-12)
    assert found.n_rows == len(x)


def test_the_line_within_models_agrees_with_a_regression_on_model_dummies():
    before, after = scores()
    found = association(before, after, n_resamples=50, rng=np.random.default_rng(1))
    both = np.isfinite(before) & np.isfinite(after)
    model = np.nonzero(both)[0]
    x, y = whole(before, after)
    dummies = np.equal.outer(model, np.arange(3)).astype(float)
    fit = OLS(y, np.column_stack([x, dummies])).fit()
    assert found.slope_within == pytest.approx(fit.params[0], abs=1e-12)
    means = OLS(np.column_stack([x, y]), dummies).fit().resid
    assert found.r_within == pytest.approx(np.corrcoef(means.T)[0, 1], abs=1e-12)


def test_levels_of_models_make_a_pooled_correlation_that_is_not_within():
    x = np.array([[0.1, 0.2, 0.3], [0.7, 0.8, 0.9]])
    y = np.array([[0.3, 0.2, 0.1], [0.9, 0.8, 0.7]])  # falling within each model
    found = association(x, y, n_resamples=50, rng=np.random.default_rng(1))
    assert found.r_within == pytest.approx(-1)
    assert found.r.value > 0.8


@given(st.lists(st.tuples(score, score), min_size=3, max_size=12))
def test_the_slope_is_the_correlation_times_the_ratio_of_spreads(pairs):
    x, y = np.array(pairs).T
    found = line(row_sums(x, y).sum(axis=-1))
    if np.ptp(x) == 0:
        assert np.isnan([found.r, found.sd_ratio, found.slope, found.intercept]).all()
    elif np.ptp(y) == 0:
        assert math.isnan(found.r)
        assert (found.sd_ratio, found.slope) == (0, 0)
        assert found.intercept == pytest.approx(y[0] - 0.5)
    else:
        assert found.slope == pytest.approx(float(found.r * found.sd_ratio), abs=1e-12)
        assert found.r == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


@given(st.lists(st.tuples(score, score), min_size=4, max_size=12), st.floats(-1, 1))
def test_the_origin_moves_nothing_but_where_the_intercept_is_read(pairs, origin):
    x, y = np.array(pairs).T
    here, there = (line(row_sums(x, y, origin=o).sum(axis=-1)) for o in (0.5, origin))
    if np.ptp(x) > 0:
        assert there.slope == pytest.approx(float(here.slope), abs=1e-9)
        value = float(there.intercept + there.slope * (0.5 - origin) + origin)
        assert value == pytest.approx(float(here.intercept + 0.5), abs=1e-9)


@pytest.mark.parametrize("n_models", [1, 4])
def test_intervals_agree_with_draws_fitted_one_by_one(n_models):
    before, after = scores(n_models, n_items=15)
    found = association(before, after, n_resamples=200, rng=np.random.default_rng(5))
    naive = {name: [] for name in NUMBERS}
    for weights in bootstrap_weights(15, 200, rng=np.random.default_rng(5)):
        drawn = np.repeat(np.arange(15), weights.astype(int))
        x, y = whole(before[:, drawn], after[:, drawn])
        fit = stats.linregress(x, y)
        naive["r"].append(fit.rvalue)
        naive["slope"].append(fit.slope)
        naive["at_neutral"].append(fit.intercept + 0.5 * fit.slope)
    for name in NUMBERS:
        interval = getattr(found, name)
        expected = np.quantile(naive[name], [0.025, 0.975])
        assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=1e-10)
        assert interval.n_undefined == 0


def test_draws_without_spread_are_counted_and_left_out():
    before = np.array([[0.2, 0.2, 0.2, 0.2, 0.6]])
    after = np.array([[0.1, 0.4, 0.3, 0.2, 0.8]])
    found = association(before, after, n_resamples=300, rng=np.random.default_rng(2))
    weights = bootstrap_weights(5, 300, rng=np.random.default_rng(2))
    without = ((weights[:, 4] == 0) | (weights[:, 4] == 5)).sum()
    assert found.r.n_undefined == found.slope.n_undefined == without > 0
    assert np.isfinite([found.r.low, found.r.high]).all()


def test_an_item_is_drawn_with_the_rows_of_all_models():
    # One model twice: twice the rows say nothing new, and the interval must stay as wide.
    before, after = scores(1, missing=0)
    once = association(before, after, n_resamples=200, rng=np.random.default_rng(3))
    twice = association(
        np.vstack([before] * 2),
        np.vstack([after] * 2),
        n_resamples=200,
        rng=np.random.default_rng(3),
    )
    assert twice.n_rows == 2 * once.n_rows
    assert twice.n_items == once.n_items
    assert (twice.r.low, twice.r.high) == pytest.approx((once.r.low, once.r.high))


def test_sums_of_rewordings_add_up_to_the_line_through_all_rows():
    (a, b), (_, c) = scores(seed=1), scores(seed=2)
    added = row_sums(a, b).sum(axis=-1) + row_sums(a, c).sum(axis=-1)
    x, y = whole(np.hstack([a, a]), np.hstack([b, c]))
    assert line(added.sum(axis=1)).r == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert line_within(added).n == len(x)


def test_blocks_of_draws_are_as_good_as_one(monkeypatch):
    values = np.random.default_rng(0).normal(size=(2, 3, 8))
    one = resampled_sums(values, n_resamples=60, rng=np.random.default_rng(1))
    monkeypatch.setattr("core.stats.association._AT_A_TIME", 80)
    many = resampled_sums(values, n_resamples=60, rng=np.random.default_rng(1))
    assert many.shape == (2, 3, 60)
    np.testing.assert_allclose(many, one)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (np.zeros((2, 0)), np.zeros((2, 0))),
        (np.full((2, 5), NAN), np.full((2, 5), 0.5)),
        ([[0.1, 0.9]], [[0.2, 0.7]]),
        ([[0.1, 0.9], [0.3, 0.5]], [[0.2, 0.7], [0.1, 0.9]]),  # four rows, but of two items
        ([[0.3] * 6], [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]),
    ],
)
def test_what_cannot_be_said_is_undefined(before, after):
    found = association(before, after, n_resamples=20, rng=np.random.default_rng(0))
    for name in NUMBERS:
        interval = getattr(found, name)
        assert np.isnan([interval.value, interval.low, interval.high]).all()
        assert interval.n_undefined == 20
    assert np.isnan([found.sd_ratio, found.r_within, found.slope_within]).all()


def test_scores_that_do_not_move_have_a_slope_of_one():
    before, _ = scores(missing=0)
    found = association(before, before, n_resamples=20, rng=np.random.default_rng(0))
    assert (found.r.value, found.slope.value, found.sd_ratio) == pytest.approx((1, 1, 1))
    assert found.at_neutral.value == pytest.approx(0.5)


def test_a_spread_of_rounding_is_no_spread():
    x = np.full((1, 50), 0.1) + np.tile([0, 2e-17], 25)
    found = association(
        x, scores(1, 50, missing=0)[1], n_resamples=20, rng=np.random.default_rng(0)
    )
    assert math.isnan(found.slope.value)


def test_the_line_is_read_at_the_neutral_score_of_the_scale():
    before, after = scores(missing=0)
    found = association(before, after, n_resamples=30, rng=np.random.default_rng(7), neutral=0.0)
    fit = stats.linregress(before.ravel(), after.ravel())
    assert found.at_neutral.value == pytest.approx(fit.intercept)
    assert found.at_neutral.low < found.at_neutral.value < found.at_neutral.high


def test_scores_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        row_sums([[0.1, 0.2]], [0.1, 0.2])


def test_what_predictors_explain_agrees_with_statsmodels():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 10))
    y = 0.3 * x[0] - 0.1 * x[1] + rng.normal(size=(4, 10))
    x[0, 1, 2], y[3, 3] = NAN, NAN
    found = explained(y, list(x))
    both = np.isfinite(y) & np.isfinite(x).all(axis=0)
    fit = OLS(y[both], np.column_stack([np.ones(both.sum()), *x[:, both]])).fit()
    assert found.n == both.sum() == 38
    assert found.r2 == pytest.approx(fit.rsquared)
    np.testing.assert_allclose(found.residuals[both], fit.resid, atol=1e-12)
    assert np.isnan(found.residuals[~both]).all()


def test_predictors_that_repeat_others_or_do_not_vary_explain_nothing_more():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    once = explained(y, [x])
    again = explained(y, [x, 2 * x + 1, np.full(30, 3.0)])
    assert again.r2 == pytest.approx(once.r2)
    assert once.r2 == pytest.approx(stats.pearsonr(x, y).statistic ** 2)


@pytest.mark.parametrize(
    ("y", "predictors"),
    [
        ([0.1, 0.4, 0.2], []),
        ([0.1, 0.4], [[1.0, 2.0]]),
        ([0.3] * 5, [[1.0, 2.0, 3.0, 5.0, 8.0]]),
        ([NAN] * 5, [[1.0] * 5]),
    ],
)
def test_least_squares_without_rows_or_spread_is_undefined(y, predictors):
    found = explained(y, predictors)
    assert math.isnan(found.r2)
    assert np.isnan(found.residuals).all()
