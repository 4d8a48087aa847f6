"""Do concepts lie elsewhere on an axis than ordinary phrases do?

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: the values of the concepts on an
axis against those of reference phrases, by a two-sample Kolmogorov-Smirnov test (`kolmogorov` says
which), with location (Mann and Whitney) and spread (Brown and Forsythe) beside it. Flagged is
p < .05, as published; Benjamini and Hochberg's q over all axes stands beside it. An axis whose
values are unknown or do not vary is undefined and never flagged.

Letters: A axes, C concepts or phrases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc

from core.stats.known import ROUNDING, only_rounding
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.probes.kolmogorov import (
    Method,
    ks_gaps,
    ks_method,
    ks_pvalues,
)
from core.stats.probes.undefined import Undefined, is_defined, known_anywhere, reasons_of

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LEAST_PHRASES = 2  # of each kind, for a test
_SMALL = 8  # up to here Mann-Whitney counts orders, as scipy does


@dataclass(frozen=True)
class Stereotypicality:
    """Concepts against reference phrases on A axes; all arrays (A,), NaN where undefined."""

    n_concepts: int
    n_reference: int
    method: Method  # of the Kolmogorov-Smirnov p-values
    statistic: Array  # Kolmogorov-Smirnov D, in [0, 1]
    pvalue: Array
    pvalue_adjusted: Array  # over the axes that are defined
    flagged: Mask  # p < .05; False where undefined
    difference: Array  # mean of the concepts less that of the reference, in the values' unit
    superiority: Array  # share of pairs in which the concept is higher, a tie counting half
    pvalue_location: Array  # Mann-Whitney
    spread_ratio: Array  # mean distance to the median: the concepts' over the reference's
    pvalue_spread: Array  # Brown-Forsythe
    undefined: tuple[Undefined, ...]  # why; empty where defined


def stereotypicality(concepts: npt.ArrayLike, reference: npt.ArrayLike) -> Stereotypicality:
    """Tests of whether concepts and reference phrases are distributed alike on each axis.

    Parameters
    ----------
    concepts : array, shape (A, C)
    reference : array, shape (A, phrases)
        Values, as of `axis_values`. A phrase that is NaN on every axis is left out; another NaN
        makes its axis undefined, and so do values that are all the same up to rounding.

    Returns
    -------
    Stereotypicality
        Mann-Whitney is exact for at most 8 phrases of a kind without ties, else by the normal
        approximation with continuity and ties corrected; Brown-Forsythe is the analysis of variance
        of distances to the median. Both as in scipy (`mannwhitneyu`, `levene`).

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    x, y, undefined = phrase_sets(concepts, reference)
    n1, n2 = x.shape[1], y.shape[1]
    at = is_defined(undefined)
    found = np.full((7, len(at)), np.nan)
    if at.any():
        found[:, at] = _tests(x[at], y[at])
    statistic, pvalue, difference, superiority, location, spread_ratio, spread = found
    return Stereotypicality(
        n_concepts=n1,
        n_reference=n2,
        method=ks_method(n1, n2),
        statistic=statistic,
        pvalue=pvalue,
        pvalue_adjusted=benjamini_hochberg(pvalue),
        flagged=pvalue < LEVEL,
        difference=difference,
        superiority=superiority,
        pvalue_location=location,
        spread_ratio=spread_ratio,
        pvalue_spread=spread,
        undefined=undefined,
    )


def _tests(x: Array, y: Array) -> Array:
    """D, its p, difference of means, superiority, its p, ratio of spreads, its p. (7, A)"""
    n1, n2 = x.shape[1], y.shape[1]
    gaps = ks_gaps(x, y)
    difference = x.mean(axis=1) - y.mean(axis=1)
    rows = [gaps / (n1 * n2), ks_pvalues(gaps, n1, n2), difference]
    return np.array([*rows, *_mann_whitney(x, y), *_brown_forsythe(x, y)])


def phrase_sets(
    concepts: npt.ArrayLike, reference: npt.ArrayLike, *, least: int = LEAST_PHRASES
) -> tuple[Array, Array, tuple[Undefined, ...]]:
    """Both sets without the phrases that are known nowhere, and why axes are undefined."""
    x, y = np.asarray(concepts, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise ValueError(f"values have the shape (axes, phrases), not {x.shape} and {y.shape}")
    x, y = x[:, known_anywhere(x)], y[:, known_anywhere(y)]
    few = min(x.shape[1], y.shape[1]) < least
    return x, y, reasons_of(np.concatenate([x, y], axis=1), few=few)


def _mann_whitney(x: Array, y: Array) -> tuple[Array, Array]:
    """U / (n1 n2) and two-sided p of each row."""
    from scipy.stats import mannwhitneyu  # takes a second

    if min(x.shape[1], y.shape[1]) > _SMALL:
        found = mannwhitneyu(x, y, axis=1, method="asymptotic")
        u, pvalue = found.statistic, found.pvalue
    else:  # whether there are ties, and so which method, differs from row to row
        each = [mannwhitneyu(a, b) for a, b in zip(x, y, strict=True)]
        u, pvalue = np.array([e.statistic for e in each]), np.array([e.pvalue for e in each])
    return np.asarray(u / (x.shape[1] * y.shape[1])), np.asarray(pvalue)


def _brown_forsythe(x: Array, y: Array) -> tuple[Array, Array]:
    """Ratio of mean distances to the median, and p of their analysis of variance, of each row."""
    n = x.shape[1] + y.shape[1]
    a, b = (np.abs(v - np.median(v, axis=1, keepdims=True)) for v in (x, y))
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    within = ((a - mean_a[:, None]) ** 2).sum(axis=1) + ((b - mean_b[:, None]) ** 2).sum(axis=1)
    between = x.shape[1] * y.shape[1] / n * (mean_a - mean_b) ** 2
    squares = (a**2).sum(axis=1) + (b**2).sum(axis=1)
    varies = ~only_rounding(within, squares, n)
    f = np.divide((n - 2) * between, within, out=np.full(len(x), np.nan), where=varies)
    ratio = np.divide(mean_a, mean_b, out=np.full(len(x), np.nan), where=mean_b > ROUNDING)
    return ratio, np.asarray(fdtrc(1, n - 2, f))
