"""The program's own schema: one row per item and condition (data/README.md describes it)."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.errors import InputError
from core.files.places import Place, listed, printable
from core.files.tables import Record, Table
from core.items.conditions import language_of, normalise_condition
from core.items.texts import visible
from core.items.values import is_valid, plain, split_order
from core.languages import normalise_language
from core.types import Item, Problem, Role, Severity

REQUIRED = ("item_id", "condition", "context", "stereotype", "anti_stereotype")
LABELS = ("source", "category", "dimension", "resource_level")
OPTIONAL = ("unrelated", "unknown", "language", *LABELS, "native", "answer_order")
COLUMNS = REQUIRED + OPTIONAL
# What people call the required columns elsewhere.
OTHER_NAMES = {
    "item_id": ("id", "index", "idx"),
    "condition": ("language", "lang", "language_code", "lang_code", "locale"),
    "context": ("prompt", "sentence", "question", "text"),
    "stereotype": ("stereo", "stereotypical", "more_stereotypical"),
    "anti_stereotype": ("anti", "antistereo", "anti_stereotypical", "less_stereotypical"),
}
ROLES = tuple(role.value for role in Role)
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


@dataclass(frozen=True)
class Row:
    """A row as read: where it is, and its item unless the row has an error."""

    place: Place
    item: Item | None


def read_rows(table: Table) -> tuple[list[Row], list[Problem]]:
    """Turn a table into items; every problem of every row is reported, none is mended."""
    problems = list(_column_problems(table))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return [], problems
    rows = []
    for record in table.records:
        row, found = _read_row(record, table.is_csv)
        rows.append(row)
        problems += found
    return rows, problems


def _column_problems(table: Table) -> Iterator[Problem]:
    others = {name.strip().lower(): name for name in table.columns if name not in COLUMNS}
    missing = [name for name in REQUIRED if name not in table.columns]
    if missing and table.columns:
        yield table.place.error("wrong_columns", _missing_columns(missing, others, table))
    if not all(is_valid(name) for name in table.columns):
        message = "A column's name holds a NUL or a lone surrogate."
        yield table.place.error("invalid_unicode", message)
    for name in OPTIONAL:
        near = difflib.get_close_matches(name, others, 1, 0.85)
        if name not in table.columns and near:
            message = f"The column {others[near[0]]!r} is kept as metadata; is it meant as {name}?"
            yield table.place.note("column_like", printable(message))


def _missing_columns(missing: list[str], others: dict[str, str], table: Table) -> str:
    there = {name.strip().lower(): name for name in table.columns}
    hints = []
    for name in missing:
        meant = [there[other] for other in OTHER_NAMES[name] if other in there]
        near = meant or [others[n] for n in difflib.get_close_matches(name, others, 1)]
        hints.append(f"{name} (is it {near[0]!r}?)" if near else name)
    separators = [c for c in (";", "\t", "|") if c in table.columns[0]]
    if table.is_csv and len(table.columns) == 1 and separators:
        hints.append(f"the cells are separated by {separators[0]!r}, not by commas")
    columns = listed([repr(name) for name in table.columns])
    return printable(
        f"Columns are missing: {', '.join(hints)}; the file has {columns}; data/README.md says "
        "what each holds."
    )


def _read_row(record: Record, is_csv: bool) -> tuple[Row, list[Problem]]:
    values = {name: _missing_as_none(name, v, is_csv) for name, v in record.values.items()}
    raw_id, raw_condition = _item_id(values), values.get("condition")
    place = record.place.of(raw_id, raw_condition if isinstance(raw_condition, str) else "")
    reader = _RowReader(place, values)
    item = reader.item(raw_id)
    if item is not None:
        place = record.place.of(item.item_id, item.condition)
    return Row(place, item), reader.problems


def _missing_as_none(name: str, value: Any, is_csv: bool) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    # An empty CSV cell is a missing value, except where an empty text means something.
    return None if is_csv and value == "" and name != "context" else value


def _item_id(values: dict[str, Any]) -> str:
    value = values.get("item_id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


class _RowReader:
    """Reads the values of one row and collects what is wrong with them."""

    def __init__(self, place: Place, values: dict[str, Any]) -> None:
        self.place = place
        self.values = values
        self.problems: list[Problem] = []

    def item(self, item_id: str) -> Item | None:
        if not item_id.strip():
            self._error("missing_item_id", "The row has no item_id.")
        if not is_valid(item_id):
            self._invalid_unicode("item_id")
        condition = self._condition()
        item = Item(
            item_id=item_id,
            condition=condition,
            context=self._context(),
            stereotype=self._role(Role.STEREOTYPE, required=True) or "",
            anti_stereotype=self._role(Role.ANTI_STEREOTYPE, required=True) or "",
            unrelated=self._role(Role.UNRELATED),
            unknown=self._role(Role.UNKNOWN),
            language=self._language(condition),
            native=self._native(),
            answer_order=self._answer_order(),
            metadata=self._metadata(),
            **{name: self._text(name) or "" for name in LABELS},
        )
        return None if self.problems else item

    def _error(self, kind: str, message: str) -> None:
        self.problems.append(self.place.error(kind, printable(message)))

    def _named(self) -> str:
        return f"Item {self.place.item_id!r} in {self.place.condition!r}"

    def _invalid_unicode(self, name: str) -> None:
        message = f"{self._named()} has a NUL or a lone surrogate in {name}."
        self._error("invalid_unicode", message)

    def _text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            message = f"{self._named()} has {value!r} in {name}, which is not a text."
            self._error("not_text", message)
            return None
        if value is not None and not is_valid(value):
            self._invalid_unicode(name)
        return value

    def _context(self) -> str:
        if self.values.get("context") is None:
            message = f"{self._named()} has no context; write an empty text if there is none."
            self._error("missing_context", message)
        return self._text("context") or ""

    def _role(self, role: Role, required: bool = False) -> str | None:
        text = self._text(role.value)
        if required and (self.values.get(role.value) is None or text == ""):
            self._error("missing_role", f"{self._named()} has no {role.value}.")
        elif text is not None and not visible(text).strip():
            self._error("empty_text", f"{self._named()} has nothing visible in {role.value}.")
        return text

    def _condition(self) -> str:
        try:
            return normalise_condition(self._text("condition") or "")
        except InputError as error:
            self._error("unknown_condition", f"Item {self.place.item_id!r}: {error}")
            return ""

    def _language(self, condition: str) -> str:
        code = self._text("language")
        if not code:
            return language_of(condition) if condition else ""
        try:
            return normalise_language(code)
        except InputError as error:
            self._error("unknown_language", f"{self._named()}: {error}")
            return ""

    def _native(self) -> bool:
        value = self.values.get("native")
        flag = False if value is None else _FLAGS.get(str(value).lower())
        if flag is None:
            self._error("bad_native", f"{self._named()} has native {value!r}; write true or false.")
        return bool(flag)

    def _answer_order(self) -> tuple[Role, ...]:
        value = self.values.get("answer_order")
        if value is None:
            return ()
        names = split_order(value)
        present = [role for role in ROLES if self.values.get(role) is not None]
        unknown = [name for name in names if name not in ROLES]
        if unknown:
            message = f"has {listed([repr(name) for name in unknown])} in answer_order, no roles"
        elif sorted(names) != sorted(present):
            message = f"has answer_order {'|'.join(names)}, but its roles are {'|'.join(present)}"
        else:
            return tuple(Role(name) for name in names)
        self._error("bad_answer_order", f"{self._named()} {message}.")
        return ()

    def _metadata(self) -> dict[str, Any]:
        metadata = {}
        for name, value in self.values.items():
            if name in COLUMNS or value is None:
                continue
            try:
                metadata[name] = plain(value)
            except UnicodeError:
                self._invalid_unicode(name)
            except (TypeError, RecursionError) as error:
                self._error("bad_metadata", f"{self._named()} has {error} in {name}.")
        return metadata
