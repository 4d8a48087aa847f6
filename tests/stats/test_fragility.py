"""Fragility of a verdict against naive loops, exhaustive search, brute force and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.stats.fragility import (
    critical_pvalue,
    fewest_items,
    item_functioning,
    leave_one_out,
    retest,
    sign_flip_z,
)
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import sign_flip_test, sign_vectors

NAN = float("nan")


def _rng() -> np.random.Generator:
    return np.random.default_rng(11)


def _pvalue(values: np.ndarray, signs: np.ndarray) -> float:
    """The same test by a naive formula: sums of the drawn signs, +1 rule."""
    null = np.abs(signs @ values)
    return (1 + (null >= abs(values.sum()) - 1e-12).sum()) / (len(signs) + 1)


def test_leaving_a_group_out_is_testing_the_others() -> None:
    rng = _rng()
    values = rng.normal(0.02, 0.1, 90)
    values[[5, 40]] = NAN
    groups = [str(g) for g in rng.choice(["a", "b", "c", ""], 90)]
    signs = sign_vectors(90, 999, rng=rng)
    rests = leave_one_out(values, groups)
    assert set(rests) == {"a", "b", "c"}
    found = retest(list(rests.values()), signs=signs)
    for at, name in enumerate(rests):
        rest = np.array([label != name for label in groups]) & np.isfinite(values)
        assert found.n[at] == rest.sum()
        assert found.mean[at] == pytest.approx(values[rest].mean())
        assert found.pvalue[at] == _pvalue(np.where(rest, values, 0.0), signs)


def test_no_group_and_only_one_group_leave_nothing_to_test() -> None:
    signs = sign_vectors(3, 100, rng=_rng())
    assert leave_one_out([0.1] * 3, [""] * 3) == {}
    rests = leave_one_out([0.1] * 3, ["a"] * 3)
    found = retest(list(rests.values()), signs=signs)
    assert found.n.tolist() == [0]
    assert np.isnan([found.mean, found.z, found.pvalue]).all()


def test_retests_are_sign_flip_tests_enumerated_where_few_values_are_left() -> None:
    rng = _rng()
    x = np.round(rng.normal(0.1, 0.2, (6, 40)), 1)  # ties
    x[0, 5:] = x[1, 12:] = NAN
    x[2] = 0.0
    x[3, 1:] = NAN
    signs = sign_vectors(40, 999, rng=rng)
    found, expected = retest(x, signs=signs), sign_flip_test(x, rng=rng, signs=signs)
    assert np.array_equal(found.pvalue, expected.pvalue, equal_nan=True)
    assert np.isnan(found.pvalue).tolist() == [False, False, True, True, False, False]
    assert expected.exact.tolist() == [True, False, False, False, False, False]
    assert found.mean == pytest.approx(expected.mean)
    assert found.n.tolist() == expected.n.tolist()


def test_three_items_that_carry_the_effect_are_named() -> None:
    """All three have to go: with any one of them put back, the test still passes."""
    half = np.abs(_rng().normal(0, 1, 150))
    half *= 0.02 / np.sqrt((half**2).mean())
    values = np.concatenate([half, -half]) + 0.0021  # by itself almost enough
    planted = [17, 130, 251]
    values[planted] = [0.20, 0.21, 0.19]
    signs = sign_vectors(300, 4999, rng=_rng())
    without = values.copy()
    without[planted] = 0.0
    threshold = 0.05
    assert _pvalue(values, signs) <= threshold < _pvalue(without, signs)
    found = fewest_items(values, signs=signs, threshold=threshold)
    assert found.flipped
    assert found.significant
    assert sorted(found.removed) == planted
    for kept in planted:
        back = without.copy()
        back[kept] = values[kept]
        assert _pvalue(back, signs) <= threshold


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("shift", [0.0, 0.06])
def test_greedy_search_is_never_below_the_exhaustive_one(seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(shift, 0.1, 11)
    signs = sign_vectors(11, 400, rng=rng)
    found = fewest_items(values, signs=signs, most=4)

    def verdict(items: tuple[int, ...]) -> bool:
        rest = np.delete(values, list(items))[None]
        drawn = np.delete(signs, list(items), axis=1)
        return bool(sign_flip_test(rest, rng=rng, signs=drawn).pvalue[0] <= 0.05)

    start = verdict(())
    assert found.significant == start
    fewest = next(
        (
            size
            for size in range(1, 5)
            if any(verdict(s) != start for s in itertools.combinations(range(11), size))
        ),
        None,
    )
    if found.flipped:
        assert fewest is not None
        assert verdict(tuple(found.removed)) != start
        assert len(found.removed) >= fewest
        assert len(found.removed) <= fewest + 1  # and it is close
    else:
        assert fewest is None or fewest >= 3


def test_pvalues_along_the_way_are_those_of_fresh_tests() -> None:
    rng = _rng()
    values = rng.normal(0.02, 0.1, 200)
    values[:10] = NAN
    signs = sign_vectors(200, 1999, rng=rng)
    found = fewest_items(values, signs=signs)
    left = np.where(np.isfinite(values), values, 0.0)
    assert found.n == 190
    assert len(found.pvalues) == len(found.removed) + 1
    for step, item in enumerate(found.removed):
        assert found.pvalues[step] == _pvalue(left, signs)
        left[item] = 0.0
    assert found.pvalues[-1] == _pvalue(left, signs)


def test_a_strong_effect_needs_a_large_share_of_items_and_says_when_it_is_too_many() -> None:
    rng = _rng()
    values = rng.normal(0.5, 0.1, 60)
    signs = sign_vectors(60, 999, rng=rng)
    found = fewest_items(values, signs=signs)
    assert (found.significant, found.flipped, found.removed.size) == (True, False, 0)


@pytest.mark.parametrize("values", [[], [NAN, NAN], [0.3, NAN]])
def test_below_two_items_there_is_no_verdict_to_flip(values: list[float]) -> None:
    signs = sign_vectors(len(values), 100, rng=_rng())
    found = fewest_items(values, signs=signs)
    assert (found.flipped, found.removed.size) == (False, 0)
    assert np.isnan(found.pvalues).all()


def test_changes_of_zero_never_become_a_verdict() -> None:
    signs = sign_vectors(40, 100, rng=_rng())
    found = fewest_items(np.zeros(40), signs=signs)
    assert (found.significant, found.flipped) == (False, False)
    assert found.pvalues[0] == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.data())
def test_critical_pvalue_is_the_edge_of_the_verdict(
    pvalues: list[float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(pvalues) - 1))
    bound = critical_pvalue(pvalues, place)

    def qvalue(p: float) -> float:
        trial = np.array(pvalues)
        trial[place] = p
        return float(benjamini_hochberg(trial)[place])

    assert qvalue(bound) < 0.05
    assert qvalue(min(1.0, bound * (1 + 1e-9))) >= 0.05
    assert bound >= 0.05 / len(pvalues) * (1 - 1e-9)


def test_critical_pvalue_of_one_test_is_the_level_and_undefined_stays_so() -> None:
    assert critical_pvalue([0.7, NAN], 0) == pytest.approx(0.05)
    assert np.isnan(critical_pvalue([0.7, NAN], 1))


def test_item_functioning_is_a_one_sample_t_test_per_item_beyond_the_models_means() -> None:
    x = _rng().normal(0.02, 0.1, (8, 40)) + np.linspace(-0.3, 0.3, 8)[:, None]
    x[:3, 5] = NAN
    found = item_functioning(x)
    centred = x - np.nanmean(x, axis=1, keepdims=True)
    expected = stats.ttest_1samp(centred, 0, nan_policy="omit")
    assert found.mean == pytest.approx(np.nanmean(centred, axis=0))
    assert found.z == pytest.approx(np.asarray(expected.statistic))
    assert found.pvalue == pytest.approx(np.asarray(expected.pvalue))
    assert found.qvalue == pytest.approx(stats.false_discovery_control(expected.pvalue))
    assert found.n[5] == 5


def test_a_shift_of_all_items_is_no_items_own() -> None:
    """A t test against 0 would flag nearly all of them; the one that moves otherwise is found."""
    x = _rng().normal(0.2, 0.02, (8, 40))
    x[:, 7] += 0.3
    assert np.flatnonzero(item_functioning(x).qvalue < 0.01).tolist() == [7]
    assert (stats.ttest_1samp(x, 0).pvalue < 0.01).all()
    assert item_functioning(x).z == pytest.approx(item_functioning(x - 5).z)


def test_items_of_few_or_equal_models_are_undefined_and_not_counted() -> None:
    x = _rng().normal(0, 0.1, (5, 4))
    x[2:, 0] = NAN
    x[:, 2] = NAN
    found = item_functioning(x)
    assert np.isnan(found.pvalue).tolist() == [True, False, True, False]
    alike = np.tile([0.1 + 0.2, 0.7, 0.0], (5, 1))
    assert np.isnan(item_functioning(alike).pvalue).all()
    assert item_functioning(np.empty((0, 3))).n.tolist() == [0, 0, 0]


def test_a_known_verdict_that_these_signs_do_not_give_is_not_searched() -> None:
    values = _rng().normal(0.5, 0.1, 60)
    signs = sign_vectors(60, 999, rng=_rng())
    asked = fewest_items(values, signs=signs, significant=False)
    assert (asked.significant, asked.flipped, asked.removed.tolist()) == (False, False, [])
    assert asked.pvalues.tolist() == [0.001]
    same, plain = (fewest_items(values, signs=signs, significant=s) for s in (True, None))
    assert same.pvalues.tolist() == plain.pvalues.tolist()


def test_z_is_the_mean_over_the_spread_of_its_sign_flips() -> None:
    values = _rng().normal(0.1, 0.2, 14)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=14)))
    exact_sd = (signs @ values).std()
    assert sign_flip_z(values) == pytest.approx(values.sum() / exact_sd)
    assert np.isnan(sign_flip_z([[0.0, NAN], [NAN, NAN]])).all()
