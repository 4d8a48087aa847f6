"""The command `positive-control`: the four arms into a data set of the cache, and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from core.analysis.overview import find_scorer
from core.cli.data_sets import DatasetOption
from core.cli.progress import watched
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    RunOption,
    open_cache,
    print_json,
    say,
)
from core.items.control import Arms, arms_from_texts
from core.jobs.control import (
    ControlEstimate,
    chosen_requests,
    control_spec,
    estimate_control,
    put_arms,
    shipped_arms,
)
from core.jobs.running import RunningJob, running_job
from core.jobs.spec import CONTROL, JobSpec, ScoreRequest
from core.store.gate import Cache
from core.store.items import require_dataset
from core.words import duration_words

if TYPE_CHECKING:
    from core.jobs.run import ScoreResult

STOPPED = 130


def positive_control(
    dataset: DatasetOption,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A scorer: id, beginning of it, model name or label; may be repeated "
            "(default: all that have computed scores of the data set).",
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A sentence, as CONDITION+ARM=SENTENCE (en+true=They are true.); arms are true, "
            "false and neutral; may be repeated (default: those that come with the program).",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what is missing and how long it takes.")
    ] = False,
    cache: CacheOption = None,
    as_json: JsonOption = False,
    run: RunOption = None,
) -> None:
    """Put sentences in front of every context and score them.

    The versions (en+neutral, en+true, en+false) become conditions of the data set, in the place of
    any that it has under these names. Each model scores them under its earlier settings. Ctrl-C
    stops after the batch in hand; the same command goes on from there.
    """
    store = open_cache(cache)
    spec = JobSpec(command=CONTROL)
    if dry_run or run is None:  # what cannot be done is no run
        requests, arms = _asked(store, dataset, scorer or (), arm or ())
        found = estimate_control(store, dataset, list(requests) if dry_run else (), arms)
        if dry_run:
            _say_estimate(found, as_json=as_json)
            return
        spec = control_spec(dataset, list(requests), arms)
    with running_job(store, spec, run) as job:
        requests, arms = _asked(store, dataset, scorer or (), arm or ())
        put_arms(store, dataset, arms)
        results = _score(store, requests, job)
    _say_results(dataset, results, arms, as_json=as_json)
    if _is_stopped(results, requests):
        raise typer.Exit(STOPPED)


def _asked(
    store: Cache, dataset: str, names: Sequence[str], sentences: Sequence[str]
) -> tuple[Mapping[str, ScoreRequest], Arms]:
    """What each scorer computes, and the sentences."""
    require_dataset(store, dataset)
    scorer_ids = [find_scorer(store, name) for name in names]
    arms = arms_from_texts(sentences) if sentences else shipped_arms(store, dataset)
    return chosen_requests(store, dataset, scorer_ids), arms


def _score(
    store: Cache, requests: Mapping[str, ScoreRequest], job: RunningJob
) -> list[ScoreResult]:
    """Compute, telling the terminal and the run folder; stop when either is asked to."""
    # Imported here, because torch takes seconds: neither a wrong name nor the other commands wait.
    from core.jobs.run_control import score_control

    with watched(job) as (watch, stop):
        results = score_control(store, requests, run_id=job.run_id, watch=watch, stop=stop)
    job.end("stopped" if _is_stopped(results, requests) else "finished")
    return results


def _is_stopped(results: list[ScoreResult], requests: Mapping[str, ScoreRequest]) -> bool:
    return len(results) < len(requests) or any(result.stopped for result in results)


def _say_results(dataset: str, results: list[ScoreResult], arms: Arms, *, as_json: bool) -> None:
    made = [f"{condition}+{name}" for condition, texts in arms.items() for name in texts]
    if as_json:
        print_json({"dataset": dataset, "conditions": made, "models": [asdict(r) for r in results]})
        return
    for result in results:
        state = "stopped" if result.stopped else "done"
        say(
            f"{result.model} on {dataset} with {', '.join(made)}: {state}; computed "
            f"{result.computed} of {result.missing} missing texts in {result.seconds:.1f} s "
            f"(scorer {result.scorer_id})."
        )


def _say_estimate(found: ControlEstimate, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(found))
        return
    say(f"New: {', '.join(found.new) or 'none'}; changed: {', '.join(found.changed) or 'none'}.")
    for scorer_id, n_texts in found.texts.items():
        seconds = found.seconds[scorer_id]
        time = "an unknown time" if seconds is None else f"about {duration_words(seconds)}"
        say(f"Scorer {scorer_id}: {n_texts:,} missing texts, {time}.")
