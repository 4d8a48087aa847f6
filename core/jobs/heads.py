"""The job that reads heads: which axes and concepts are missing -> head outputs -> the cache."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from core.axes.axis import Axis
from core.axes.concepts import concept_prompt
from core.axes.content import axis_content
from core.axes.templates import N_TEMPLATES
from core.axes.units import units
from core.errors import InputError
from core.heads.places import HeadPlaces, find_heads
from core.heads.version import HEADS_VERSION
from core.heads_request import HeadsRequest
from core.jobs.folder import new_run_id, one_at_a_time
from core.jobs.head_units import Failure, Reading, store_axes, store_concepts
from core.jobs.progress import READING, Progress, Stop, Watch, never, unwatched
from core.jobs.refusals import refusal_recorded
from core.jobs.run import PASSED, library_versions, plan_for
from core.models.language_model import LanguageModel
from core.models.opening import open_planned
from core.scoring.canaries import check_model, choose_layout
from core.scoring.logprobs import Layout
from core.store.axes import concept_id, get_axes, get_concepts
from core.store.gate import Cache
from core.store.head_readers import put_reader
from core.store.heads import AXIS, CONCEPT, Source, array_bytes, missing
from core.store.runs import end_run, start_run
from core.types import HeadReader
from core.words import size_words

KIND = "heads"  # of the jobs that fill a reader, only one runs at a time
CONCEPTS_IN_UNIT = 64


@dataclass(frozen=True, kw_only=True)
class HeadsResult:
    """What the job did."""

    reader_id: str
    model: str
    axes: str
    families: tuple[str, ...]
    missing_axes: int  # without arrays when the job began, counted in each family
    missing_concepts: int
    sentences: int  # that were read
    prompt_tokens: dict[str, float]  # of a set's phrases, each in its sentence: mean
    failures: tuple[Failure, ...]
    stopped: bool
    seconds: float
    notes: tuple[str, ...] = ()  # where a self-check put the job on a slower path


@dataclass(frozen=True)
class _Unit:
    """A part of the work that is stored as a whole."""

    n_sentences: int
    store: Callable[[], list[Failure]]


def read_heads(
    cache: Cache,
    request: HeadsRequest,
    *,
    run_id: str | None = None,
    watch: Watch = unwatched,
    stop: Stop = never,
) -> HeadsResult:
    """Read a model's heads for every axis and concept that it has not been read for.

    Raises
    ------
    InputError
        There are no such axes or concepts, or another job reads the same model's heads.
    ModelError
        The model cannot be opened, a self-check fails, or its heads are not found.
    CacheError
        The cache cannot be read or written.
    """
    axes = get_axes(cache, request.axes)
    concepts = concepts_of(cache, request)
    began = time.monotonic()
    run_id = run_id or new_run_id()
    start = partial(_start, cache, run_id, request)
    with refusal_recorded(cache, run_id, start):
        reading, reader, notes = _checked(cache, request, watch)
    checks = f"slow path: {' '.join(notes)}" if notes else PASSED
    with one_at_a_time(cache, KIND, reader.reader_id, run_id):
        put_reader(cache, reader)
        missing_axes = axes_missing(cache, reader.reader_id, request.families, axes)
        missing_concepts = concepts_missing(cache, reader.reader_id, concepts)
        work = [
            *_concept_units(cache, reading, missing_concepts),
            *(
                unit
                for family, wanted in missing_axes.items()
                for unit in _axis_units(cache, reading, family, axes, wanted)
            ),
        ]
        _check_disk(cache, needed_bytes(reader, axes, missing_axes, len(missing_concepts)))
        start(checks, reader)
        known = Progress(READING, scorer_id=reader.reader_id, checks=checks)
        sentences, failures = _do(cache, run_id, work, known, watch, stop)
    return HeadsResult(
        reader_id=reader.reader_id,
        model=reader.model,
        axes=request.axes,
        families=request.families,
        missing_axes=sum(map(len, missing_axes.values())),
        missing_concepts=len(missing_concepts),
        sentences=sentences,
        prompt_tokens=prompt_tokens(cache, reading.language_model, request.phrases),
        failures=tuple(failures),
        stopped=sentences < sum(unit.n_sentences for unit in work),
        seconds=round(time.monotonic() - began, 3),
        notes=notes,
    )


def _checked(
    cache: Cache, request: HeadsRequest, watch: Watch
) -> tuple[Reading, HeadReader, tuple[str, ...]]:
    """Open the model, check it, and find its heads; notes say what puts it on a slower path."""
    watch(Progress("opening the model"))
    language_model = open_planned(plan_for(cache, request))
    watch(Progress("checking the model"))
    check_model(language_model)
    layout, notes = choose_layout(language_model)
    places = find_heads(language_model.model, named=request.heads_at or None)
    reader = reader_of(language_model, places, request.bos, exact=layout is Layout.SINGLE)
    reading = Reading(language_model, places, request.bos, layout, reader.reader_id)
    return reading, reader, notes


def reader_of(
    language_model: LanguageModel, places: HeadPlaces, bos: str, *, exact: bool
) -> HeadReader:
    """The identity under which what this model's heads hold is kept.

    `exact` says that texts are read one at a time.
    """
    return HeadReader(
        model=language_model.label,
        fingerprint=language_model.fingerprint,
        quantization=language_model.quantization,
        dtype=language_model.dtype,
        device=language_model.device,
        attention=language_model.attention,
        bos=bos,
        heads_version=HEADS_VERSION,
        n_layers=places.n_layers,
        n_heads=places.n_heads,
        head_dim=places.head_dim,
        batching="exact" if exact else "batched",
        heads_at=places.named,
    )


def concepts_of(cache: Cache, request: HeadsRequest) -> list[str]:
    """The concepts of all sets of a request, each once.

    Raises
    ------
    InputError
        There is no such set.
    """
    sets = [get_concepts(cache, name).concepts for name in request.phrases]
    return list(dict.fromkeys(concept.text for concepts in sets for concept in concepts))


def prompt_tokens(
    cache: Cache, language_model: LanguageModel, sets: Sequence[str]
) -> dict[str, float]:
    """Mean number of tokens that the model reads for a phrase of each set, special ones included.

    Phrases are matched by their words; whether they are equally long to a model depends on it.
    """
    found = {}
    for name in sets:
        prompts = [concept_prompt(c.text) for c in get_concepts(cache, name).concepts]
        lengths = [len(ids) for ids in language_model.tokenizer(prompts).input_ids]
        found[name] = sum(lengths) / len(lengths)
    return found


def axes_missing(
    cache: Cache, reader_id: str, families: Sequence[str], axes: Sequence[Axis]
) -> dict[str, list[str]]:
    """The ids of those axes for which the heads have not been read, in each family."""
    return {
        family: missing(
            cache,
            Source(reader_id, family),
            AXIS,
            {axis.axis_id: axis_content(axis, family) for axis in axes},
        )
        for family in families
    }


def concepts_missing(cache: Cache, reader_id: str, concepts: Sequence[str]) -> list[str]:
    """Those concepts for which the heads have not been read, in their order."""
    wanted = {concept: concept_id(concept) for concept in concepts}
    return missing(cache, Source(reader_id), CONCEPT, wanted)


def needed_bytes(
    reader: HeadReader,
    axes: Sequence[Axis],
    missing_axes: Mapping[str, Collection[str]],
    n_concepts: int,
) -> int:
    """What the missing arrays will take on the disk."""
    of_axes = [
        array_bytes(reader, len(poles_of(axes, wanted)), len(wanted), 0)
        for wanted in missing_axes.values()
    ]
    return sum(of_axes) + array_bytes(reader, 0, 0, n_concepts)


def poles_of(axes: Sequence[Axis], axis_ids: Collection[str]) -> set[str]:
    """The keys of the poles of those axes that have one of these ids."""
    wanted = set(axis_ids)
    chosen = (axis for axis in axes if axis.axis_id in wanted)
    return {pole.key for axis in chosen for pole in (axis.negative, axis.positive)}


def _check_disk(cache: Cache, needed: int) -> None:
    free = shutil.disk_usage(cache.folder).free
    if needed > free:
        raise InputError(
            f"The arrays need {size_words(needed)} and the disk of {cache.folder} has "
            f"{size_words(free)} free; free some space, choose fewer axes, or another --cache."
        )


def _concept_units(cache: Cache, reading: Reading, concepts: Sequence[str]) -> list[_Unit]:
    parts = [concepts[i : i + CONCEPTS_IN_UNIT] for i in range(0, len(concepts), CONCEPTS_IN_UNIT)]
    return [_Unit(len(part), partial(store_concepts, cache, reading, part)) for part in parts]


def _axis_units(
    cache: Cache, reading: Reading, family: str, axes: Sequence[Axis], wanted: Collection[str]
) -> list[_Unit]:
    """Units of the whole set, so that they are the same however much of it is done already."""
    left = set(wanted)
    found = []
    for unit in units(axes):
        if any(axis.axis_id in left for axis in unit):
            n_poles = len(poles_of(unit, [axis.axis_id for axis in unit]))
            store = partial(store_axes, cache, reading, family, unit)
            found.append(_Unit(N_TEMPLATES * n_poles, store))
    return found


def _do(
    cache: Cache, run_id: str, work: Sequence[_Unit], known: Progress, watch: Watch, stop: Stop
) -> tuple[int, list[Failure]]:
    """Do units until told to stop; the run's row says how it ended.

    Returns
    -------
    int and list of Failure
        Sentences that were read, and those of them that gave nothing.
    """
    total = sum(unit.n_sentences for unit in work)
    failures: list[Failure] = []
    done, status = 0, "failed"
    try:
        for unit in work:
            watch(_progress(known, done, total, len(failures)))
            if stop():
                break
            failures += unit.store()
            done += unit.n_sentences
        watch(_progress(known, done, total, len(failures)))
        status = "finished" if done == total else "stopped"
    except KeyboardInterrupt:
        status = "stopped"
        raise
    finally:
        end_run(cache, run_id, status=status, computed=done - len(failures), failed=len(failures))
    return done, failures


def _progress(known: Progress, done: int, total: int, failed: int) -> Progress:
    return replace(
        known,
        done_texts=done,
        total_texts=total,
        done_characters=done,  # sentences are about equally long
        total_characters=total,
        computed=done - failed,
        failed=failed,
    )


def _start(
    cache: Cache,
    run_id: str,
    request: HeadsRequest,
    checks: str,
    reader: HeadReader | None = None,
) -> None:
    """Enter the run; without a reader where the model was refused before there was one."""
    start_run(
        cache,
        run_id,
        command="axes",
        scorer_id=reader.reader_id if reader else "",
        dataset=request.axes,
        versions=library_versions(reader.quantization if reader else request.quantization),
        spec=asdict(request),
        checks=checks,
    )
