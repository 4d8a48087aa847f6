"""Items out to files in the program's own schema (data/README.md), which `import` reads back.

JSON Lines gives back the very same items. So does Parquet, in which all metadata are one text of
JSON where columns would change them. CSV has only texts: `changed_by_csv` names the metadata that
come back as such.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import InputError
from core.export.tables import table_bytes, write_content
from core.files.places import printable
from core.items.control import as_jsonl
from core.items.formats.native import COLUMNS, METADATA
from core.types import Item

FORMATS = ("jsonl", "csv", "parquet")

Values = dict[str, Any]


def check_items_path(path: Path) -> None:
    """Make sure that items can go to this path, before work that takes long.

    Raises
    ------
    InputError
        The ending names no format, the folder does not exist, or the path is a folder.
    """
    if path.is_dir():
        raise InputError(printable(f"{path} is a folder; name a file in it."))
    if _format_of(path) not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(printable(f"{path} must end in one of: {endings}."))
    if not path.parent.is_dir():
        raise InputError(printable(f"The folder {path.parent} does not exist; create it first."))


def write_items(items: Sequence[Item], path: Path) -> None:
    """Write items to a file whose ending names the format; a file that is there is replaced.

    Raises
    ------
    InputError
        As `check_items_path` and `items_bytes`, or the file cannot be written.
    """
    check_items_path(path)
    write_content(items_bytes(items, _format_of(path)), path)


def items_bytes(items: Sequence[Item], file_format: str) -> bytes:
    """The bytes of a file of items, one row per item and condition, in their order.

    Parameters
    ----------
    file_format
        "jsonl", "csv" or "parquet".

    Raises
    ------
    InputError
        There is no such format.
    """
    if file_format not in FORMATS:
        raise InputError(f"{file_format!r} is not a format; choose from: {', '.join(FORMATS)}.")
    lines = as_jsonl(items)
    if file_format == "jsonl":
        return lines.encode()
    rows = [json.loads(line) for line in lines.split("\n") if line]
    if file_format == "csv":
        columns = _columns(rows)
        texts = {name: [_cell(row.get(name)) for row in rows] for name in columns}
        return table_bytes(pa.table(texts, pa.schema([(n, pa.string()) for n in columns])), "csv")
    return _parquet(rows)


def changed_by_csv(items: Sequence[Item]) -> list[str]:
    """The metadata that come back from CSV as texts, because some of their values are none."""
    apart = (i.metadata for i in items if i.metadata.keys().isdisjoint(COLUMNS))
    return sorted({name for m in apart for name, value in m.items() if not isinstance(value, str)})


def _format_of(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _columns(rows: Sequence[Values]) -> list[str]:
    """The columns of the schema that some row has, in its order, then metadata as they come."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [*(n for n in COLUMNS if n in names), *(n for n in names if n not in COLUMNS)]


def _cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _parquet(rows: Sequence[Values]) -> bytes:
    """The rows as Parquet that gives back the very same; with one text of metadata if need be."""
    content = _as_columns(rows)
    if content is None:
        content = _as_columns([_gathered(row) for row in rows])
    if content is None:
        raise ValueError("columns of texts and truth values do not come back from Parquet")
    return content


def _as_columns(rows: Sequence[Values]) -> bytes | None:
    """The rows as Parquet; None where they come back otherwise.

    A type that Arrow infers may change single values, and its objects have one order of keys.
    """
    columns = _columns(rows)
    try:
        arrays = [pa.array([row.get(name) for row in rows]) for name in columns]
        content = table_bytes(pa.table(arrays, names=columns), "parquet")
    except (pa.ArrowException, OverflowError, InputError):  # the last of an object without keys
        return None
    stored = pq.read_table(pa.BufferReader(content)).to_pylist()
    metadata = [n for n in columns if n not in COLUMNS]
    in_order = all([n for n in metadata if n in row] == _metadata_names(row) for row in rows)
    same = all(
        json.dumps(back) == json.dumps({name: row.get(name) for name in columns})
        for back, row in zip(stored, rows, strict=True)
    )
    return content if same and in_order else None


def _metadata_names(row: Values) -> list[str]:
    return [name for name in row if name not in COLUMNS]


def _gathered(row: Values) -> Values:
    """The row with all its metadata in one text, which is JSON."""
    metadata = row.get(METADATA) or {name: row[name] for name in _metadata_names(row)}
    kept = {name: value for name, value in row.items() if name in COLUMNS and name != METADATA}
    return kept | ({METADATA: json.dumps(metadata, ensure_ascii=False)} if metadata else {})
