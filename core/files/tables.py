"""CSV, TSV, JSON, JSON Lines and Parquet files as rows of named values, whatever they mean."""

from __future__ import annotations

import csv
import json
import re
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from core.errors import DataSetError
from core.files.encoding import decode
from core.files.json_lists import contents_beside, lists_of_objects
from core.files.places import Place, listed, printable, refusal
from core.files.reading import SUFFIXES, DataFile
from core.types import Problem
from core.words import counted

JSON_LIST = "json_list"
BATCH = 1000  # rows of a Parquet file that become Python values at a time
_CONTENT = re.compile(rb"[^\s\xef\xbb\xbf]")  # anything but white space and byte-order marks
_CSV_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_JSON_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it is and its values; None is a missing value."""

    place: Place
    values: dict[str, Any]


class Records(Sequence[Record]):
    """The rows of a file, each put together when it is looked at: all at once fill the memory.

    Short texts that stand in a column again and again, such as a category, are held once.
    """

    _SHORT, _DISTINCT = 40, 256  # characters of a text, and texts of a column, to look for

    def __init__(self, file: str) -> None:
        self._file = file
        self._numbers = array("Q")
        self._names: list[tuple[str, ...]] = []
        self._same_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._starts = array("Q")  # where the values of each row begin
        self._values: list[Any] = []
        self._known: dict[str, dict[str, str]] = defaultdict(dict)

    def add(self, row: int, names: Iterable[str], values: Iterable[Any]) -> None:
        """Add the row of this number."""
        names = tuple(names)
        self._numbers.append(row)
        self._names.append(self._same_names.setdefault(names, names))
        self._starts.append(len(self._values))
        self._values += map(self._shared, names, values)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Record: ...

    @overload
    def __getitem__(self, at: slice) -> list[Record]: ...

    def __getitem__(self, at: int | slice) -> Record | list[Record]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        names, start = self._names[at], self._starts[at]
        values = self._values[start : start + len(names)]
        place = Place(self._file, self._numbers[at])
        return Record(place, dict(zip(names, values, strict=True)))

    def _shared(self, name: str, value: Any) -> Any:
        if type(value) is not str or len(value) > self._SHORT:
            return value
        known = self._known[name]
        if len(known) < self._DISTINCT:
            return known.setdefault(value, value)
        return known.get(value, value)


@dataclass(frozen=True)
class Table:
    """A file's rows. In a CSV table an empty cell is an empty text: CSV knows nothing missing.

    Rows of a JSON document are numbered from 1 in its lists; where it is an object of several
    lists, the value under `JSON_LIST` names the row's list.
    """

    place: Place
    columns: tuple[str, ...]
    records: Sequence[Record]
    problems: list[Problem]
    is_csv: bool = False


def read_table(file: DataFile, encoding: str | None = None) -> Table:
    """Read a data file by its extension; `encoding` is of its bytes that are not UTF-8.

    Raises
    ------
    DataSetError
        The file as a whole cannot be used: unknown extension, encoding, broken structure, no rows.
    """
    suffix = file.path.suffix.lower()
    if suffix not in SUFFIXES:
        message = f"The extension {printable(suffix)!r} is not one of {', '.join(SUFFIXES)}."
        raise _unusable(file.path, "unknown_extension", message)
    if not _CONTENT.search(file.content):
        raise _unusable(file.path, "empty_file", "The file is empty.")
    if suffix == ".parquet":
        if encoding:
            message = "--encoding means nothing to Parquet, whose texts are UTF-8; leave it out."
            raise _unusable(file.path, "wrong_encoding", message)
        table = _read_parquet(file)
    else:
        text, notes = decode(file, encoding)
        table = _READERS[suffix](file.path, text, notes)
    if not table.records and not table.problems:
        raise _unusable(file.path, "empty_file", "The file has no rows.")
    return table


def _unusable(path: Path, kind: str, message: str, row: int | None = None) -> DataSetError:
    return refusal(path, [Place(printable(path.name), row).error(kind, message)])


def _check_twice(path: Path, columns: list[str], row: int | None = None) -> None:
    twice = _twice(columns)
    if twice:
        raise _unusable(path, "duplicate_column", f"Columns named twice: {listed(twice)}.", row)


def _twice(names: list[str]) -> list[str]:
    return [printable(name) for name, n in Counter(names).items() if n > 1]


def _read_csv(path: Path, text: str, notes: list[Problem]) -> Table:
    place = Place(printable(path.name))
    separator = _separator(text)
    if separator != ",":
        message = f"The cells are separated by {separator!r}, as the header shows."
        notes = [*notes, place.note("separator", message)]
    return _read_cells(path, text, notes, separator)


def _separator(text: str) -> str:
    """What separates the cells: a comma, unless the first line has none and something else."""
    line = text.lstrip("\r\n").partition("\n")[0]
    others = [c for c in (";", "\t", "|") if c in line]
    return max(others, key=line.count) if others and "," not in line else ","


def _read_tsv(path: Path, text: str, notes: list[Problem]) -> Table:
    return _read_cells(path, text, notes, "\t")


def _read_cells(path: Path, text: str, notes: list[Problem], separator: str) -> Table:
    place = Place(printable(path.name))
    lines = _csv_rows(path, text, separator)
    header_line, columns = next(lines, (1, []))
    _check_twice(path, columns, header_line)
    records, problems = Records(place.file), list(notes)
    for line, cells in lines:
        if len(cells) != len(columns):
            message = _ragged(line, len(cells), len(columns))
            problems.append(Place(place.file, line).error("ragged_row", message))
        else:
            records.add(line, columns, cells)
    return Table(place, tuple(columns), records, problems, is_csv=True)


def _ragged(row: int, n_cells: int, n_columns: int) -> str:
    """That a row and the header differ, and what most often is the cause."""
    cause = (
        "most often a text holds a comma and is not in double quotes"
        if n_cells > n_columns
        else "most often a comma is missing, or a text holds a line break and is not in double "
        "quotes"
    )
    fields = counted(n_cells, "field")
    return f"Row {row} has {fields} where the header has {n_columns}; {cause}."


def _csv_rows(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line on which it begins."""
    # Python refuses longer fields than 131,072 characters; what JSON Lines may hold, CSV may too.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(_lines(_CSV_LINE, text), delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"The row that begins on line {line} is not CSV: {error}."
        raise _unusable(path, "bad_csv", message, line) from error


