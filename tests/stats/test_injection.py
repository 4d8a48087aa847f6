"""Injected shifts: a naive loop over the same draws, the normal formula, planted answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from scipy.special import expit

from benchmarks.detection import (
    EXAGGERATION,
    EXPECTED,
    SHIFTS,
    WORDING_SD,
    detections,
    matched_scale,
)
from core.errors import InputError
from core.stats.injection import (
    DELTAS,
    InjectionPoint,
    injection_curve,
    injection_runs,
)
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import sign_flip_test, sign_vectors
from core.stats.size import size_check

NAN = math.nan
Rng = np.random.Generator


def _log_odds(seed: int, pairs: int = 5, items: int = 80, missing: float = 0.0):
    """A model's items in two wordings, per pair."""
    rng = np.random.default_rng(seed)
    item = rng.normal(0, 1, (pairs, items))
    original, reworded = (item + rng.normal(0, 0.3, (pairs, items)) for _ in range(2))
    reworded[rng.random((pairs, items)) < missing] = NAN
    return original, reworded


def _equal(one: tuple[InjectionPoint, ...], other: tuple[InjectionPoint, ...]) -> bool:
    return repr(one) == repr(other)  # NaN equals NaN there


def _naive(original, reworded, deltas, n_runs: int, n_resamples: int, rng: Rng):
    """Detections, flags among the rest and estimates, one test after the other."""
    detected, flags = np.zeros(len(deltas)), np.zeros(len(deltas))
    shifts = [[] for _ in deltas]
    estimates = [[] for _ in deltas]
    pairs, items = original.shape
    order = rng.permutation(pairs)
    for run in range(n_runs):
        at = order[run % pairs]
        signs = sign_vectors(items, n_resamples, rng=rng)
        for s, delta in enumerate(deltas):
            u = reworded.copy()
            u[at] += delta
            d = expit(u) - expit(original)
            found = sign_flip_test(d, rng=rng, signs=signs)
            q = scipy.stats.false_discovery_control(found.pvalue)
            detected[s] += q[at] < 0.05
            flags[s] += (np.delete(q, at) < 0.05).sum()
            shifts[s].append(np.nanmean(expit(u[at]) - expit(reworded[at])))
            if q[at] < 0.05:
                estimates[s].append(abs(np.nanmean(d[at])))
    return detected, flags, shifts, estimates


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_curve_is_the_definition_run_one_test_at_a_time(missing: float) -> None:
    original, reworded = _log_odds(1, missing=missing)
    reworded[3] += 0.3  # one that is found although it is not the shifted one
    deltas, runs = (0.0, 0.2, -0.4), 12
    points = injection_curve(
        original, reworded, deltas, n_runs=runs, n_resamples=199, rng=np.random.default_rng(2)
    )
    detected, flags, shifts, estimates = _naive(
        original, reworded, deltas, runs, 199, np.random.default_rng(2)
    )
    for s, point in enumerate(points):
        shift = np.mean(shifts[s])
        assert point.delta == deltas[s]
        assert point.n_detected == detected[s]
        assert point.detection == pytest.approx(detected[s] / runs)
        assert point.flags_among_rest == pytest.approx(flags[s] / runs)
        assert point.shift == pytest.approx(shift, abs=1e-12)
        if estimates[s] and deltas[s]:
            assert point.exaggeration == pytest.approx(np.mean(estimates[s]) / abs(shift))
        else:
            assert math.isnan(point.exaggeration)
        assert (point.n_runs, point.n_pairs) == (runs, 5)
    assert points[2].shift < 0 < points[1].shift
    assert points[2].detection > points[0].detection
    assert points[0].flags_among_rest > 0.5


def test_the_runs_test_as_the_audit_does_where_pairs_are_still_or_items_few() -> None:
    original, reworded = _log_odds(11, pairs=8, items=9)
    reworded[:4] = original[:4]  # rewordings that change nothing have no test and no part in q
    reworded[4, 7:] = NAN
    deltas, runs = (0.0, 0.3, 0.8), 16
    points = injection_curve(
        original, reworded, deltas, n_runs=runs, n_resamples=999, rng=np.random.default_rng(2)
    )
    rng = np.random.default_rng(2)
    order = rng.permutation(8)
    detected, flags = np.zeros(3), np.zeros(3)
    for run in range(runs):
        at = order[run % 8]
        signs = sign_vectors(9, 999, rng=rng)
        for s, delta in enumerate(deltas):
            u = reworded.copy()
            u[at] += delta
            found = sign_flip_test(expit(u) - expit(original), rng=rng, signs=signs)
            q = benjamini_hochberg(found.pvalue)
            assert found.exact[np.isfinite(q)].all()
            detected[s] += q[at] < 0.05
            flags[s] += (np.delete(q, at) < 0.05).sum()
    assert [p.n_detected for p in points] == detected.tolist()
    assert [p.flags_among_rest * runs for p in points] == flags.tolist()
    assert 0 < detected[2] < runs


