"""The axes on which concepts lie as they lie on one: a short list to compare directions over."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.analysis.heads.sentences import axis_words
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.stats.probes.validity import value_agreement

NEAREST = 10  # axes


def nearest_axes(stored: StoredAxes, axis_id: str, most: int = NEAREST) -> pd.DataFrame:
    """The axes whose values correlate most with those of one, by size.

    Returns
    -------
    DataFrame
        axis_id, axis (words), `shared` (the word of a pole in common, or nothing), Pearson's r over
        the concepts that have values on both (undefined below three, or where they are all alike),
        and n_concepts. Axes without r stand last.
    """
    axes, values = stored.held.axes, stored.held.of_concepts
    at = next(i for i, axis in enumerate(axes) if axis.axis_id == axis_id)
    both = np.isfinite(values) & np.isfinite(values[at])
    rows = pd.DataFrame(
        {
            "axis_id": [axis.axis_id for axis in axes],
            "axis": [axis_words(axis) for axis in axes],
            "shared": [shared_pole(axes[at], axis) for axis in axes],
            "r": value_agreement(values, np.broadcast_to(values[at], values.shape)),
            "n_concepts": both.sum(axis=1),
        }
    ).drop(index=at)
    order = (-rows["r"].abs()).sort_values(kind="stable", na_position="last").index
    return rows.loc[order[:most]].reset_index(drop=True)


def shared_pole(one: Axis, other: Axis) -> str:
    """The word of a pole that two axes have in common; nothing where there is none."""
    both = {one.negative.synset, one.positive.synset}
    common = [pole for pole in (other.negative, other.positive) if pole.synset in both]
    return common[0].lemmas[0] if common else ""
