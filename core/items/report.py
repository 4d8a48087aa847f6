"""Read a data set and report everything that is wrong or remarkable in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError
from core.files.places import refusal
from core.files.reading import content_hash, read_files
from core.files.tables import Table, read_table
from core.items.crows_pairs import looks_like_pairs, read_pairs
from core.items.native import Row, read_rows
from core.items.row_checks import row_notes
from core.items.set_checks import duplicate_keys, set_notes
from core.items.texts import is_collapsed
from core.languages import normalise_language
from core.types import Item, Problem, Severity

NATIVE, CROWS_PAIRS = "native", "crows-pairs"
FORMATS = (NATIVE, CROWS_PAIRS)


@dataclass(frozen=True)
class ConditionCount:
    """How many items of a condition were imported, and how many of them are collapsed."""

    imported: int
    collapsed: int


@dataclass(frozen=True)
class ImportReport:
    """A data set that was read: its items, and what is remarkable about them."""

    items: tuple[Item, ...]
    problems: tuple[Problem, ...]  # in the order of files and rows
    counts: dict[str, ConditionCount]  # by condition, in order of appearance
    sha256: str  # of the file; of a folder, of the lines `sha256sum` prints for its data files
    format: str = NATIVE  # the layout of its rows; of several, all of them

    @property
    def errors(self) -> tuple[Problem, ...]:
        return _errors(self.problems)

    @property
    def notes(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.NOTE)


def read_dataset(
    path: Path,
    format: str | None = None,  # noqa: A002
    *,
    language: str | None = None,
) -> ImportReport:
    """Read the items of a file, or of every data file directly in a folder, sorted by name.

    Parameters
    ----------
    path
        A `.csv`, `.jsonl` or `.parquet` file, or a folder of them.
    format
        The layout of the rows, described in data/README.md: "native" or "crows-pairs". Left out,
        the header of each file tells.
    language
        Of sentence pairs, whose rows do not name it; left out, the file's name may, else it is
        English. Native rows have a condition.

    Raises
    ------
    InputError
        The path holds nothing to read, the format or language is not known, or a language is given
        for rows that have their own.
    DataSetError
        At least one problem is an error; it carries all problems, and nothing was dropped.
    """
    if format not in (None, *FORMATS):
        raise InputError(f"{format!r} is not a format; choose from: {', '.join(FORMATS)}.")
    language = None if language is None else normalise_language(language)
    files, problems = read_files(path)
    rows: list[Row] = []
    layouts: dict[str, None] = {}
    for file in files:
        table = read_table(file)
        layout = format or _layout(table)
        layouts[layout] = None
        found_rows, found = _read(table, layout, language)
        rows += found_rows
        problems += table.problems + found
    problems += [*duplicate_keys(rows), *row_notes(rows)]
    if not _errors(problems):  # else a row that is refused would seem to be absent
        problems += set_notes(rows)
    order = {file.path.name: n for n, file in enumerate(files)}
    problems.sort(key=lambda p: (order.get(p.file, -1), p.row or 0))
    if _errors(problems):
        raise refusal(path, problems)
    items = tuple(row.item for row in rows if row.item is not None)
    return ImportReport(
        items, tuple(problems), _count(items), content_hash(path, files), ", ".join(layouts)
    )


def _layout(table: Table) -> str:
    return CROWS_PAIRS if looks_like_pairs(table.columns) else NATIVE


def _read(table: Table, layout: str, language: str | None) -> tuple[list[Row], list[Problem]]:
    if layout == CROWS_PAIRS:
        return read_pairs(table, language)
    if language is not None:
        raise InputError(
            f"The rows of {table.place.file} name their language in the column condition; leave "
            "out --language."
        )
    return read_rows(table)


def _errors(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(p for p in problems if p.severity is Severity.ERROR)


def _count(items: tuple[Item, ...]) -> dict[str, ConditionCount]:
    counts: dict[str, ConditionCount] = {}
    for item in items:
        so_far = counts.get(item.condition, ConditionCount(0, 0))
        counts[item.condition] = ConditionCount(
            so_far.imported + 1, so_far.collapsed + is_collapsed(item)
        )
    return counts
