"""The command `positive-control`: the four arms into a data set of the cache, and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from core.analysis.overview import find_scorer
from core.cli.data_sets import DatasetOption
from core.cli.progress import watched
from core.cli.scoring import leave, say_failures
from core.cli.terminal import (
    CacheOption,
    JsonOption,
    RunOption,
    open_cache,
    print_json,
    say,
)
from core.export.tables import json_rows
from core.items.control import Arms, arms_from_texts, check_arms, length_notes
from core.jobs.control import (
    ControlEstimate,
    chosen_requests,
    control_spec,
    estimate_control,
    put_arms,
    shipped_arms,
)
from core.jobs.running import RunningJob, running_job
from core.jobs.spec import CONTROL, JobSpec
from core.score_request import ScoreRequest
from core.store.gate import Cache
from core.store.items import require_dataset, stored_items
from core.store.scores import unscored
from core.words import duration_words

if TYPE_CHECKING:
    from core.jobs.run import ScoreResult


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
    ask = partial(_asked, store, dataset, scorer or (), arm or ())
    asked = ask() if dry_run or run is None else None  # what cannot be done is no run
    if asked and dry_run:
        _say_estimate(estimate_control(store, dataset, list(asked[0]), asked[1]), asked[1], as_json)
        return
    # A run that was made before has its own spec, and what cannot be done of it is its error.
    spec = control_spec(dataset, list(asked[0]), asked[1]) if asked else JobSpec(command=CONTROL)
    with running_job(store, spec, run) as job:
        requests, arms = asked or ask()
        put_arms(store, dataset, arms)
        results = _score(store, requests, job)
    failures = _failures(store, dataset, results)
    _say_results(dataset, results, arms, failures, as_json=as_json)
    leave(stopped=_is_stopped(results, requests), n_failures=len(failures))


def _asked(
    store: Cache, dataset: str, names: Sequence[str], sentences: Sequence[str]
) -> tuple[Mapping[str, ScoreRequest], Arms]:
    """What each scorer computes, and the sentences: all that can be said to be wrong, first."""
    require_dataset(store, dataset)
    scorer_ids = [find_scorer(store, name) for name in names]
    arms = arms_from_texts(sentences) if sentences else shipped_arms(store, dataset)
    check_arms(stored_items(store, dataset), arms)
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


def _failures(store: Cache, dataset: str, results: list[ScoreResult]) -> pd.DataFrame:
    """The texts that these models could not score, with the model."""
    parts = [unscored(store, r.scorer_id, dataset).assign(model=r.model) for r in results]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _say_results(
    dataset: str,
    results: list[ScoreResult],
    arms: Arms,
    failures: pd.DataFrame,
    *,
    as_json: bool,
) -> None:
    made = [f"{condition}+{name}" for condition, texts in arms.items() for name in texts]
    notes = length_notes(arms)
    if as_json:
        models = [asdict(result) for result in results]
        found = {"dataset": dataset, "conditions": made, "models": models, "notes": notes}
        print_json(found | {"failures": json_rows(failures)})
        return
    _say_notes(notes)
    for result in results:
        state = "stopped" if result.stopped else "done"
        say(
            f"{result.model} on {dataset} with {', '.join(made)}: {state}; computed "
            f"{result.computed} of {result.missing} missing texts in {result.seconds:.1f} s "
            f"(scorer {result.scorer_id})."
        )
    say_failures(failures)


def _say_notes(notes: Sequence[str]) -> None:
    for note in notes:
        say(f"Note: {note}")


def _say_estimate(found: ControlEstimate, arms: Arms, as_json: bool) -> None:
    notes = length_notes(arms)
    if as_json:
        print_json(asdict(found) | {"notes": notes})
        return
    _say_notes(notes)
    say(f"New: {', '.join(found.new) or 'none'}; changed: {', '.join(found.changed) or 'none'}.")
    for scorer_id, n_texts in found.texts.items():
        seconds = found.seconds[scorer_id]
        time = "an unknown time" if seconds is None else f"about {duration_words(seconds)}"
        say(f"Scorer {scorer_id}: {n_texts:,} missing texts, {time}.")
