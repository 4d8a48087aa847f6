"""Intervals against scipy's bootstrap and t test, and a naive loop."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.stats.intervals import (
    Interval,
    bias_corrected_interval,
    percentile_interval,
    pigeonhole_interval,
    t_interval,
)
from core.stats.resampling import bootstrap_means, bootstrap_ratios

NAN = float("nan")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def without_ends(interval: Interval) -> bool:
    return math.isnan(interval.low) and math.isnan(interval.high)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.sampled_from([0.9, 0.95]))
def test_the_t_interval_is_that_of_scipy(values: list[float], level: float) -> None:
    found = t_interval([*values, NAN], level=level)
    if np.ptp(values) < 1e-9:
        return
    expected = stats.ttest_1samp(values, 0).confidence_interval(level)
    assert ends(found) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert (found.n, found.value) == (len(values), pytest.approx(np.mean(values), abs=1e-12))


@pytest.mark.parametrize("values", [[], [0.5], [0.1, 0.1, 0.1], [NAN, 0.5]])
def test_too_few_values_or_equal_ones_have_no_t_interval(values: list[float]) -> None:
    found = t_interval(values)
    assert without_ends(found)
    assert found.n == np.isfinite(values).sum()
    assert math.isnan(found.value) == (found.n == 0)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_percentile_intervals_equal_scipys_on_the_same_draws(level: float) -> None:
    x = rng(1).exponential(size=30)
    expected = stats.bootstrap(
        (x,), np.mean, method="percentile", confidence_level=level, rng=rng()
    )
    draws = expected.bootstrap_distribution
    found = percentile_interval(float(x.mean()), draws, 30, level=level)
    assert ends(found) == pytest.approx(tuple(expected.confidence_interval))
    gaps = percentile_interval(float(x.mean()), [*draws, NAN, NAN], 30, level=level)
    assert (ends(gaps), gaps.n_undefined) == (ends(found), 2)


def test_bias_corrected_intervals_equal_scipys_without_acceleration() -> None:
    # The mean of a symmetric sample has acceleration 0, which makes BCa the same as BC.
    half = rng(2).normal(size=12)
    x = np.concatenate([half, -half])
    expected = stats.bootstrap((x,), np.mean, method="BCa", rng=rng(3))
    found = bias_corrected_interval(float(x.mean()), expected.bootstrap_distribution, 24)
    assert ends(found) == pytest.approx(tuple(expected.confidence_interval), abs=1e-9)
    percentile = percentile_interval(float(x.mean()), expected.bootstrap_distribution, 24)
    assert ends(found) != pytest.approx(ends(percentile), abs=1e-4)


def test_bias_correction_moves_the_interval_away_from_the_bias() -> None:
    draws = rng(2).normal(0.3, 1, 50_000)  # the estimate is 0: draws are biased upwards by 0.3
    found = bias_corrected_interval(0, draws, 100)
    # z0 = Phi^-1(P(draw < 0)) = -0.3, so the ends are the draws' quantiles at Phi(-0.6 -+ 1.96)
    assert ends(found) == pytest.approx((0.3 - 0.6 - 1.96, 0.3 - 0.6 + 1.96), abs=0.06)


def test_without_bias_both_bootstrap_intervals_are_the_same() -> None:
    draws = np.linspace(-1, 1, 1001)
    assert ends(bias_corrected_interval(0, draws, 9)) == pytest.approx(
        ends(percentile_interval(0, draws, 9))
    )


def test_draws_that_equal_the_estimate_count_half_on_each_side() -> None:
    # 30 % below, 40 % equal, 30 % above: no bias; counting ties on one side would give one
    draws = np.repeat([-1.0, 0.0, 1.0], [300, 400, 300])
    assert ends(bias_corrected_interval(0, draws, 9, level=0.2)) == (0, 0)
    off = draws + np.tile([1e-16, -1e-16], 500)
    assert ends(bias_corrected_interval(0, off, 9, level=0.9)) == pytest.approx((-1, 1))
    skewed = bias_corrected_interval(0, np.repeat([-1.0, 0.0, 1.0], [100, 400, 500]), 9, level=0.5)
    assert skewed.low == -1  # share 0.3: z0 = -.524, Phi(2 z0 - .674) = .043 lies among the -1


def test_an_estimate_outside_its_draws_has_no_bias_corrected_interval() -> None:
    found = bias_corrected_interval(5, rng().normal(size=100), 20)
    assert (found.value, without_ends(found)) == (5, True)


@pytest.mark.parametrize("interval", [percentile_interval, bias_corrected_interval])
def test_draws_that_say_nothing_give_no_ends(
    interval: Callable[[float, list[float], int], Interval],
) -> None:
    spread = [0.1, 0.2, 0.3]
    assert without_ends(interval(0.2, [0.2, 0.2], 9))  # no variance
    assert without_ends(interval(0.2, spread, 1))  # one unit
    assert without_ends(interval(NAN, spread, 9))
    nothing = interval(0.2, [NAN, NAN], 9)
    assert (without_ends(nothing), nothing.n_undefined) == (True, 2)
    assert without_ends(interval(0.2, [], 9))


def over_items(x: np.ndarray, n_resamples: int, generator: np.random.Generator) -> Interval:
    draws = bootstrap_means(x[None], n_resamples=n_resamples, rng=generator)[:, 0]
    return percentile_interval(float(x.mean()), draws, len(x))


def test_item_intervals_equal_scipys_within_their_error() -> None:
    x = rng(4).normal(0.02, 0.2, 200)
    expected = stats.bootstrap((x,), np.mean, method="percentile", n_resamples=20_000, rng=rng(5))
    found = over_items(x, 20_000, rng(6))
    assert ends(found) == pytest.approx(
        tuple(expected.confidence_interval), abs=0.06 * expected.standard_error
    )
    assert (found.n, found.value) == (200, pytest.approx(x.mean()))


def test_cluster_intervals_equal_a_naive_loop_within_their_error() -> None:
    clusters = np.repeat(np.arange(25), rng(1).integers(1, 9, 25))
    x = rng(2).normal(0, 1, 25)[clusters] + rng(3).normal(0, 0.3, len(clusters))
    members = [x[clusters == c] for c in range(25)]
    generator = rng(4)
    naive = [
        np.concatenate([members[c] for c in generator.integers(0, 25, 25)]).mean()
        for _ in range(10_000)
    ]
    sums, sizes = np.bincount(clusters, x), np.bincount(clusters).astype(float)
    draws = bootstrap_ratios(sums[None], sizes[None], n_resamples=10_000, rng=rng(5))[:, 0]
    found = percentile_interval(float(x.mean()), draws, 25)
    assert ends(found) == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=0.03)
    single = over_items(x, 10_000, rng(5))
    assert found.high - found.low > 1.5 * (single.high - single.low)


@pytest.mark.parametrize("values", [[0.2], [0.1] * 9])
def test_means_that_cannot_vary_have_no_interval(values: list[float]) -> None:
    found = over_items(np.array(values), 50, rng())
    assert without_ends(found)
    assert found.n == len(values)


def test_crossed_intervals_equal_a_naive_loop_within_their_error() -> None:
    x = rng(1).normal(0, 1, (7, 1)) + rng(2).normal(0, 1, (1, 30)) + rng(3).normal(0, 1, (7, 30))
    x[2, 3:9] = NAN
    generator = rng(4)
    naive = []
    for _ in range(6000):
        rows, columns = generator.integers(0, 7, 7), generator.integers(0, 30, 30)
        naive.append(np.nanmean(x[np.ix_(rows, columns)]))
    found = pigeonhole_interval(x, n_resamples=6000, rng=rng(5))
    assert ends(found) == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=0.08)
    assert (found.value, found.n) == (pytest.approx(np.nanmean(x)), 30)
    of_items = over_items(np.nanmean(x, axis=0), 6000, rng())
    assert found.high - found.low > 1.5 * (of_items.high - of_items.low)


def test_below_five_models_there_is_no_crossed_interval() -> None:
    x = rng().normal(size=(6, 20))
    assert not without_ends(pigeonhole_interval(x[:5], n_resamples=100, rng=rng()))
    four = pigeonhole_interval(x[:4], n_resamples=100, rng=rng())
    assert (without_ends(four), four.value) == (True, pytest.approx(x[:4].mean()))
    x[:2] = NAN  # models without a value do not count
    assert without_ends(pigeonhole_interval(x, n_resamples=100, rng=rng()))
    nothing = pigeonhole_interval(np.full((6, 3), NAN), n_resamples=10, rng=rng())
    assert (math.isnan(nothing.value), nothing.n) == (True, 0)


@pytest.mark.parametrize("interval", [percentile_interval, bias_corrected_interval])
def test_fewer_than_five_items_have_no_bootstrap_interval(interval) -> None:
    draws = np.random.default_rng(0).normal(size=200)
    assert math.isnan(interval(0.0, draws, 4).low)
    assert interval(0.0, draws, 5).low < interval(0.0, draws, 5).high


def test_values_that_differ_by_rounding_have_no_interval() -> None:
    dust = 1e-17 * np.arange(40.0)
    assert math.isnan(t_interval(dust).low)
    assert math.isnan(over_items(dust, 50, rng(0)).low)
