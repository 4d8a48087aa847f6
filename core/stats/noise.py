"""How far scores move when only the wording does, and how far a translation moves them beyond that.

After "Lost in Translation" (arXiv 2610.20479).

Letters: L translations, K rewordings, N items, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.intervals import Interval, bias_corrected_interval
from core.stats.resampling import bootstrap_weights

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RewordingNoise:
    """What rewording does to one model's scores."""

    floor: float  # F_m: mean over the full-coverage rewordings of |mean change|; NaN without one
    item_sd: float  # sd of single items' changes, over all rewordings; NaN below two changes
    n_changes: int  # item changes behind item_sd
    n_rewordings: int  # rewordings behind the floor


@dataclass(frozen=True)
class FloorAgainstGap:
    """Absolute gap against absolute floor, in the unit of the scores; NaN where undefined."""

    gap: float  # mean over translations of |mean change|
    floor: float  # mean over rewordings of |mean change|
    difference: Interval  # gap - floor, over items; bias-corrected
    n_translations: int
    n_rewordings: int


def rewording_noise(changes: Mapping[str, npt.ArrayLike], n_usable: int) -> RewordingNoise:
    """Noise floor and typical item change of one model.

    A rewording that covers only some of the usable items is left out of the floor, because its mean
    is over other items than the rest; its single changes do count for the typical item change.

    Parameters
    ----------
    changes
        Per rewording of the original, SS - SS_original of its items, NaN where undefined.
    n_usable
        Items that are usable in the original: a rewording that covers them all has full coverage.
    """
    finite = {name: _finite(values) for name, values in changes.items()}
    means = [abs(d.mean()) for d in finite.values() if len(d) == n_usable and n_usable > 0]
    pooled = np.concatenate([*finite.values(), np.empty(0)])
    return RewordingNoise(
        floor=float(np.mean(means)) if means else float("nan"),
        item_sd=float(pooled.std(ddof=1)) if len(pooled) > 1 else float("nan"),
        n_changes=len(pooled),
        n_rewordings=len(means),
    )


def expected_noise(sd: npt.ArrayLike, n: npt.ArrayLike) -> Array:
    """Expected |mean| of n changes that are nothing but noise: sd sqrt(2 / (pi n)).

    The mean absolute value of a normal variable with the standard deviation sd / sqrt(n).

    Parameters
    ----------
    sd
        Standard deviation of single items' changes.
    n
        Items; NaN is returned where there is none.
    """
    sd, n = np.broadcast_arrays(np.asarray(sd, np.float64), np.asarray(n, np.float64))
    expected = np.full(sd.shape, np.nan)
    known = n > 0
    expected[known] = sd[known] * np.sqrt(2 / (np.pi * n[known]))
    return expected


def floor_against_gap(
    translations: npt.ArrayLike,
    rewordings: npt.ArrayLike,
    *,
    n_resamples: int = 5_000,
    rng: np.random.Generator | None = None,
    weights: Array | None = None,
) -> FloorAgainstGap:
    """Mean over translations of |mean d| minus mean over rewordings of |mean d|.

    Parameters
    ----------
    translations, rewordings : arrays, shapes (L, N) and (K, N)
        Changes d of the same N items in the same order; NaN where an item has none.
    n_resamples, rng
        Joint draws of items: all versions of an item are drawn together. Not needed with weights.
    weights : array, shape (R, N)
        Draws to use instead, as of `bootstrap_weights`: for several models on the same items.

    Returns
    -------
    FloorAgainstGap
        Resampling adds noise to every mean, and the mean of an absolute value grows with it: a
        percentile interval of a floor or a gap would lie above it. So neither has an interval;
        their difference has one that is corrected for bias. It is NaN where one side is undefined,
        as without a translation or a rewording that has a change.

    Raises
    ------
    ValueError
        The shapes do not fit, or there is neither a generator nor weights.
    """
    gaps, floors = (np.asarray(d, dtype=np.float64) for d in (translations, rewordings))
    if gaps.ndim != 2 or floors.ndim != 2 or gaps.shape[1] != floors.shape[1]:
        raise ValueError(f"changes of the shapes {gaps.shape} and {floors.shape}")
    gaps, floors = (d[np.isfinite(d).any(axis=1)] for d in (gaps, floors))
    changes = np.concatenate([gaps, floors])
    known = np.isfinite(changes)
    n = int(known.any(axis=0).sum())
    if not len(gaps) or not len(floors):
        gap, floor = (_mean_absolute(_means(d, np.ones((1, d.shape[1])))) for d in (gaps, floors))
        nothing = Interval(math.nan, math.nan, math.nan, n)
        return FloorAgainstGap(float(gap[0]), float(floor[0]), nothing, len(gaps), len(floors))
    if weights is None:
        if rng is None:
            raise ValueError("an interval over items needs a generator or weights")
        # An item without any change adds nothing; drawing it would only make n vary.
        changes = changes[:, known.any(axis=0)]
        weights = bootstrap_weights(changes.shape[1], n_resamples, rng=rng)
    means = _means(changes, np.vstack([np.ones(changes.shape[1]), weights]))  # (1 + R, L + K)
    of_gap, of_floor = _mean_absolute(means[:, : len(gaps)]), _mean_absolute(means[:, len(gaps) :])
    difference = of_gap - of_floor
    interval = bias_corrected_interval(float(difference[0]), difference[1:], n)
    return FloorAgainstGap(float(of_gap[0]), float(of_floor[0]), interval, len(gaps), len(floors))


def floor_against_gap_on_complete(
    translation: npt.ArrayLike,
    rewordings: npt.ArrayLike,
    *,
    n_resamples: int = 2_000,
    rng: np.random.Generator | None = None,
    weights: Array | None = None,
) -> FloorAgainstGap:
    """|mean D| of one translation minus the mean over rewordings of |mean D_rewording|.

    On the items that have the translation and every rewording, whose number is `difference.n`.

    Parameters
    ----------
    translation : array, shape (N,)
        D, the mean change of each item over models; NaN where it has none.
    rewordings : array, shape (K, N)
        The same of each rewording.
    n_resamples, rng, weights
        As of `floor_against_gap`.
    """
    d, r = np.asarray(translation, np.float64)[None], np.asarray(rewordings, np.float64)
    whole = np.isfinite(d).all(axis=0) & np.isfinite(r).all(axis=0)
    gaps, floors = (np.where(whole, changes, np.nan) for changes in (d, r))
    return floor_against_gap(gaps, floors, n_resamples=n_resamples, rng=rng, weights=weights)


def _means(changes: Array, weights: Array) -> Array:
    """Weighted mean of the known changes of each version, NaN where none is drawn. (R, C)"""
    known = np.isfinite(changes)
    sums = weights @ np.where(known, changes, 0.0).T
    counts = weights @ known.T.astype(np.float64)
    return np.asarray(np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0))


def _mean_absolute(means: Array) -> Array:
    """Mean over versions of |mean|, NaN without versions. (R,)"""
    if means.shape[1] == 0:
        return np.full(len(means), np.nan)
    return np.asarray(np.abs(means).mean(axis=1))


def _finite(values: npt.ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    return array[np.isfinite(array)]
