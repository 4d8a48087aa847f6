"""How stable is a flag, and what would the test behind it find?

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: both sets of phrases are drawn anew
and the Kolmogorov-Smirnov test is run on each draw. The paper calls the share that rejects power;
it is high wherever the observed difference is, so here it is the resampled rejection rate. What a
test with so many phrases would find is simulated for stated differences.

Letters: A axes, C concepts or phrases, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.stats.levels import LEAST_ITEMS, LEVEL
from core.stats.probes.kolmogorov import (
    critical_gap,
    ks_gaps,
    resampled_gaps,
    resampling_steps,
)
from core.stats.probes.stereotypicality import LEAST_PHRASES, phrase_sets
from core.stats.probes.undefined import Undefined, is_defined

Array = npt.NDArray[np.float64]

WELL_POWERED = 0.80  # published: share of resamples that reject
NO_SIGN = 0.30
_AT_A_TIME = 2_000_000  # simulated values of a block of worlds, 16 MB


class Stability(StrEnum):
    """What the resampled rejection rate says about a flag, or about its absence."""

    WELL_POWERED = "well-powered"  # flagged, rate >= .80
    MARGINAL = "marginal"  # flagged, rate below
    NO_SIGN = "no sign of a difference"  # not flagged, rate < .30; published: "genuine null"
    UNDERPOWERED = "underpowered"  # not flagged, rate above
    TOO_FEW = "too few phrases"  # not enough to be drawn anew
    UNDEFINED = "undefined"


@dataclass(frozen=True)
class RejectionRates:
    """How often the test rejects when both sets of phrases are drawn anew, with replacement."""

    rate: Array  # (A,), NaN where undefined
    error: Array  # Monte-Carlo standard error, sqrt(p (1 - p) / R), (A,)
    stability: tuple[Stability, ...]
    n_concepts: int
    n_reference: int
    n_resamples: int
    undefined: tuple[Undefined, ...]


@dataclass(frozen=True)
class PowerPoint:
    """How often the test finds a difference of a stated size; NaN where it cannot be run."""

    shift: float  # of the concepts, in standard deviations of the reference
    spread: float  # standard deviation of the concepts over that of the reference
    rate: float  # share of worlds with p < .05
    error: float  # Monte-Carlo standard error
    n_worlds: int
    n_concepts: int
    n_reference: int


def rejection_rates(
    concepts: npt.ArrayLike,
    reference: npt.ArrayLike,
    *,
    n_resamples: int = 1_000,
    rng: np.random.Generator,
) -> RejectionRates:
    """Share of resamples with KS p < .05, and what it makes of the flag.

    Concepts and reference phrases are drawn with replacement, each as many as there are, the same
    draws for all axes. This is not power: it is high wherever the observed difference is. It needs
    five phrases of each kind.

    Parameters
    ----------
    concepts, reference
        As of `stereotypicality`.
    """
    if n_resamples < 1:
        raise InputError("A rejection rate needs at least one resample.")
    x, y, undefined = phrase_sets(concepts, reference, least=LEAST_ITEMS)
    n1, n2 = x.shape[1], y.shape[1]
    at = is_defined(undefined)
    rate = np.full(len(at), np.nan)
    flagged = np.zeros(len(at), dtype=bool)
    if at.any():
        critical = critical_gap(n1, n2, LEVEL)
        flagged[at] = ks_gaps(x[at], y[at]) >= critical
        steps = resampling_steps(n1, n2, n_resamples, rng=rng)
        pooled = np.concatenate([x, y], axis=1)
        for axis in np.flatnonzero(at):
            rate[axis] = (resampled_gaps(pooled[axis], steps) >= critical).mean()
    return RejectionRates(
        rate=rate,
        error=np.sqrt(rate * (1 - rate) / n_resamples),
        stability=tuple(map(stability, rate.tolist(), flagged.tolist(), undefined)),
        n_concepts=n1,
        n_reference=n2,
        n_resamples=n_resamples,
        undefined=undefined,
    )


def stability(rate: float, flagged: bool, why: Undefined = Undefined.NO) -> Stability:
    """The published classes of a rejection rate; `why` says for what reason it is undefined."""
    if math.isnan(rate):
        return Stability.TOO_FEW if why is Undefined.TOO_FEW else Stability.UNDEFINED
    if flagged:
        return Stability.WELL_POWERED if rate >= WELL_POWERED else Stability.MARGINAL
    return Stability.NO_SIGN if rate < NO_SIGN else Stability.UNDERPOWERED


def simulated_power(
    n_concepts: int,
    n_reference: int,
    differences: Sequence[tuple[float, float]],
    *,
    n_worlds: int = 2_000,
    rng: np.random.Generator,
) -> tuple[PowerPoint, ...]:
    """How often the KS test at 5 % finds concepts that differ by a stated shift and spread.

    Reference values are standard normal, the concepts' are shift + spread times standard normal.
    Shift 0 with spread 1 gives the size of the test.

    Parameters
    ----------
    differences
        Pairs of shift (standard deviations) and spread (ratio of standard deviations, above 0).

    Raises
    ------
    InputError
        A spread is not above 0, or there is no world.
    """
    if n_worlds < 1 or any(spread <= 0 for _, spread in differences):
        raise InputError("Power needs at least one simulated world, and spreads above 0.")
    too_few = min(n_concepts, n_reference) < LEAST_PHRASES
    critical = 0 if too_few else critical_gap(n_concepts, n_reference, LEVEL)
    points = []
    for shift, spread in differences:
        rate = math.nan
        if not too_few:
            found = _rejections(n_concepts, n_reference, (shift, spread), critical, n_worlds, rng)
            rate = found / n_worlds
        error = math.sqrt(rate * (1 - rate) / n_worlds)
        points.append(PowerPoint(shift, spread, rate, error, n_worlds, n_concepts, n_reference))
    return tuple(points)


def _rejections(
    n1: int,
    n2: int,
    difference: tuple[float, float],
    critical: int,
    n_worlds: int,
    rng: np.random.Generator,
) -> int:
    """In how many simulated worlds the test rejects."""
    shift, spread = difference
    step = max(1, _AT_A_TIME // (n1 + n2))
    found = 0
    for start in range(0, n_worlds, step):
        size = min(step, n_worlds - start)
        x, y = rng.normal(shift, spread, (size, n1)), rng.normal(size=(size, n2))
        found += int((ks_gaps(x, y) >= critical).sum())
    return found
