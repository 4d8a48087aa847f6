"""Items out to files in the program's own schema (data/README.md), which `import` reads back.

JSON Lines gives back the very same items. So does Parquet, which is refused where metadata of one
name have values that no column of one type holds. CSV has only texts: `changed_by_csv` names the
metadata that come back as such.
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
from core.files.places import listed, printable
from core.items.control import as_jsonl
from core.items.formats.native import COLUMNS
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
        There is no such format, an item's metadata have the name of a column of the schema, or
        Parquet cannot hold metadata as they are.
    """
    if file_format not in FORMATS:
        raise InputError(f"{file_format!r} is not a format; choose from: {', '.join(FORMATS)}.")
    _check_names(items)
    lines = as_jsonl(items)
    if file_format == "jsonl":
        return lines.encode()
    rows = [json.loads(line) for line in lines.split("\n") if line]
    columns = _columns(rows)
    if file_format == "csv":
        texts = {name: [_cell(row.get(name)) for row in rows] for name in columns}
        return table_bytes(pa.table(texts, pa.schema([(n, pa.string()) for n in columns])), "csv")
    return _parquet(rows, columns)


def changed_by_csv(items: Sequence[Item]) -> list[str]:
    """The metadata that come back from CSV as texts, because some of their values are none."""
    names = {n for item in items for n, v in item.metadata.items() if not isinstance(v, str)}
    return sorted(names)


def _format_of(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _check_names(items: Sequence[Item]) -> None:
    taken = {name for item in items for name in item.metadata} & set(COLUMNS)
    if taken:
        raise InputError(
            f"Metadata have the name of a column of the schema ({', '.join(sorted(taken))}), so "
            "that the file would be read as other items; rename these columns in the file that was "
            "imported and import it again."
        )


def _columns(rows: Sequence[Values]) -> list[str]:
    """The columns of the schema that some row has, in its order, then metadata as they come."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [*(n for n in COLUMNS if n in names), *(n for n in names if n not in COLUMNS)]


def _cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _parquet(rows: Sequence[Values], columns: Sequence[str]) -> bytes:
    """The rows as Parquet, read once again: a type that Arrow infers may change single values."""
    arrays, unfit = [], []
    for name in columns:
        values = [row.get(name) for row in rows]
        try:
            arrays.append(pa.array(values))
        except (pa.ArrowException, OverflowError):
            unfit.append(name)
    if not unfit:
        content = table_bytes(pa.table(arrays, names=list(columns)), "parquet")
        stored = pq.read_table(pa.BufferReader(content))
        unfit = [n for n in columns if not _same(stored[n].to_pylist(), rows, n)]
    if unfit:
        raise InputError(
            printable(
                f"Parquet cannot hold these metadata as they are, because their values are of "
                f"several types: {listed(unfit)}; write .jsonl."
            )
        )
    return content


def _same(stored: Sequence[Any], rows: Sequence[Values], name: str) -> bool:
    """Whether a column is as it was, types included: 1, 1.0 and true differ as JSON."""
    return all(
        json.dumps(now, sort_keys=True) == json.dumps(row.get(name), sort_keys=True)
        for now, row in zip(stored, rows, strict=True)
    )
