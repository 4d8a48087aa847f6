"""Do pairs lean further towards the stereotype where people find its predicate more harmful?

After "WinoQueer-NL" (arXiv 2609.02651), which correlates every pair's difference of scores with the
harmfulness of its predicate. Pairs of one predicate share their harmfulness and much of the rest,
so that such rows are not independent and the p-value is far too small. Here besides: one row per
predicate. A pair's difference is taken from the mean of its cell (identity, counterfactual and
template), which move scores whatever the predicate is; the rest is averaged over the predicate's
pairs. The p-value comes from dealing the harmfulness out to the predicates anew, the interval from
drawing predicates with replacement.

Letters: P pairs, M models, C predicates, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from core.stats.identity_bias import expanded_level
from core.stats.intervals import Interval, percentile_interval
from core.stats.known import varies
from core.stats.levels import CONFIDENCE
from core.stats.resampling import TIE, bootstrap_weights, drawn_pvalue

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

LEAST = 3  # two always lie on a line
_ROUNDING = 1e-12  # of the mean square: a smaller one about the mean is rounding


@dataclass(frozen=True)
class RowCorrelation:
    """Pearson's r over rows, and the p-value as if these were independent; NaN where undefined."""

    r: float
    pvalue: float
    n: int  # pairs


@dataclass(frozen=True)
class PredicateCorrelation:
    """Correlations over predicates, with p-values by permutation; NaN where undefined."""

    pearson: Interval
    pearson_pvalue: float
    spearman: Interval
    spearman_pvalue: float
    n: int  # predicates


def row_correlation(differences: npt.ArrayLike, harmfulness: npt.ArrayLike) -> RowCorrelation:
    """As published: every pair is a row, and p is of Student's t with n - 2 degrees of freedom.

    Parameters
    ----------
    differences, harmfulness : array, shape (P,)
        NaN where a pair has none; such a pair is left out.
    """
    x, y = np.asarray(differences, np.float64), np.asarray(harmfulness, np.float64)
    whole = np.isfinite(x) & np.isfinite(y)
    x, y = x[whole], y[whole]
    n = len(x)
    if n < LEAST or not (varies(x) and varies(y)):
        return RowCorrelation(math.nan, math.nan, n)
    r = float(_weighted_r(x[None], y[None], np.ones((1, n)))[0])
    t = abs(r) * math.sqrt((n - 2) / max(1 - r * r, np.finfo(float).tiny))
    return RowCorrelation(r, 2 * float(stdtr(n - 2, -t)), n)


def centred(differences: Array, cells: Codes) -> Array:
    """Differences less the mean of their cell, model by model; NaN stays. Shape (M, P)

    Parameters
    ----------
    differences : array, shape (M, P)
    cells : array, shape (P,)
        Which combination of identity, counterfactual and template a pair has, from 0 on.
    """
    return np.asarray(differences - grouped_means(differences, cells)[:, cells])


def grouped_means(values: Array, groups: Codes) -> Array:
    """Means by group, model by model; NaN for a group without a value. Shape (M, groups)"""
    n_groups = int(groups.max(initial=-1)) + 1
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    means = np.full((len(values), n_groups), np.nan)
    for row, of, there in zip(means, filled, known, strict=True):
        n = np.bincount(groups, weights=there, minlength=n_groups)
        np.divide(np.bincount(groups, weights=of, minlength=n_groups), n, out=row, where=n > 0)
    return means


def predicate_correlations(
    differences: Array, harmfulness: Array, *, n_resamples: int, rng: np.random.Generator
) -> list[PredicateCorrelation]:
    """Correlation of mean difference and harmfulness over predicates, for each model.

    Models with the same predicates share permutations and draws.

    Parameters
    ----------
    differences : array, shape (M, C)
        Mean difference of each predicate's pairs, after `centred`; NaN where it has none.
    harmfulness : array, shape (C,)
        NaN for a predicate that was not rated.
    """
    whole = np.isfinite(differences) & np.isfinite(harmfulness)
    found: dict[int, PredicateCorrelation] = {}
    for mask in np.unique(whole, axis=0):
        models = np.flatnonzero((whole == mask).all(axis=1))
        of = differences[np.ix_(models, np.flatnonzero(mask))]
        done = _correlations(of, harmfulness[mask], n_resamples, rng)
        found |= dict(zip(models.tolist(), done, strict=True))
    return [found[m] for m in range(len(differences))]


