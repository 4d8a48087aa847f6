"""How sure a number is: intervals over items, clusters, models, or items and models at once.

An end is NaN where the data cannot give one: fewer than two units (five where they are drawn with
replacement, or the interval would be their range), or values that do not vary. Two equal ends would
claim a certainty that nobody has.

Letters: N items, M models, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from core.stats.known import varies
from core.stats.levels import CONFIDENCE, LEAST_ITEMS, LEAST_MODELS
from core.stats.resampling import bootstrap_weights

Array = npt.NDArray[np.float64]

_ROUNDING = 1e-13  # relative; draws that differ by less from the estimate equal it


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval, in the unit of the values; NaN ends where there is none."""

    value: float
    low: float
    high: float
    n: int  # units that were resampled: items, clusters, or models
    n_undefined: int = 0  # draws that gave no number, and are left out


def percentile_interval(
    value: float, draws: npt.ArrayLike, n: int, *, level: float = CONFIDENCE
) -> Interval:
    """Interval between the quantiles (1 -+ level) / 2 of bootstrap draws.

    Parameters
    ----------
    value
        The estimate from the data themselves.
    draws : array, shape (R,)
        The estimate from each resample; NaN where it is undefined.
    n
        Units that were resampled; below 5, both ends are NaN.
    """
    finite, n_undefined = _finite_draws(draws)
    if n < LEAST_ITEMS or math.isnan(value) or not varies(finite):
        return Interval(value, math.nan, math.nan, n, n_undefined)
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), n, n_undefined)


def bias_corrected_interval(
    value: float, draws: npt.ArrayLike, n: int, *, level: float = CONFIDENCE
) -> Interval:
    """Percentile interval moved by as much as the draws lie to one side of the estimate.

    With z0 the normal quantile of the share of draws below the estimate (half of those equal to
    it), the ends are the quantiles Phi(2 z0 -+ z) of the draws (Efron 1981). For differences of
    absolute means, of which the draws are biased. Parameters as of `percentile_interval`; the ends
    are NaN if all draws lie on one side.
    """
    finite, n_undefined = _finite_draws(draws)
    nothing = Interval(value, math.nan, math.nan, n, n_undefined)
    if n < LEAST_ITEMS or math.isnan(value) or not varies(finite):
        return nothing
    same = np.abs(finite - value) <= _ROUNDING * np.ptp(finite)
    below = float(((finite < value) & ~same).mean() + same.mean() / 2)
    if not 0 < below < 1:
        return nothing
    z0, z = float(ndtri(below)), float(ndtri((1 + level) / 2))
    low, high = np.quantile(finite, [float(ndtr(2 * z0 - z)), float(ndtr(2 * z0 + z))])
    return Interval(value, float(low), float(high), n, n_undefined)


def t_interval(values: npt.ArrayLike, *, level: float = CONFIDENCE) -> Interval:
    """Mean +- t sd / sqrt(n) with n - 1 degrees of freedom; NaN values are left out.

    Parameters
    ----------
    values : array, shape (n,)
        Independent values, one per model say; at least two are needed for an interval.
    """
    x = _finite(values)
    n = len(x)
    value = float(x.mean()) if n else math.nan
    if n < 2 or not varies(x):
        return Interval(value, math.nan, math.nan, n)
    half = float(stdtrit(n - 1, (1 + level) / 2) * x.std(ddof=1) / math.sqrt(n))
    return Interval(value, value - half, value + half, n)


def pigeonhole_interval(
    values: npt.ArrayLike, *, n_resamples: int, rng: np.random.Generator, level: float = CONFIDENCE
) -> Interval:
    """Interval of a mean over items and models, both drawn with replacement.

    The pigeonhole bootstrap (Owen 2007): a value weighs as often as its item was drawn times as
    often as its model was. It speaks of other items and other models of the same kind, so it needs
    at least 5 models; below, both ends are NaN.

    Parameters
    ----------
    values : array, shape (M, N)
        NaN where a model has no value of an item. The estimate is the mean of all values, and `n`
        counts the items that have one.
    """
    x = np.asarray(values, dtype=np.float64)
    known = np.isfinite(x)
    rows, columns = known.any(axis=1), known.any(axis=0)
    x, known = x[np.ix_(rows, columns)], known[np.ix_(rows, columns)]
    n_models, n = known.shape
    value = float(x[known].mean()) if known.any() else math.nan
    if n_models < LEAST_MODELS or not varies(x[known]):
        return Interval(value, math.nan, math.nan, n)
    filled = np.where(known, x, 0.0)
    draws = np.full(n_resamples, np.nan)
    size = max(1, 2_000_000 // max(n, 1))
    for start in range(0, n_resamples, size):
        rows_ = slice(start, min(start + size, n_resamples))
        of_models = bootstrap_weights(n_models, rows_.stop - start, rng=rng)
        of_items = bootstrap_weights(n, rows_.stop - start, rng=rng)
        sums = ((of_models @ filled) * of_items).sum(axis=1)
        counts = ((of_models @ known) * of_items).sum(axis=1)
        np.divide(sums, counts, out=draws[rows_], where=counts > 0)
    return percentile_interval(value, draws, n, level=level)


def _finite_draws(draws: npt.ArrayLike) -> tuple[Array, int]:
    array = np.asarray(draws, dtype=np.float64).ravel()
    finite = array[np.isfinite(array)]
    return finite, len(array) - len(finite)


def _finite(values: npt.ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]
