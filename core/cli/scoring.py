"""The command `score`: compute what is missing of a data set."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from core.cli.data_sets import DatasetOption
from core.cli.estimate import say_estimate
from core.cli.model_options import (
    ComputeDtypeOption,
    DeviceOption,
    DtypeOption,
    ExactOption,
    ModelOption,
    NoDoubleQuantOption,
    QuantizationOption,
    TrustRemoteCodeOption,
    VariantOption,
)
from core.cli.next_step import say_after_scoring
from core.cli.progress import watched
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    RunOption,
    open_cache,
    print_json,
    print_table,
    say,
)
from core.export.tables import json_rows
from core.jobs.running import RunningJob, running_job
from core.jobs.spec import JobSpec, ModelRequest, anywhere
from core.score_request import DEMO_MODEL, ScoreRequest
from core.store.gate import Cache
from core.store.items import require_dataset
from core.store.scores import unscored
from core.store.text_counts import text_counts
from core.words import counted

if TYPE_CHECKING:
    from core.jobs.run import ScoreResult

ITEMS_FAILED = 3
STOPPED = 130


def score(
    model: ModelOption,
    dataset: DatasetOption,
    dtype: DtypeOption = "auto",
    device: DeviceOption = "auto",
    quantization: QuantizationOption = "none",
    compute_dtype: ComputeDtypeOption = "auto",
    no_double_quant: NoDoubleQuantOption = False,
    variant: VariantOption = "original",
    exact: ExactOption = False,
    trust_remote_code: TrustRemoteCodeOption = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what is missing and what it would take."),
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
    run: RunOption = None,
) -> None:
    """Score what is missing of a data set.

    Texts that this model scored before are not computed again. Ctrl-C stops after the batch in
    hand; the same command goes on from there.
    """
    request = ScoreRequest(
        model=model,
        dataset=dataset,
        dtype=dtype,
        device=device,
        quantization=quantization,
        compute_dtype=compute_dtype,
        no_double_quant=no_double_quant,
        variant=variant,
        exact=exact,
        trust_remote_code=trust_remote_code,
    )
    store = open_cache(cache)
    if run is None:  # a mistyped name is no run
        require_dataset(store, dataset)
        check_request(store, request)
    if dry_run:
        say_estimate(store, request, as_json=as_json)
        return
    with running_job(store, JobSpec(request=anywhere(request)), run) as job:
        result = compute_scores(store, request, job)
        job.end("stopped" if result.stopped else "finished")
    say_scores(store, result, as_json=as_json)


def check_request(store: Cache, request: ModelRequest) -> None:
    """Make sure that there is such a model and that the options make sense: a slip is no run.

    Raises
    ------
    InputError, ModelError
        In the words in which the job would say so.
    """
    # Takes as long to import as it takes to open a model.
    from core.jobs.run import check_options
    from core.models.sources import find_source

    check_options(request)
    if request.model != DEMO_MODEL:  # which may have to be converted first: that is part of the run
        models, with_code = store.folder / "models", request.trust_remote_code
        find_source(request.model, models, with_code=with_code, with_weights=False)


def compute_scores(store: Cache, request: ScoreRequest, job: RunningJob) -> ScoreResult:
    """Compute, telling the terminal and the run folder; stop when either is asked to."""
    require_dataset(store, request.dataset)
    # Imported here, because torch takes seconds: neither a wrong name nor the other commands wait.
    from core.jobs.run import score_dataset

    with watched(job) as (watch, stop):
        return score_dataset(store, request, run_id=job.run_id, watch=watch, stop=stop)


def say_scores(store: Cache, result: ScoreResult, *, as_json: bool) -> None:
    """Print what was done, and leave with the exit code that it means."""
    failures = unscored(store, result.scorer_id, result.dataset)
    texts = text_counts(store, result.dataset)
    if as_json:
        print_json(asdict(result) | texts._asdict() | {"failures": json_rows(failures)})
    else:
        print_scores(result)
        say(
            f"{result.dataset} asks for {counted(texts.requested, 'text')}, of which "
            f"{texts.distinct:,} are distinct: a text is computed once, however many items have it."
        )
        say_failures(failures)
        if result.stopped:
            say("Next: the same command goes on from here.")
        else:
            say_after_scoring(store, result.dataset)
    leave(stopped=result.stopped, n_failures=len(failures))


def say_failures(failures: pd.DataFrame) -> None:
    """Name the texts that could not be scored, if there are any."""
    if len(failures):
        print_table(failures, "Texts that could not be scored")


def leave(*, stopped: bool, n_failures: int) -> None:
    """Leave with the exit code of a stopped job, or of texts without a score; else go on."""
    if stopped:
        raise typer.Exit(STOPPED)
    if n_failures:
        raise typer.Exit(ITEMS_FAILED)


def print_scores(result: ScoreResult) -> None:
    """What was computed, and what slowed it down."""
    for note in result.notes:
        say(f"Note: {note}")
    state = "stopped" if result.stopped else "done"
    say(
        f"{result.model} on {result.dataset}: {state}; computed {result.computed:,} of "
        f"{result.missing:,} missing texts in {result.seconds:.1f} s "
        f"(scorer {result.scorer_id}, {result.batching})."
    )
