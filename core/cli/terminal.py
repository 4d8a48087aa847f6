"""What the commands share: their options, and how they write to the terminal."""

from __future__ import annotations

import json
import signal
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from core import settings
from core.errors import DataSetError
from core.export import tables
from core.files.places import SPELT_OUT
from core.store.gate import Cache
from core.types import Problem, Severity

CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="Cache folder (default: $STEREOSCOPE_CACHE, else cache/ in the project's folder).",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Write one JSON object to standard output.")
]

RunOption = Annotated[
    str | None,
    typer.Option("--run", hidden=True, help="The run folder that the app has made for this job."),
]

SHOWN_PROBLEMS = 20
SHOWN_OF_KIND = 3  # problems
# Errors that name the row where a file stopped being readable.
_OF_WHOLE_FILES = ("wrong_encoding", "bad_csv", "bad_json", "duplicate_column")
LEAVE_OUT = "--lenient leaves out what has an error and takes the rest."
ANY_WIDTH = 1_000_000

out = Console()
log = Console(stderr=True)  # progress, notes and errors: standard output is for results


def open_cache(folder: Path | None) -> Cache:
    """The cache that a command works on."""
    return Cache(folder or settings.cache_folder())


def say(text: str, *, style: str = "", to: Console = log) -> None:
    """A line of plain text: never cut, never read as markup."""
    to.print(Text(_visible(text), style), soft_wrap=True, highlight=False)


def print_error(error: Exception) -> None:
    """An error as its sentence."""
    message = Text.assemble(("Error:", "bold red"), " ", _visible(str(error)))
    log.print(message, soft_wrap=True, highlight=False)


def print_json(result: dict[str, Any]) -> None:
    """One JSON object on standard output; undefined numbers are null, Path and time are text."""
    text = json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False, default=str)
    write_bytes(f"{text}\n".encode("utf-8", "backslashreplace"))


def write_bytes(content: bytes) -> None:
    """Exactly these bytes on standard output, whatever encoding the terminal has."""
    typer.echo(content, nl=False)


def print_table(table: tables.Table, title: str | None = None) -> None:
    """A terminal table; long cells go over several lines, none is cut, undefined is empty."""
    out.print(_drawn(tables.as_arrow(table), title))


def print_rows(table: tables.Table) -> None:
    """Rows of any width: as a table where it fits, else each value on a line of its own."""
    arrow = tables.as_arrow(table)
    drawn = _drawn(arrow, None)
    wide = out.options.update(width=ANY_WIDTH, max_width=ANY_WIDTH)
    if Measurement.get(out, wide, drawn).minimum <= out.width:
        out.print(drawn)
        return
    for n, row in enumerate(arrow.to_pylist(), start=1):
        say(f"row {n}", style="bold", to=out)
        for name, value in row.items():
            say(f"  {name}: {_cell(value)}", to=out)


def print_refusal(error: DataSetError) -> None:
    """Why a data set is refused: the problems that the error leaves unsaid, and last the error.

    There may be many, and the last line is the one that stays in view.
    """
    errors = [p for p in error.problems if p.severity is Severity.ERROR]
    print_problems(error.problems, said={id(p) for p in errors[:SPELT_OUT]})
    print_error(error)


@contextmanager
def refusal_of_file(as_json: bool, *, lenient: bool) -> Iterator[None]:
    """A refused data set or file: with --json an object that has all problems, else a sentence.

    Where every error is of a row or an item, it says how to leave these out.
    """
    try:
        yield
    except DataSetError as error:
        errors = [p for p in error.problems if p.severity is Severity.ERROR]
        if not lenient and all(_can_be_left_out(p) for p in errors):
            error = DataSetError(f"{error} {LEAVE_OUT}", error.problems)
        if as_json:
            print_json({"error": str(error), "problems": [asdict(p) for p in error.problems]})
        raise error from None


def print_problems(problems: Sequence[Problem], said: Collection[int] = ()) -> None:
    """The problems of a data set by kind: how many there are, and some with their places.

    Parameters
    ----------
    said
        `id` of problems that are said elsewhere: counted, not shown.
    """
    groups: dict[tuple[str, str], list[Problem]] = {}
    for p in problems:
        groups.setdefault((p.severity, p.kind), []).append(p)
    n_hidden = 0
    for (severity, kind), group in groups.items():
        left = [p for p in group if id(p) not in said]
        many = len(left) > SHOWN_OF_KIND
        n_hidden += max(0, len(left) - SHOWN_OF_KIND)
        if many:
            words = kind.replace("_", " ")
            say(f"  {severity}: {words}, {len(group):,} in all; {SHOWN_OF_KIND} of them:")
        for p in left[:SHOWN_OF_KIND]:
            row = f"row {p.row}: " if p.row is not None else ""
            start = "    " if many else f"  {severity}: "
            say(f"{start}{p.file} {row}{_item(p)}{p.message}")
    if n_hidden:
        say("  --json gives all of them")


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks the job to stop after the batch in hand; a second one ends it at once."""
    asked = False

    def ask(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        say("Stopping after this batch; press Ctrl-C again to end at once.")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def _can_be_left_out(p: Problem) -> bool:
    """Whether a lenient reading goes on without the row or item of an error."""
    return p.kind not in _OF_WHOLE_FILES and (p.row is not None or bool(p.item_id))


def _item(p: Problem) -> str:
    """The item that a problem is about, where its message does not name it."""
    if not p.item_id or repr(p.item_id) in p.message:
        return ""
    where = f" in {p.condition}" if p.condition else ""
    return f"item {p.item_id!r}{where}: "


def _drawn(arrow: pa.Table, title: str | None) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=None if title is None else Text(title, "bold"),
        title_justify="left",
    )
    for field in arrow.schema:
        numeric = pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
        table.add_column(
            Text(_visible(field.name)), justify="right" if numeric else "left", overflow="fold"
        )
    columns = [column.to_pylist() for column in arrow.columns]
    for row in zip(*columns, strict=True):
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _visible(f"{value:.6g}" if isinstance(value, float) else str(value))


def _visible(text: str) -> str:
    """Data sets hold any character; one that steers a terminal is shown as its escape instead."""
    return "".join(
        c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") else ascii(c)[1:-1]
        for c in text
    )
