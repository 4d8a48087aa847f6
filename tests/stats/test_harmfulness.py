"""Harmfulness and choices: scipy on rows, on predicates and on resamples of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.stats.harmfulness import (
    centred,
    grouped_means,
    predicate_correlations,
    row_correlation,
)
from core.stats.resampling import bootstrap_weights

NAN = math.nan


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def rated(n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Differences of two models and harmfulness with ties."""
    harm = np.round(rng(2).uniform(-1, 4, n), 0)
    return 0.4 * harm + rng(3).normal(0, 1, (2, n)), harm


def test_rows_are_correlated_as_published() -> None:
    differences, harm = rated()
    x, y = differences[0].copy(), harm.copy()
    x[3], y[5] = NAN, NAN
    kept = np.isfinite(x) & np.isfinite(y)
    found, expected = row_correlation(x, y), stats.pearsonr(x[kept], y[kept])
    assert (found.r, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.n == 28


def test_rows_without_spread_have_no_correlation() -> None:
    for x, y in (([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, NAN], [1, 2, 3])):
        found = row_correlation(x, y)
        assert math.isnan(found.r)
        assert math.isnan(found.pvalue)


def test_differences_are_taken_from_the_mean_of_their_cell() -> None:
    values = np.array([[1.0, 3.0, 10.0, NAN, 20.0]])
    found = centred(values, np.array([0, 0, 1, 1, 2]))
    assert found[0].tolist() == pytest.approx([-1, 1, 0, NAN, 0], nan_ok=True)
    means = grouped_means(values, np.array([2, 2, 0, 0, 0]))[0].tolist()
    assert means == pytest.approx([15, NAN, 2], nan_ok=True)


def test_predicates_are_correlated_as_scipy_does() -> None:
    differences, harm = rated()
    for row, found in zip(
        differences,
        predicate_correlations(differences, harm, n_resamples=500, rng=rng()),
        strict=True,
    ):
        assert found.pearson.value == pytest.approx(stats.pearsonr(row, harm).statistic)
        assert found.spearman.value == pytest.approx(stats.spearmanr(row, harm).statistic)
        assert found.n == found.pearson.n == 30
        assert found.pearson.low < found.pearson.value < found.pearson.high


def test_p_is_the_share_of_permutations_as_far_from_zero() -> None:
    differences, harm = rated(12)
    (found, _) = predicate_correlations(differences, harm, n_resamples=400, rng=rng(7))
    orders = rng(7).permuted(np.tile(np.arange(12), (400, 1)), axis=1)
    for method, pvalue in (
        (stats.pearsonr, found.pearson_pvalue),
        (stats.spearmanr, found.spearman_pvalue),
    ):
        observed = abs(method(differences[0], harm).statistic)
        null = np.array([abs(method(differences[0], harm[order]).statistic) for order in orders])
        assert pvalue == pytest.approx((1 + (null >= observed - 1e-12).sum()) / 401)


def test_intervals_are_of_predicates_drawn_with_replacement() -> None:
    differences, harm = rated(12)
    (found, _) = predicate_correlations(differences, harm, n_resamples=200, rng=rng(7))
    draw = rng(7)
    draw.permuted(np.tile(np.arange(12), (200, 1)), axis=1)
    weights = bootstrap_weights(12, 200, rng=draw).astype(int)
    for method, interval in (
        (stats.pearsonr, found.pearson),
        (stats.spearmanr, found.spearman),
    ):
        drawn = [np.repeat(np.arange(12), w) for w in weights]
        values = [method(differences[0][d], harm[d]).statistic for d in drawn]
        z = stats.t(11).ppf(0.975) * math.sqrt(12 / 11)  # widened for few predicates
        expected = np.quantile(values, stats.norm.cdf([-z, z]))
        assert [interval.low, interval.high] == pytest.approx(expected.tolist())


def test_a_predicate_that_a_model_lacks_is_left_out_for_it_alone() -> None:
    differences, harm = rated()
    differences[1, 0], harm[4] = NAN, NAN
    found = predicate_correlations(differences, harm, n_resamples=50, rng=rng())
    assert [one.n for one in found] == [29, 28]
    kept = np.isfinite(harm)
    expected = stats.pearsonr(differences[0][kept], harm[kept]).statistic
    assert found[0].pearson.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("differences", "harm"),
    [([[1, 2]], [1, 2]), ([[1, 1, 1, 1]], [1, 2, 3, 4]), ([[1, 2, 3, 4]], [2, 2, 2, 2])],
)
def test_too_few_predicates_and_no_spread_are_undefined(differences, harm) -> None:
    (found,) = predicate_correlations(
        np.array(differences, float), np.array(harm, float), n_resamples=50, rng=rng()
    )
    numbers = (found.pearson.value, found.pearson_pvalue, found.spearman.value)
    assert all(math.isnan(number) for number in numbers)
