"""Where phrases fall on axes under one model: from the cache to one value per phrase and axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.analysis.heads.arrays import grids, phrase_outputs, phrases_of, pole_halves, poles_of
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.stats.probes.direction import direction
from core.stats.probes.projection import Heads, axis_values, check_k
from core.store.axes import get_axes
from core.store.gate import Cache
from core.store.head_readers import get_reader

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Tell = Callable[[int, int], None]  # axes that are done, axes of all

_AT_A_TIME = 32  # axes whose directions are in memory together


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
    n_sentences: Counts  # that could be read of the negative and the positive pole, (A, 2)

    @property
    def of_concepts(self) -> Array:
        return self.values[:, : len(self.concepts)]

    @property
    def of_reference(self) -> Array:
        return self.values[:, len(self.concepts) :]


def untold(done: int, n_axes: int) -> None:
    """Tell nobody how far it is."""


def heads_values(cache: Cache, question: HeadsQuestion, *, tell: Tell = untold) -> HeadsValues:
    """Values of a set of concepts on a set of axes, z-scored jointly with the reference set.

    Without a reference set (""), over the concepts alone. `tell` is called after each block of
    axes.

    Raises
    ------
    InputError
        A set is not there, the heads were not read for all of it, the model has fewer than k heads,
        or the number of templates is neither all nor half.
    CacheError
        A file of arrays is gone or damaged.
    """
    half = question.half
    with cache.kept_open() as opened:
        reader = get_reader(opened, question.reader_id)
        check_k(question.k, reader.n_layers * reader.n_heads)
        axes = get_axes(opened, question.axes)
        concepts, reference = phrases_of(opened, question)
        texts = tuple(concept.text for concept in concepts)
        activations = phrase_outputs(opened, question, [*texts, *reference])
    parts, done = [], 0
    n_sentences: list[list[int]] = []
    for block in _blocks(axes):
        with cache.kept_open() as opened:
            held = grids(opened, question, block)
            halves = pole_halves(opened, question, block)
        poles = [poles_of(halves, axis, half) for axis in block]
        theta = np.stack([direction(*pair) for pair in poles])
        separability = held.separability[:, half]
        found = axis_values(activations, theta, separability, k=question.k)
        pairs = zip(separability, held.chance(half), found.heads, strict=True)
        parts.append((found, [_means(*each) for each in pairs]))
        n_sentences += [[pole.n for pole in pair] for pair in poles]
        done += len(block)
        tell(done, len(axes))
    values, tops = [p[0] for p in parts], [top for p in parts for top in p[1]]
    return HeadsValues(
        axes=axes,
        concepts=texts,
        reference=reference,
        values=np.concatenate([v.values for v in values]),
        heads=tuple(heads for v in values for heads in v.heads),
        n_skipped=np.concatenate([v.n_skipped for v in values]),
        top_separability=np.array([top[0] for top in tops]),
        top_chance=np.array([top[1] for top in tops]),
        n_sentences=np.array(n_sentences),
    )


def _means(separability: Array, chance: Array, heads: Heads) -> tuple[float, float]:
    """Mean R over heads, and mean chance R; NaN without heads."""
    if not len(heads):
        return float("nan"), float("nan")
    return float(separability.ravel()[heads].mean()), float(chance.ravel()[heads].mean())


def _blocks(axes: Sequence[Axis]) -> Iterator[Sequence[Axis]]:
    for start in range(0, len(axes), _AT_A_TIME):
        yield axes[start : start + _AT_A_TIME]
