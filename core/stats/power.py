"""How large a shift would have to be to be noticed, and how often it would be.

After "Lost in Translation" (arXiv 2610.20479): by the formula for a paired mean, and by running the
test itself on resampled items to which a known drop is added.

Letters: N items, W worlds, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from core.errors import InputError
from core.stats.known import ROUNDING, varies
from core.stats.levels import LEAST_ITEMS, LEVEL, POWER
from core.stats.resampling import all_signs, drawn_pvalue, enumerable, least_mean, sign_vectors

Array = npt.NDArray[np.float64]

_Z = float(ndtri(1 - LEVEL / 2) + ndtri(POWER))
_AT_A_TIME = 4_000_000  # null means of a block of worlds, 32 MB


@dataclass(frozen=True)
class RejectionRate:
    """How often a test rejected in simulated worlds; NaN where it could not be run."""

    true_drop: float  # that was added; 0 gives the size of the test
    rate: float
    error: float  # Monte-Carlo standard error of the rate, sqrt(p (1 - p) / n_worlds)
    n_worlds: int
    n: int  # items in each world


def items_needed(shift: float, sd: float) -> float:
    """Items with which a paired test at 5 % finds a shift 8 times in 10, rounded up.

    n = ((z_.975 + z_.80) sd / shift)^2: 851 for a shift of 0.02 at sd 0.2082. At least
    `LEAST_ITEMS`: the formula is of a normal mean, and fewer items are not tested at all.

    Parameters
    ----------
    shift
        True mean change, of either sign; 0 cannot be found with any number.
    sd
        Standard deviation of one item's change; NaN gives NaN, and so does one that is only
        rounding: items that do not vary tell nothing of the next.
    """
    if math.isnan(shift) or math.isnan(sd) or sd <= ROUNDING:
        return math.nan
    if shift == 0:
        return math.inf
    return float(max(math.ceil((_Z * sd / shift) ** 2), LEAST_ITEMS))


def planning_sd(sd: float, n: int) -> float:
    """The sd of n items as far as it foretells that of others: NaN below `LEAST_ITEMS`."""
    return sd if n >= LEAST_ITEMS else math.nan


def smallest_shift(n: int, sd: float) -> float:
    """The shift that n items show 8 times in 10: (z_.975 + z_.80) sd / sqrt(n).

    0.0307 at 360 items and sd 0.2082. NaN below `LEAST_ITEMS` items, and where they do not vary.
    """
    return _Z * sd / math.sqrt(n) if n >= LEAST_ITEMS and sd > ROUNDING else math.nan


def item_level_power(
    differences: npt.ArrayLike,
    true_drops: Sequence[float],
    *,
    n_worlds: int = 400,
    n_resamples: int = 2_000,
    rng: np.random.Generator,
) -> tuple[RejectionRate, ...]:
    """How often the item-level test would find a drop of a known size in items like these.

    The differences are centred, so that there is no effect, the drop is subtracted, items are drawn
    with replacement, and the sign-flip test is run anew: in each world, p < .05 rejects. A drop of
    0 gives the size of the test, which should be .05.

    Parameters
    ----------
    differences : array, shape (N,)
        D - R of each item: its mean change in a translation minus that in the rewordings.
    true_drops
        Added drops, in the unit of the scores. All are tried in the same worlds.

    Returns
    -------
    tuple of RejectionRate
        One per drop; NaN below `LEAST_ITEMS` items, which resampled tell of nothing but
        themselves, and where the differences do not vary.

    Raises
    ------
    InputError
        A drop is no number, or there is nothing to draw.
    """
    check_draws(n_worlds, n_resamples)
    drops = np.asarray(true_drops, dtype=np.float64)
    if not np.isfinite(drops).all():
        raise InputError("A drop to be added must be a finite number.")
    d = np.asarray(differences, dtype=np.float64)
    d = d[np.isfinite(d)]
    n = len(d)
    if n < LEAST_ITEMS or not varies(d):
        return tuple(RejectionRate(float(x), math.nan, math.nan, 0, n) for x in drops)
    centred = d - d.mean()
    rejected = np.zeros(len(drops))
    size = max(1, _AT_A_TIME // n_resamples)
    for start in range(0, n_worlds, size):
        worlds = centred[rng.integers(0, n, (min(size, n_worlds - start), n))]
        every = bool(enumerable(n, n_resamples))
        signs = all_signs(n) if every else sign_vectors(n, n_resamples, rng=rng)
        rejected += _rejections(worlds, drops, signs, every=every)
    return tuple(
        rejection_rate(float(x), float(k), n_worlds, n)
        for x, k in zip(drops, rejected, strict=True)
    )


def rejection_rate(true_drop: float, rejected: float, n_worlds: int, n: int) -> RejectionRate:
    """The rate of rejections in independent worlds, with its Monte-Carlo error."""
    rate = rejected / n_worlds
    return RejectionRate(true_drop, rate, math.sqrt(rate * (1 - rate) / n_worlds), n_worlds, n)


def check_draws(n_runs: int, n_resamples: int) -> None:
    """Refuse a simulation that could never reject."""
    least = math.ceil(1 / LEVEL)
    if n_runs < 1 or n_resamples < least:
        raise InputError(
            f"{n_runs} runs of {n_resamples} sign flips show nothing; take at least one run of "
            f"{least} sign flips."
        )


def _rejections(worlds: Array, drops: Array, signs: Array, *, every: bool) -> Array:
    """In how many worlds each drop is found. (drops,)

    A flipped sum of d - drop is the flipped sum of d minus drop times the sum of the signs, so one
    matrix product serves all drops. The worlds may share their signs: items come in an order of
    their own in each. `every`: these are all signs there are. A world that does not change has
    p = 1, no rejection.
    """
    n = worlds.shape[1]
    null, ones = worlds @ signs.T / n, signs.sum(axis=1) / n  # (W, R), (R,)
    found = np.empty(len(drops))
    for at, drop in enumerate(drops):
        least = least_mean(worlds - drop, n)
        above = (np.abs(null - drop * ones) >= least[:, None]).sum(axis=1)
        pvalues = above / len(signs) if every else drawn_pvalue(above, len(signs))
        found[at] = (pvalues < LEVEL).sum()
    return found
