"""What the commands share: their options, and how they write to the terminal."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from core import settings
from core.jobs import progress as jobs
from core.store.gate import Cache
from core.types import Problem

CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", help="Cache folder (default: $STEREOSCOPE_CACHE, else ./cache)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]

SHOWN_PROBLEMS = 20

out = Console()
log = Console(stderr=True)  # progress, notes and errors: standard output is for results


def open_cache(folder: Path | None) -> Cache:
    """The cache that a command works on."""
    return Cache(folder or settings.cache_folder())


def print_json(result: dict[str, Any]) -> None:
    """One JSON object on standard output; undefined numbers are null."""
    out.file.write(json.dumps(result, ensure_ascii=False, indent=2, default=str) + "\n")


def print_table(frame: pd.DataFrame, title: str | None = None) -> None:
    """A frame as a terminal table; undefined values are empty."""
    table = Table(title=title, title_justify="left")
    for name in frame.columns:
        numeric = pd.api.types.is_numeric_dtype(frame[name])
        table.add_column(str(name), justify="right" if numeric else "left")
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    out.print(table)


def print_problems(problems: Sequence[Problem]) -> None:
    """The first problems of a data set, each with the place where it was found."""
    for p in problems[:SHOWN_PROBLEMS]:
        row = f"row {p.row}: " if p.row is not None else ""
        log.print(escape(f"  {p.severity}: {p.file} {row}{p.message}"), soft_wrap=True)
    if len(problems) > SHOWN_PROBLEMS:
        log.print(f"  showing {SHOWN_PROBLEMS} of {len(problems)}; --json gives all of them")


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as plain JSON values; undefined is null."""
    rows: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", date_format="iso"))
    return rows


@contextmanager
def progress_bar() -> Iterator[jobs.Watch]:
    """A bar with rate and time left, drawn on standard error as a job reports."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[texts]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=log) as bar:
        task = bar.add_task("starting", total=None, texts="")

        def watch(p: jobs.Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f", {p.done_texts / elapsed:.1f}/s" if p.done_texts and elapsed else ""
            bar.update(
                task,
                description=p.phase,
                completed=p.done_characters,
                total=p.total_characters or None,
                texts=f"{p.done_texts} of {p.total_texts} texts{rate}" if p.total_texts else "",
            )

        yield watch


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks the job to stop after the batch in hand; a second one ends it at once."""
    asked = False

    def ask(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        log.print("Stopping after this batch; press Ctrl-C again to end at once.")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def _cell(value: Any) -> str:
    if value is None or (not isinstance(value, list) and pd.isna(value)):
        return ""
    return escape(f"{value:.4f}" if isinstance(value, float) else str(value))
