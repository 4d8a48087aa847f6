"""Differences of preferences in units of their own spread.

How far l+ - l- lies from 0 depends on how long a language's words are in tokens, and on how flat a
model's distribution is. Divided by its standard deviation in the same condition, a preference is
free of both. Letters: N items, C cells (a model and a version, say), R resamples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.stats.known import ROUNDING

Array = npt.NDArray[np.float64]


def standardised_change(before: npt.ArrayLike, after: npt.ArrayLike, weights: Array) -> Array:
    """mean(after) / sd(after) - mean(before) / sd(before), with the sds of each resample.

    Parameters
    ----------
    before, after : array, shape (C, N)
        u = l+ - l- in nats, in two versions; an item counts in the cells that have both.
    weights : array, shape (R, N)
        How often each item was drawn, as of `bootstrap_weights`; a row of ones is the data.

    Returns
    -------
    array, shape (R, C)
        With ddof 1. NaN where fewer than two items are drawn, or where they do not vary.
    """
    a, b = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    known = np.isfinite(a) & np.isfinite(b)
    n = weights @ known.T.astype(np.float64)  # (R, C)
    return _standardised_mean(b, known, weights, n) - _standardised_mean(a, known, weights, n)


def _standardised_mean(u: Array, known: npt.NDArray[np.bool_], weights: Array, n: Array) -> Array:
    count = np.maximum(known.sum(axis=1), 1)
    centre = np.where(known, u, 0.0).sum(axis=1) / count
    # Around the centre of the data, so that the variance is no difference of two large numbers.
    centred = np.where(known, u - centre[:, None], 0.0)
    total, squares = weights @ centred.T, weights @ (centred**2).T  # (R, C)
    mean = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    variance = (squares - total * np.nan_to_num(mean)) / np.maximum(n - 1, 1)
    # Neither what is left of the data's spread in a draw nor the data may be rounding alone.
    rounding = (ROUNDING * np.where(known, np.abs(u), 0.0).max(axis=1, initial=0.0)) ** 2
    least = np.maximum(ROUNDING * (centred**2).max(axis=1, initial=0.0), rounding)
    varies = (n > 1) & (variance > np.maximum(least, 1e-300))
    sd = np.sqrt(np.where(varies, variance, np.nan))
    return np.asarray((centre + mean) / sd)
