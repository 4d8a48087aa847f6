"""Named tables out to files: one JSON object, a folder of CSV files, or one table.

Simulated scores are marked in each of them, because a file is read without what stood beside it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.overview import SIMULATED
from core.errors import InputError
from core.export.tables import check_path, json_rows, write_content, write_table

NOTES_FILE = "notes.json"


@dataclass(frozen=True)
class NamedTables:
    """Tables by name, and the facts about all of them that stand beside them in a file."""

    tables: Mapping[str, AuditTable]
    facts: Mapping[str, Any]
    simulated: bool


def tables_object(found: NamedTables) -> dict[str, Any]:
    """The facts, and `tables` and `notes` by the names of the tables; undefined is null."""
    return {
        **found.facts,
        "tables": {name: json_rows(table.rows) for name, table in found.tables.items()},
        "notes": _notes(found),
    }


def check_tables_path(path: Path, n_tables: int, known: Collection[str], of: str) -> None:
    """Make sure that so many tables can go to this path, before they are computed.

    Parameters
    ----------
    known
        Every table that there is: a folder may hold files of these.
    of
        What the tables are of, for the message: "an audit".

    Raises
    ------
    InputError
        A file other than .json takes one table alone; a folder's parent does not exist, a file has
        its name, or it holds what is no such file; or as `check_path`.
    """
    if _is_folder(path):
        if path.is_file():
            raise InputError(f"{path} is a file; name a folder, or a file with an ending.")
        if not path.is_dir() and not path.parent.is_dir():
            raise InputError(f"The folder {path.parent} does not exist; create it first.")
        if foreign := _foreign(path, known):
            raise InputError(
                f"{path} holds {foreign}, which is no file of {of}; name an empty folder."
            )
    elif path.suffix == ".json":
        if not path.parent.is_dir():
            raise InputError(f"The folder {path.parent} does not exist; create it first.")
    elif n_tables != 1:
        raise InputError(
            f"{path} holds one table, and {n_tables} were asked for; choose one with --table, or "
            "write to a .json file or a folder."
        )
    else:
        check_path(path)


def write_tables(found: NamedTables, path: Path, known: Collection[str]) -> list[Path]:
    """Write tables in the place of older ones. Returns the files.

    A path that ends in .json takes one object; one without an ending is a folder, which gets
    one CSV file per table and, last, a file of notes: a folder without notes was not finished. Any
    other is the file of a single table.

    Raises
    ------
    InputError
        A file cannot be written.
    """
    if path.suffix == ".json" and not _is_folder(path):
        _write_json(tables_object(found), path)
        return [path]
    if not _is_folder(path):
        ((_, table),) = found.tables.items()
        write_table(stamped(table.rows, found.simulated), path)
        return [path]
    try:
        path.mkdir(exist_ok=True)
        for name in _files(known):  # notes first, so that they never stand beside others' tables
            (path / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    files = [path / f"{name}.csv" for name in found.tables]
    for file, table in zip(files, found.tables.values(), strict=True):
        write_table(stamped(table.rows, found.simulated), file)
    _write_json({**found.facts, "notes": _notes(found)}, path / NOTES_FILE)
    return [*files, path / NOTES_FILE]


def stamped(rows: pd.DataFrame, simulated: bool) -> pd.DataFrame:
    """The rows, with a first column that says so where no model stands behind the numbers."""
    if not simulated:
        return rows
    marked = rows.copy()
    marked.insert(0, SIMULATED, SIMULATED.upper())
    return marked


def _notes(found: NamedTables) -> dict[str, list[str]]:
    return {name: list(table.notes) for name, table in found.tables.items()}


def _files(known: Collection[str]) -> list[str]:
    return [NOTES_FILE, *(f"{name}.csv" for name in known)]


def _is_folder(path: Path) -> bool:
    return path.is_dir() or not path.suffix


def _foreign(folder: Path, known: Collection[str]) -> str:
    """The name of a file in a folder that is none of such tables; empty where there is none."""
    if not folder.is_dir():
        return ""
    ours = {own for name in _files(known) for own in (name, f".{name}.unfinished")}
    return next((n for n in sorted(file.name for file in folder.iterdir()) if n not in ours), "")


def _write_json(content: dict[str, Any], path: Path) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False, default=str)
    write_content(f"{text}\n".encode(), path)
