"""One axis under one model, head by head: how well heads separate it, and where phrases fall.

What every choice of heads starts from (`chosen`), here and in the browser: the browser gets the
same z, in float32, and sums it in float64 as `chosen` does.

Letters: C concepts, R reference phrases, S swapped patterns, L layers, H heads, D head_dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.analysis.heads.arrays import directions, grids, phrase_layers, phrases_of
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.axes.concepts import Concept
from core.stats.levels import CONFIDENCE
from core.stats.probes.projection import project, zscore
from core.store.axes import get_axis
from core.store.gate import Cache

Array = npt.NDArray[np.float64]
Z = npt.NDArray[np.float32]

# The dimension that an axis speaks of, by its own word for it or for its facet.
DIMENSIONS = {
    "warmth": "warmth",
    "sociability": "warmth",
    "morality": "warmth",
    "competence": "competence",
    "ability": "competence",
    "agency": "competence",
}


@dataclass(frozen=True, eq=False)
class AxisView:
    """An axis under a model; NaN where something is undefined."""

    axis: Axis
    question: HeadsQuestion
    concepts: tuple[Concept, ...]
    reference: tuple[str, ...]  # may be empty
    separability: Array  # R, (L, H)
    chance: Array  # mean R under swapped labels; NaN for half of the templates, (L, H)
    chance_level: float  # their 95th percentile over heads and patterns
    z: Z  # of concepts, then of reference phrases; a head without variance is NaN, (L * H, C + R)
    labels: tuple[int | None, ...]  # of each concept, 1 or -1, where people placed it

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and heads of a layer."""
        n_layers, n_heads = self.separability.shape
        return n_layers, n_heads


def axis_view(cache: Cache, question: HeadsQuestion, axis_id: str) -> AxisView:
    """One axis of a set, under one model.

    The number of heads of the question does not enter. A phrase with a number that is not finite
    enters no mean and is NaN throughout.

    Raises
    ------
    InputError
        The set, the axis or the phrases are not there, or the heads were not read for them.
    CacheError
        A file of arrays is gone or damaged.
    """
    half = question.half
    with cache.kept_open() as opened:
        axis = get_axis(opened, question.axes, axis_id)
        concepts, reference = phrases_of(opened, question)
        held = grids(opened, question, [axis])
        theta = directions(opened, question, [axis], half)
        texts = [*(concept.text for concept in concepts), *reference]
        z = head_scores(opened, question, texts, theta)[0]
    chance = held.chance(half)[0]
    return AxisView(
        axis=axis,
        question=question,
        concepts=concepts,
        reference=reference,
        separability=held.separability[0, half],
        chance=chance,
        chance_level=_level(held.swapped[0]) if np.isfinite(chance).any() else float("nan"),
        z=z,
        labels=labels_of(axis, concepts),
    )


def head_scores(
    cache: Cache, question: HeadsQuestion, phrases: Sequence[str], directions: Array
) -> Z:
    """Phrases on axes in every head, z-scored over all of them jointly.

    Parameters
    ----------
    directions : array, shape (A, L, H, D)
        A few: all heads' projections onto them are in memory at once.

    Returns
    -------
    array, shape (A, L * H, C)
        NaN throughout a head without direction or variance, and for a phrase with a number that is
        not finite. Errors as `phrase_layers`.
    """
    n_axes, n_layers, n_heads, _ = directions.shape
    # A phrase's mean in a head is finite only if all its numbers are.
    probes = np.concatenate([directions, np.ones_like(directions[:1])])
    found = np.empty((n_axes + 1, len(phrases), n_layers * n_heads))
    for i, layer in enumerate(phrase_layers(cache, question, phrases)):
        one_layer = np.moveaxis(layer[None], 2, 0)  # (C, 1, H, D)
        heads = slice(i * n_heads, (i + 1) * n_heads)
        with np.errstate(invalid="ignore"):  # of infinite numbers, which are left out below
            found[:, :, heads] = project(one_layer, probes[:, i : i + 1])
    known = np.isfinite(found[-1]).all(axis=1)
    z = np.full((n_axes, n_layers * n_heads, len(phrases)), np.nan, dtype=np.float32)
    z[:, :, known] = zscore(found[:-1, known]).swapaxes(1, 2)
    return z


def labels_of(axis: Axis, concepts: Sequence[Concept]) -> tuple[int | None, ...]:
    """Where people place concepts on the axis's dimension; None where that is not known."""
    dimension = dimension_of(axis)
    if dimension is None:
        return (None,) * len(concepts)
    return tuple(c.warmth if dimension == "warmth" else c.competence for c in concepts)


def dimension_of(axis: Axis) -> str | None:
    """Warmth (sociability and morality), competence (ability and agency), or neither."""
    return DIMENSIONS.get(axis.dimension.lower()) or DIMENSIONS.get(axis.facet.lower())


def _level(swapped: Array) -> float:
    """What 95 % of the heads stay below under swapped labels."""
    known = swapped[np.isfinite(swapped)]
    return float(np.quantile(known, CONFIDENCE)) if known.size else float("nan")
