"""Would other probe sentences put the concepts elsewhere on an axis?

Each half of the templates gives directions of its own, from sentences that the other half does not
have. In the same heads, what differs between the two values of a concept comes from the sentences.

Letters: C concepts, R reference phrases, L layers, H heads, D head_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.arrays import pole_halves, poles_of
from core.analysis.heads.axis_view import AxisView, head_scores
from core.stats.known import mean_of
from core.stats.paired import paired_correlation
from core.stats.probes.direction import cosine, direction
from core.stats.probes.projection import Heads, aggregate
from core.store.gate import Cache

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HalvesDifference:
    """Values from either half of the templates in the same heads; NaN where undefined."""

    first: Array  # from the first half, concepts first, (C + R,)
    second: Array  # from the second half, (C + R,)
    r: float  # Pearson's, of the concepts' two values
    mean_difference: float  # mean |second - first| of the concepts, in standard deviations
    cosine: float  # of the two directions, mean over the heads
    n_concepts: int  # with both values
    n_heads: int  # that both halves have a direction and variance in

    @property
    def difference(self) -> Array:
        """From the first half to the second. (C + R,)"""
        return self.second - self.first


def halves_difference(cache: Cache, view: AxisView, heads: Heads) -> HalvesDifference:
    """The values of a view in some heads, from each half of the templates alone.

    Parameters
    ----------
    heads
        Flat indices, as of `chosen_heads`: the same for both halves, and not chosen anew.

    Raises
    ------
    InputError
        The heads are no longer held for the axis or a phrase.
    CacheError
        A file of arrays is gone or damaged.
    """
    texts = [*(concept.text for concept in view.concepts), *view.reference]
    with cache.kept_open() as opened:
        halves = pole_halves(opened, view.question, [view.axis])
        theta = np.stack([direction(*poles_of(halves, view.axis, half)) for half in (0, 1)])
        z = head_scores(opened, view.question, texts, theta)
    defined = np.asarray(np.isfinite(z).any(axis=2))  # (2, L * H)
    both = heads[(defined[0] & defined[1])[heads]]
    first, second = (aggregate(scores.T, both) for scores in z)
    n = len(view.concepts)
    change = np.abs(second - first)[:n]
    return HalvesDifference(
        first=first,
        second=second,
        r=paired_correlation(first[:n], second[:n]),
        mean_difference=mean_of(change),
        cosine=mean_of(cosine(theta[0], theta[1]).ravel()[both]),
        n_concepts=int(np.isfinite(change).sum()),
        n_heads=len(both),
    )


def halves_table(view: AxisView, halves: HalvesDifference) -> pd.DataFrame:
    """One row per concept: concept, first_half, second_half, difference, n_heads."""
    n = len(view.concepts)
    return pd.DataFrame(
        {
            "concept": [concept.text for concept in view.concepts],
            "first_half": halves.first[:n],
            "second_half": halves.second[:n],
            "difference": halves.difference[:n],
            "n_heads": halves.n_heads,
        }
    )
