"""Rewording noise: floor, typical change, expected size, and the gap above the floor."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from core.stats.intervals import bias_corrected_interval
from core.stats.noise import (
    expected_noise,
    floor_against_gap,
    floor_against_gap_on_complete,
    rewording_noise,
)
from core.stats.resampling import bootstrap_weights

NAN = float("nan")
change = st.floats(-1, 1)


def test_the_floor_is_the_mean_of_absolute_means_computed_by_hand() -> None:
    noise = rewording_noise({"p1": [0.3, -0.1], "p2": [-0.2, -0.4], "p3": [0.1, -0.1]}, 2)
    # |mean|: 0.1, 0.3, 0.0
    assert noise.floor == pytest.approx(0.4 / 3)
    assert noise.n_rewordings == 3
    # six changes with mean -0.4 / 6 and sum of squares 0.32
    assert noise.item_sd == pytest.approx(math.sqrt((0.32 - 0.16 / 6) / 5))
    assert noise.n_changes == 6


def test_a_partial_rewording_is_left_out_of_the_floor_but_its_changes_count() -> None:
    full, partial = [0.1, 0.1, 0.4], [0.9, NAN, 0.7]
    noise = rewording_noise({"p1": full, "llm": partial}, n_usable=3)
    assert noise.floor == pytest.approx(0.2)
    assert noise.n_rewordings == 1
    assert noise.item_sd == pytest.approx(statistics.stdev([*full, 0.9, 0.7]))
    assert noise.n_changes == 5


def test_undefined_changes_of_unusable_items_do_not_make_a_rewording_partial() -> None:
    noise = rewording_noise({"p1": [0.1, NAN, 0.3]}, n_usable=2)
    assert noise.floor == pytest.approx(0.2)


@pytest.mark.parametrize(
    "changes", [{}, {"p1": []}, {"p1": [NAN, NAN], "p2": [NAN, NAN]}, {"p1": [np.inf, NAN]}]
)
@pytest.mark.parametrize("n_usable", [0, 2])
def test_without_changes_everything_is_undefined(changes: dict, n_usable: int) -> None:
    noise = rewording_noise(changes, n_usable)
    assert math.isnan(noise.floor)
    assert math.isnan(noise.item_sd)
    assert (noise.n_changes, noise.n_rewordings) == (0, 0)


def test_one_change_has_a_floor_but_no_spread() -> None:
    noise = rewording_noise({"p1": [-0.25]}, n_usable=1)
    assert noise.floor == 0.25
    assert math.isnan(noise.item_sd)
    assert noise.n_changes == 1


@given(st.lists(st.lists(change, min_size=4, max_size=4), min_size=1, max_size=5))
def test_full_coverage_agrees_with_plain_statistics(rows: list[list[float]]) -> None:
    noise = rewording_noise({str(n): row for n, row in enumerate(rows)}, n_usable=4)
    floor = statistics.fmean(abs(statistics.fmean(row)) for row in rows)
    assert noise.floor == pytest.approx(floor, abs=1e-12)
    pooled = [value for row in rows for value in row]
    assert noise.item_sd == pytest.approx(statistics.stdev(pooled), abs=1e-9)


@given(st.lists(change, min_size=3, max_size=3))
def test_the_sign_of_the_change_does_not_matter(row: list[float]) -> None:
    one = rewording_noise({"p1": row}, 3)
    other = rewording_noise({"p1": [-d for d in row]}, 3)
    assert (one.floor, one.item_sd) == pytest.approx((other.floor, other.item_sd))


def test_expected_noise_is_the_mean_absolute_value_of_a_normal_mean() -> None:
    # scipy: E|X| of a folded normal
    sd, n = 0.196, 360
    expected = scipy.stats.foldnorm.mean(0, scale=sd / math.sqrt(n))
    assert expected_noise(sd, n) == pytest.approx(expected, rel=1e-12)
    assert expected_noise([0.1, 0.2, NAN], [0, 50, 50]) == pytest.approx(
        [NAN, 0.2 * math.sqrt(2 / (math.pi * 50)), NAN], nan_ok=True
    )


def _changes(seed: int, shape: tuple[int, int], mean: float = 0.0, missing: float = 0.1):
    rng = np.random.default_rng(seed)
    d = rng.normal(mean, 0.2, shape)
    d[rng.random(shape) < missing] = NAN
    return d


def test_floor_against_gap_is_a_naive_loop_over_the_same_draws() -> None:
    gaps, floors = _changes(1, (3, 40), 0.05), _changes(2, (2, 40))
    weights = bootstrap_weights(40, 50, rng=np.random.default_rng(3))
    found = floor_against_gap(gaps, floors, weights=weights)

    def naive(items: list[int]) -> tuple[float, float]:
        means = []
        for versions in (gaps, floors):
            by_version = [[d[i] for i in items if not math.isnan(d[i])] for d in versions]
            means.append(statistics.fmean(abs(statistics.fmean(d)) for d in by_version))
        return means[0], means[1]

    gap, floor = naive(list(range(40)))
    assert (found.gap, found.floor) == pytest.approx((gap, floor))
    draws = []
    for row in weights:
        one, other = naive([i for i, times in enumerate(row) for _ in range(int(times))])
        draws.append(one - other)
    expected = bias_corrected_interval(gap - floor, draws, 40)
    assert found.difference.value == pytest.approx(expected.value)
    assert found.difference.low == pytest.approx(expected.low)
    assert found.difference.high == pytest.approx(expected.high)
    assert (found.n_translations, found.n_rewordings, found.difference.n) == (3, 2, 40)


def test_the_interval_finds_a_gap_above_its_floor() -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.05, (3, 300))
    above = floor_against_gap(noise + 0.1, _changes(6, (3, 300)) / 4, rng=rng)
    assert 0.05 < above.difference.low < above.difference.value < above.difference.high < 0.12


def test_where_both_are_noise_one_interval_in_twenty_leaves_out_zero() -> None:
    rng = np.random.default_rng(6)
    outside = 0
    for _ in range(100):
        versions = rng.normal(0, 0.1, (8, 100)) - rng.normal(0, 0.1, 100)
        found = floor_against_gap(versions[:5], versions[5:], n_resamples=400, rng=rng)
        outside += not found.difference.low < 0 < found.difference.high
    assert outside <= scipy.stats.binom.ppf(0.999, 100, 0.05)


def test_items_without_any_change_are_as_good_as_absent() -> None:
    gaps, floors = _changes(1, (2, 30)), _changes(2, (2, 30))
    wide = [np.hstack([d, np.full((2, 25), NAN)]) for d in (gaps, floors)]
    one = floor_against_gap(gaps, floors, rng=np.random.default_rng(4), n_resamples=200)
    other = floor_against_gap(*wide, rng=np.random.default_rng(4), n_resamples=200)
    assert one == other


def test_complete_items_are_those_with_every_version() -> None:
    translation, rewordings = _changes(1, (1, 60))[0], _changes(2, (3, 60))
    whole = np.isfinite(translation) & np.isfinite(rewordings).all(axis=0)
    found = floor_against_gap_on_complete(translation, rewordings, rng=np.random.default_rng(0))
    assert 20 < found.difference.n == whole.sum() < 60
    assert found.gap == pytest.approx(abs(translation[whole].mean()))
    assert found.floor == pytest.approx(np.abs(rewordings[:, whole].mean(axis=1)).mean())


@pytest.mark.parametrize(
    ("gaps", "floors", "gap", "floor"),
    [
        (np.empty((0, 4)), np.full((2, 4), 0.1), NAN, 0.1),
        (np.full((1, 4), -0.1), np.empty((0, 4)), 0.1, NAN),
        (np.full((1, 4), -0.1), np.full((2, 4), NAN), 0.1, NAN),
        (np.empty((0, 0)), np.empty((0, 0)), NAN, NAN),
        (np.full((1, 4), NAN), np.full((1, 4), NAN), NAN, NAN),
    ],
)
def test_a_missing_side_is_undefined_and_leaves_the_other(gaps, floors, gap, floor) -> None:
    found = floor_against_gap(gaps, floors, rng=np.random.default_rng(0), n_resamples=50)
    assert (found.gap, found.floor) == pytest.approx((gap, floor), nan_ok=True)
    assert math.isnan(found.difference.value)
    assert math.isnan(found.difference.low)


@pytest.mark.parametrize("n", [1, 5])
def test_changes_of_zero_or_of_one_item_have_no_interval(n: int) -> None:
    found = floor_against_gap(
        np.zeros((2, n)), np.zeros((2, n)), rng=np.random.default_rng(0), n_resamples=50
    )
    assert (found.gap, found.floor, found.difference.value) == (0, 0, 0)
    assert math.isnan(found.difference.low)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes"):
        floor_against_gap(np.zeros((2, 3)), np.zeros((2, 4)), rng=np.random.default_rng(0))


def test_an_interval_needs_something_to_draw_items_with() -> None:
    changes = np.ones((2, 3))
    with pytest.raises(ValueError, match="generator or weights"):
        floor_against_gap(changes, changes)
