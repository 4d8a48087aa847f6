"""How much of what two languages share is hidden by the noise of wording.

"Lost in Translation" (arXiv 2610.20479) compares the correlation across languages with the one
across rewordings of English. Correcting it for attenuation (Spearman 1904) goes further: scores
that depend on the wording cannot correlate more than sqrt(reliability x reliability), and a
reliability is what an item's wordings share within a language. Both languages must be reworded by
the same methods, or the reliabilities are not of one kind.

Correlations are over items, in each model, then averaged over models. Letters: N items, M models,
V versions (the original and its rewordings), P pairs of versions, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from core.stats.association import LEAST, resampled_sums
from core.stats.intervals import Interval, percentile_interval
from core.stats.known import only_rounding

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AgainstRewording:
    """The correlation with a translation as a share of the one with rewordings."""

    n_items: int  # with all versions, in at least one model
    n_models: int  # behind the two correlations
    n_models_undefined: int  # of them without a ratio: their rewordings do not correlate above 0
    r_cross: Interval  # original with translation
    r_reworded: Interval  # original with its rewordings, mean over them
    ratio: Interval


@dataclass(frozen=True)
class Attenuation:
    """The correlation between two languages, and corrected for the noise of wording in both."""

    n_items: int  # with all versions in both languages, in at least one model
    n_models: int  # behind the correlation and the reliabilities
    n_models_undefined: int  # of them without a corrected value: a reliability is not above 0
    r_cross: Interval  # original with original
    reliability_before: Interval
    reliability_after: Interval
    corrected: Interval  # may exceed 1


def against_rewording(
    versions: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    weights: Array | None = None,
) -> AgainstRewording:
    """r(original, translation) / r(original, rewording), on the same items.

    Parameters
    ----------
    versions : array, shape (M, V, N)
        Scores of the original, which comes first, and of its rewordings. In each model only items
        with all of them and the translation count.
    after : array, shape (M, N)
        Scores of the translation.
    weights : array, shape (R, N)
        Draws of items to use, as of `bootstrap_weights`, instead of new ones.

    Returns
    -------
    AgainstRewording
        The ratio is taken in each model and averaged over those in which r(original, rewording),
        averaged over rewordings, is above 0. Percentile intervals at 95 % over items; a draw in
        which a model has no ratio is undefined as a whole and counted.

    Raises
    ------
    ValueError
        The shapes do not fit, or there is no rewording.
    """
    first, second = _versions(versions), np.asarray(after, dtype=np.float64)[:, None]
    n_versions = first.shape[1]
    _check(first, second, n_versions)
    scores = np.concatenate([second, first], axis=1)  # the translation is 0, the original 1
    pairs = [(0, 1), *((1, v) for v in range(2, n_versions + 1))]
    n_items, r, drawn = _correlations(scores, pairs, n_resamples, rng, weights)
    values, draws = (
        np.stack([x[:, 0], x[:, 1:].mean(axis=1), _ratio(x[:, 0], x[:, 1:].mean(axis=1))])
        for x in (r, drawn)
    )
    intervals, n_models, n_undefined = _averaged(values, draws, n_items)
    return AgainstRewording(n_items, n_models, n_undefined, *intervals)


def attenuation(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    weights: Array | None = None,
) -> Attenuation:
    """r_cross / sqrt(reliability before x reliability after), all from the same items.

    Parameters
    ----------
    before, after : array, shape (M, V, N)
        Scores of the original, which comes first, and of its rewordings in either language; the
        v-th rewording is made by the same method in both. In each model only items with all 2V
        scores count.
    weights : array, shape (R, N)
        Draws of items to use, as of `bootstrap_weights`, instead of new ones.

    Returns
    -------
    Attenuation
        A reliability is the mean of r over all pairs of versions. The corrected value is taken in
        each model and averaged over those in which both reliabilities are above 0; it is not
        clipped, so noise may carry it beyond 1. Percentile intervals at 95 % from one bootstrap
        over items; a draw in which a model has no corrected value is undefined and counted.

    Raises
    ------
    ValueError
        The shapes do not fit, or there is no rewording.
    """
    first, second = _versions(before), _versions(after)
    n_versions = first.shape[1]
    _check(first, second, n_versions)
    if first.shape != second.shape:
        raise ValueError(f"versions of one shape, not {first.shape}, {second.shape}")
    scores = np.concatenate([first, second], axis=1)
    within = list(combinations(range(n_versions), 2))
    shifted = [(i + n_versions, j + n_versions) for i, j in within]
    pairs = [(0, n_versions), *within, *shifted]
    n_items, r, drawn = _correlations(scores, pairs, n_resamples, rng, weights)
    values, draws = (_corrected(x, len(within)) for x in (r, drawn))
    intervals, n_models, n_undefined = _averaged(values, draws, n_items)
    return Attenuation(n_items, n_models, n_undefined, *intervals)


def _corrected(r: Array, n_within: int) -> Array:
    """Cross correlation, two reliabilities, corrected value from (M, P, ...). (4, M, ...)"""
    cross = r[:, 0]
    reliability = r[:, 1 : 1 + n_within].mean(axis=1), r[:, 1 + n_within :].mean(axis=1)
    both = np.where((reliability[0] > 0) & (reliability[1] > 0), reliability[0], np.nan)
    return np.stack([cross, *reliability, cross / np.sqrt(both * np.abs(reliability[1]))])


def _ratio(a: Array, b: Array) -> Array:
    return np.asarray(a / np.where(b > 0, b, np.nan))


def _correlations(
    scores: Array,
    pairs: list[tuple[int, int]],
    n_resamples: int,
    rng: np.random.Generator,
    weights: Array | None,
) -> tuple[int, Array, Array]:
    """Items with all versions, r of each pair of versions (M, P), and in each draw (M, P, R)."""
    whole = np.isfinite(scores).all(axis=1, keepdims=True)  # (M, 1, N)
    n = whole.sum(axis=-1, keepdims=True)
    filled = np.where(whole, scores, 0.0)
    x = np.where(whole, filled - filled.sum(axis=-1, keepdims=True) / np.maximum(n, 1), 0.0)
    i, j = np.array(pairs).T
    sums = np.concatenate([whole, x, x**2, x[:, i] * x[:, j]], axis=1)  # (M, 1 + 2V + P, N)
    drawn = resampled_sums(sums, n_resamples=n_resamples, rng=rng, weights=weights)
    n_versions = scores.shape[1]
    r, r_drawn = (_pearson(s, n_versions, i, j) for s in (sums.sum(axis=-1), drawn))
    enough = (n >= LEAST)[:, :, 0]
    n_items = int(whole.any(axis=0).sum())
    return n_items, np.where(enough, r, np.nan), np.where(enough[..., None], r_drawn, np.nan)


def _pearson(
    sums: Array, n_versions: int, i: npt.NDArray[np.int64], j: npt.NDArray[np.int64]
) -> Array:
    n = np.maximum(sums[:, :1], 1.0)
    x, xx, xy = np.split(sums[:, 1:], [n_versions, 2 * n_versions], axis=1)
    spread = xx - x**2 / n
    spread = np.where(only_rounding(spread, xx, n), np.nan, spread)
    r = (xy - x[:, i] * x[:, j] / n) / np.sqrt(spread[:, i] * spread[:, j])
    return np.asarray(np.clip(r, -1.0, 1.0))


def _averaged(values: Array, draws: Array, n_items: int) -> tuple[list[Interval], int, int]:
    """Means over models with intervals, of (S, M) statistics; the last one may lack models."""
    complete = np.isfinite(values[:-1]).all(axis=0)
    used = [complete] * (len(values) - 1) + [complete & np.isfinite(values[-1])]
    intervals = [
        percentile_interval(
            float(value[models].mean()) if models.any() else float("nan"),
            drawn[models].mean(axis=0) if models.any() else np.full(draws.shape[-1], np.nan),
            n_items,
        )
        for value, drawn, models in zip(values, draws, used, strict=True)
    ]
    return intervals, int(complete.sum()), int(complete.sum() - used[-1].sum())


def _versions(scores: npt.ArrayLike) -> Array:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 3:
        raise ValueError(f"versions have the shape (models, versions, items), not {array.shape}")
    return array


def _check(first: Array, second: Array, n_versions: int) -> None:
    if n_versions < 2:
        raise ValueError("a reliability needs the original and at least one rewording")
    if (first.shape[0], first.shape[2]) != (second.shape[0], second.shape[-1]):
        raise ValueError(f"the same models and items, not {first.shape}, {second.shape}")
