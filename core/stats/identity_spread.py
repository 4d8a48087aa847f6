"""How far identities lie apart, and which lie clearly on one side: simultaneous over identities.

The highest of several shares less the lowest is too large on average, by chance alone, and among
many intervals some leave out one half by chance. Both are met by what resamples of the predicates
do to all identities at once. With s_i the share of identity i and d_ri its change in resample r,

    q = quantile over r of (max_i d_ri - min_i d_ri),   interval of the spread = spread -+ q,

which covers at least as often as it says, since no changes of the shares move their range by more
than the range of these changes; at equal shares it holds 0. An identity lies clearly on one side
where |s_i - 1/2| exceeds t_i sd_i sqrt(n_i / (n_i - 1)): with n_i the predicates of i and c the
quantile over r of the largest |d_ri| / sd_i, t_i is the quantile of Student's t of n_i - 1 degrees
of freedom at the level that c has in the normal distribution.

Letters: I identities, R resamples.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

from core.stats.identity_bias import NEUTRAL, expanded_level
from core.stats.intervals import Interval
from core.stats.known import ROUNDING, varies
from core.stats.levels import CONFIDENCE, LEAST_ITEMS
from core.stats.shares import wilson_interval

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Sides = npt.NDArray[np.int64]


def spread_interval(
    shares: Array, draws: Array, n_predicates: Counts, *, level: float = CONFIDENCE
) -> Interval:
    """Interval of the highest less the lowest share; NaN ends where it has none.

    Parameters
    ----------
    shares : array, shape (I,)
        NaN for an identity without a pair, which is left out.
    draws : array, shape (R, I)
        The shares in resamples of the predicates.
    n_predicates : array, shape (I,)
        Predicates behind each share; below five of any there is no interval.
    """
    known = np.isfinite(shares)
    if known.sum() < 2:
        return Interval(math.nan, math.nan, math.nan, 0)
    spread, n = float(np.ptp(shares[known])), int(n_predicates[known].min())
    changes = draws[:, known] - shares[known]
    ranges = np.fmax.reduce(changes, axis=1) - np.fmin.reduce(changes, axis=1)
    if n < LEAST_ITEMS or not varies(ranges):
        return Interval(spread, math.nan, math.nan, n)
    q = float(np.nanquantile(ranges, expanded_level(n, level)))
    return Interval(spread, max(0.0, spread - q), min(1.0, spread + q), n)


def clear_sides(
    shares: Array, draws: Array, n_predicates: Counts, *, level: float = CONFIDENCE
) -> Sides:
    """1 where an identity lies clearly above one half, -1 clearly below, 0 elsewhere. Shape (I,)

    An identity of which every resample says the same, all or nothing, is judged by Wilson's
    interval of its predicates at a level that Bonferroni's correction asks for. Parameters as of
    `spread_interval`; an identity with fewer than five predicates is never clear.
    """
    usable = np.isfinite(shares) & (n_predicates >= LEAST_ITEMS)
    changes = np.abs(draws - shares)
    sd = np.where(usable, np.sqrt(np.nanmean(np.where(usable, changes, 0.0) ** 2, axis=0)), 0.0)
    moving = sd > ROUNDING
    sides = np.zeros(len(shares), dtype=np.int64)
    if moving.any():
        largest = np.fmax.reduce(changes[:, moving] / sd[moving], axis=1)
        tail = float(ndtr(np.nanquantile(largest, level)))
        n = n_predicates[moving]
        least = stdtrit(n - 1, tail) * np.sqrt(n / (n - 1)) * sd[moving]
        away = shares[moving] - NEUTRAL
        sides[moving] = np.where(np.abs(away) > least, np.sign(away), 0)
    adjusted = 1 - (1 - level) / max(1, int(usable.sum()))
    for i in np.flatnonzero(usable & ~moving & np.isin(shares, (0.0, 1.0))):
        k = int(n_predicates[i])
        found = wilson_interval(float(shares[i]) * k, k, level=adjusted)
        sides[i] = int(found.low > NEUTRAL) - int(found.high < NEUTRAL)
    return sides
