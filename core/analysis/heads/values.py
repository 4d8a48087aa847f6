"""Where phrases fall on axes under one model: from the cache to one value per phrase and axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.axes.axis import Axis, Pole
from core.axes.content import axis_content, pole_content
from core.axes.templates import N_TEMPLATES
from core.errors import InputError
from core.settings import DEFAULT_SEED
from core.stats.probes.direction import PoleSums, direction
from core.stats.probes.projection import TOP_HEADS, Heads, axis_values, check_k
from core.store.axes import concept_id, get_axes, get_concepts
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.heads import AXIS, POLE, Source, get_arrays, get_outputs

Array = npt.NDArray[np.float64]
Pooling = Literal["mean", "last"]
POOLINGS: tuple[Pooling, ...] = ("mean", "last")  # as they lie in the arrays
HALVES = {N_TEMPLATES // 2: 0, N_TEMPLATES: 2}  # which of the stored separabilities

_AT_A_TIME = 32  # axes whose directions are in memory together


@dataclass(frozen=True, kw_only=True)
class HeadsQuestion:
    """Which model's heads, which axes and phrases, and how values are made of them."""

    reader_id: str
    axes: str  # a set of axes
    concepts: str  # a set of concepts
    reference: str  # a set of reference phrases
    family: str = "simple"
    pooling: Pooling = "mean"
    n_templates: int = N_TEMPLATES  # or the first half of them
    k: int | None = TOP_HEADS  # heads; None for all
    seed: int = DEFAULT_SEED


@dataclass(frozen=True)
class HeadsValues:
    """Values of concepts and reference phrases on every axis of a set."""

    axes: tuple[Axis, ...]
    concepts: tuple[str, ...]
    reference: tuple[str, ...]
    values: Array  # (A, C + reference), concepts first
    heads: tuple[Heads, ...]  # of each axis, the most separable first
    n_skipped: npt.NDArray[np.int64]  # heads without variance, (A,)
    top_separability: Array  # mean R of those heads, (A,)
    top_chance: Array  # mean R of the same heads under swapped labels, (A,)

    @property
    def of_concepts(self) -> Array:
        return self.values[:, : len(self.concepts)]

    @property
    def of_reference(self) -> Array:
        return self.values[:, len(self.concepts) :]


def heads_values(cache: Cache, question: HeadsQuestion) -> HeadsValues:
    """Values of a set of concepts on a set of axes, z-scored jointly with the reference set.

    Raises
    ------
    InputError
        A set is not there, the heads were not read for all of it, the model has fewer than k heads,
        or the number of templates is neither all nor half.
    CacheError
        A file of arrays is gone or damaged.
    """
    if question.n_templates not in HALVES:
        raise InputError(f"Directions come from {' or '.join(map(str, HALVES))} templates.")
    reader = get_reader(cache, question.reader_id)
    check_k(question.k, reader.n_layers * reader.n_heads)
    axes = get_axes(cache, question.axes)
    concepts, reference = (
        tuple(c.text for c in get_concepts(cache, name).concepts)
        for name in (question.concepts, question.reference)
    )
    activations = _activations(cache, question, [*concepts, *reference])
    parts = []
    for block in _blocks(axes):
        directions, separability, chance = _probes(cache, question, block)
        found = axis_values(activations, directions, separability, k=question.k)
        tops = [_means(*each) for each in zip(separability, chance, found.heads, strict=True)]
        parts.append((found, tops))
    values, tops = [p[0] for p in parts], [top for p in parts for top in p[1]]
    return HeadsValues(
        axes=axes,
        concepts=concepts,
        reference=reference,
        values=np.concatenate([v.values for v in values]),
        heads=tuple(heads for v in values for heads in v.heads),
        n_skipped=np.concatenate([v.n_skipped for v in values]),
        top_separability=np.array([top[0] for top in tops]),
        top_chance=np.array([top[1] for top in tops]),
    )


def _activations(cache: Cache, question: HeadsQuestion, phrases: Sequence[str]) -> Array:
    """Heads' outputs for phrases, each read once however often it is named. (C, L, H, D)"""
    wanted = {phrase: concept_id(phrase) for phrase in phrases}
    pooling = POOLINGS.index(question.pooling)
    held = get_outputs(cache, Source(question.reader_id), wanted, pooling)  # (L, H, C, D)
    place = {phrase: i for i, phrase in enumerate(wanted)}
    chosen = held[:, :, [place[phrase] for phrase in phrases]]
    return np.ascontiguousarray(np.moveaxis(chosen, 2, 0), dtype=np.float64)


def _probes(
    cache: Cache, question: HeadsQuestion, axes: Sequence[Axis]
) -> tuple[Array, Array, Array]:
    """Directions (A, L, H, D), separability (A, L, H) and its mean under swapped labels."""
    source = Source(question.reader_id, question.family)
    pooling, half = POOLINGS.index(question.pooling), HALVES[question.n_templates]
    grids = get_arrays(
        cache, source, AXIS, {a.axis_id: axis_content(a, question.family) for a in axes}
    )
    poles = {pole.key: pole for axis in axes for pole in (axis.negative, axis.positive)}
    held = get_arrays(
        cache, source, POLE, {key: pole_content(p, question.family) for key, p in poles.items()}
    )
    place = {key: i for i, key in enumerate(poles)}

    def sums(pole: Pole) -> PoleSums:
        i, halves = place[pole.key], slice(1) if half == 0 else slice(2)
        return PoleSums(
            held["sums"][i, pooling, halves].sum(axis=0, dtype=np.float64),
            held["squares"][i, pooling, halves].sum(axis=0),
            int(held["n"][i, halves].sum()),
        )

    directions = np.stack([direction(sums(a.negative), sums(a.positive)) for a in axes])
    chance = grids["chance"][:, pooling].mean(axis=1, dtype=np.float64)
    return directions, grids["separability"][:, pooling, half].astype(np.float64), chance


def _means(separability: Array, chance: Array, heads: Heads) -> tuple[float, float]:
    """Mean R over heads, and mean chance R; NaN without heads."""
    if not len(heads):
        return float("nan"), float("nan")
    return float(separability.ravel()[heads].mean()), float(chance.ravel()[heads].mean())


def _blocks(axes: Sequence[Axis]) -> Iterator[Sequence[Axis]]:
    for start in range(0, len(axes), _AT_A_TIME):
        yield axes[start : start + _AT_A_TIME]
