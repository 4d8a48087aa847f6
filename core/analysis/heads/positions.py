"""Do groups lie on the side of an axis where people place them, and in how many heads?

After "StereoDisco" (arXiv 2607.27824), section 7 of the method: accuracy of the sides of groups on
the axes of warmth and of competence against labels, at any number of heads. Beside every accuracy
stand what always guessing the commoner label reaches, and how often other labels would do as well.

Letters: A axes, G groups, K numbers of heads, L layers, H heads, D head_dim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.arrays import (
    axes_of,
    grids,
    phrase_outputs,
    phrases_of,
    pole_halves,
    poles_of,
)
from core.analysis.heads.axis_view import DIMENSIONS, dimension_of
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.axes.concepts import Concept
from core.stats.known import mean_of
from core.stats.probes.direction import direction, midpoint
from core.stats.probes.positions import (
    Centre,
    Labelings,
    PositionPrediction,
    draw_labelings,
    position_prediction,
    position_scores,
)
from core.stats.probes.projection import aggregate, check_k, mean_over_top
from core.store.gate import Cache
from core.store.head_readers import get_reader

Array = npt.NDArray[np.float64]

LABELLED = tuple(dict.fromkeys(DIMENSIONS.values()))  # warmth, competence
_AT_A_TIME = 16  # axes whose scores in all heads are in memory together
_OF_AXES = [
    *("axis_id", "negative", "positive", "dimension", "facet"),
    *("accuracy", "balanced_accuracy", "auc", "majority"),
    *("n_heads", "n_groups", "n_positive", "reason"),
]


@dataclass(frozen=True)
class Positions:
    """Values of groups on axes at several numbers of heads, 0 being the centre."""

    axes: tuple[Axis, ...]  # those of a dimension that has labels
    concepts: tuple[Concept, ...]
    ks: tuple[int, ...]
    values: Array  # (K, A, G)
    n_heads: npt.NDArray[np.int64]  # that they are a mean of: fewer where heads are skipped, (K, A)
    separability: Array  # mean R of these heads, (K, A)
    chance: Array  # the same under swapped labels; NaN for half of the templates, (K, A)


def usual_centre(question: HeadsQuestion) -> Centre:
    """What divides the sides where nobody says: groups alone where there are no phrases."""
    return "joint" if question.reference else "groups"


def positions(
    cache: Cache, question: HeadsQuestion, ks: Sequence[int], *, centre: Centre = "joint"
) -> Positions:
    """Where groups lie on the axes of warmth and competence, with so many heads each.

    Raises
    ------
    InputError
        As `heads_values`; also where the centre is not known, or needs a reference set.
    CacheError
        A file of arrays is gone or damaged.
    """
    with cache.kept_open() as opened:
        n_heads = _count_heads(opened, question)
        for k in ks:
            check_k(k, n_heads)
        axes = tuple(a for a in axes_of(opened, question) if dimension_of(a))
        concepts, reference = phrases_of(opened, question)
        groups = phrase_outputs(opened, question, [concept.text for concept in concepts])
        phrases = phrase_outputs(opened, question, reference) if reference else None
        parts = [
            part
            for start in range(0, len(axes), _AT_A_TIME)
            for part in _numbers_of_axes(
                opened, question, axes[start : start + _AT_A_TIME], groups, phrases, centre, ks
            )
        ]
    shape = (len(axes), len(ks), len(concepts) + 3)
    found = np.array(parts).reshape(shape).swapaxes(0, 1)  # (K, A, G + 3)
    return Positions(
        axes=axes,
        concepts=concepts,
        ks=tuple(ks),
        values=found[..., 3:],
        n_heads=found[..., 0].astype(np.int64),
        separability=found[..., 1],
        chance=found[..., 2],
    )


def position_table(
    cache: Cache,
    question: HeadsQuestion,
    *,
    ks: Sequence[int] | None = None,
    centre: Centre = "joint",
) -> pd.DataFrame:
    """How well sides predict labels, against the number of heads; errors as `positions`.

    Parameters
    ----------
    ks
        Numbers of heads; left out, powers of two and all. The question's own does not enter.

    Returns
    -------
    DataFrame
        One row per dimension and k: accuracy (mean over axes) with its sd, balanced accuracy and
        AUC, `majority` (accuracy of always guessing the commoner label), p of both from labelings
        drawn with all axes kept together, n of axes, groups and labelings, R of the heads beside
        chance, and the reason where a number is undefined.
    """
    steps = heads_steps(_count_heads(cache, question)) if ks is None else ks
    held = positions(cache, question, steps, centre=centre)
    return pd.DataFrame(
        [
            {"dimension": dimension, "k": k, "centre": centre, **row}
            for dimension in LABELLED
            for k, row in zip(held.ks, _rows(held, dimension, question.seed), strict=True)
        ]
    )


def position_axes(
    cache: Cache, question: HeadsQuestion, *, centre: Centre = "joint"
) -> pd.DataFrame:
    """Each axis of its own at the question's number of heads, the most accurate first.

    Returns
    -------
    DataFrame
        One row per axis of either dimension, with the poles' words, n of heads and groups and the
        reason where undefined; none where no axis is of them.
    """
    held = positions(cache, question, [question.k or _count_heads(cache, question)], centre=centre)
    rows = []
    for dimension in LABELLED:
        at, found = _predicted(held, dimension, 0, question.seed)
        for i, axis in enumerate(at):
            rows.append(
                {
                    "axis_id": held.axes[axis].axis_id,
                    "negative": ", ".join(held.axes[axis].negative.lemmas),
                    "positive": ", ".join(held.axes[axis].positive.lemmas),
                    "dimension": dimension,
                    "facet": held.axes[axis].facet,
                    "accuracy": found.accuracy[i],
                    "balanced_accuracy": found.balanced_accuracy[i],
                    "auc": found.auc[i],
                    "majority": found.majority,
                    "n_heads": held.n_heads[0, axis],
                    "n_groups": found.n_groups,
                    "n_positive": found.n_positive,
                    "reason": _no_labels(found, dimension) or str(found.undefined[i]),
                }
            )
    return pd.DataFrame(rows, columns=_OF_AXES).sort_values(
        ["accuracy", "axis_id"], ascending=[False, True], na_position="last", ignore_index=True
    )


def heads_steps(n_heads: int) -> tuple[int, ...]:
    """Numbers of heads to look at: powers of two, and all."""
    powers = [2**i for i in range(n_heads.bit_length()) if 2**i < n_heads]
    return (*powers, n_heads)


def _numbers_of_axes(
    cache: Cache,
    question: HeadsQuestion,
    axes: Sequence[Axis],
    groups: Array,
    reference: Array | None,
    centre: Centre,
    ks: Sequence[int],
) -> Iterator[Array]:
    """Of each axis: n of heads, mean R, its chance, and the groups' values. (K, 3 + G) each"""
    half = question.half
    halves = pole_halves(cache, question, axes)
    poles = [poles_of(halves, axis, half) for axis in axes]
    z = position_scores(
        groups,
        np.stack([direction(*pair) for pair in poles]),
        centre=centre,
        reference=reference,
        midpoints=np.stack([midpoint(*pair) for pair in poles]) if centre == "midpoint" else None,
    )
    held = grids(cache, question, axes)
    separability, chance = held.separability[:, half], held.chance(half)
    ordered = mean_over_top(z, separability, k=None).heads  # the most separable first
    for i, heads in enumerate(ordered):
        rows = []
        for k in ks:
            best = heads[:k]
            ends = (mean_of(grid[i].ravel()[best]) for grid in (separability, chance))
            rows.append([len(best), *ends, *aggregate(z[i], best)])
        yield np.array(rows)


