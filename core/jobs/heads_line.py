"""The job that reads what is missing of stored sets, and the line that a person runs for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.own_axis import known_heads_request
from core.jobs.spec import AXES, JobSpec
from core.store.gate import Cache
from core.store.head_readers import get_reader
from core.store.score_line import shell_line


@dataclass(frozen=True, kw_only=True)
class SetsToRead:
    """Names of stored sets, and the family of templates."""

    axes: str
    concepts: tuple[str, ...]
    reference: tuple[str, ...] = ()
    family: str


def reading_spec(cache: Cache, reader_id: str, sets: SetsToRead) -> JobSpec:
    """The job that reads what is missing of sets, with the model opened as it was before.

    Raises
    ------
    InputError
        There is no such reader, or no run here that tells how its model was opened.
    """
    return _spec(known_heads_request(cache, reader_id), sets)


def reading_line(cache: Cache, reader_id: str, sets: SetsToRead) -> str:
    """The same as a line to paste into a shell, on this cache.

    Where no run tells how the model was opened, it names the model as the reader has it.

    Raises
    ------
    InputError
        There is no such reader.
    """
    try:
        spec = reading_spec(cache, reader_id, sets)
    except InputError:
        model = get_reader(cache, reader_id).model
        spec = _spec(HeadsRequest(model=model, axes=sets.axes), sets)
    return shell_line(cache, *spec.arguments())


def _spec(request: HeadsRequest, sets: SetsToRead) -> JobSpec:
    wanted = replace(
        request,
        axes=sets.axes,
        concepts=sets.concepts,
        reference=sets.reference,
        families=(sets.family,),
    )
    return JobSpec(command=AXES, request=wanted)
