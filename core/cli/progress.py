"""How far a job has come, on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from core.cli.terminal import log, say, stop_on_interrupt
from core.jobs import progress as jobs
from core.jobs.running import RunningJob
from core.words import counted, duration_words

LINES = 10  # over all of the work ...
LINE_SECONDS = 30.0  # ... or one after so long, whichever comes first ...
LEAST_SECONDS = 2.0  # ... but a short job needs no ten lines


@contextmanager
def watched(job: RunningJob) -> Iterator[tuple[jobs.Watch, jobs.Stop]]:
    """Show a job on the terminal and in its run folder, and stop it when either asks to."""
    with stop_on_interrupt() as interrupted, progress_bar() as draw:

        def watch(progress: jobs.Progress) -> None:
            job.report(progress)
            draw(progress)

        yield watch, lambda: interrupted() or job.stop_asked()


@contextmanager
def progress_bar() -> Iterator[jobs.Watch]:
    """Show on standard error how far a job is, as it reports.

    A terminal gets a bar with rate and time left, gone when the job ends: the lines after it say
    what was done. A file or a pipe gets lines.
    """
    if log.is_terminal:
        with _bar() as watch:
            yield watch
    else:
        yield _Lines().watch


@contextmanager
def _bar() -> Iterator[jobs.Watch]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[texts]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=log, transient=True) as bar:
        task = bar.add_task("starting", total=None, texts="")

        def watch(p: jobs.Progress) -> None:
            if p.phase != bar.tasks[0].description:
                bar.reset(task)  # the rate of scoring leaves out the time of opening the model
            bar.update(
                task,
                description=p.phase,
                completed=p.done_characters,
                total=p.total_characters or None,
                texts=_texts(p, bar.tasks[0].elapsed or 0.0),
            )

        yield watch


class _Lines:
    """Says a line when a phase begins, and now and then within it."""

    def __init__(self) -> None:
        self._phase = ""
        self._began = self._said = 0.0  # the phase, the last line
        self._steps = 0  # of the work, at the last line

    def watch(self, p: jobs.Progress) -> None:
        now = time.monotonic()
        share = p.done_characters / p.total_characters if p.total_characters else 0.0
        steps = LINES * p.done_characters // max(1, p.total_characters)
        if p.phase != self._phase:
            self._phase, self._began = p.phase, now
        elif not self._due(now - self._said, steps):
            return
        self._said, self._steps = now, steps
        seconds = now - self._began
        sentence = p.phase.capitalize()
        if texts := _texts(p, seconds):
            sentence += f": {texts}"
        if seconds and 0 < share < 1:
            sentence += f", about {duration_words(seconds * (1 - share) / share)} left"
        say(sentence)

    def _due(self, seconds: float, steps: int) -> bool:
        return seconds >= (LEAST_SECONDS if steps > self._steps else LINE_SECONDS)


def _texts(p: jobs.Progress, seconds: float) -> str:
    """Texts done of all, and how many a second; empty before they are counted, and after."""
    if not p.total_texts or p.phase not in jobs.OF_TEXTS:
        return ""
    rate = f", {p.done_texts / seconds:.1f}/s" if p.done_texts and seconds else ""
    return f"{p.done_texts:,} of {counted(p.total_texts, 'text')}{rate}"