def _correlations(
    x: Array, y: Array, n_resamples: int, rng: np.random.Generator
) -> list[PredicateCorrelation]:
    """Of models that all have these predicates."""
    n = len(y)
    defined = n >= LEAST and varies(y)
    nothing = Interval(math.nan, math.nan, math.nan, n)
    if not defined:
        return [PredicateCorrelation(nothing, math.nan, nothing, math.nan, n)] * len(x)
    orders = rng.permuted(np.tile(np.arange(n), (n_resamples, 1)), axis=1)
    weights = bootstrap_weights(n, n_resamples, rng=rng)
    ranks, harm_ranks = _midranks(y, weights), _ranks(y)
    found = []
    for row in x:
        if not varies(row):
            found.append(PredicateCorrelation(nothing, math.nan, nothing, math.nan, n))
            continue
        pearson = _with_interval(row, y, _weighted_r(row[None], y[None], weights))
        own_ranks = _ranks(row)
        drawn = _weighted_r(_midranks(row, weights), ranks, weights)
        spearman = _with_interval(own_ranks, harm_ranks, drawn)
        found.append(
            PredicateCorrelation(
                pearson,
                _permuted_pvalue(row, y, orders),
                spearman,
                _permuted_pvalue(own_ranks, harm_ranks, orders),
                n,
            )
        )
    return found


def _with_interval(x: Array, y: Array, draws: Array) -> Interval:
    r = float(_weighted_r(x[None], y[None], np.ones((1, len(x))))[0])
    return percentile_interval(r, draws, len(x), level=expanded_level(len(x), CONFIDENCE))


def _permuted_pvalue(x: Array, y: Array, orders: Codes) -> float:
    """Two-sided p of r when y is dealt out anew; the sums of squares stay what they are."""
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    null = np.abs(y[orders] @ x) / scale
    observed = abs(float(x @ y)) / scale
    above = int((null >= observed - len(x) * TIE).sum())
    return float(drawn_pvalue(above, len(orders)))


def _weighted_r(x: Array, y: Array, weights: Array) -> Array:
    """Pearson's r of x and y that count as often as they weigh; NaN without spread. Shape (R,)"""
    x, y = x - x.mean(), y - y.mean()
    n, sx, sy = weights.sum(axis=1), _total(weights, x), _total(weights, y)
    xx = _total(weights, x * x) - sx * sx / n
    yy = _total(weights, y * y) - sy * sy / n
    xy = _total(weights, x * y) - sx * sy / n
    varying = (xx > _ROUNDING * n * float((x * x).max())) & (
        yy > _ROUNDING * n * float((y * y).max())
    )
    scale = np.sqrt(np.where(varying, xx * yy, 1.0))
    return np.asarray(np.clip(np.where(varying, xy / scale, np.nan), -1, 1))


def _total(weights: Array, values: Array) -> Array:
    """Sum of values (R, C) or (1, C) that count as often as they weigh. Shape (R,)"""
    if len(values) == 1:
        return np.asarray(weights @ values[0])
    return np.asarray(np.einsum("rc,rc->r", weights, values))


def _ranks(values: Array) -> Array:
    return np.asarray(_midranks(values, np.ones((1, len(values))))[0])


def _midranks(values: Array, weights: Array) -> Array:
    """Ranks of values in a sample that holds each as often as it weighs, ties sharing. (R, C)

    A value ranks behind all that weigh below it, in the middle of its equals.
    """
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    first = np.flatnonzero(np.append(True, sorted_values[1:] != sorted_values[:-1]))
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(values))))
    by_group = np.add.reduceat(weights[:, order], first, axis=1)
    ranks = np.cumsum(by_group, axis=1) - by_group / 2 + 0.5
    return np.asarray(ranks[:, group])