def test_detection_of_a_single_pair_follows_the_normal_formula() -> None:
    rng = np.random.default_rng(3)
    delta, n, runs = 0.3, 200, 400
    found, z = [], []
    for _ in range(runs):
        original = rng.normal(0, 0.5, (1, n))
        reworded = original + rng.normal(0, 1, (1, n))
        (point,) = injection_curve(original, reworded, (delta,), n_runs=1, n_resamples=199, rng=rng)
        found.append(point.detection)
        z.append(point.shift / (expit(reworded) - expit(original)).std() * math.sqrt(n))
    expected = scipy.stats.norm.sf(1.96 - np.mean(z))
    assert 0.3 < expected < 0.99
    assert np.mean(found) == pytest.approx(expected, abs=4 * math.sqrt(0.25 / runs))


def test_more_is_found_more_often_and_the_finder_exaggerates_what_is_hard_to_find() -> None:
    original, reworded = _log_odds(4, pairs=10, items=120)
    points = injection_curve(
        original, reworded, n_runs=60, n_resamples=400, rng=np.random.default_rng(5)
    )
    assert [p.delta for p in points] == list(DELTAS)
    rates = [p.detection for p in points]
    assert rates == sorted(rates)
    assert rates[0] < 0.1 < 0.9 < rates[-1]
    assert [p.shift for p in points] == sorted(p.shift for p in points)
    assert points[0].shift == 0
    assert points[-1].exaggeration == pytest.approx(1, abs=0.1)
    few = next(p for p in points if 0 < p.detection < 0.6)
    assert few.exaggeration > 1.05
    for p in points:
        assert p.detection_error == pytest.approx(math.sqrt(p.detection * (1 - p.detection) / 60))


def test_a_point_does_not_depend_on_which_other_sizes_are_asked_for() -> None:
    original, reworded = _log_odds(6)
    one, other = (
        injection_curve(
            original, reworded, sizes, n_runs=10, n_resamples=99, rng=np.random.default_rng(0)
        )
        for sizes in ((0.3,), (0.1, 0.3, 0.5))
    )
    assert one[0] == other[1]


def test_progress_ends_in_what_the_curve_gives_and_can_be_stopped() -> None:
    original, reworded = _log_odds(7)
    options = {"n_runs": 25, "n_resamples": 99}
    steps = list(injection_runs(original, reworded, rng=np.random.default_rng(0), **options))
    assert [step[0].n_runs for step in steps] == [10, 20, 25]
    whole = injection_curve(original, reworded, rng=np.random.default_rng(0), **options)
    assert _equal(steps[-1], whole)
    stopped = injection_runs(original, reworded, rng=np.random.default_rng(0), **options)
    assert _equal(next(stopped), steps[0])


def test_a_shift_of_a_share_or_of_a_subgroup_moves_only_that() -> None:
    original, reworded = _log_odds(8, pairs=1, items=100)
    subgroup = np.arange(100) < 20
    rng = np.random.default_rng(0)
    options = {"n_runs": 20, "n_resamples": 99, "rng": rng}
    (all_items,) = injection_curve(original, reworded, (0.4,), **options)
    (some,) = injection_curve(original, reworded, (0.4,), items=subgroup, **options)
    (half,) = injection_curve(original, reworded, (0.4,), share=0.5, **options)
    change = expit(reworded + 0.4) - expit(reworded)
    assert all_items.shift == pytest.approx(change.mean())
    assert some.shift == pytest.approx(change[0, subgroup].sum() / 100)
    assert half.shift == pytest.approx(change.mean() / 2, rel=0.1)
    assert half.shift != change.mean() / 2  # items are drawn, not halved


def test_pairs_without_the_subgroup_are_tested_but_never_shifted() -> None:
    original, reworded = _log_odds(9, pairs=3, items=60)
    reworded[0, :30] = NAN
    (point,) = injection_curve(
        original,
        reworded,
        (3.0,),
        items=np.arange(60) < 30,
        n_runs=6,
        n_resamples=199,
        rng=np.random.default_rng(0),
    )
    assert point.detection == 1
    assert point.n_pairs == 3


@pytest.mark.parametrize(("pairs", "items", "filled"), [(0, 5, 5), (2, 0, 0), (2, 5, 1), (2, 5, 0)])
def test_pairs_too_thin_to_test_give_points_without_a_run(pairs, items, filled) -> None:
    u = np.zeros((pairs, items))
    u[:, filled:] = NAN
    points = injection_curve(u, u, rng=np.random.default_rng(0))
    assert [p.delta for p in points] == list(DELTAS)
    for p in points:
        assert (p.n_runs, p.n_pairs, p.n_detected) == (0, 0, 0)
        assert math.isnan(p.detection)
        assert math.isnan(p.shift)
    size = size_check(u, rng=np.random.default_rng(0))
    assert math.isnan(size.rate)
    assert size.n_worlds == 0


