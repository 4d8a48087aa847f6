"""Sentence pairs in the layout of CrowS-Pairs (Nangia et al. 2020): one row per pair.

    id, sent_more, sent_less, stereo_antistereo, bias_type

`sent_more` is the stereotypical sentence in every row, also where `stereo_antistereo` says that it
is about an advantaged group and the other about a disadvantaged one. A row becomes an item without
a context; the direction and all other columns become its metadata. A file is in one language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from core.errors import InputError
from core.files.places import Place, listed, printable
from core.files.tables import Record, Table
from core.items.alignment import mostly_different, split_words
from core.items.native import Row
from core.items.texts import is_collapsed, visible
from core.items.values import is_valid, plain
from core.languages import normalise_language
from core.settings import REFERENCE_CONDITION
from core.types import Item, Problem, Severity

DIRECTION = "stereo_antistereo"
DIRECTIONS = ("stereo", "antistereo")
TYPE = "bias_type"
SENTENCES = ("sent_more", "sent_less")
REQUIRED = (*SENTENCES, DIRECTION, TYPE)
IDS = ("id", "", "Unnamed: 0", "index", "__index_level_0__")  # unnamed in the published file
RESULTS = ("sent_more_score", "sent_less_score")

# Languages that the pairs exist in, as their files are called.
_NAMES = {
    "arabic": "ar",
    "catalan": "ca",
    "chinese": "zh",
    "dutch": "nl",
    "english": "en",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "maltese": "mt",
    "spanish": "es",
}


def looks_like_pairs(columns: tuple[str, ...]) -> bool:
    """Whether a table's header is that of sentence pairs."""
    return set(SENTENCES) <= set(columns)


def read_pairs(table: Table, language: str | None = None) -> tuple[list[Row], list[Problem]]:
    """Turn a table of sentence pairs into items; every problem of every row is reported.

    Parameters
    ----------
    language
        The file's language in its normal form. Left out, it is taken from the file's name, else
        English is assumed; a note says which.
    """
    problems = list(_column_problems(table))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return [], problems
    condition, notes = (language, []) if language else _language_of_file(table.place)
    problems += notes
    id_column = next((name for name in IDS if name in table.columns), None)
    rows = []
    for number, record in enumerate(table.records):
        item_id = str(number) if id_column is None else _as_id(record.values.get(id_column))
        reader = _PairReader(record, item_id, condition)
        rows.append(Row(reader.place, reader.item(id_column)))
        problems += reader.problems
    return rows, problems


def _column_problems(table: Table) -> Iterator[Problem]:
    missing = [name for name in REQUIRED if name not in table.columns]
    results = [name for name in RESULTS if name in table.columns]
    if missing and table.columns:
        columns = listed([repr(name) for name in table.columns])
        message = f"Columns are missing: {', '.join(missing)}; the file has {columns}."
        if table.is_csv and len(table.columns) == 1 and ";" in table.columns[0]:
            message = f"{message[:-1]}: the cells are separated by ';', not by commas."
        yield table.place.error("wrong_columns", printable(message))
    elif results:
        message = f"The file holds results ({', '.join(results)}), it is not a data set."
        yield table.place.error("wrong_columns", message)
    if not all(is_valid(name) for name in table.columns):
        message = "A column's name holds a NUL or a lone surrogate."
        yield table.place.error("invalid_unicode", message)


def _language_of_file(place: Place) -> tuple[str, list[Problem]]:
    """A language named in the file's name: a name anywhere, a code at the end."""
    parts = re.split(r"[_. ]+", place.file.rpartition(".")[0].lower())
    names = [_NAMES[word] for part in parts for word in part.split("-") if word in _NAMES]
    last = parts[-1].split("-")
    codes = ["-".join(last[n:]) for n in range(len(last))]  # "pt-br" before "br", which is Breton
    for part in (*names, *codes):
        try:
            code = normalise_language(part)
        except InputError:
            continue
        message = f"The language {code} is taken from the file's name; --language names another."
        return code, [place.note("language_from_name", message)]
    message = f"The language is taken to be {REFERENCE_CONDITION}; --language names another."
    return REFERENCE_CONDITION, [place.note("language_assumed", message)]


def _as_id(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def _nan_as_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


class _PairReader:
    """Reads one row and collects what is wrong or remarkable in it."""

    def __init__(self, record: Record, item_id: str, condition: str) -> None:
        self.place = record.place.of(item_id, condition)
        self.values = {name: _nan_as_none(value) for name, value in record.values.items()}
        self.item_id = item_id
        self.condition = condition
        self.problems: list[Problem] = []

    def item(self, id_column: str | None) -> Item | None:
        if not self.item_id.strip():
            self._error("missing_item_id", "The row has no id.")
        if not is_valid(self.item_id):
            self._error("invalid_unicode", "The row's id has a NUL or a lone surrogate.")
        more, less = (self._sentence(column) for column in SENTENCES)
        direction = self._label(DIRECTION)
        if direction not in DIRECTIONS:
            message = f"The row has {direction!r} in {DIRECTION}; write {' or '.join(DIRECTIONS)}."
            self._error("bad_direction", message)
        category = self._label(TYPE)
        metadata = {DIRECTION: direction, **self._metadata({*REQUIRED, id_column})}
        if self.problems:
            return None
        item = Item(
            item_id=self.item_id,
            condition=self.condition,
            context="",
            stereotype=more,
            anti_stereotype=less,
            language=self.condition,
            source="crows_pairs",
            category=category,
            metadata=metadata,
        )
        self._remark(item)
        return item

    def _error(self, kind: str, message: str) -> None:
        self.problems.append(self.place.error(kind, printable(message)))

    def _text(self, column: str) -> str:
        value = self.values.get(column)
        if value is not None and not isinstance(value, str):
            self._error("not_text", f"The row has {value!r} in {column}, which is not a text.")
            return ""
        if value is not None and not is_valid(value):
            self._error("invalid_unicode", f"The row has a NUL or a lone surrogate in {column}.")
        return value or ""

    def _sentence(self, column: str) -> str:
        text = self._text(column)
        is_text = isinstance(self.values.get(column), str | None)
        if is_text and not visible(text).strip():
            self._error("empty_text", f"The row has nothing visible in {column}.")
        return text

    def _label(self, column: str) -> str:
        return self._text(column).strip()

    def _metadata(self, others: set[str | None]) -> dict[str, Any]:
        metadata = {}
        for name, value in self.values.items():
            if name in others or value is None or value == "":
                continue
            try:
                metadata[name] = plain(value)
            except UnicodeError:
                self._error("invalid_unicode", f"There is a NUL or lone surrogate in {name}.")
            except (TypeError, RecursionError) as error:
                self._error("bad_metadata", f"The row has {error} in {name}.")
        return metadata

    def _remark(self, item: Item) -> None:
        if not item.category:
            message = f"The row has no {TYPE}: it counts in no type."
            self.problems.append(self.place.note("missing_type", message))
        words = [split_words(text) for text in (item.stereotype, item.anti_stereotype)]
        if not is_collapsed(item) and mostly_different(*words):
            message = (
                "More than half of the words differ between the two sentences, so that little is"
                " left to compare."
            )
            self.problems.append(self.place.note("mostly_different", message))
