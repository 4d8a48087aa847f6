"""Would other probe sentences put the concepts elsewhere on an axis?

Each half of the templates gives directions of its own, from sentences that the other half does not
have. In the same heads, what differs between the two values of a concept comes from the sentences.

Letters: A axes, C concepts, R reference phrases, L layers, H heads, D head_dim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.arrays import phrases_of, pole_halves, poles_of
from core.analysis.heads.axis_view import Z, head_scores
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.stats.known import mean_of
from core.stats.paired import paired_correlation
from core.stats.probes.direction import cosine, direction
from core.stats.probes.projection import Heads, aggregate
from core.store.gate import Cache

Array = npt.NDArray[np.float64]

AT_MOST = 100  # axes of a table: all phrases are projected onto both halves of each
_AT_A_TIME = 4  # axes whose projections of all phrases in all heads are in memory together
NO_HEADS = "no head has a direction from both halves"
NO_SPREAD = "fewer than three concepts, or their values do not vary"


@dataclass(frozen=True, eq=False)
class HalvesDifference:
    """Values from either half of the templates in the same heads; NaN where undefined."""

    concepts: tuple[str, ...]
    first: Array  # from the first half, concepts first, (C + R,)
    second: Array  # from the second half, (C + R,)
    r: float  # Pearson's, of the concepts' two values
    mean_difference: float  # mean |second - first| of the concepts, in standard deviations
    cosine: float  # of the two directions, mean over the heads
    n_concepts: int  # with both values
    n_heads: int  # that both halves have a direction and variance in

    @property
    def reason(self) -> str:
        """Why r is undefined; empty where it is not."""
        if not math.isnan(self.r):
            return ""
        return NO_SPREAD if self.n_heads else NO_HEADS


def halves_differences(
    cache: Cache, question: HeadsQuestion, axes: Sequence[Axis], heads: Sequence[Heads]
) -> Iterator[HalvesDifference]:
    """Values on axes in some heads of each, from each half of the templates alone.

    Parameters
    ----------
    heads
        Flat indices of each axis's heads, as of `HeadsValues.heads`: the same for both halves, and
        not chosen anew.

    Raises
    ------
    InputError
        The heads are no longer held for an axis or a phrase.
    CacheError
        A file of arrays is gone or damaged.
    """
    with cache.kept_open() as opened:
        concepts, reference = phrases_of(opened, question)
        texts = tuple(concept.text for concept in concepts)
        for start in range(0, len(axes), _AT_A_TIME):
            block = axes[start : start + _AT_A_TIME]
            halves = pole_halves(opened, question, block)
            theta = np.stack(
                [direction(*poles_of(halves, axis, half)) for axis in block for half in (0, 1)]
            )
            z = head_scores(opened, question, [*texts, *reference], theta)
            for i, of_axis in enumerate(heads[start : start + _AT_A_TIME]):
                pair = slice(2 * i, 2 * i + 2)
                yield _compared(texts, theta[pair], z[pair], of_axis)


def _compared(texts: tuple[str, ...], theta: Array, z: Z, heads: Heads) -> HalvesDifference:
    """Both halves of an axis: directions (2, L, H, D) and scores (2, L * H, C + R)."""
    defined = np.asarray(np.isfinite(z).any(axis=2))  # (2, L * H)
    both = heads[(defined[0] & defined[1])[heads]]
    first, second = (aggregate(scores.T, both) for scores in z)
    n = len(texts)
    change = np.abs(second - first)[:n]
    return HalvesDifference(
        concepts=texts,
        first=first,
        second=second,
        r=paired_correlation(first[:n], second[:n]),
        mean_difference=mean_of(change),
        cosine=mean_of(cosine(theta[0], theta[1]).ravel()[both]),
        n_concepts=int(np.isfinite(change).sum()),
        n_heads=len(both),
    )


def halves_of_axes(cache: Cache, found: StoredAxes) -> pd.DataFrame:
    """How far the two halves of the templates agree on the concepts, axis by axis.

    Returns
    -------
    DataFrame
        The first 100 axes of the model's table, the most different ones, in its order: axis_id,
        negative, positive, r (Pearson's, of the concepts' two values), mean_difference (mean
        absolute one, in standard deviations), cosine (of the two directions, mean over the heads),
        n_concepts, n_heads, n_axes (of the whole set), and the reason where r is undefined. Errors
        as `halves_differences`.
    """
    held = found.held
    by_id = {a.axis_id: (a, top) for a, top in zip(held.axes, held.heads, strict=True)}
    rows = found.table[["axis_id", "negative", "positive"]].head(AT_MOST)
    axes, heads = zip(*(by_id[axis_id] for axis_id in rows["axis_id"]), strict=True)
    numbers = ("r", "mean_difference", "cosine", "n_concepts", "n_heads")
    halves = [
        {name: getattr(each, name) for name in (*numbers, "reason")}
        for each in halves_differences(cache, found.question, axes, heads)
    ]
    beside = pd.DataFrame(halves)
    beside.insert(len(numbers), "n_axes", len(held.axes))
    return pd.concat([rows, beside], axis=1)


def halves_table(halves: HalvesDifference) -> pd.DataFrame:
    """One row per concept: concept, first_half, second_half, difference, n_heads."""
    n = len(halves.concepts)
    first, second = halves.first[:n], halves.second[:n]
    return pd.DataFrame(
        {
            "concept": halves.concepts,
            "first_half": first,
            "second_half": second,
            "difference": second - first,
            "n_heads": halves.n_heads,
        }
    )