def _rows(held: Positions, dimension: str, seed: int) -> Iterator[dict[str, object]]:
    """The numbers of one dimension, one row for each number of heads, under the same labelings."""
    labelings = draw_labelings(_labels(held, dimension), rng=np.random.default_rng(seed))
    for step in range(len(held.ks)):
        at, found = _predicted(held, dimension, step, seed, labelings)
        yield {
            "n_heads": int(held.n_heads[step, at].min()) if len(at) else 0,
            "accuracy": found.mean_accuracy,
            "accuracy_sd": found.sd_accuracy,
            "balanced_accuracy": found.mean_balanced_accuracy,
            "auc": found.mean_auc,
            "majority": found.majority,
            "pvalue": found.pvalue,
            "pvalue_auc": found.pvalue_auc,
            "separability": mean_of(held.separability[step, at]),
            "separability_chance": mean_of(held.chance[step, at]),
            "n_axes": found.n_axes,
            "n_undefined": len(at) - found.n_axes,
            "n_groups": found.n_groups,
            "n_positive": found.n_positive,
            "n_labelings": found.n_labelings,
            "exact": found.exact,
            "reason": _reason(found, dimension),
        }


def _predicted(
    held: Positions, dimension: str, step: int, seed: int, labelings: Labelings | None = None
) -> tuple[list[int], PositionPrediction]:
    """The axes of a dimension, and what their sides say at one number of heads."""
    at = [i for i, axis in enumerate(held.axes) if dimension_of(axis) == dimension]
    found = position_prediction(
        held.values[step, at],
        _labels(held, dimension),
        rng=np.random.default_rng(seed),
        labelings=labelings,
    )
    return at, found


def _labels(held: Positions, dimension: str) -> Array:
    """Where people place the groups; NaN where that is not known. (G,)"""
    return np.array([getattr(c, dimension) for c in held.concepts], dtype=np.float64)


def _reason(found: PositionPrediction, dimension: str) -> str:
    """Why numbers of a dimension are undefined; empty where they all are there."""
    if not found.undefined:
        return f"no axis of the set is one of {dimension}"
    if reason := _no_labels(found, dimension):
        return reason
    if not found.n_axes:
        return str(found.undefined[0])
    return "" if 0 < found.n_positive < found.n_groups else "all labels are the same"


def _no_labels(found: PositionPrediction, dimension: str) -> str:
    return "" if found.n_groups else f"no concept has a label of {dimension}"


def _count_heads(cache: Cache, question: HeadsQuestion) -> int:
    reader = get_reader(cache, question.reader_id)
    return reader.n_layers * reader.n_heads
