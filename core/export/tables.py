"""Tables out to files: exactly the rows, columns and values that were given.

Texts are written as they are, also those that begin with `=`, `+`, `-` or `@`, which a spreadsheet
program would compute: research data must come back unchanged. Open a CSV file there by importing
its columns as text, or use Parquet.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from core.errors import InputError

FORMATS = ("csv", "parquet", "jsonl", "tex")

Table: TypeAlias = pd.DataFrame | pa.Table


def table_bytes(table: Table, file_format: str) -> bytes:
    """A table as the bytes of a CSV, Parquet or JSON Lines file.

    - CSV: UTF-8, full float precision, texts in quotes; undefined values are empty cells, lists are
      JSON text. The byte-order mark that spreadsheet programs want is left out, because it breaks
      the first column's name elsewhere.
    - Parquet: columns keep their types; one without any value is taken as text.
    - JSON Lines: undefined and infinite numbers are null.
    - LaTeX: a table for the package booktabs, numbers to four digits, undefined as a dash.

    Raises
    ------
    InputError
        The format is not known, or it has no room for a column's type.
    """
    check_format(file_format)
    content = as_arrow(table)
    if file_format == "csv":
        return _csv(content)
    if file_format == "parquet":
        return _parquet(content)
    if file_format == "tex":
        return _latex(content)
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in json_rows(content))
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def write_table(table: Table, path: Path) -> None:
    """Write a table to a file whose ending names the format; a file that is there is replaced.

    Raises
    ------
    InputError
        When the ending is not a known format or the file cannot be written.
    """
    check_path(path)
    write_content(table_bytes(table, _format_of(path)), path)


def write_content(content: bytes, path: Path) -> None:
    """Write a file whole: one that is there is replaced, and none is left half written.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


def check_path(path: Path) -> None:
    """Make sure that a table can go to this path, before work that takes long.

    Raises
    ------
    InputError
        The ending names no format, the folder does not exist, or the path is a folder.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it.")
    if _format_of(path) not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(f"{path} does not end in a format that can be written: {endings}.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist; create it first.")


def check_format(name: str, others: Sequence[str] = ()) -> None:
    """InputError where the name is neither a file format nor one of the others."""
    known = (*others, *FORMATS)
    if name not in known:
        raise InputError(f"{name!r} is not a format; choose from: {', '.join(known)}.")


def as_arrow(table: Table) -> pa.Table:
    """The table in Arrow; undefined is null, and of columns with one name the later get a number.

    NaN and null are one thing in the program; Arrow and Parquet would keep them apart.
    """
    if isinstance(table, pa.Table):
        arrow = table
    else:
        arrow = pa.Table.from_pandas(table, preserve_index=False)
    columns = [_undefined_as_null(column) for column in arrow.columns]
    return pa.table(columns, names=_distinct(arrow.column_names))


def json_rows(table: Table) -> list[dict[str, Any]]:
    """The rows as JSON has them: undefined and infinite are null, times ISO text, bytes hex."""
    arrow = as_arrow(table)
    columns = [_json_values(column) for column in arrow.columns]
    return [dict(zip(arrow.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _format_of(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _csv(table: pa.Table) -> bytes:
    columns = [_as_cells(column) for column in table.columns]
    if (
        len(columns) == 1 and columns[0].null_count
    ):  # readers pass over the blank line that a missing value would be
        columns = [columns[0].cast(pa.string()).fill_null("")]
    buffer = io.BytesIO()
    csv.write_csv(pa.table(columns, names=table.column_names), buffer)
    return buffer.getvalue()


def _latex(table: pa.Table) -> bytes:
    cells = [
        _latex_cells(name, column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    frame = pd.DataFrame(dict(zip(table.column_names, cells, strict=True)), dtype=object)
    numeric = [pa.types.is_floating(f.type) or pa.types.is_integer(f.type) for f in table.schema]
    text: str = frame.to_latex(
        index=False, escape=True, column_format="".join("r" if n else "l" for n in numeric)
    )
    return text.encode("utf-8")


def _latex_cells(name: str, column: pa.ChunkedArray) -> list[str]:
    """Numbers to four digits, counts without any; an empty list is empty, undefined a dash."""
    values = column.to_pylist()
    counts = name == "n" or name.startswith("n_")  # floats where one of them is undefined
    counts = counts and all(isinstance(v, float | None) and (v or 0) % 1 == 0 for v in values)
    return [_latex_cell(int(v) if counts and v is not None else v) for v in values]


def _latex_cell(value: Any) -> str:
    match value:
        case None:
            return "--"
        case float():
            return f"{value:.4f}"
        case list():
            return ", ".join(map(str, value))
    return str(value)


def _parquet(table: pa.Table) -> bytes:
    fields = [field.with_type(_without_null(field.type)) for field in table.schema]
    buffer = io.BytesIO()
    try:
        pq.write_table(table.cast(pa.schema(fields)), buffer)
    except pa.ArrowNotImplementedError as error:
        raise InputError(f"Parquet cannot hold this table ({error}); use csv or jsonl.") from error
    return buffer.getvalue()


def _without_null(kind: pa.DataType) -> pa.DataType:
    """Text in the place of the type that Arrow gives to a column, or a list, without values."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind) and pa.types.is_null(kind.value_type):
        return pa.list_(pa.string())
    return kind


def _undefined_as_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type):
        return column
    return pa.chunked_array([pa.array(column.to_numpy(), column.type, from_pandas=True)])


def _as_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, as text where CSV has no form of its own: nested values, bytes, time spans."""
    kind = column.type
    no_form = (pa.types.is_nested, pa.types.is_binary, pa.types.is_interval, pa.types.is_duration)
    if not any(is_of(kind) for is_of in no_form):
        return column
    cells = (
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in _json_values(column)
    )
    return pa.chunked_array([pa.array(cells, pa.string())])


def _json_values(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    same = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_string, pa.types.is_large_string)
    if any(is_of(column.type) for is_of in same):
        return values
    return [_json_value(value) for value in values]


def _json_value(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case list() | tuple():
            return [_json_value(part) for part in value]
        case dict():
            return {str(key): _json_value(part) for key, part in value.items()}
    return str(value)


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number behind one that was there before: a, a_2."""
    taken: set[str] = set()
    distinct = []
    for name in names:
        candidate, n = name, 1
        while candidate in taken:
            n += 1
            candidate = f"{name}_{n}"
        taken.add(candidate)
        distinct.append(candidate)
    return distinct
