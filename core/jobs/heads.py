"""The job that reads heads: which axes and concepts are missing -> head outputs -> the cache."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from core.axes.axis import Axis
from core.axes.concepts import concept_prompt
from core.axes.templates import N_TEMPLATES
from core.errors import NotNow
from core.heads.places import HeadPlaces, find_heads
from core.heads.version import HEADS_VERSION
from core.heads_request import HeadsRequest
from core.jobs.folder import FILL_READER, new_run_id, one_at_a_time
from core.jobs.head_units import (
    Reading,
    Stored,
    check_known_outputs,
    store_axes,
    store_concepts,
)
from core.jobs.heads_missing import (
    axes_missing,
    concepts_missing,
    concepts_of,
    count_poles,
    needed_bytes,
    parts_missing,
    pole_contents,
)
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
from core.store.heads import CONCEPT, POLE
from core.store.phrase_lengths import put_lengths
from core.store.runs import end_run, start_run
from core.store.unread import Unread, get_unread
from core.types import HeadReader
from core.words import size_words

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
    failures: tuple[Unread, ...]  # of all that was asked for, now or in an earlier run
    left_missing: tuple[str, ...]  # axes and concepts for which memory ran out
    stopped: bool
    seconds: float
    notes: tuple[str, ...] = ()  # where a self-check put the job on a slower path


@dataclass(frozen=True)
class _Unit:
    """A part of the work that is stored as a whole."""

    n_sentences: int
    store: Callable[[], Stored]


@dataclass
class _Done:
    """What a job has done so far."""

    gone_through: int = 0  # sentences
    read: int = 0  # of these, those whose outputs are stored
    unread: list[Unread] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # axes and concepts for which memory ran out


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
    with one_at_a_time(cache, FILL_READER, reader.reader_id, run_id):
        missing_axes = axes_missing(cache, reader.reader_id, request.families, axes)
        missing_concepts = concepts_missing(cache, reader.reader_id, concepts)
        parts = parts_missing(axes, missing_axes)
        _check_disk(cache, needed_bytes(reader, parts, len(missing_concepts)))
        put_reader(cache, reader)
        lengths = _phrase_lengths(reading.language_model, concepts)
        put_lengths(cache, reader.reader_id, lengths)
        start(checks, reader)
        work = [
            *_concept_units(cache, reading, missing_concepts),
            *_axis_units(cache, reading, parts),
        ]
        known = Progress(READING, scorer_id=reader.reader_id, checks=checks)
        done = _do(cache, run_id, work, known, watch, stop)
    return HeadsResult(
        reader_id=reader.reader_id,
        model=reader.model,
        axes=request.axes,
        families=request.families,
        missing_axes=sum(map(len, missing_axes.values())),
        missing_concepts=len(missing_concepts),
        sentences=done.read,
        prompt_tokens=_mean_lengths(cache, lengths, request.phrases),
        failures=_failures(cache, reader.reader_id, request.families, axes, concepts, done),
        left_missing=tuple(done.left),
        stopped=done.gone_through < sum(unit.n_sentences for unit in work),
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
    check_known_outputs(cache, reading)
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


def _phrase_lengths(language_model: LanguageModel, concepts: Sequence[str]) -> dict[str, int]:
    """Tokens that the model reads for each concept in its sentence, special ones included.

    Phrases are matched by their words; whether they are equally long to a model depends on it.
    """
    prompts = [concept_prompt(concept) for concept in concepts]
    ids = language_model.tokenizer(prompts, verbose=False).input_ids if prompts else []
    return dict(zip(concepts, map(len, ids), strict=True))


def _mean_lengths(
    cache: Cache, lengths: Mapping[str, int], sets: Sequence[str]
) -> dict[str, float]:
    found = {}
    for name in sets:
        concepts = get_concepts(cache, name).concepts
        found[name] = sum(lengths[c.text] for c in concepts) / len(concepts)
    return found


def _failures(
    cache: Cache,
    reader_id: str,
    families: Sequence[str],
    axes: Sequence[Axis],
    concepts: Sequence[str],
    done: _Done,
) -> tuple[Unread, ...]:
    """All sentences of what was asked for that have no outputs, and why."""
    known = [
        each
        for family in families
        for each in get_unread(cache, reader_id, family, POLE, pole_contents(axes, family))
    ]
    wanted = {concept: concept_id(concept) for concept in concepts}
    known += get_unread(cache, reader_id, "", CONCEPT, wanted)
    return tuple(dict.fromkeys((*known, *done.unread)))


def _check_disk(cache: Cache, needed: int) -> None:
    free = shutil.disk_usage(cache.folder).free
    if needed > free:
        raise NotNow(
            f"The arrays need {size_words(needed)} and the disk of {cache.folder} has "
            f"{size_words(free)} free; free some space, choose fewer axes, or another --cache."
        )


def _concept_units(cache: Cache, reading: Reading, concepts: Sequence[str]) -> list[_Unit]:
    parts = [concepts[i : i + CONCEPTS_IN_UNIT] for i in range(0, len(concepts), CONCEPTS_IN_UNIT)]
    return [_Unit(len(part), partial(store_concepts, cache, reading, part)) for part in parts]


def _axis_units(
    cache: Cache, reading: Reading, parts: Sequence[tuple[str, Sequence[Axis]]]
) -> list[_Unit]:
    return [
        _Unit(N_TEMPLATES * count_poles(axes), partial(store_axes, cache, reading, family, axes))
        for family, axes in parts
    ]


def _do(
    cache: Cache, run_id: str, work: Sequence[_Unit], known: Progress, watch: Watch, stop: Stop
) -> _Done:
    """Do units until told to stop; the run's row says how it ended."""
    total = sum(unit.n_sentences for unit in work)
    done, status = _Done(), "failed"
    try:
        for unit in work:
            watch(_progress(known, done, total))
            if stop():
                break
            stored = unit.store()
            done.gone_through += unit.n_sentences
            done.read += stored.n_read
            done.unread += stored.unread
            done.left += stored.left
        watch(_progress(known, done, total))
        status = "finished" if done.gone_through == total else "stopped"
    except KeyboardInterrupt:
        status = "stopped"
        raise
    finally:
        failed = done.gone_through - done.read
        end_run(cache, run_id, status=status, computed=done.read, failed=failed)
    return done


def _progress(known: Progress, done: _Done, total: int) -> Progress:
    return replace(
        known,
        done_texts=done.gone_through,
        total_texts=total,
        done_characters=done.gone_through,  # sentences are about equally long
        total_characters=total,
        computed=done.read,
        failed=done.gone_through - done.read,
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
