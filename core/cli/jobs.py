"""The part of `status` that says what is computing, and what ended before its work was done."""

from __future__ import annotations

from typing import Any

from core.cli.terminal import out, say
from core.jobs.follow import JobView, can_resume, follow
from core.store.gate import Cache
from core.words import counted, duration_words

LATEST = 100


def jobs_now(store: Cache) -> list[JobView]:
    """The jobs that live, and those that could be resumed, the latest first."""
    views = follow(store, latest=LATEST)
    return [view for view in views if view.alive or can_resume(view, views)]


def job_json(view: JobView) -> dict[str, Any]:
    """A job as plain values; times are UTC."""
    return {
        "run_id": view.run_id,
        "state": view.state,
        "command": view.command,
        "model": view.model,
        "dataset": view.dataset,
        "scorer_id": view.progress.scorer_id,
        "phase": view.progress.phase,
        "done_texts": view.progress.done_texts,
        "total_texts": view.progress.total_texts,
        "computed": view.progress.computed,
        "failed": view.progress.failed,
        "texts_per_second": view.rate,
        "seconds_left": view.seconds_left,
        "error": view.error,
        "started": view.started.isoformat(),
        "ended": view.ended.isoformat() if view.ended else None,
    }


def print_jobs(views: list[JobView]) -> None:
    """One line per job."""
    for view in views:
        what = f"{view.work} on {view.dataset}" if view.spec else "unknown"
        say(f"Job {view.run_id}: {view.state}, {what}{_how_far(view)}", to=out)


def _how_far(view: JobView) -> str:
    if view.error:
        return f": {view.error}"
    if not view.progress.total_texts:
        return f", {view.progress.phase}"
    left = f", about {duration_words(view.seconds_left)} left" if view.seconds_left else ""
    return f", {view.progress.done_texts:,} of {counted(view.progress.total_texts, 'text')}{left}"
