"""How much of a verdict hangs on a few items, on one group of them, or on one choice of analysis.

All of it asks the sign-flip item test of "Lost in Translation" (arXiv 2610.20479) again, with the
same sign vectors, on fewer items or on other values of them.

Letters: N items, M models, G groups, R resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr  # scipy.stats has the same distribution, and takes a second

from core.stats.known import ROUNDING
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import (
    TIE,
    drawn_pvalue,
    enumerable,
    is_testable,
    least_mean,
    sign_flip_pvalues,
)

Array = npt.NDArray[np.float64]

MODELS_OF_A_SPREAD = 3  # of a spread over models
_LEAST_ITEMS = 2  # that a test needs to be left with
_MENDED = 1000 * TIE  # rounding of null means that were mended removal by removal


@dataclass(frozen=True)
class Retest:
    """Sign-flip tests of C sets of values; NaN where there is nothing to test."""

    n: npt.NDArray[np.int64]  # values that are known, (C,)
    mean: Array  # (C,)
    z: Array  # of `sign_flip_z`, (C,)
    pvalue: Array  # (C,)


@dataclass(frozen=True)
class FewestItems:
    """Items without which a verdict is another one; an upper bound on the fewest."""

    significant: bool  # the verdict on all items: p <= threshold
    n: int  # items with a value
    removed: npt.NDArray[np.int64]  # positions of the items, in the order of removal
    pvalues: Array  # on all items, and after each removal, (len(removed) + 1,)
    flipped: bool  # False where the search ran out of items: `removed` is empty then


@dataclass(frozen=True)
class ItemFunctioning:
    """Each item's mean over models beyond that of all items; NaN where undefined. (N,)"""

    mean: Array  # of the values less their model's mean over the items
    z: Array  # mean / (sd / sqrt(n)), a t statistic with n - 1 degrees of freedom
    pvalue: Array
    qvalue: Array  # over the items
    n: npt.NDArray[np.int64]  # models with a value


def leave_one_out(values: npt.ArrayLike, groups: Sequence[str]) -> dict[str, Array]:
    """Values of the items that remain when one group is left out, by its label.

    Parameters
    ----------
    values : array, shape (N,)
        NaN where an item has none.
    groups
        The label of each item; an empty label is no group and is never left out.

    Returns
    -------
    dict
        Arrays of the shape (N,), NaN in the items of the group too.
    """
    x = np.asarray(values, dtype=np.float64)
    labels = np.asarray(groups, dtype=object)
    names = dict.fromkeys(label for label in groups if label)
    return {name: np.where(labels == name, np.nan, x) for name in names}


def retest(values: npt.ArrayLike, *, signs: Array) -> Retest:
    """Sign-flip tests of many sets of values with sign vectors that are there already.

    The p-values are those of `sign_flip_test` with the same signs, without what it finds besides.

    Parameters
    ----------
    values : array, shape (C, N)
        NaN where a set has no value of an item.
    signs : array, shape (R, N)
    """
    x = np.asarray(values, dtype=np.float64)
    known = np.isfinite(x)
    filled = np.where(known, x, 0.0)
    n, total = known.sum(axis=1), filled.sum(axis=1)
    mean = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    return Retest(n, mean, sign_flip_z(x), sign_flip_pvalues(filled, known, signs=signs))


