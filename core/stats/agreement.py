"""What becomes of single preferences: same choices, fates, and whether models agree.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show. A
score above neutral (0.5) is a choice of the stereotype. NaN is missing and enters nothing.

Letters: N items, M models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.stats.association import LEAST, NEUTRAL, line, row_sums
from core.stats.known import only_rounding

Array = npt.NDArray[np.float64]

CLEAR = 0.05  # how far from neutral a preference begins


@dataclass(frozen=True)
class SameChoice:
    """How often two versions choose the same pole; NaN where undefined."""

    n: int  # rows with both scores
    same: float  # share of them
    expected: float  # share if the two versions were independent
    kappa: float  # Cohen's; NaN where one pole is always chosen in both


@dataclass(frozen=True)
class Fates:
    """Where clear preferences end up; counts of rows."""

    n: int  # rows with both scores
    n_above: int  # above 0.55 before; after the change:
    kept: int  # above 0.55
    neutral: int  # in [0.45, 0.55]
    reversed: int  # below 0.45
    n_below: int  # below 0.45 before; after the change:
    kept_below: int  # below 0.45
    neutral_below: int  # in [0.45, 0.55]
    reversed_below: int  # above 0.55


@dataclass(frozen=True)
class PairwiseCorrelation:
    """How alike models are; NaN where no pair of them can be compared."""

    r: float  # mean of Pearson's r over pairs
    n_pairs: int  # pairs with an r
    n_undefined: int  # pairs without: below three shared items, or one model does not vary
    n_items: int  # items that enter at least one pair


class _PairSums(NamedTuple):
    """Of pairs of models i, j over the items that both have. (M, M) each"""

    n: Array  # items
    square: Array  # of i's values about its own mean over all its items
    spread: Array  # of i's values about their mean over the shared items
    product: Array  # of i's and j's values about these means


def same_choice(
    before: npt.ArrayLike, after: npt.ArrayLike, *, neutral: float = NEUTRAL
) -> SameChoice:
    """Share of rows whose score lies on the same side of neutral before and after a change.

    A choice of the stereotype is a score > 0.5 in either version. With p_a and p_b the shares of
    such choices, independent versions would agree in p_a p_b + (1 - p_a)(1 - p_b) = p_e, and
    Cohen's kappa is (same - p_e) / (1 - p_e).

    Parameters
    ----------
    before, after : array of one shape
        Scores of the same rows (models, items); only rows with both count.

    Raises
    ------
    ValueError
        The shapes differ.
    """
    a, b = (x > neutral for x in _whole(before, after))
    n = len(a)
    if n == 0:
        return SameChoice(0, math.nan, math.nan, math.nan)
    same = float((a == b).mean())
    p_a, p_b = float(a.mean()), float(b.mean())
    expected = p_a * p_b + (1 - p_a) * (1 - p_b)
    # Both at one pole throughout: agreement is all there can be, and kappa is 0 / 0.
    one_pole = p_a == p_b and p_a in (0.0, 1.0)
    kappa = math.nan if one_pole else (same - expected) / (1 - expected)
    return SameChoice(n, same, expected, kappa)


def fates(
    before: npt.ArrayLike, after: npt.ArrayLike, *, neutral: float = NEUTRAL, clear: float = CLEAR
) -> Fates:
    """What becomes of rows with a clear preference.

    Parameters
    ----------
    before, after : array of one shape
        Scores of the same rows; only rows with both count.
    clear
        A preference is clear beyond neutral +- this; the band itself, ends included, is neutral.

    Raises
    ------
    ValueError
        The shapes differ.
    """
    x, y = _whole(before, after)
    low, high = neutral - clear, neutral + clear
    above, below = x > high, x < low
    ends_above, ends_below = y > high, y < low
    between = ~ends_above & ~ends_below
    return Fates(
        n=len(x),
        n_above=int(above.sum()),
        kept=int((above & ends_above).sum()),
        neutral=int((above & between).sum()),
        reversed=int((above & ends_below).sum()),
        n_below=int(below.sum()),
        kept_below=int((below & ends_below).sum()),
        neutral_below=int((below & between).sum()),
        reversed_below=int((below & ends_above).sum()),
    )


def mean_distance(scores: npt.ArrayLike, *, neutral: float = NEUTRAL) -> float:
    """Mean of |score - 0.5| over the known scores: how strong preferences are, either way."""
    values = np.asarray(scores, dtype=np.float64)
    values = values[np.isfinite(values)]
    return float(np.abs(values - neutral).mean()) if len(values) else math.nan


def pairwise_correlation(values: npt.ArrayLike) -> PairwiseCorrelation:
    """Mean over all pairs of models of Pearson's r over the items that both have.

    Parameters
    ----------
    values : array, shape (M, N)
        Scores, changes or residuals of the same items under M models.
    """
    known, r = _correlations(np.asarray(values, dtype=np.float64))
    pairs = np.triu(np.isfinite(r), k=1)
    n_pairs, n_models = int(pairs.sum()), len(r)
    in_a_pair = (pairs | pairs.T) @ known > 0  # (M, N): the model has the item and a partner
    shared = ((in_a_pair & known).sum(axis=0) > 1).sum()
    return PairwiseCorrelation(
        r=float(r[pairs].mean()) if n_pairs else math.nan,
        n_pairs=n_pairs,
        n_undefined=n_models * (n_models - 1) // 2 - n_pairs,
        n_items=int(shared) if n_pairs else 0,
    )


def residuals(before: npt.ArrayLike, after: npt.ArrayLike) -> Array:
    """What each model's regression of the scores after a change on those before leaves.

    Parameters
    ----------
    before, after : array, shape (M, N)

    Returns
    -------
    array, shape (M, N)
        NaN where a score is missing, and for a model whose scores before do not vary.
    """
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    fitted = line(row_sums(x, y).sum(axis=-1))
    slope, intercept = fitted.slope[:, None], fitted.intercept[:, None]
    return np.asarray(y - NEUTRAL - intercept - slope * (x - NEUTRAL))


def change_correlation_if_unrelated(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """Mean pairwise r of changes that remains when the scores after share nothing with anything.

    Changes y - x of two models contain their scores before, which are alike. With x_i and x_j as
    they are and y_i, y_j independent of them and of each other,
    r = cov(x_i, x_j) / sqrt((var x_i + var y_i)(var x_j + var y_j)), all over the items that both
    models have: those of the r of their changes.

    Parameters
    ----------
    before, after : array, shape (M, N)
        Scores of the same items under M models; only those with both count.

    Returns
    -------
    float
        Mean over the pairs whose changes have an r; NaN where there is none.
    """
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    whole = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(whole, x, np.nan), np.where(whole, y, np.nan)
    _, r_changes = _correlations(y - x)
    of_x, of_y = _pair_sums(x), _pair_sums(y)
    total = of_x.spread + of_y.spread
    total = np.where(only_rounding(total, of_x.square + of_y.square, of_x.n), np.nan, total)
    expected = of_x.product / np.sqrt(total * total.T)
    pairs = np.triu(np.isfinite(expected) & np.isfinite(r_changes), k=1)
    return float(expected[pairs].mean()) if pairs.any() else math.nan


def _correlations(values: Array) -> tuple[npt.NDArray[np.bool_], Array]:
    """Which values are known (M, N), and r of each pair of models over shared items (M, M)."""
    sums = _pair_sums(values)
    varies = (sums.n >= LEAST) & ~only_rounding(sums.spread, sums.square, sums.n)
    spread = np.where(varies, sums.spread, np.nan)
    r = np.clip(sums.product / np.sqrt(spread * spread.T), -1.0, 1.0)
    return np.isfinite(values), np.asarray(r)


def _pair_sums(values: Array) -> _PairSums:
    """Sums of squares and products of each pair of models about their means on shared items."""
    known = np.isfinite(values)
    weight = known.astype(np.float64)
    counts = weight.sum(axis=1, keepdims=True)
    mean = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / np.maximum(counts, 1.0)
    x = np.where(known, values - mean, 0.0)
    n = weight @ weight.T  # items that both have
    rows = np.maximum(n, 1.0)
    first = x @ weight.T  # sum of i's values over the items that j has too
    square = x**2 @ weight.T
    product = x @ x.T - first * first.T / rows
    return _PairSums(n, square, square - first**2 / rows, product)


def _whole(before: npt.ArrayLike, after: npt.ArrayLike) -> tuple[Array, Array]:
    """The scores of the rows that have both, as vectors."""
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"scores before and after need one shape, not {x.shape}, {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]
