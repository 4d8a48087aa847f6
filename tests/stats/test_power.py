"""Power: published numbers, statsmodels, the normal formula, and a naive loop over worlds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from core.errors import InputError
from core.stats import power
from core.stats.levels import LEAST_ITEMS
from core.stats.power import item_level_power, items_needed, planning_sd, smallest_shift
from core.stats.resampling import sign_flip_test, sign_vectors

NAN = math.nan


def test_published_number_of_items_and_smallest_shift() -> None:
    assert items_needed(0.02, 0.2082) == 851
    assert smallest_shift(360, 0.2082) == pytest.approx(0.0307, abs=5e-5)


def test_statsmodels_needs_as_many_items_but_for_its_t() -> None:
    n = TTestPower().solve_power(0.02 / 0.2082, power=0.8, alpha=0.05)
    assert items_needed(0.02, 0.2082) == pytest.approx(n, abs=3)


@given(st.floats(1e-3, 0.5), st.floats(1e-2, 1), st.sampled_from([-1, 1]))
def test_items_and_shift_are_inverse(shift: float, sd: float, sign: int) -> None:
    n = items_needed(sign * shift, sd)
    assert n == math.ceil(n)
    assert smallest_shift(int(n), sd) <= shift * (1 + 1e-9)
    if n > LEAST_ITEMS:
        assert smallest_shift(int(n) - 1, sd) >= shift * (1 - 1e-9)


def test_what_cannot_be_said() -> None:
    assert items_needed(0.0, 0.2) == math.inf
    assert math.isnan(items_needed(0.02, NAN))
    assert math.isnan(items_needed(NAN, 0.2))
    assert math.isnan(smallest_shift(LEAST_ITEMS - 1, 0.2))
    assert math.isnan(smallest_shift(0, NAN))


def test_fewer_items_than_are_tested_are_never_enough() -> None:
    assert items_needed(0.5, 0.001) == LEAST_ITEMS
    assert math.isnan(items_needed(0.02, planning_sd(0.2, LEAST_ITEMS - 1)))
    assert items_needed(0.02, planning_sd(0.2, LEAST_ITEMS)) == 785


def test_size_and_power_are_those_of_the_normal_formula() -> None:
    d = np.random.default_rng(1).normal(0.3, 0.2, 200)
    drops = (0.0, 0.02, 0.04)
    found = item_level_power(
        d, drops, n_worlds=1_500, n_resamples=999, rng=np.random.default_rng(2)
    )
    for rate, drop in zip(found, drops, strict=True):
        z = drop / (d.std() / math.sqrt(200))
        expected = scipy.stats.norm.sf(1.96 - z) + scipy.stats.norm.cdf(-1.96 - z)
        assert rate.rate == pytest.approx(
            expected, abs=4 * math.sqrt(expected * (1 - expected) / 1_500)
        )
        assert rate.error == pytest.approx(math.sqrt(rate.rate * (1 - rate.rate) / 1_500))
        assert (rate.true_drop, rate.n_worlds, rate.n) == (drop, 1_500, 200)


def test_a_naive_loop_over_the_same_worlds_rejects_as_often() -> None:
    d = np.random.default_rng(3).gamma(1, 0.2, 40)
    drops = (0.0, 0.05, -0.1)
    found = item_level_power(d, drops, n_worlds=60, n_resamples=199, rng=np.random.default_rng(4))
    rng = np.random.default_rng(4)
    centred = d - d.mean()
    worlds = centred[rng.integers(0, 40, (60, 40))]
    signs = sign_vectors(40, 199, rng=rng)
    for rate, drop in zip(found, drops, strict=True):
        p = [
            sign_flip_test((world - drop)[None], rng=rng, signs=signs).pvalue[0] for world in worlds
        ]
        assert rate.rate == pytest.approx(np.mean(np.array(p) < 0.05))
    assert found[2].rate > found[0].rate


def test_blocks_of_worlds_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "_AT_A_TIME", 7 * 99)
    d = np.random.default_rng(3).normal(0, 0.2, 30)
    (found,) = item_level_power(
        d, (1.0,), n_worlds=20, n_resamples=99, rng=np.random.default_rng(0)
    )
    assert found.rate == 1


@pytest.mark.parametrize("d", [[], [0.1], [NAN, NAN, 0.2], [0.1, 0.2, 0.3, 0.4], [0.1] * 9])
def test_too_few_or_equal_differences_have_no_power_and_not_none(d: list[float]) -> None:
    (found,) = item_level_power(d, (0.02,), rng=np.random.default_rng(0))
    assert math.isnan(found.rate)
    assert math.isnan(found.error)
    assert found.n_worlds == 0
    assert found.n == np.isfinite(d).sum()


@pytest.mark.parametrize(
    ("drops", "options"),
    [((NAN,), {}), ((math.inf,), {}), ((0.1,), {"n_worlds": 0}), ((0.1,), {"n_resamples": 5})],
)
def test_what_could_never_reject_is_refused(drops, options) -> None:
    with pytest.raises(InputError):
        item_level_power([0.1, 0.2, 0.3, 0.4, 0.5], drops, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("sd", [0.0, 1e-17])
def test_items_that_do_not_vary_tell_nothing_of_the_number_needed(sd: float) -> None:
    assert math.isnan(items_needed(0.02, sd))
    assert math.isnan(smallest_shift(300, sd))


def test_few_items_are_tested_with_all_their_signs() -> None:
    d = np.random.default_rng(5).normal(0, 0.2, 7)
    drops = (0.0, 0.2, 0.4)
    found = item_level_power(d, drops, n_worlds=50, n_resamples=199, rng=np.random.default_rng(4))
    rng = np.random.default_rng(4)
    worlds = (d - d.mean())[rng.integers(0, 7, (50, 7))]
    for rate, drop in zip(found, drops, strict=True):
        tests = sign_flip_test(worlds - drop, n_resamples=199, rng=rng)
        assert tests.exact.all()
        assert rate.rate == np.mean(tests.pvalue < 0.05)
    assert found[1].rate < found[2].rate
