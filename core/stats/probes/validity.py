"""Is an axis what it is taken for, and what would be found where nothing is?

Beside "StereoDisco" (arXiv 2607.27824), section 8.7 of the method. Each check answers one doubt:

reference_floor     how many axes are flagged between two sets of reference phrases?
compare_probes      do other templates, lemmas or definitions give the same heads and direction?
above_swapped       do heads separate the poles better than they separate swapped labels?
direction_null      how often is a direction that means nothing flagged?
value_agreement     do the phrases keep their places under another choice (a half, BOS)?
length_association  do values follow the length of the prompt?

Letters: A axes, C phrases, L layers, H heads, D head_dim, K heads chosen, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from core.errors import InputError
from core.stats.known import mean_of, varies
from core.stats.levels import CONFIDENCE, LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.probes.direction import (
    PoleSums,
    chance_separability,
    cosine,
    direction,
    separability,
)
from core.stats.probes.kolmogorov import critical_gap, resampled_gaps, splitting_steps
from core.stats.probes.projection import TOP_HEADS, axis_values, top_heads
from core.stats.probes.stereotypicality import LEAST_PHRASES, stereotypicality
from core.stats.probes.undefined import Undefined, is_defined, known_anywhere, reasons_of

Array = npt.NDArray[np.float64]
Heads = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReferenceFloor:
    """What reference phrases against reference phrases give; NaN where undefined."""

    share: float  # of tests with KS p < .05, over splits and axes
    shares: Array  # of axes, in each split: axes share their phrases, so these vary, (R,)
    high: float  # their 95th percentile: what chance alone may flag
    statistic: Array  # mean D of each axis over the splits, (A,)
    n_each: int  # phrases on either side
    n_axes: int  # defined
    n_splits: int


@dataclass(frozen=True)
class ProbeAgreement:
    """Two sets of probe sentences for one axis, at the heads that are best in the first."""

    n_heads: int
    cosine: float  # of the two directions, mean over these heads
    overlap: float  # share of these heads that are among as many best of the second
    expected_overlap: float  # if the best heads were drawn at random
    separability: float  # mean R of the first: too high, as the heads were chosen by it
    separability_other: float  # mean R of the second at the same heads
    chance: float  # R of independent sentences without a difference, for the second


@dataclass(frozen=True)
class LabelSwap:
    """R against R under labels swapped within templates."""

    share: float  # of the heads whose R exceeds that of every swap
    expected: float  # 1 / (n_patterns + 1), where labels do not matter
    n_heads: int
    n_patterns: int


@dataclass(frozen=True)
class DirectionNull:
    """KS of concepts against reference phrases along directions without meaning."""

    statistic: Array  # D, (R,)
    share: float  # with p < .05
    error: float  # Monte-Carlo standard error, sqrt(p (1 - p) / R)
    n_directions: int  # that are defined
    n_heads: int

    def pvalue(self, statistic: float) -> float:
        """(1 + # directions with D at least that of the axis) / (R + 1); NaN without any."""
        if math.isnan(statistic) or not self.n_directions:
            return math.nan
        return (1 + int((self.statistic >= statistic).sum())) / (self.n_directions + 1)


@dataclass(frozen=True)
class LengthAssociation:
    """How values go with the length of the prompt; all arrays (A,), NaN where undefined."""

    r: Array  # Spearman
    pvalue: Array  # of its t
    pvalue_adjusted: Array  # over the axes that are defined
    n: int  # phrases
    undefined: tuple[Undefined, ...]


def reference_floor(
    reference: npt.ArrayLike,
    n_concepts: int,
    *,
    n_splits: int = 1_000,
    rng: np.random.Generator,
) -> ReferenceFloor:
    """Two sets of as many reference phrases as there are concepts, split at random and tested.

    Parameters
    ----------
    reference : array, shape (A, phrases)
        Values; at least twice as many phrases as concepts. All axes share the splits.

    Raises
    ------
    InputError
        There are too few phrases, concepts or splits.
    """
    values = np.asarray(reference, dtype=np.float64)
    values = values[:, known_anywhere(values)]
    n = values.shape[1]
    if n_concepts < LEAST_PHRASES or n_splits < 1:
        raise InputError(f"A floor needs at least {LEAST_PHRASES} concepts and one split.")
    if n < 2 * n_concepts:
        raise InputError(
            f"A floor for {n_concepts} concepts needs {2 * n_concepts} reference phrases, not {n}: "
            f"add {2 * n_concepts - n}."
        )
    steps = splitting_steps(n, n_concepts, n_splits, rng=rng)
    critical = critical_gap(n_concepts, n_concepts, LEVEL)
    statistic, found = np.full(len(values), np.nan), np.zeros(n_splits)
    defined = np.flatnonzero(is_defined(reasons_of(values, few=False)))
    for axis in defined:
        gaps = resampled_gaps(values[axis], steps)
        statistic[axis] = gaps.mean() / n_concepts**2
        found += gaps >= critical
    shares = found / len(defined) if len(defined) else np.full(n_splits, np.nan)
    return ReferenceFloor(
        share=float(shares.mean()),
        shares=shares,
        high=float(np.quantile(shares, CONFIDENCE)),
        statistic=statistic,
        n_each=n_concepts,
        n_axes=len(defined),
        n_splits=n_splits,
    )


def compare_probes(
    first: tuple[PoleSums, PoleSums],
    second: tuple[PoleSums, PoleSums],
    *,
    k: int | None = TOP_HEADS,
) -> ProbeAgreement:
    """Do two sets of probe sentences find the same heads and the same direction in them?

    Held-out halves: the heads are chosen in one and looked at in the other, which is free of the
    choice. Definitions swapped between the poles: a cosine near 1 says that the direction follows
    the word, near -1 that it follows the definition, near 0 with R at chance that neither does
    alone.

    Parameters
    ----------
    first, second : pair of PoleSums
        The negative and the positive pole, of heads (L, H).

    Raises
    ------
    InputError
        The model has fewer than k heads.
    """
    r_first, r_second = separability(*first).ravel(), separability(*second).ravel()
    heads = top_heads(r_first, k)
    others = top_heads(r_second, len(heads) or None)
    alike = cosine(direction(*first), direction(*second)).ravel()
    n = len(heads)
    return ProbeAgreement(
        n_heads=n,
        cosine=mean_of(alike[heads]),
        overlap=len(np.intersect1d(heads, others)) / n if n else math.nan,
        expected_overlap=n / r_first.size if n else math.nan,
        separability=mean_of(r_first[heads]),
        separability_other=mean_of(r_second[heads]),
        chance=chance_separability(second[0].n, second[1].n),
    )


def above_swapped(observed: npt.ArrayLike, swapped: npt.ArrayLike, heads: Heads) -> LabelSwap:
    """How many heads separate the poles better than under any swap of their labels.

    Parameters
    ----------
    observed : array, shape (L, H)
        R of each head.
    swapped : array, shape (patterns, L, H)
        R under labels swapped within templates.
    heads
        Flat indices of the heads to look at. Chosen by their R they are above swaps by the choice
        alone: hand in all heads, or those chosen in other sentences.
    """
    r = np.asarray(observed, dtype=np.float64).ravel()[heads]
    null = np.asarray(swapped, dtype=np.float64)
    null = null.reshape(len(null), -1)[:, heads]
    known = np.isfinite(r) & np.isfinite(null).all(axis=0)
    above = r[known] > null[:, known].max(axis=0, initial=-math.inf)
    return LabelSwap(
        share=float(above.mean()) if known.any() else math.nan,
        expected=1 / (len(null) + 1),
        n_heads=int(known.sum()),
        n_patterns=len(null),
    )


def random_directions(
    n_directions: int, n_heads: int, head_dim: int, *, rng: np.random.Generator
) -> Array:
    """Directions without meaning: independent standard normal in each head. Shape (R, K, D)"""
    return rng.normal(size=(n_directions, n_heads, head_dim))


def direction_null(
    concepts: npt.ArrayLike, reference: npt.ArrayLike, directions: npt.ArrayLike
) -> DirectionNull:
    """How often concepts and reference phrases differ along directions without meaning.

    Where both sets differ in many directions, a meaningless one is flagged often, and a flag says
    little about the axis.

    Parameters
    ----------
    concepts, reference : array, shape (C, K, D)
        Outputs of the axis's heads.
    directions : array, shape (R, K, D)
        As of `random_directions`, or from sentences whose pole labels were permuted.
    """
    x, y = np.asarray(concepts, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    theta = np.asarray(directions, dtype=np.float64)[:, None]  # one layer of K heads
    found = axis_values(
        np.concatenate([x, y])[:, None], theta, np.ones(theta.shape[:-1]), k=None
    ).values
    tests = stereotypicality(found[:, : len(x)], found[:, len(x) :])
    statistic = tests.statistic[np.isfinite(tests.statistic)]
    n = len(statistic)
    share = int(tests.flagged.sum()) / n if n else math.nan
    error = math.sqrt(share * (1 - share) / n) if n else math.nan
    return DirectionNull(statistic, share, error, n, theta.shape[2])


def value_agreement(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Pearson's r over phrases of each axis's values under two choices. (A, C) twice to (A,)

    NaN below three phrases and where one side does not vary.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"values under two choices need one shape, not {x.shape} and {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    n = both.sum(axis=1, keepdims=True)
    defined = n[:, 0] >= 3
    centred = []
    for values in (x, y):
        known = np.where(both, values, 0.0)
        centred.append(np.where(both, known - known.sum(axis=1, keepdims=True) / n.clip(1), 0.0))
        highest = np.where(both, values, -np.inf).max(axis=1, initial=-np.inf)
        defined &= highest > np.where(both, values, np.inf).min(axis=1, initial=np.inf)
    sizes = np.sqrt(np.prod([np.square(part).sum(axis=1) for part in centred], axis=0))
    r = np.full(len(x), np.nan)
    np.divide((centred[0] * centred[1]).sum(axis=1), sizes, out=r, where=defined & (sizes > 0))
    return r.clip(-1, 1)


def length_association(values: npt.ArrayLike, lengths: npt.ArrayLike) -> LengthAssociation:
    """Spearman's correlation of the phrases' values with the length of their prompts.

    Parameters
    ----------
    values : array, shape (A, C)
    lengths : array, shape (C,)
        Tokens.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    from scipy.stats import rankdata  # takes a second

    v, n_tokens = np.asarray(values, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if v.ndim != 2 or n_tokens.shape != v.shape[1:]:
        raise ValueError(f"values (axes, phrases) of the shape {v.shape}, lengths {n_tokens.shape}")
    known = known_anywhere(v) & np.isfinite(n_tokens)
    v, n_tokens = v[:, known], n_tokens[known]
    n = len(n_tokens)
    undefined = reasons_of(v, few=n < 3)
    if n >= 3 and not varies(n_tokens):
        undefined = (Undefined.ONE_LENGTH,) * len(v)
    at = is_defined(undefined)
    r = np.full(len(v), np.nan)
    if at.any():
        a, b = rankdata(v[at], axis=1) - (n + 1) / 2, rankdata(n_tokens) - (n + 1) / 2
        r[at] = np.clip(a @ b / np.sqrt((a**2).sum(axis=1) * (b @ b)), -1.0, 1.0)
    with np.errstate(divide="ignore"):  # r = 1 is an infinite t, and p = 0
        t = np.abs(r) * np.sqrt(max(n - 2, 1) / (1 - r**2))
    pvalue = 2 * stdtr(max(n - 2, 1), -t)
    return LengthAssociation(r, pvalue, benjamini_hochberg(pvalue), n, undefined)