def test_equal_wordings_find_nothing_until_they_are_shifted() -> None:
    u = np.random.default_rng(0).normal(size=(3, 40))
    points = injection_curve(
        u, u, (0.0, 0.1), n_runs=5, n_resamples=199, rng=np.random.default_rng(0)
    )
    assert [p.detection for p in points] == [0, 1]
    assert [p.flags_among_rest for p in points] == [0, 0]


@pytest.mark.parametrize(
    ("deltas", "options", "says"),
    [
        ((NAN,), {}, "finite"),
        ((0.1, math.inf), {}, "finite"),
        ((), {}, "at least one"),
        ((0.1,), {"share": 0.0}, "share"),
        ((0.1,), {"share": 1.1}, "share"),
        ((0.1,), {"share": NAN}, "share"),
        ((0.1,), {"items": np.zeros(80, bool)}, "subgroup"),
        ((0.1,), {"n_runs": 0}, "show nothing"),
        ((0.1,), {"n_resamples": 3}, "show nothing"),
    ],
)
def test_what_would_show_nothing_is_refused_before_it_runs(deltas, options, says) -> None:
    with pytest.raises(InputError, match=says):
        injection_runs(*_log_odds(0), deltas, rng=np.random.default_rng(0), **options)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes"):
        injection_runs(np.zeros((2, 3)), np.zeros((2, 4)), rng=np.random.default_rng(0))


def test_the_size_check_holds_whatever_the_means_are() -> None:
    d = np.random.default_rng(1).normal(0.3, 0.2, (6, 60))
    d[0, :20] = NAN
    found = size_check(d, n_worlds=300, n_resamples=199, rng=np.random.default_rng(2))
    assert found.rate == pytest.approx(0.05, abs=4 * found.error + 0.005)
    assert 0 < found.error < 0.01
    assert found.rate_any <= 0.05 + 4 * found.rate_any_error
    assert (found.n_worlds, found.n_pairs) == (300, 6)


def test_the_error_of_the_size_knows_that_pairs_of_one_item_set_move_together() -> None:
    d = np.repeat(np.random.default_rng(1).normal(0, 0.2, (1, 60)), 8, axis=0)
    found = size_check(d, n_worlds=300, n_resamples=199, rng=np.random.default_rng(2))
    alone = size_check(d[:1], n_worlds=300, n_resamples=199, rng=np.random.default_rng(2))
    assert found.error == pytest.approx(alone.error)
    assert found.rate == pytest.approx(alone.rate)


def test_the_size_check_is_a_naive_loop_over_the_same_draws() -> None:
    d = np.random.default_rng(3).normal(0.1, 0.2, (4, 30))
    found = size_check(d, n_worlds=10, n_resamples=199, rng=np.random.default_rng(4))
    rng = np.random.default_rng(4)
    centred = d - d.mean(axis=1, keepdims=True)
    rejected, found_any = [], []
    for _ in range(10):
        drawn = rng.integers(0, 30, 30)
        signs = sign_vectors(30, 199, rng=rng)
        p = sign_flip_test(centred[:, drawn], rng=rng, signs=signs).pvalue
        rejected.append(np.mean(p < 0.05))
        found_any.append(scipy.stats.false_discovery_control(p).min() < 0.05)
    assert found.rate == pytest.approx(np.mean(rejected))
    assert found.rate_any == pytest.approx(np.mean(found_any))


@pytest.mark.slow
def test_detection_with_new_scores_in_every_run_is_as_often_as_expected() -> None:
    scale = matched_scale()
    for name, wording_sd in (("without", 0.0), ("with", WORDING_SD)):
        rows = detections(np.random.default_rng(20260928), scale, wording_sd, 400)
        assert [r.shift for r in rows] == pytest.approx(SHIFTS, abs=5e-4)
        assert [r.detection for r in rows] == pytest.approx(EXPECTED[name], abs=0.05)
        assert rows[0].exaggeration == pytest.approx(EXAGGERATION, abs=0.2)
    assert rows[0].flags_among_rest > 0.3  # wordings that move their items are found as well


@pytest.mark.parametrize("dust", [0.0, 1e-17])
def test_pairs_that_change_alike_have_no_size_to_check(dust: float) -> None:
    changes = 0.1 + dust * np.arange(40.0)
    found = size_check(np.stack([changes, -changes]), n_worlds=5, rng=np.random.default_rng(0))
    assert math.isnan(found.rate)
    assert found.n_pairs == 0
