"""An audit out to files: one JSON object, a folder of CSV files, or one table.

Simulated scores are marked in each of them, because a file is read without what stood beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from core.analysis.audit.audit import TABLES, Audit
from core.analysis.overview import SIMULATED
from core.errors import InputError
from core.export.tables import check_path, json_rows, table_bytes, write_content, write_table

NOTES_FILE = "notes.json"
_FOLDER_FILES = (NOTES_FILE, *(f"{name}.csv" for name in TABLES))


def audit_object(found: Audit) -> dict[str, Any]:
    """The audit as one JSON object: the facts about it, `warnings`, `tables` and `notes`.

    The facts are `dataset`, `simulated` and `provenance`; `warnings` say what all numbers rest on
    where that is less than everything. `tables` and `notes` are by the names of the tables; a row
    is an object, undefined is null.
    """
    return _facts(found) | {
        "tables": {name: json_rows(table.rows) for name, table in found.tables.items()},
        "notes": {name: list(table.notes) for name, table in found.tables.items()},
    }


def check_audit_path(path: Path, n_tables: int) -> None:
    """Make sure that an audit of so many tables can go to this path, before it is computed.

    Raises
    ------
    InputError
        A file other than .json takes one table alone; a folder's parent does not exist, a file has
        its name, or it holds what is no audit; or as `check_path`.
    """
    if _is_folder(path):
        if path.is_file():
            raise InputError(f"{path} is a file; name a folder, or a file with an ending.")
        if not path.is_dir() and not path.parent.is_dir():
            raise InputError(f"The folder {path.parent} does not exist; create it first.")
        if foreign := _foreign(path):
            raise InputError(
                f"{path} holds {foreign}, which is no file of an audit; name an empty folder."
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


def write_audit(found: Audit, path: Path) -> list[Path]:
    """Write an audit in the place of an older one. Returns the files.

    A path that ends in .json takes one object; one without an ending is a folder, which gets
    one CSV file per table and, last, a file of notes: a folder without notes was not finished. Any
    other is the file of a single table.

    Raises
    ------
    InputError
        A file cannot be written.
    """
    if path.suffix == ".json" and not _is_folder(path):
        _write_json(audit_object(found), path)
        return [path]
    if not _is_folder(path):
        ((_, table),) = found.tables.items()
        write_table(stamped(table.rows, found.simulated), path)
        return [path]
    try:
        path.mkdir(exist_ok=True)
        for name in _FOLDER_FILES:  # notes first, so that they never stand beside others' tables
            (path / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    files = [path / f"{name}.csv" for name in found.tables]
    for file, table in zip(files, found.tables.values(), strict=True):
        write_table(stamped(table.rows, found.simulated), file)
    notes = {name: list(table.notes) for name, table in found.tables.items()}
    _write_json(_facts(found) | {"notes": notes}, path / NOTES_FILE)
    return [*files, path / NOTES_FILE]


def audit_bytes(rows: pd.DataFrame, file_format: str, *, simulated: bool) -> bytes:
    """A table of an audit as the bytes of a file, stamped; formats and errors as `table_bytes`."""
    return table_bytes(stamped(rows, simulated), file_format)


def stamped(rows: pd.DataFrame, simulated: bool) -> pd.DataFrame:
    """The rows, with a first column that says so where no model stands behind the numbers."""
    if not simulated:
        return rows
    marked = rows.copy()
    marked.insert(0, SIMULATED, SIMULATED.upper())
    return marked


def _facts(found: Audit) -> dict[str, Any]:
    return {
        "dataset": found.request.dataset,
        SIMULATED: found.simulated,
        "provenance": found.provenance,
        "warnings": list(found.warnings),
    }


def _is_folder(path: Path) -> bool:
    return path.is_dir() or not path.suffix


def _foreign(folder: Path) -> str:
    """The name of a file in a folder that no audit has written; empty where there is none."""
    if not folder.is_dir():
        return ""
    unfinished = {f".{name}.unfinished" for name in _FOLDER_FILES}
    names = sorted(file.name for file in folder.iterdir())
    return next((n for n in names if n not in {*_FOLDER_FILES, *unfinished}), "")


def _write_json(content: dict[str, Any], path: Path) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False, default=str)
    write_content(f"{text}\n".encode(), path)