def fewest_items(
    values: npt.ArrayLike,
    *,
    signs: Array,
    threshold: float = LEVEL,
    most: int | None = None,
    significant: bool | None = None,
) -> FewestItems:
    """Search for the fewest items without which the verdict of the item test is another one.

    Greedy: each step removes the item whose absence moves |sum x| / sqrt(sum x^2) farthest toward
    the other verdict, and computes the p-value anew. That quotient is the mean over the sd that
    sign flips give it, so the p-value falls with it up to the finer shape of the distribution. So
    the number found is an upper bound on the fewest; it is the fewest where one item suffices and p
    follows the quotient, and wherever the removals do not change the quotient's denominator much,
    because then only the sum counts.

    Parameters
    ----------
    values : array, shape (N,)
        NaN where an item has none.
    signs : array, shape (R, N)
    threshold
        The verdict on p: significant if p <= threshold.
    most
        Removals to try; half of the items if not given.
    significant
        The verdict on all items where it is known, from more signs say; else it is that of these
        signs. Where these disagree with it nothing is searched: the verdict is too near its
        threshold for a removal to say anything.
    """
    x = np.asarray(values, dtype=np.float64)
    left = np.isfinite(x)
    n = int(left.sum())
    nothing = np.empty(0, dtype=np.int64)
    if n < _LEAST_ITEMS:
        return FewestItems(False, n, nothing, np.full(1, np.nan), flipped=False)
    filled = np.where(left, x, 0.0)
    null = signs @ filled  # (R,)
    pvalues = [_pvalue(filled, left, null, signs)]
    here = bool(pvalues[0] <= threshold)
    if significant is None:
        significant = here
    if significant != here:
        return FewestItems(significant, n, nothing, np.array(pvalues), flipped=False)
    removed: list[int] = []
    limit = min(n // 2 if most is None else most, n - _LEAST_ITEMS)
    while len(removed) < limit:
        item = _next_item(filled, left, weaken=significant)
        null = null - signs[:, item] * filled[item]
        filled[item], left[item] = 0.0, False
        removed.append(item)
        pvalues.append(_pvalue(filled, left, null, signs))
        if (pvalues[-1] <= threshold) != significant:
            return FewestItems(significant, n, np.array(removed), np.array(pvalues), flipped=True)
    return FewestItems(significant, n, nothing, np.array(pvalues[:1]), flipped=False)


def critical_pvalue(pvalues: npt.ArrayLike, place: int, *, alpha: float = LEVEL) -> float:
    """The largest p-value with which one test of a family is still below a false discovery rate.

    The others keep theirs: q < alpha under Benjamini and Hochberg (1995) if and only if p is at
    most this.

    Returns
    -------
    float
        NaN where the test has no p-value.
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if np.isnan(p[place]):
        return float("nan")
    m = int(np.isfinite(p).sum())
    passing = []
    for rank in range(1, m + 1):
        trial = p.copy()
        trial[place] = bound = alpha * rank / m * (1 - 1e-12)  # q = alpha is not below alpha
        if benjamini_hochberg(trial)[place] < alpha:
            passing.append(bound)
    return max(passing)


def item_functioning(values: npt.ArrayLike) -> ItemFunctioning:
    """Items that the models agree on moving otherwise than the rest: differential functioning.

    From each model's values its mean over the items is taken, so that a shift of all items is no
    property of any; what is left of an item is set against its own standard error.

    Parameters
    ----------
    values : array, shape (M, N)
        NaN where a model has no value of an item.

    Returns
    -------
    ItemFunctioning
        p is two-sided from t with n - 1 degrees of freedom. It takes the models for independent
        draws with normal values, which models of one family or of the same training text are not:
        then p is too small. NaN below 3 models and where the models do not differ.
    """
    raw = np.asarray(values, dtype=np.float64)
    known = np.isfinite(raw)
    of_model = known.sum(axis=1, keepdims=True)
    level = np.where(known, raw, 0.0).sum(axis=1, keepdims=True) / np.maximum(of_model, 1)
    x = np.where(known, raw - level, np.nan)
    n = known.sum(axis=0)
    mean = np.where(n > 0, np.where(known, x, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
    centred = np.where(known, x - np.where(n > 0, mean, 0.0), 0.0)
    error = np.sqrt((centred**2).sum(axis=0) / np.maximum(n - 1, 1) / np.maximum(n, 1))
    rounding = ROUNDING * np.where(known, np.abs(raw), 0.0).max(initial=0.0)
    usable = (n >= MODELS_OF_A_SPREAD) & (error > rounding)
    z = np.divide(mean, error, out=np.full(mean.shape, np.nan), where=usable)
    pvalue = np.full(mean.shape, np.nan)
    pvalue[usable] = 2 * stdtr(n[usable] - 1, -np.abs(z[usable]))
    return ItemFunctioning(mean, z, pvalue, benjamini_hochberg(pvalue), n)


def sign_flip_z(values: npt.ArrayLike) -> Array:
    """Sum over the sd that sign flips give it, sum x / sqrt(sum x^2), along the last axis.

    Comparable between scores of different units. NaN where there is no value or all are 0.
    """
    x = np.asarray(values, dtype=np.float64)
    filled = np.where(np.isfinite(x), x, 0.0)
    norm = np.sqrt((filled**2).sum(axis=-1))
    return np.asarray(
        np.divide(filled.sum(axis=-1), norm, out=np.full(norm.shape, np.nan), where=norm > 0)
    )


def _next_item(filled: Array, left: npt.NDArray[np.bool_], *, weaken: bool) -> int:
    """Whose absence makes |sum| / sqrt(sum of squares) smallest, or largest."""
    rest = np.maximum((filled**2).sum() - filled**2, 0.0)
    without = np.abs(filled.sum() - filled)
    quotient = np.divide(without, np.sqrt(rest), out=np.zeros_like(without), where=rest > 0)
    if weaken:
        return int(np.argmin(np.where(left, quotient, np.inf)))
    return int(np.argmax(np.where(left, quotient, -np.inf)))


def _pvalue(filled: Array, left: npt.NDArray[np.bool_], null: Array, signs: Array) -> float:
    """P of what is left, from the sums that the signs give it: as of `sign_flip_test`."""
    n = int(left.sum())
    if not is_testable(filled, n):
        return 1.0  # what is left shows nothing, which is another verdict than a shift
    if enumerable(n, len(signs)):
        return float(sign_flip_pvalues(filled[None], left[None], signs=signs)[0])
    # Sums that were mended removal by removal carry more rounding than fresh ones.
    least = least_mean(filled, n) - _MENDED * max(1.0, float(np.abs(filled).max()))
    return float(drawn_pvalue((np.abs(null) / n >= least).sum(), len(null)))
