"""From the cache to what a question is about: phrases' outputs, sums of poles, grids of axes.

Letters: A axes, C phrases, S swapped patterns, L layers, H heads, D head_dim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.analysis.heads.question import BOTH, HeadsQuestion
from core.axes.axis import Axis
from core.axes.concepts import Concept
from core.axes.content import axis_content, pole_content
from core.errors import InputError
from core.stats.probes.direction import PoleSums, direction
from core.stats.probes.projection import check_k
from core.store.axes import concept_id, get_axes, get_concepts
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.heads import (
    AXIS,
    CONCEPT,
    POLE,
    Source,
    check_read,
    get_arrays,
    get_outputs,
    outputs_by_layer,
)
from core.store.read_sets import axes_read
from core.words import counted

Array = npt.NDArray[np.float64]
PoleHalves = tuple[PoleSums, PoleSums]


class Grids(NamedTuple):
    """R of every head on axes."""

    separability: Array  # of the first half of the templates, the second and both, (A, 3, L, H)
    swapped: Array  # of all templates, under labels swapped within them, (A, S, L, H)

    def chance(self, half: int) -> Array:
        """Mean R under swapped labels; NaN for half of the templates, never swapped. (A, L, H)"""
        mean = self.swapped.mean(axis=1)
        return mean if half == BOTH else np.full_like(mean, np.nan)


def phrases_of(
    cache: Cache, question: HeadsQuestion
) -> tuple[tuple[Concept, ...], tuple[str, ...]]:
    """The concepts, and the texts of the reference phrases: none without a reference set.

    Raises
    ------
    InputError
        A set is not there, or both sets have a phrase in common.
    """
    concepts = get_concepts(cache, question.concepts).concepts
    if not question.reference:
        return concepts, ()
    reference = tuple(c.text for c in get_concepts(cache, question.reference).concepts)
    # The tests take the two sets as drawn apart.
    if shared := sorted({c.text for c in concepts} & set(reference)):
        raise InputError(
            f"{question.concepts} and {question.reference} have "
            f"{counted(len(shared), 'phrase')} in common ({shared[0]!r}), so one cannot be held "
            "against the other; choose other reference phrases."
        )
    return concepts, reference


def axes_of(cache: Cache, question: HeadsQuestion) -> tuple[Axis, ...]:
    """The axes of a question's set that the heads were read for, in their order; all if none was.

    A set grows while a job reads it, and a job may be stopped: what was read is of use at once.

    Raises
    ------
    InputError
        There is no such set.
    """
    axes = get_axes(cache, question.axes)
    read = axes_read(cache, question.reader_id, question.family, question.axes)
    return tuple(axis for axis in axes if axis.axis_id in read) or axes


def check_question(cache: Cache, question: HeadsQuestion) -> None:
    """Refuse what cannot be computed, in the words in which computing it would end.

    Raises
    ------
    InputError
        A set is not there, a phrase is in both, the heads were read for no axis or not for all
        phrases, the model has no such number of heads, or a setting makes no sense.
    """
    with cache.kept_open() as opened:
        _ = question.half, question.place
        reader = get_reader(opened, question.reader_id)
        check_k(question.k, reader.n_layers * reader.n_heads)
        concepts, reference = phrases_of(opened, question)
        wanted, _ = _wanted([*(concept.text for concept in concepts), *reference])
        check_read(opened, Source(question.reader_id), CONCEPT, wanted)
        if axes_read(opened, question.reader_id, question.family, question.axes):
            return
        axes = get_axes(opened, question.axes)
        contents = {axis.axis_id: axis_content(axis, question.family) for axis in axes}
        check_read(opened, Source(question.reader_id, question.family), AXIS, contents)


def phrase_layers(cache: Cache, question: HeadsQuestion, phrases: Sequence[str]) -> Iterator[Array]:
    """Heads' outputs for phrases, one layer after another. (H, C, D) each

    Each is overwritten by the next one.

    Raises
    ------
    InputError
        The heads were not read for a phrase.
    CacheError
        A file of arrays is gone or damaged.
    """
    wanted, chosen = _wanted(phrases)
    source = Source(question.reader_id)
    for layer in outputs_by_layer(cache, source, wanted, question.place):
        yield layer if chosen is None else layer[:, chosen]


def phrase_outputs(cache: Cache, question: HeadsQuestion, phrases: Sequence[str]) -> Array:
    """Heads' outputs for phrases; errors as `phrase_layers`.

    Returns
    -------
    array, shape (C, L, H, D)
        Head by head in memory, as `core.stats.probes.projection.project` walks it.
    """
    wanted, chosen = _wanted(phrases)
    held = get_outputs(cache, Source(question.reader_id), wanted, question.place)
    outputs = np.moveaxis(held if chosen is None else held[:, :, chosen], 2, 0)
    return outputs.astype(np.float64)


def pole_halves(
    cache: Cache, question: HeadsQuestion, axes: Sequence[Axis]
) -> dict[str, PoleHalves]:
    """Sums over the sentences of either half of the templates, by the poles' keys.

    Raises
    ------
    InputError
        The heads were not read for a pole.
    CacheError
        A file of arrays is gone or damaged.
    """
    poles = {pole.key: pole for axis in axes for pole in (axis.negative, axis.positive)}
    contents = {key: pole_content(pole, question.family) for key, pole in poles.items()}
    held = get_arrays(cache, Source(question.reader_id, question.family), POLE, contents)
    sums, squares = (held[name][:, question.place] for name in ("sums", "squares"))

    def half(pole: int, which: int) -> PoleSums:
        n = int(held["n"][pole, which])
        return PoleSums(sums[pole, which].astype(np.float64), squares[pole, which], n)

    return {key: (half(i, 0), half(i, 1)) for i, key in enumerate(poles)}


def poles_of(
    halves: Mapping[str, PoleHalves], axis: Axis, which: int = BOTH
) -> tuple[PoleSums, PoleSums]:
    """Sums of an axis's negative and positive pole: of half 0 or 1 of the templates, or of both."""
    negative, positive = halves[axis.negative.key], halves[axis.positive.key]
    if which == BOTH:
        return negative[0] + negative[1], positive[0] + positive[1]
    return negative[which], positive[which]


def directions(
    cache: Cache, question: HeadsQuestion, axes: Sequence[Axis], which: int = BOTH
) -> Array:
    """Directions of axes from half 0 or 1 of the templates, or from both. (A, L, H, D)"""
    halves = pole_halves(cache, question, axes)
    return np.stack([direction(*poles_of(halves, axis, which)) for axis in axes])


def grids(cache: Cache, question: HeadsQuestion, axes: Sequence[Axis]) -> Grids:
    """Separability of axes, and under swapped labels; errors as `pole_halves`."""
    contents = {axis.axis_id: axis_content(axis, question.family) for axis in axes}
    held = get_arrays(cache, Source(question.reader_id, question.family), AXIS, contents)
    return Grids(
        *(held[name][:, question.place].astype(np.float64) for name in ("separability", "chance"))
    )


def _wanted(phrases: Sequence[str]) -> tuple[dict[str, str], list[int] | None]:
    """The ids of phrases, each once, and where each phrase is among them: None for in order."""
    wanted = {phrase: concept_id(phrase) for phrase in phrases}
    if len(wanted) == len(phrases):
        return wanted, None
    place = {phrase: i for i, phrase in enumerate(wanted)}
    return wanted, [place[phrase] for phrase in phrases]
