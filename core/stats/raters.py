"""How far several people give the same answers, beside what chance would give.

fleiss_kappa         Fleiss (1971): categories; each item has two answers or more
krippendorff_alpha   Krippendorff (2011): answers may be missing, and numbers have distances

Both are 1 where all agree and 0 where people agree no more than answers drawn from all that were
given would.

Letters: I items, J categories, N raters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Distance = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Reliability:
    """Agreement among raters; NaN where undefined."""

    value: float
    observed: float  # share of pairs of answers that agree; for alpha the mean distance in them
    expected: float  # the same where answers to any items are paired
    n_items: int  # with two answers or more
    n_answers: int  # to these items


def fleiss_kappa(counts: npt.ArrayLike) -> Reliability:
    """Fleiss' kappa, (P - P_e) / (1 - P_e).

    P is the mean over items of the share of pairs of answers that agree, P_e the sum of squares of
    the categories' shares. Items may have different numbers of answers; each counts alike in P.

    Parameters
    ----------
    counts : array, shape (I, J)
        Answers per item and category; an item with fewer than two is left out.

    Raises
    ------
    ValueError
        The counts have another shape.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"counts have the shape (items, categories), not {table.shape}")
    table = table[table.sum(axis=1) > 1]
    n = table.sum(axis=1)
    if not len(n):
        return Reliability(math.nan, math.nan, math.nan, 0, 0)
    observed = float(((table * (table - 1)).sum(axis=1) / (n * (n - 1))).mean())
    shares = table.sum(axis=0) / n.sum()
    expected = float((shares**2).sum())
    one = (shares > 0).sum() == 1  # all gave one answer throughout: 0 / 0
    value = math.nan if one else (observed - expected) / (1 - expected)
    return Reliability(value, observed, expected, len(n), int(n.sum()))


def krippendorff_alpha(ratings: npt.ArrayLike, distance: Distance = "nominal") -> Reliability:
    """Krippendorff's alpha, 1 - D_o / D_e: distances within items over those among all answers.

    Parameters
    ----------
    ratings : array, shape (N, I)
        Answers as numbers, NaN where a rater gave none; items with fewer than two are left out.
    distance
        nominal: 0 or 1. interval: the squared difference. ordinal: the squared number of answers
        from one value to the other, either value's own counting half.

    Raises
    ------
    ValueError
        The ratings have another shape.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings have the shape (raters, items), not {table.shape}")
    table = table[:, np.isfinite(table).sum(axis=0) > 1]
    values = np.unique(table[np.isfinite(table)])
    counts = (table[None] == values[:, None, None]).sum(axis=1).T.astype(np.float64)  # (I, J)
    n, totals = counts.sum(axis=1), counts.sum(axis=0)
    n_answers = int(totals.sum())
    if not n_answers:
        return Reliability(math.nan, math.nan, math.nan, 0, 0)
    # pairs of answers of different people to one item, each item weighing as many as it has answers
    weighted = counts / (n - 1)[:, None]
    coincidences = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    pairs = np.outer(totals, totals) - np.diag(totals)
    apart = _distances(values, totals, distance)
    observed = float((coincidences * apart).sum() / n_answers)
    expected = float((pairs * apart).sum() / (n_answers * (n_answers - 1)))
    value = 1 - observed / expected if expected > 0 else math.nan
    return Reliability(value, observed, expected, len(n), n_answers)


def _distances(values: Array, totals: Array, distance: Distance) -> Array:
    """Squared distances of the values. (J, J)"""
    if distance == "nominal":
        return np.asarray(1.0 - np.eye(len(values)))
    # a value's place on the ordinal scale: the answers below it, and half of its own
    places = values if distance == "interval" else np.cumsum(totals) - totals / 2
    return np.asarray((places[:, None] - places[None, :]) ** 2)
