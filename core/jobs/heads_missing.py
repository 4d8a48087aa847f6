"""What of a set of axes and concepts a model's heads have not been read for, and in which parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from core.axes.axis import Axis
from core.axes.content import axis_content, pole_content
from core.axes.units import units
from core.heads_request import HeadsRequest
from core.store.axes import concept_id, get_concepts
from core.store.gate import Cache
from core.store.heads import AXIS, CONCEPT, POLE, Source, array_bytes, missing
from core.types import HeadReader

MOST_AXES_IN_UNIT = 16  # twice what WordNet's axes need, which share few poles


def concepts_of(cache: Cache, request: HeadsRequest) -> list[str]:
    """The concepts of all sets of a request, each once.

    Raises
    ------
    InputError
        There is no such set.
    """
    sets = [get_concepts(cache, name).concepts for name in request.phrases]
    return list(dict.fromkeys(concept.text for concepts in sets for concept in concepts))


def axes_missing(
    cache: Cache, reader_id: str, families: Sequence[str], axes: Sequence[Axis]
) -> dict[str, list[str]]:
    """The ids of those axes for which the heads have not been read, in each family.

    An axis is missing as long as one of its poles is: the file that held it may have been lost.
    """
    found = {}
    for family in families:
        source = Source(reader_id, family)
        contents = {axis.axis_id: axis_content(axis, family) for axis in axes}
        lost = set(missing(cache, source, AXIS, contents))
        lost_poles = set(missing(cache, source, POLE, pole_contents(axes, family)))
        found[family] = [
            axis.axis_id
            for axis in axes
            if axis.axis_id in lost or lost_poles & {axis.negative.key, axis.positive.key}
        ]
    return found


def concepts_missing(cache: Cache, reader_id: str, concepts: Sequence[str]) -> list[str]:
    """Those concepts for which the heads have not been read, in their order."""
    wanted = {concept: concept_id(concept) for concept in concepts}
    return missing(cache, Source(reader_id), CONCEPT, wanted)


def parts_missing(
    axes: Sequence[Axis], missing_axes: Mapping[str, Collection[str]]
) -> list[tuple[str, Sequence[Axis]]]:
    """What is to be read and stored together: a family, and axes.

    Parts of the whole set, so that they are the same however much of it is done already. Where very
    many axes share poles they are cut, and a shared pole is read once for each part: what is in
    memory, and what a killed job can lose, does not grow with the set.
    """
    pieces = [
        linked[start : start + MOST_AXES_IN_UNIT]
        for linked in units(axes)
        for start in range(0, len(linked), MOST_AXES_IN_UNIT)
    ]
    return [
        (family, piece)
        for family, wanted in missing_axes.items()
        for left in [set(wanted)]
        for piece in pieces
        if any(axis.axis_id in left for axis in piece)
    ]


def needed_bytes(
    reader: HeadReader, parts: Sequence[tuple[str, Sequence[Axis]]], n_concepts: int
) -> int:
    """What the missing arrays will take on the disk."""
    of_axes = (array_bytes(reader, count_poles(axes), len(axes), 0) for _, axes in parts)
    return sum(of_axes) + array_bytes(reader, 0, 0, n_concepts)


def count_poles(axes: Sequence[Axis]) -> int:
    """How many poles axes have, a shared one counted once."""
    return len({pole.key for axis in axes for pole in (axis.negative, axis.positive)})


def pole_contents(axes: Sequence[Axis], family: str) -> dict[str, str]:
    poles = {pole.key: pole for axis in axes for pole in (axis.negative, axis.positive)}
    return {key: pole_content(pole, family) for key, pole in poles.items()}
