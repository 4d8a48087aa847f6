"""The command `demo`: everything that the app shows, with a small model, from a fresh clone."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from core import settings
from core.axes.concepts import GROUPS
from core.axes.named import DEMO, PUBLISHED, axes_named, concepts_named
from core.axes.templates import FAMILIES
from core.cli.axes import read
from core.cli.data_sets import report_summary
from core.cli.heads_report import print_heads
from core.cli.named_sets import put_sets
from core.cli.next_step import say_after_scoring
from core.cli.scoring import compute_scores, leave, print_scores, say_failures
from core.cli.terminal import CacheOption, JsonOption, RunOption, open_cache, print_json, say
from core.errors import InputError
from core.export.tables import json_rows
from core.heads_request import HeadsRequest
from core.items.report import read_dataset
from core.jobs.running import RunningJob, running_job
from core.jobs.spec import DEMO_REQUEST, JobSpec
from core.score_request import DEMO_MODEL
from core.store.axes import get_axes, get_concepts, set_names
from core.store.gate import Cache
from core.store.items import datasets, put_dataset
from core.store.scores import unscored

if TYPE_CHECKING:
    from core.jobs.heads import HeadsResult

NOTE = "Written by a language model for this project, not reviewed by native speakers."
REFERENCES = (PUBLISHED, "people")


def demo(cache: CacheOption = None, as_json: JsonOption = False, run: RunOption = None) -> None:
    """Fill the cache with a demo: scores and heads."""
    store = open_cache(cache)
    with running_job(store, JobSpec(command="demo"), run) as job:
        _check_sets(store)
        summary = _import_items(store)
        scores = compute_scores(store, DEMO_REQUEST, job)
        heads = None if scores.stopped else _read_heads(store, job)
        stopped = heads is None or heads.stopped
        job.end("stopped" if stopped else "finished")
    failures = unscored(store, scores.scorer_id, scores.dataset)
    if as_json:
        found = asdict(scores) | {"failures": json_rows(failures), "import": summary}
        print_json(found | {"heads": asdict(heads) if heads else None})
    else:
        print_scores(scores)
        say_failures(failures)
        if heads:
            print_heads(heads)
        if stopped:
            say("Next: the same command goes on from here.")
        else:
            say_after_scoring(store, scores.dataset)
    n_failures = len(failures) + (len(heads.failures) if heads else 0)
    leave(stopped=stopped, n_failures=n_failures)


def _import_items(store: Cache) -> dict[str, Any]:
    """Bring the demo items up to date; a person's own data set of that name is left alone."""
    report = read_dataset(settings.DEMO_DATA)
    if store.exists():
        notes = datasets(store).set_index("dataset")["note"]
        if notes.get(settings.DEMO_DATASET, NOTE) != NOTE:
            raise InputError(
                f"The cache has a data set of yours called {settings.DEMO_DATASET!r}, which the "
                "demo would replace; run the demo with another --cache."
            )
    stored = put_dataset(
        store,
        settings.DEMO_DATASET,
        report.items,
        path=str(settings.DEMO_DATA),
        format="native",
        sha256=report.sha256,
        note=NOTE,
        replace=True,
    )
    return report_summary(settings.DEMO_DATASET, report, stored)


def _check_sets(store: Cache) -> None:
    """Nothing is computed where a person's own sets have the names of the demo's."""
    held = set_names(store) if store.exists() else {"axis": [], "concept": []}
    theirs = [n for n in held["axis"] if n == DEMO and get_axes(store, n) != axes_named(n).axes]
    theirs += [
        name
        for name in held["concept"]
        if name in GROUPS and get_concepts(store, name) != concepts_named(name).phrases
    ]
    if theirs:
        raise InputError(
            f"The cache has another set called {theirs[0]!r} than the demo's; run the demo with "
            "another --cache."
        )


def _read_heads(store: Cache, job: RunningJob) -> HeadsResult:
    """One job, but two runs: of scores, and of heads."""
    return read(store, _heads_request(store), job, run_id=f"{job.run_id}-heads")


def _heads_request(store: Cache) -> HeadsRequest:
    """Twenty-four axes, both lists of groups, and for each the published and person phrases."""
    sets = put_sets(store, DEMO, list(GROUPS), REFERENCES, None, replace=False)
    return HeadsRequest(model=DEMO_MODEL, **sets, families=FAMILIES)
