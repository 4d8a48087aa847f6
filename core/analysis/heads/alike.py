"""Which axes have directions alike: the cosine of their directions in the heads that hold them.

A cosine near 1 or -1 says that two axes are one direction in these heads, under two names or with
the poles swapped. Directions of the same axis from either half of the templates show how high it
can be: two axes are not more alike than an axis is to itself in other sentences.

Letters: A axes, L layers, H heads of a layer, D head_dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.heads.arrays import grids, pole_halves, poles_of
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.errors import InputError
from core.stats.known import mean_of
from core.stats.probes.direction import cosine, direction
from core.stats.probes.projection import top_heads
from core.store.axes import some_axes
from core.store.gate import Cache

Array = npt.NDArray[np.float64]

AT_MOST = 100  # axes, whose directions are in memory together
_AT_A_TIME = 8  # of which the sums are


@dataclass(frozen=True, eq=False)
class AxisCosines:
    """How alike the directions of A axes are; NaN where no head has both."""

    axes: tuple[Axis, ...]
    cosine: Array  # mean over the k best heads of either axis, 1 on the diagonal, (A, A)
    n_heads: npt.NDArray[np.int64]  # that it is the mean of, (A, A)
    own: Array  # of the axis's two halves of templates, mean over its k best heads, (A,)
    random_sd: Array  # standard deviation of that mean for independent random directions, (A, A)


def axis_cosines(cache: Cache, question: HeadsQuestion, axis_ids: Sequence[str]) -> AxisCosines:
    """The mean cosine of every two of some axes of a set.

    Raises
    ------
    InputError
        There are no axes or more than 100, one is not there, its heads were not read, or the model
        has fewer than k.
    CacheError
        A file of arrays is gone or damaged.
    """
    if not 0 < len(axis_ids) <= AT_MOST:
        raise InputError(
            f"Directions are compared of 1 to {AT_MOST} axes at a time, not of {len(axis_ids):,}: "
            "choose that many."
        )
    parts, own, best = [], [], []
    for start in range(0, len(axis_ids), _AT_A_TIME):
        with cache.kept_open() as opened:
            ids = axis_ids[start : start + _AT_A_TIME]
            axes = some_axes(opened, question.axes, ids)
            units, of_halves = _units(opened, question, axes)
            separability = grids(opened, question, axes).separability[:, question.half]
        heads = [top_heads(r, question.k) for r in separability]
        own += [mean_of(each.ravel()[top]) for each, top in zip(of_halves, heads, strict=True)]
        best += heads
        parts.append((axes, units))
    found = np.concatenate([units for _, units in parts])  # (A, L * H, D)
    holding = np.zeros(found.shape[:2], dtype=bool)
    for row, top in zip(holding, best, strict=True):
        row[top] = True
    mean, n_heads = _means(found, holding)
    n_numbers = np.where(n_heads > 0, n_heads, np.nan) * found.shape[2]
    held = tuple(axis for axes, _ in parts for axis in axes)
    return AxisCosines(held, mean, n_heads, np.array(own), 1 / np.sqrt(n_numbers))


def alike_table(found: AxisCosines) -> pd.DataFrame:
    """Every pair of axes, the most alike first, whichever way their poles point.

    Returns
    -------
    DataFrame
        first, second (ids), cosine, n_heads, random_sd (what random directions give), own_first and
        own_second (what either axis has with itself in other sentences).
    """
    i, j = np.triu_indices(len(found.axes), 1)
    ids = np.array([axis.axis_id for axis in found.axes], dtype=object)
    rows = pd.DataFrame(
        {
            "first": ids[i],
            "second": ids[j],
            "cosine": found.cosine[i, j],
            "n_heads": found.n_heads[i, j],
            "random_sd": found.random_sd[i, j],
            "own_first": found.own[i],
            "own_second": found.own[j],
        }
    )
    order = (-rows["cosine"].abs()).sort_values(kind="stable", na_position="last").index
    return rows.loc[order].reset_index(drop=True)


def _units(
    cache: Cache, question: HeadsQuestion, axes: Sequence[Axis]
) -> tuple[npt.NDArray[np.float32], Array]:
    """Directions of length 1 (A, L * H, D), and the cosines of their two halves (A, L, H)."""
    sums = pole_halves(cache, question, axes)
    of_halves = [
        cosine(*(direction(*poles_of(sums, axis, half)) for half in (0, 1))) for axis in axes
    ]
    theta = np.stack([direction(*poles_of(sums, axis, question.half)) for axis in axes])
    units = theta / np.linalg.norm(theta, axis=-1, keepdims=True)
    return units.reshape(len(axes), -1, theta.shape[-1]).astype(np.float32), np.stack(of_halves)


def _means(
    units: npt.NDArray[np.float32], holding: npt.NDArray[np.bool_]
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Mean cosine of every two axes over the heads that hold either, and how many these are."""
    total = np.zeros((len(units), len(units)))
    n = np.zeros(total.shape, dtype=np.int64)
    for head in np.flatnonzero(holding.any(axis=0)):
        here = units[:, head].astype(np.float64)
        cosines = here @ here.T
        counted = (holding[:, head, None] | holding[:, head]) & np.isfinite(cosines)
        total[counted] += cosines[counted]
        n += counted
    mean = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    return np.clip(mean, -1.0, 1.0), n