def _lines(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """The lines with their ends: never all at once, nor in io.StringIO's four bytes a character."""
    return (match.group() for match in pattern.finditer(text))


def _read_jsonl(path: Path, text: str, notes: list[Problem]) -> Table:
    place = Place(printable(path.name))
    columns: dict[str, None] = {}
    records, problems = Records(place.file), list(notes)
    # Only line feeds separate: splitlines() would also cut at U+2028 inside a text.
    for row, line in enumerate(_lines(_JSON_LINE, text), start=1):
        if not line.strip():
            continue
        try:
            values = _parse_object(line.rstrip("\n"))
        except (ValueError, RecursionError) as error:
            message = f"Line {row} is not a JSON object: {error}."
            problems.append(Place(place.file, row).error("bad_json", message))
        else:
            columns |= dict.fromkeys(values)
            records.add(row, values, values.values())
    return Table(place, tuple(columns), records, problems)


def _read_json(path: Path, text: str, notes: list[Problem]) -> Table:
    place = Place(printable(path.name))
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        lists = lists_of_objects(document)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise _unusable(path, "bad_json", f"The file is not JSON: {error}.", line) from error
    if not lists:
        message = "The JSON holds no list of objects; each object of the list is a row."
        raise _unusable(path, "bad_json", message)
    columns: dict[str, None] = {}
    records, problems = Records(place.file), list(notes)
    if beside := contents_beside(document, lists):
        message = f"Not read, because they are no lists of objects: {listed(beside)}."
        problems.append(place.note("content_ignored", printable(message)))
    rows = [(name, values) for name, elements in lists.items() for values in elements]
    for row, (name, values) in enumerate(rows, start=1):
        if not isinstance(values, dict):
            message = f"Element {row} of the list is no object."
            problems.append(Place(place.file, row).error("bad_json", message))
            continue
        named = values | ({JSON_LIST: name} if name else {})
        columns |= dict.fromkeys(named)
        records.add(row, named, named.values())
    return Table(place, tuple(columns), records, problems)


def _parse_object(line: str) -> dict[str, Any]:
    values = json.loads(line, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    if not isinstance(values, dict):
        raise ValueError("write one object in braces per line")
    return values


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = {sys.intern(key): value for key, value in pairs}  # rows share the keys' texts
    if len(values) < len(pairs):
        raise ValueError(f"named twice: {listed(_twice([key for key, _ in pairs]))}")
    return values


def _no_constant(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is not a JSON number")
    # pandas writes NaN for a missing value: read as missing.


def _read_parquet(file: DataFile) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = Place(printable(file.path.name))
    records = Records(place.file)
    try:
        table = pq.ParquetFile(pa.BufferReader(file.content)).read(use_threads=False)
        table.validate(full=True)
        _check_twice(file.path, table.column_names)
        for batch in table.to_batches(max_chunksize=BATCH):
            for values in batch.to_pylist():
                records.add(len(records) + 1, values, values.values())
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, MemoryError) as error:
        message = f"The file is not readable Parquet: {printable(str(error))}."
        raise _unusable(file.path, "bad_parquet", message) from error
    return Table(place, tuple(table.column_names), records, [])


_READERS: dict[str, Callable[[Path, str, list[Problem]], Table]] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".json": _read_json,
    ".jsonl": _read_jsonl,
}
