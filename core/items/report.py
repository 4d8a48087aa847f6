"""Read a data set and report everything that is wrong or remarkable in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import InputError
from core.files.encoding import check_encoding
from core.files.layouts import check_options, layout_named
from core.files.places import listed, printable, refusal
from core.files.reading import DataFile, content_hash
from core.files.tables import read_table
from core.items.blank_checks import blank_errors
from core.items.hub import read_source
from core.items.label_file import unknown_bases
from core.items.layout import Layout, ReadOptions
from core.items.layouts import LAYOUTS, detected_layout
from core.items.pair_checks import pair_notes
from core.items.row_checks import row_notes
from core.items.rows import Row
from core.items.sampling import Sample, sample_rows, small_categories
from core.items.set_checks import duplicate_keys, mixed_languages, set_notes
from core.items.texts import is_collapsed
from core.languages import normalise_language
from core.types import Item, Problem, Severity


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
    format: str  # the layout of its rows; of several, all of them
    note: str = ""  # where the Hub has them; how they were read and chosen, where not as usual

    @property
    def left_out(self) -> tuple[Problem, ...]:
        """Why rows were left out, in a lenient reading."""
        return tuple(p for p in self.problems if p.severity is Severity.LEFT_OUT)

    @property
    def notes(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.NOTE)


def read_dataset(
    path: Path,
    format: str | None = None,  # noqa: A002
    *,
    options: ReadOptions | None = None,
    encoding: str | None = None,
    lenient: bool = False,
    sample: Sample | None = None,
    more: Sequence[Path] = (),
) -> ImportReport:
    """Read the items of a file, or of every data file directly in a folder, sorted by name.

    Parameters
    ----------
    path
        A data file (core/files/reading.py, SUFFIXES), a folder of them, or a name on the Hub
        (core/items/hub.py).
    format
        The layout of the rows: a name in core/items/layouts.py, described in data/README.md. Left
        out, each file's columns and first rows tell.
    options
        What the files do not say themselves.
    encoding
        Of bytes that are not UTF-8.
    lenient
        Leave out the rows that have an error, and say so, instead of refusing the whole.
    sample
        Keep only a sample of the items.
    more
        Other paths that belong to the same data set.

    Raises
    ------
    InputError
        A path holds nothing to read, two files have one name, the format, language or encoding is
        not known, or an option means nothing to the layout.
    DataSetError
        At least one problem is an error; it carries all problems, and nothing was dropped. In a
        lenient reading: an error that concerns a whole file, or no row is without one.
    """
    layout = None if format is None else layout_named(LAYOUTS, format)
    encoding = None if encoding is None else check_encoding(encoding)
    options = _normal(options or ReadOptions())
    files, problems, origin = _sources([path, *more])
    order = {file.path.name: n for n, file in enumerate(files)}
    sha256 = content_hash(path, files)
    layouts, rows, found = _read_files(files, layout, options, encoding)
    problems += found
    problems += [*duplicate_keys(rows), *mixed_languages(rows), *blank_errors(rows)]
    problems += unknown_bases(options.labels, rows, path.name)
    if lenient:
        rows, problems = _without_errors(rows, problems)
    if sample is not None:
        problems += small_categories(rows, sample)
        rows = sample_rows(rows, sample)
        problems = _about(rows, problems)
    problems += row_notes(rows)
    if not _errors(problems):  # else a row that is refused would seem to be absent
        problems += [*set_notes(rows), *pair_notes(rows)]
    problems.sort(key=lambda p: (order.get(p.file, -1), p.row or 0))
    items = tuple(row.item for row in rows if row.item is not None)
    if _errors(problems) or (lenient and not items):
        raise refusal(path, [_as(p, Severity.ERROR, Severity.LEFT_OUT) for p in problems])
    return ImportReport(
        items,
        tuple(problems),
        _count(items),
        sha256,
        ", ".join(layouts),
        "; ".join(filter(None, (origin, *_unusual(options, encoding), str(sample or "")))),
    )


def _sources(paths: Sequence[Path]) -> tuple[list[DataFile], list[Problem], str]:
    """The files of several paths as those of one; a problem names its file by its name alone."""
    read = [read_source(path) for path in paths]
    files = [file for found, _, _ in read for file in found]
    names = Counter(file.path.name for file in files)
    if twice := [printable(name) for name, n in names.items() if n > 1]:
        raise InputError(f"Several files are called {listed(twice)}; give each a name of its own.")
    problems = [problem for _, found, _ in read for problem in found]
    return files, problems, "; ".join(origin for _, _, origin in read if origin)


def _read_files(
    files: list[DataFile], layout: Layout | None, options: ReadOptions, encoding: str | None
) -> tuple[list[str], list[Row], list[Problem]]:
    """The names of the layouts that were found, the rows and their problems, in order of the files.

    The list is emptied: each file is let go of as soon as its rows are items.
    """
    layouts: dict[str, None] = {}
    rows: list[Row] = []
    problems: list[Problem] = []
    while files:
        found_layout, found_rows, found = _read_file(files.pop(0), layout, options, encoding)
        layouts[found_layout.name] = None
        rows += found_rows
        problems += found
    return list(layouts), rows, problems


def _read_file(
    file: DataFile, layout: Layout | None, options: ReadOptions, encoding: str | None
) -> tuple[Layout, list[Row], list[Problem]]:
    """The rows of one file as items, in the layout that is asked for or that the file shows."""
    table = read_table(file, encoding)
    found = layout or detected_layout(table)
    check_options(LAYOUTS, found, options, f"{file.path.name}, whose layout is {found.name}")
    rows, problems = found.read(table, options)
    return found, rows, table.problems + problems


def _normal(options: ReadOptions) -> ReadOptions:
    if options.language is None:
        return options
    return replace(options, language=normalise_language(options.language))


def _unusual(options: ReadOptions, encoding: str | None) -> list[str]:
    """What was asked for that changes which texts there are."""
    usual = ReadOptions()
    named = {name: getattr(options, name) for name in ("contexts", "form")}
    asked = [f"{name}: {value}" for name, value in named.items() if value != getattr(usual, name)]
    return asked if encoding is None else [*asked, f"encoding: {encoding}"]


def _without_errors(rows: list[Row], problems: list[Problem]) -> tuple[list[Row], list[Problem]]:
    """The rows without an error, and the errors of the others as reasons why they are left out."""
    bad = {(p.file, p.row) for p in _errors(problems) if p.row is not None}
    kept = [row for row in rows if (row.place.file, row.place.row) not in bad]
    return kept, [
        _as(p, Severity.LEFT_OUT, Severity.ERROR) if p.row is not None else p for p in problems
    ]


def _about(rows: list[Row], problems: list[Problem]) -> list[Problem]:
    """The problems without the notes on rows that are not among these."""
    kept = {(row.place.file, row.place.row) for row in rows}
    return [
        p
        for p in problems
        if p.severity is not Severity.NOTE or p.row is None or (p.file, p.row) in kept
    ]


def _as(problem: Problem, severity: Severity, if_it_is: Severity) -> Problem:
    return replace(problem, severity=severity) if problem.severity is if_it_is else problem


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
