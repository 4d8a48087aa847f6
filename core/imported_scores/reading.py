"""Read files of scores: their rows, whatever items they are of."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError
from core.files.encoding import check_encoding
from core.files.layouts import check_options, layout_named
from core.files.places import Place, listed, printable
from core.files.reading import DataFile, content_hash, read_files
from core.files.tables import Table, read_table
from core.imported_scores.layout import Scale, ScoreLayout, ScoreOptions, ScoreRow
from core.imported_scores.layouts import LAYOUTS, layout_of, scale_of
from core.types import Problem


@dataclass(frozen=True)
class ScoreFile:
    """The scores of a file, or of a folder of files of one layout."""

    path: Path
    rows: list[ScoreRow]
    problems: list[Problem]  # in the order of files and rows
    layout: ScoreLayout
    scale: Scale
    sha256: str  # of the file; of a folder, of the lines `sha256sum` prints for its files


def read_score_file(
    path: Path,
    format: str | None = None,  # noqa: A002
    *,
    options: ScoreOptions | None = None,
    encoding: str | None = None,
) -> ScoreFile:
    """Read the scores of a file, or of the files of one layout in a folder.

    Parameters
    ----------
    format
        The layout of the rows; left out, the columns tell.
    encoding
        Of bytes that are not UTF-8.

    Raises
    ------
    InputError
        There is nothing to read, no layout is known or several are, or an option means nothing.
    DataSetError
        A file is broken.
    """
    options = options or ScoreOptions()
    encoding = None if encoding is None else check_encoding(encoding)
    files, problems = read_files(path)
    layout = (
        layout_named(LAYOUTS, format, "a format of scores")
        if format
        else _detected(files, options, encoding)
    )
    where = f"scores of the layout {layout.name}"
    check_options(LAYOUTS, layout, options, where, of_all=("scale", "condition"))
    tables = _of_layout(files, layout, encoding)
    used = [file for file, _ in tables]
    if left := [file.path.name for file in files if file not in used]:
        message = f"Not read, because they are no files of {layout.name}: {listed(left)}."
        problems.append(Place(printable(path.name)).note("file_ignored", printable(message)))
    rows: list[ScoreRow] = []
    for _, table in tables:
        read, more = layout.read(table, options)
        rows += read
        problems += table.problems + more
    return ScoreFile(
        path, rows, problems, layout, scale_of(layout, options), content_hash(path, used)
    )


def _detected(files: list[DataFile], options: ScoreOptions, encoding: str | None) -> ScoreLayout:
    """The layout of the first file that shows one; JSON Lines before the summaries beside them.

    Raises
    ------
    InputError
        None does; the message is about the last.
    """
    ordered = sorted(files, key=lambda file: file.path.suffix.lower() != ".jsonl")
    for file in ordered[:-1]:
        table = read_table(file, encoding)
        with suppress(InputError):
            return layout_of(table, options)
    return layout_of(read_table(ordered[-1], encoding), options)


def _of_layout(
    files: list[DataFile], layout: ScoreLayout, encoding: str | None
) -> list[tuple[DataFile, Table]]:
    """Those files whose names end as the layout's do and whose columns are its; all if none is."""
    named = [f for f in files if f.path.suffix.lower() in layout.suffixes]
    tables = [(file, read_table(file, encoding)) for file in named or files]
    return [(file, table) for file, table in tables if layout.detects(table)] or tables
