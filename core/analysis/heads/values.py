"""Where phrases fall on axes under one model: from the cache to one value per phrase and axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.analysis.heads.arrays import (
    axes_of,
    grids,
    phrase_outputs,
    phrases_of,
    pole_halves,
    poles_of,
)
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.stats.known import mean_of
from core.stats.probes.direction import PoleSums, chance_separability, direction
from core.stats.probes.projection import AxisValues, Heads, axis_values, check_k, top_heads
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
    top_separability: Array  # mean R of those heads, too high as they were chosen by it, (A,)
    top_chance: Array  # mean R of the same heads under swapped labels, (A,)
    held_out: Array  # mean R in half of the templates of the best heads of the other half, (A,)
    held_out_chance: Array  # R of as many independent sentences without a difference, (A,)
    n_sentences: Counts  # that could be read of the negative and the positive pole, (A, 2)

    @property
    def of_concepts(self) -> Array:
        return self.values[:, : len(self.concepts)]

    @property
    def of_reference(self) -> Array:
        return self.values[:, len(self.concepts) :]


class _Block(NamedTuple):
    """Some axes of a set."""

    found: AxisValues
    tops: Array  # R of their heads: as chosen, swapped, held out, by chance, (A, 4)
    n_sentences: Counts  # (A, 2)


def untold(done: int, n_axes: int) -> None:
    """Tell nobody how far it is."""


def heads_values(cache: Cache, question: HeadsQuestion, *, tell: Tell = untold) -> HeadsValues:
    """Values of a set of concepts on a set of axes, z-scored jointly with the reference set.

    The axes are those of the set that were read (`axes_of`). Without a reference set ("") z-scores
    are over the concepts alone. `tell` is called after each block of axes.

    Raises
    ------
    InputError
        A set is not there, the heads were read for none of its axes or not for every phrase, the
        model has fewer than k heads, or the number of templates is neither all nor half.
    CacheError
        A file of arrays is gone or damaged.
    """
    half = question.half
    with cache.kept_open() as opened:
        reader = get_reader(opened, question.reader_id)
        check_k(question.k, reader.n_layers * reader.n_heads)
        axes = axes_of(opened, question)
        concepts, reference = phrases_of(opened, question)
        texts = tuple(concept.text for concept in concepts)
        activations = phrase_outputs(opened, question, [*texts, *reference])
    blocks: list[_Block] = []
    done = 0
    for some in _blocks(axes):
        blocks.append(_block(cache, question, half, some, activations))
        done += len(some)
        tell(done, len(axes))
    separability, chance, held_out, held_out_chance = np.concatenate([b.tops for b in blocks]).T
    return HeadsValues(
        axes=axes,
        concepts=texts,
        reference=reference,
        values=np.concatenate([b.found.values for b in blocks]),
        heads=tuple(heads for b in blocks for heads in b.found.heads),
        n_skipped=np.concatenate([b.found.n_skipped for b in blocks]),
        top_separability=separability,
        top_chance=chance,
        held_out=held_out,
        held_out_chance=held_out_chance,
        n_sentences=np.concatenate([b.n_sentences for b in blocks]),
    )


def _block(
    cache: Cache, question: HeadsQuestion, half: int, axes: Sequence[Axis], activations: Array
) -> _Block:
    """Values of phrases, whose heads' outputs are (C, L, H, D), on some axes.

    Directions are those of half 0 or 1 of the templates, or of both.
    """
    with cache.kept_open() as opened:
        held = grids(opened, question, axes)
        halves = pole_halves(opened, question, axes)
    k = question.k
    poles = [poles_of(halves, axis, half) for axis in axes]
    theta = np.stack([direction(*pair) for pair in poles])
    separability, chance = held.separability[:, half], held.chance(half)
    found = axis_values(activations, theta, separability, k=k)
    tops = [
        [
            *(mean_of(r[i].ravel()[found.heads[i]]) for r in (separability, chance)),
            *_held_out(held.separability[i], poles_of(halves, axis, 1), k),
        ]
        for i, axis in enumerate(axes)
    ]
    n_sentences = [[pole.n for pole in pair] for pair in poles]
    return _Block(found, np.array(tops), np.array(n_sentences))


def _held_out(
    separability: Array, second: tuple[PoleSums, PoleSums], k: int | None
) -> tuple[float, float]:
    """Mean R in the second half of the templates of the best heads of the first, and by chance.

    That is free of the choice of heads. `separability` is of the halves and of both, (3, L, H).
    """
    heads = top_heads(separability[0], k)
    negative, positive = second
    return mean_of(separability[1].ravel()[heads]), chance_separability(negative.n, positive.n)


def _blocks(axes: Sequence[Axis]) -> Iterator[Sequence[Axis]]:
    for start in range(0, len(axes), _AT_A_TIME):
        yield axes[start : start + _AT_A_TIME]
