"""The two-sample Kolmogorov-Smirnov test, for many pairs of samples at once.

D = max over t of |F1(t) - F2(t)|. With n1 and n2 values, D n1 n2 is an integer, called the gap
here: the walk over the pooled sorted values, n2 up for a value of the first sample and n1 down for
one of the second, looked at after each group of equal values. Its p-value comes from counting walks
(exact: Hodges 1958) where there are at most `EXACT_UP_TO` values, and from the asymptotic
distribution above; both are those of scipy.stats.ks_2samp and take values without ties for granted.
With ties they are too large rather than too small.

Letters: n1, n2 values of the two samples, R resamples.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.stats.resampling import bootstrap_weights

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Steps = npt.NDArray[np.int32]

EXACT_UP_TO = 1_000  # values in both samples: the number of walks must be a float64
Method = Literal["exact", "asymptotic"]


def ks_method(n1: int, n2: int) -> Method:
    """How p-values are found for samples of these sizes."""
    return "exact" if n1 + n2 <= EXACT_UP_TO else "asymptotic"


def ks_gaps(first: npt.ArrayLike, second: npt.ArrayLike) -> Ints:
    """D n1 n2 of many pairs of samples.

    Parameters
    ----------
    first : array, shape (..., n1)
    second : array, shape (..., n2)
        Finite values; at least one in each sample.

    Returns
    -------
    array, shape (...)
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    n1, n2 = x.shape[-1], y.shape[-1]
    pooled = np.concatenate([x, y], axis=-1)
    order = np.argsort(pooled, axis=-1)
    walk = np.where(order < n1, n2, -n1).cumsum(axis=-1)
    ordered = np.take_along_axis(pooled, order, axis=-1)
    inside = ordered[..., 1:] == ordered[..., :-1]  # the next value is the same: not yet looked at
    walk[..., :-1][inside] = 0
    return np.asarray(np.abs(walk).max(axis=-1))


def ks_pvalues(gaps: npt.ArrayLike, n1: int, n2: int) -> Array:
    """Two-sided p-values of gaps D n1 n2, of the shape of the gaps."""
    unique, at = np.unique(np.asarray(gaps, dtype=np.int64), return_inverse=True)
    if ks_method(n1, n2) == "exact":
        found = np.array([_exact_pvalue(int(gap), n1, n2) for gap in unique])
    else:
        found = _asymptotic_pvalues(unique / (n1 * n2), n1, n2)
    return found[at].reshape(np.shape(gaps))


@functools.cache
def critical_gap(n1: int, n2: int, level: float) -> int:
    """Smallest gap D n1 n2 with p < level; n1 n2 + 1, which none reaches, where there is none."""
    step = math.gcd(n1, n2)  # of which every gap is a multiple
    low, high = 0, n1 * n2 // step + 1
    while low < high:
        middle = (low + high) // 2
        if middle * step > n1 * n2 or float(ks_pvalues(middle * step, n1, n2)) < level:
            high = middle
        else:
            low = middle + 1
    return low * step if low * step <= n1 * n2 else n1 * n2 + 1


def resampling_steps(n1: int, n2: int, n_resamples: int, *, rng: np.random.Generator) -> Steps:
    """How far the walk goes at each value when both samples are drawn with replacement.

    Returns
    -------
    array, shape (n1 + n2, R)
        n2 times how often a value of the first sample is drawn, -n1 times that of the second.
    """
    drawn = [bootstrap_weights(n, n_resamples, rng=rng).T for n in (n1, n2)]
    return np.concatenate([drawn[0] * n2, drawn[1] * -n1]).astype(np.int32)


def splitting_steps(n: int, n_each: int, n_resamples: int, *, rng: np.random.Generator) -> Steps:
    """How far the walk goes at each of n values when two samples of n_each are split off at random.

    Returns
    -------
    array, shape (n, R)
        n_each for a value in the first sample, -n_each for one in the second, 0 for one in none.
    """
    steps = np.zeros((n_resamples, n), dtype=np.int32)
    steps[:, :n_each], steps[:, n_each : 2 * n_each] = n_each, -n_each
    return np.ascontiguousarray(rng.permuted(steps, axis=1).T)


def resampled_gaps(pooled: npt.ArrayLike, steps: Steps) -> Steps:
    """D n1 n2 of pairs of samples drawn from the same values.

    Parameters
    ----------
    pooled : array, shape (n,)
        Finite values; those of the first sample, then those of the second, where there are two.
    steps : array, shape (n, R)
        As of `resampling_steps` or `splitting_steps`.

    Returns
    -------
    array, shape (R,)
    """
    values = np.asarray(pooled, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    looked_at = np.append(ordered[1:] != ordered[:-1], True)
    at, high, low = (np.zeros(steps.shape[1], dtype=steps.dtype) for _ in range(3))
    # Value by value: these three rows stay in the processor's cache, all the walks would not.
    for value, is_end in zip(order.tolist(), looked_at.tolist(), strict=True):
        at += steps[value]
        if is_end:
            np.maximum(high, at, out=high)
            np.minimum(low, at, out=low)
    return np.maximum(high, -low)


def _exact_pvalue(gap: int, n1: int, n2: int) -> float:
    """Share of the walks from (0, 0) to (n1, n2) that somewhere reach |i n2 - j n1| >= gap.

    Row by row: `reached` counts the walks to (i, j) that have, `walks` all of them. Every term is
    added, none subtracted, so that small p-values keep their digits.
    """
    n1, n2 = min(n1, n2), max(n1, n2)
    if gap <= 0:
        return 1.0
    walks = np.ones(n2 + 1)  # to (0, j)
    reached = (np.arange(n2 + 1) * n1 >= gap).astype(np.float64)
    for i in range(1, n1 + 1):
        walks = walks.cumsum()
        low = max(0, (i * n2 - gap) // n1 + 1)  # the first and the last j that is inside
        high = min(n2, -(-(i * n2 + gap) // n1) - 1)
        inside = slice(low, high + 1)
        before = walks[low - 1] if low else 0.0
        row = walks.copy()
        row[inside] = before + reached[inside].cumsum()
        reached = row
    return float(reached[-1] / walks[-1])


def _asymptotic_pvalues(statistics: Array, n1: int, n2: int) -> Array:
    """P(D >= d) of a one-sample test with n1 n2 / (n1 + n2) values, as scipy takes it."""
    from scipy.stats import kstwo  # takes a second

    return np.asarray(np.clip(kstwo.sf(statistics, np.round(n1 * n2 / (n1 + n2))), 0.0, 1.0))
