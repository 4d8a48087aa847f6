"""Resampled rejection rates against scipy on each resample, and simulated power."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import stats

from core.errors import InputError
from core.stats.probes.kolmogorov import critical_gap, ks_pvalues, resampling_steps
from core.stats.probes.rejection import (
    Stability,
    rejection_rates,
    simulated_power,
    stability,
)
from core.stats.probes.stereotypicality import stereotypicality
from core.stats.probes.undefined import Undefined


def test_the_rate_is_the_share_of_resamples_that_scipy_rejects() -> None:
    rng = np.random.default_rng(0)
    shifts = np.array([[0.0], [0.6], [1.5]])
    x, y = rng.normal(shifts, 1, (3, 24)), rng.normal(size=(3, 31))
    found = rejection_rates(x, y, n_resamples=300, rng=np.random.default_rng(1))
    steps = resampling_steps(24, 31, 300, rng=np.random.default_rng(1))
    for axis in range(3):
        rejected = [
            stats.ks_2samp(
                np.repeat(x[axis], drawn[:24] // 31), np.repeat(y[axis], drawn[24:] // -24)
            ).pvalue
            < 0.05
            for drawn in steps.T
        ]
        assert found.rate[axis] == pytest.approx(np.mean(rejected))
    p = found.rate[1]
    assert found.error[1] == pytest.approx(np.sqrt(p * (1 - p) / 300))
    assert (found.n_concepts, found.n_reference, found.n_resamples) == (24, 31, 300)


def test_classes_follow_the_flag_and_the_rate() -> None:
    rng = np.random.default_rng(2)
    shifts = np.linspace(0, 2, 40)[:, None]
    x, y = rng.normal(shifts, 1, (40, 25)), rng.normal(size=(40, 25))
    found = rejection_rates(x, y, n_resamples=200, rng=rng)
    flagged = stereotypicality(x, y).flagged
    expected = [
        ("well-powered" if rate >= 0.8 else "marginal")
        if flag
        else ("no sign of a difference" if rate < 0.3 else "underpowered")
        for rate, flag in zip(found.rate, flagged, strict=True)
    ]
    assert [str(s) for s in found.stability] == expected
    assert len(set(expected)) == 4


@pytest.mark.parametrize(
    ("rate", "flagged", "expected"),
    [
        (0.8, True, Stability.WELL_POWERED),
        (0.799, True, Stability.MARGINAL),
        (0.299, False, Stability.NO_SIGN),
        (0.3, False, Stability.UNDERPOWERED),
        (float("nan"), False, Stability.UNDEFINED),
    ],
)
def test_class_borders(rate: float, flagged: bool, expected: Stability) -> None:
    assert stability(rate, flagged) is expected


def test_undefined_axes_and_few_phrases_have_no_rate() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(3, 20)), rng.normal(size=(3, 20))
    x[0], y[0] = 1.0, 1.0
    x[1, 2] = np.nan
    found = rejection_rates(x, y, n_resamples=50, rng=rng)
    assert np.isnan(found.rate[:2]).all() and np.isfinite(found.rate[2])
    assert found.stability[:2] == (Stability.UNDEFINED,) * 2
    assert found.undefined == (Undefined.CONSTANT, Undefined.NOT_FINITE, Undefined.NO)
    few = rejection_rates(x[2:, :4], y[2:], n_resamples=50, rng=rng)
    assert few.undefined == (Undefined.TOO_FEW,) and np.isnan(few.rate).all()
    assert few.stability == (Stability.TOO_FEW,)
    with pytest.raises(InputError, match="at least one resample"):
        rejection_rates(x, y, n_resamples=0, rng=rng)


def test_rates_are_those_of_the_seed_whichever_axes_are_beside() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(6, 20)), rng.normal(0.7, size=(6, 20))
    whole = rejection_rates(x, y, n_resamples=100, rng=np.random.default_rng(9)).rate
    alone = rejection_rates(x[3:4], y[3:4], n_resamples=100, rng=np.random.default_rng(9)).rate
    assert alone[0] == whole[3]


def test_power_is_the_share_of_worlds_that_scipy_rejects() -> None:
    (point,) = simulated_power(20, 30, [(0.8, 1.5)], n_worlds=200, rng=np.random.default_rng(5))
    rng = np.random.default_rng(5)
    x, y = rng.normal(0.8, 1.5, (200, 20)), rng.normal(size=(200, 30))
    expected = np.mean([stats.ks_2samp(a, b).pvalue < 0.05 for a, b in zip(x, y, strict=True)])
    assert point.rate == pytest.approx(expected)
    assert (point.shift, point.spread, point.n_worlds) == (0.8, 1.5, 200)


def test_power_grows_with_shift_and_spread_and_is_undefined_for_one_concept() -> None:
    differences = [(0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (0.0, 3.0)]
    points = simulated_power(50, 50, differences, n_worlds=500, rng=np.random.default_rng(6))
    size, small, large, wide = (p.rate for p in points)
    assert size < 0.08 < small < large and wide > 0.5
    (one,) = simulated_power(1, 50, [(3.0, 1.0)], rng=np.random.default_rng(6))
    assert np.isnan(one.rate) and np.isnan(one.error)
    with pytest.raises(InputError, match="spreads above 0"):
        simulated_power(9, 9, [(0.0, 0.0)], rng=np.random.default_rng(6))


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 50, 100])
def test_reference_against_reference_holds_its_level(
    n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Heavy-tailed values too: the test looks at ranks alone."""
    rng = np.random.default_rng(n)
    x, y = rng.standard_t(2, (40_000, n)), rng.standard_t(2, (40_000, n))
    share = float(stereotypicality(x, y).flagged.mean())
    (normal,) = simulated_power(n, n, [(0.0, 1.0)], n_worlds=40_000, rng=rng)
    size = float(ks_pvalues(critical_gap(n, n, 0.05), n, n))  # the largest p below .05
    with capsys.disabled():
        sys.stdout.write(
            f"\n{n} against {n}: KS p < .05 in {share:.4f}, normal {normal.rate:.4f}, "
            f"exactly {size:.4f}\n"
        )
    error = np.sqrt(size * (1 - size) / 40_000)
    assert max(abs(share - size), abs(normal.rate - size)) < 4 * error
