"""How often does the sign-flip test reject where there is nothing to be found?

Letters: P pairs of a model and a rewording, N items, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.known import mean_of, nothing_changes, sd_of
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.power import check_draws
from core.stats.resampling import sign_flip_pvalues, sign_vectors

Array = npt.NDArray[np.float64]

NAN = math.nan


@dataclass(frozen=True)
class SizeCheck:
    """How often the test rejects where nothing is to be found."""

    rate: float  # share of tests with p < .05, over pairs and worlds
    error: float  # Monte-Carlo standard error; the pairs of a world are not independent
    rate_any: float  # share of worlds in which any pair is found at q < .05
    rate_any_error: float
    n_worlds: int  # in which there was something to test
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
    too. They are tested as `sign_flip_test` does; a pair of which nothing but unchanged items is
    drawn has no test in that world. The error is that of a mean over worlds: sd of a world's rate /
    sqrt(n_worlds).

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
    vary = ~nothing_changes(d)  # of pairs whose items change alike, nothing can be drawn
    d, known = d[vary], known[vary]
    if not len(d):
        return SizeCheck(NAN, NAN, NAN, NAN, 0, 0)
    rates, found = np.empty(n_worlds), np.empty(n_worlds)
    for world in range(n_worlds):
        drawn = rng.integers(0, d.shape[1], d.shape[1])
        signs = sign_vectors(d.shape[1], n_resamples, rng=rng)
        pvalues = sign_flip_pvalues(d[:, drawn], known[:, drawn], signs=signs)
        tested = np.isfinite(pvalues)
        rates[world] = mean_of(pvalues[tested] < LEVEL)
        found[world] = (benjamini_hochberg(pvalues) < LEVEL).any() if tested.any() else NAN
    n = int(np.isfinite(rates).sum())
    errors = [sd_of(x) / math.sqrt(n) if n > 1 else NAN for x in (rates, found)]
    return SizeCheck(mean_of(rates), errors[0], mean_of(found), errors[1], n, len(d))
