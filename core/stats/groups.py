"""Do groups of models, languages or items differ? Least squares with clustered errors.

After "Lost in Translation" (arXiv 2610.20479). An item is scored by every model and in every
language, so its scores are no independent observations: errors are clustered by item.

Letters: n rows, k terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.levels import LEVEL

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

INTERCEPT = "intercept"
_ROUNDING = 1e-9  # of a fit, relative: solving loses more digits than a mean does


@dataclass(frozen=True)
class Factor:
    """What rows are told apart by; an empty level is not known."""

    name: str
    levels: Sequence[str]  # (n,)
    baseline: str = ""  # what others are compared with, where it occurs; else the most frequent


@dataclass(frozen=True)
class Term:
    """One coefficient in the unit of the values; NaN where undefined, and `reason` says why."""

    factor: str
    level: str
    baseline: str
    estimate: float
    error: float  # standard error
    confidence_interval: tuple[float, float]  # 95 %
    pvalue: float
    n: int  # rows of the level
    n_clusters: int  # with such a row
    reason: str = ""


@dataclass(frozen=True)
class ClusteredOls:
    """A least-squares fit: the intercept, then the levels of every factor."""

    terms: tuple[Term, ...]
    n: int
    n_clusters: int


def clustered_ols(
    values: npt.ArrayLike, clusters: npt.ArrayLike, factors: Sequence[Factor]
) -> ClusteredOls:
    """Least squares on the levels of several factors, with errors clustered.

    The errors are those of statsmodels' `cov_type="cluster"`: the sandwich
    (X'X)^-1 (sum over clusters of X_g'e_g e_g'X_g) (X'X)^-1 times C/(C-1) (n-1)/(n-k), and t with
    C - 1 degrees of freedom for C clusters and k terms.

    Parameters
    ----------
    values : array, shape (n,)
        Rows without a value are left out, and those without the level of a factor that is used.
    clusters : array, shape (n,)
        A label for each row.
    factors
        One with fewer than two levels is not used; it is a term with a reason.

    Returns
    -------
    ClusteredOls
        No estimate where a level cannot be told apart from those before it; no error where a level
        or what it is compared with occurs in one cluster only, where there are no more clusters
        than terms, or where clusters do not differ beyond the terms.
    """
    y = np.asarray(values, dtype=np.float64)
    used, keep = _usable(np.isfinite(y), factors)
    labels = np.unique(np.asarray(clusters)[keep], return_inverse=True)[1].ravel()
    n, n_clusters = int(keep.sum()), len(set(labels.tolist()))
    unused = [_unused(f, keep) for f in factors if f not in used]
    columns = _columns(used, keep)
    if n == 0:
        return ClusteredOls(tuple(unused), 0, 0)
    design: Array = np.column_stack([column for *_, column in columns])  # (n, k)
    # A column that those before it add up to leaves nothing on the diagonal of R.
    diagonal = np.abs(np.diagonal(np.linalg.qr(design, mode="r")))
    told_apart = np.zeros(len(columns), dtype=bool)
    told_apart[: len(diagonal)] = diagonal > _ROUNDING * np.sqrt(n)
    fitted = _fit(y[keep], design[:, told_apart], labels, n_clusters)
    numbers = np.full((len(columns), 5), np.nan)
    numbers[told_apart] = fitted
    alone = _alone(columns, labels)
    terms = [
        _term(columns, at, numbers[at], alone, labels, bool(told_apart[at]))
        for at in range(len(columns))
    ]
    return ClusteredOls((*terms, *unused), n, n_clusters)


_Column = tuple[str, str, str, Array]  # factor, level, baseline, its 0s and 1s


def _usable(finite: Mask, factors: Sequence[Factor]) -> tuple[list[Factor], Mask]:
    """Factors with two levels, and the rows that have a level of each of them."""
    used = [f for f in factors if len(_levels(f, finite)) > 1]
    while True:
        keep = finite.copy()
        for factor in used:
            keep &= np.array([bool(level) for level in factor.levels], dtype=bool)
        varying = [f for f in used if len(_levels(f, keep)) > 1]
        if len(varying) == len(used):
            return used, keep
        used = varying


def _levels(factor: Factor, keep: Mask) -> Counter[str]:
    levels = np.asarray(factor.levels, dtype=object)[keep].tolist()
    return Counter(level for level in levels if level)


def _unused(factor: Factor, keep: Mask) -> Term:
    levels = _levels(factor, keep)
    only = next(iter(levels), "")
    reason = (
        f"Every row has the same {factor.name}, {only}: nothing to compare with."
        if only
        else f"No row has a known {factor.name}."
    )
    nan = math.nan
    return Term(factor.name, only, "", nan, nan, (nan, nan), nan, levels[only], 0, reason)


def _columns(used: Sequence[Factor], keep: Mask) -> list[_Column]:
    columns: list[_Column] = [(INTERCEPT, "", "", np.ones(int(keep.sum())))]
    for factor in used:
        found = _levels(factor, keep)
        preferred = [level for level in found if _plain(level) == _plain(factor.baseline)]
        baseline = preferred[0] if preferred else min(found, key=lambda f: (-found[f], f))
        of_rows = np.asarray(factor.levels, dtype=object)[keep]
        columns += [
            (factor.name, level, baseline, (of_rows == level).astype(np.float64))
            for level in sorted(found)
            if level != baseline
        ]
    return columns


def _plain(level: str) -> str:
    return level.casefold().replace("-", " ").replace("_", " ").strip()


def _alone(columns: Sequence[_Column], labels: npt.NDArray[np.int64]) -> dict[tuple[str, str], str]:
    """Levels and baselines that occur in one cluster only, by (factor, level)."""
    alone = {}
    for factor in {name for name, *_ in columns[1:]}:
        of_factor = [column for column in columns if column[0] == factor]
        baseline = of_factor[0][2]
        rest = 1 - np.sum([column[3] for column in of_factor], axis=0)
        for level, rows in [*((c[1], c[3]) for c in of_factor), (baseline, rest)]:
            if len(set(labels[rows > 0].tolist())) < 2:
                alone[factor, level] = f"Only one item has the {factor} {level}."
    return alone


def _fit(y: Array, design: Array, labels: npt.NDArray[np.int64], n_clusters: int) -> Array:
    """Estimate, error, low, high and p of each column. Shape (k, 5)"""
    from statsmodels.regression.linear_model import OLS  # takes a second

    n, k = design.shape
    numbers = np.full((k, 5), np.nan)
    plain = OLS(y, design).fit()
    numbers[:, 0] = plain.params
    size = max(float(np.abs(y).max()), 1e-300)
    residual = float(np.abs(plain.resid).max())
    if n_clusters > k and n > k and residual > _ROUNDING * size:
        fit = plain.get_robustcov_results(cov_type="cluster", groups=labels, use_t=True)
        # Residuals that cancel in every cluster leave an error of 0, of which t and p are garbage.
        sure = np.asarray(fit.bse) > _ROUNDING * size
        numbers[sure, 1], numbers[sure, 4] = fit.bse[sure], fit.pvalues[sure]
        numbers[sure, 2:4] = fit.conf_int(LEVEL)[sure]
    return numbers


def _term(
    columns: Sequence[_Column],
    at: int,
    numbers: Array,
    alone: dict[tuple[str, str], str],
    labels: npt.NDArray[np.int64],
    told_apart: bool,
) -> Term:
    factor, level, baseline, rows = columns[at]
    estimate, error, low, high, pvalue = numbers.tolist()
    if factor == INTERCEPT:
        bases = {(column[0], column[2]) for column in columns[1:]}
        reasons = [alone[key] for key in sorted(bases) if key in alone]
    else:
        reasons = [alone[key] for key in ((factor, level), (factor, baseline)) if key in alone]
    if not told_apart:
        reasons = [f"The {factor} {level} cannot be told apart from the terms before it."]
    elif not reasons and math.isnan(error):
        reasons = ["Too few items for an error, or items that do not differ beyond the terms."]
    if reasons:
        error = low = high = pvalue = math.nan
    n_clusters = len(set(labels[rows > 0].tolist()))
    return Term(
        *(factor, level, baseline, estimate, error, (low, high), pvalue),
        *(int(rows.sum()), n_clusters, " ".join(reasons)),
    )
