"""An audit out to files: one JSON object, a folder of CSV files, or one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from core.analysis.audit.audit import TABLES, Audit
from core.analysis.overview import SIMULATED
from core.export.table_files import (
    NamedTables,
    check_tables_path,
    stamped,
    tables_object,
    write_tables,
)
from core.export.tables import table_bytes


def audit_object(found: Audit) -> dict[str, Any]:
    """The audit as one JSON object: the facts about it, `warnings`, `tables` and `notes`.

    The facts are `dataset`, `simulated` and `provenance`; `warnings` say what all numbers rest on
    where that is less than everything. `tables` and `notes` are by the names of the tables; a row
    is an object, undefined is null.
    """
    return tables_object(_named(found))


def check_audit_path(path: Path, n_tables: int) -> None:
    """Make sure that an audit of so many tables can go to this path; as `check_tables_path`."""
    check_tables_path(path, n_tables, TABLES, "an audit")


def write_audit(found: Audit, path: Path) -> list[Path]:
    """Write an audit in the place of an older one; as `write_tables`. Returns the files."""
    return write_tables(_named(found), path, TABLES)


def audit_bytes(rows: pd.DataFrame, file_format: str, *, simulated: bool) -> bytes:
    """A table of an audit as the bytes of a file, stamped; formats and errors as `table_bytes`."""
    return table_bytes(stamped(rows, simulated), file_format)


def _named(found: Audit) -> NamedTables:
    facts = {
        "dataset": found.request.dataset,
        SIMULATED: found.simulated,
        "provenance": found.provenance,
        "warnings": list(found.warnings),
    }
    return NamedTables(found.tables, facts, found.simulated)
