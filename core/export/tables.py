"""Tables out to files: exactly the rows and columns that were given."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from core.errors import InputError

FORMATS = ("csv", "parquet", "jsonl")


def table_bytes(table: pd.DataFrame, file_format: str) -> bytes:
    """A table as the bytes of a CSV, Parquet or JSON Lines file.

    CSV carries full float precision; undefined values are empty cells. The byte-order mark that
    spreadsheet programs want is left out, because it breaks the first column's name elsewhere.
    """
    if file_format == "csv":
        return table.to_csv(index=False).encode("utf-8")
    if file_format == "parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        return buffer.getvalue()
    if file_format == "jsonl":
        text = table.to_json(orient="records", lines=True, force_ascii=False, double_precision=15)
        return text.encode("utf-8")
    raise InputError(f"Unknown table format {file_format!r}; use one of {', '.join(FORMATS)}.")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table to a file whose ending names the format.

    Raises
    ------
    InputError
        When the ending is not a known format or the file cannot be written.
    """
    content = table_bytes(table, path.suffix.removeprefix("."))
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from error
