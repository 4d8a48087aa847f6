"""How often does the sign-flip test reject where there is nothing to be found?

Letters: P pairs of a model and a rewording, N items, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.known import nothing_changes
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.power import check_draws
from core.stats.resampling import TIE, sign_vectors

Array = npt.NDArray[np.float64]

NAN = math.nan


@dataclass(frozen=True)
class SizeCheck:
    """How often the test rejects where nothing is to be found."""

    rate: float  # share of tests with p < .05, over pairs and worlds
    error: float  # Monte-Carlo standard error; the pairs of a world are not independent
    rate_any: float  # share of worlds in which any pair is found at q < .05
    rate_any_error: float
    n_worlds: int
    n_pairs: int


def size_check(
    differences: npt.ArrayLike,
    *,
    n_worlds: int = 200,
    n_resamples: int = 2_000,
    rng: np.random.Generator,
) -> SizeCheck:
    """How often the sign-flip test rejects when the changes are centred and items drawn anew.

    In each world the items are drawn with replacement, the same ones for all pairs, and the signs
    too. The error is that of a mean over worlds: sd of a world's rate / sqrt(n_worlds).

    Parameters
    ----------
    differences : array, shape (P, N)
        Changes of the pairs; NaN where an item has none.

    Raises
    ------
    InputError
        There is nothing to draw.
    """
    check_draws(n_worlds, n_resamples)
    d = np.asarray(differences, dtype=np.float64)
    known = np.isfinite(d)
    d, known = d[known.sum(axis=1) >= 2], known[known.sum(axis=1) >= 2]
    if not len(d):
        return SizeCheck(NAN, NAN, NAN, NAN, 0, 0)
    d = np.where(known, d, 0.0)
    d -= np.where(known, (d.sum(axis=1) / known.sum(axis=1))[:, None], 0.0)
    d = d[~nothing_changes(d)]  # of pairs whose items change alike, nothing can be drawn
    if not len(d):
        return SizeCheck(NAN, NAN, NAN, NAN, 0, 0)
    rates, found = np.empty(n_worlds), np.empty(n_worlds)
    for world in range(n_worlds):
        drawn = rng.integers(0, d.shape[1], d.shape[1])
        signs = sign_vectors(d.shape[1], n_resamples, rng=rng)
        pvalues = sign_flip_pvalues(signs, d[:, drawn])
        rates[world] = (pvalues < LEVEL).mean()
        found[world] = (benjamini_hochberg(pvalues) < LEVEL).any()
    errors = [
        float(x.std(ddof=1)) / math.sqrt(n_worlds) if n_worlds > 1 else NAN for x in (rates, found)
    ]
    return SizeCheck(
        float(rates.mean()), errors[0], float(found.mean()), errors[1], n_worlds, len(d)
    )


def sign_flip_pvalues(signs: Array, changes: Array) -> Array:
    """Two-sided sign-flip p of each row of changes, 0 where unknown. (P,)"""
    n_resamples, n_items = signs.shape
    null = np.abs(signs @ changes.T) / n_items  # (R, P)
    least = np.abs(changes.mean(axis=1)) - TIE
    return np.asarray((1 + (null >= least).sum(axis=0)) / (n_resamples + 1))
