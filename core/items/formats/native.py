"""The program's own schema: one row per item and condition (data/README.md describes it)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import Any

from core.errors import InputError
from core.files.places import listed, printable
from core.files.tables import Record, Table
from core.items.conditions import language_of, normalise_condition
from core.items.layout import Layout, ReadOptions
from core.items.rows import Row, RowReader, id_text
from core.items.values import is_valid, plain, split_order
from core.languages import normalise_language
from core.types import Item, Problem, Role, Severity

REQUIRED = ("item_id", "condition", "context", "stereotype", "anti_stereotype")
LABELS = ("source", "category", "dimension", "resource_level")
METADATA = "metadata"  # an object, for metadata whose names are those of columns
OPTIONAL = ("unrelated", "unknown", "language", *LABELS, "native", "answer_order", METADATA)
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


def is_native(table: Table) -> bool:
    """Whether a table's header is that of this schema."""
    return set(REQUIRED) <= set(table.columns)


def read_rows(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
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
    columns = listed([repr(name) for name in table.columns])
    return printable(
        f"Columns are missing: {', '.join(hints)}; the file has {columns}; data/README.md says "
        "what each holds."
    )


def _read_row(record: Record, is_csv: bool) -> tuple[Row, list[Problem]]:
    values = {name: _missing_as_none(name, v, is_csv) for name, v in record.values.items()}
    raw_id, raw_condition = id_text(values.get("item_id")), values.get("condition")
    condition = raw_condition if isinstance(raw_condition, str) else ""
    reader = _NativeReader(Record(record.place, values), raw_id, condition)
    item = reader.item()
    place = record.place.of(item.item_id, item.condition) if item else reader.place
    return Row(place, item), reader.problems


def _missing_as_none(name: str, value: Any, is_csv: bool) -> Any:
    # An empty CSV cell is a missing value, except where an empty text means something.
    return None if is_csv and value == "" and name != "context" else value


class _NativeReader(RowReader):
    """Reads the values of one row and collects what is wrong with them."""

    def __init__(self, record: Record, item_id: str, condition: str) -> None:
        super().__init__(record, item_id, condition)
        self.subject = f"Item {self.place.item_id!r} in {self.place.condition!r}"

    def item(self) -> Item | None:
        condition = self._condition()
        item = Item(
            item_id=self.item_id,
            condition=condition,
            context=self._context(),
            stereotype=self._role(Role.STEREOTYPE, required=True) or "",
            anti_stereotype=self._role(Role.ANTI_STEREOTYPE, required=True) or "",
            unrelated=self._role(Role.UNRELATED),
            unknown=self._role(Role.UNKNOWN),
            language=self._language(condition),
            native=self._native(),
            answer_order=self._answer_order(),
            metadata=self._all_metadata(),
            **{name: self.text(name) for name in LABELS},
        )
        return None if self.failed else item

    def _context(self) -> str:
        if self.values.get("context") is None:
            message = f"{self.subject} has no context; write an empty text if there is none."
            self.error("missing_context", message)
        return self.text("context")

    def _role(self, role: Role, required: bool = False) -> str | None:
        value = self.values.get(role.value)
        if value is None or (required and value == ""):
            if required:
                self.error("missing_role", f"{self.subject} has no {role.value}.")
            return None
        return self.sentence(role.value)

    def _condition(self) -> str:
        try:
            return normalise_condition(self.text("condition"))
        except InputError as error:
            self.error("unknown_condition", f"Item {self.place.item_id!r}: {error}")
            return ""

    def _language(self, condition: str) -> str:
        code = self.text("language")
        if not code:
            return language_of(condition) if condition else ""
        try:
            return normalise_language(code)
        except InputError as error:
            self.error("unknown_language", f"{self.subject}: {error}")
            return ""

    def _all_metadata(self) -> dict[str, Any]:
        """Columns beside the schema's, and what the object of metadata holds."""
        metadata = self.metadata(COLUMNS)
        try:
            more = plain(_object(self.values.get(METADATA)))
        except UnicodeError:
            self._invalid_unicode(METADATA)
            return metadata
        except (ValueError, TypeError, RecursionError) as error:
            self.error("bad_metadata", f"{self.subject} has {error} in {METADATA}.")
            return metadata
        if twice := [name for name in more if name in metadata]:
            message = f"{self.subject} has {listed(twice)} as a column and in {METADATA}."
            self.error("bad_metadata", message)
        return metadata | {name: v for name, v in more.items() if v not in (None, "")}

    def _native(self) -> bool:
        value = self.values.get("native")
        flag = False if value is None else _FLAGS.get(str(value).lower())
        if flag is None:
            self.error("bad_native", f"{self.subject} has native {value!r}; write true or false.")
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
        self.error("bad_answer_order", f"{self.subject} {message}.")
        return ()


def _object(value: Any) -> dict[str, Any]:
    """An object as JSON has it, also written as text, as CSV and Parquet hold it."""
    try:
        found = json.loads(value) if isinstance(value, str) else {} if value is None else value
    except ValueError:
        found = value
    if not isinstance(found, dict):
        raise ValueError("something other than a JSON object")
    return found


LAYOUT = Layout("native", "the program's own schema", is_native, read_rows)
