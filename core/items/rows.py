"""Rows on their way to items: their texts and labels, and what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.files.places import Place, listed, printable, shown
from core.files.tables import Record, Table
from core.items.texts import visible
from core.items.values import is_valid, plain
from core.types import Item, Problem, Severity


@dataclass(frozen=True, slots=True)
class Row:
    """A row as read: where it is, and its item unless the row has an error."""

    place: Place
    item: Item | None


def column_errors(table: Table, required: Sequence[str]) -> Iterator[Problem]:
    """Errors for columns that a layout needs and a table lacks, and for names that are no text."""
    missing = [name for name in required if name not in table.columns]
    if missing:
        columns = listed([repr(name) for name in table.columns])
        message = f"Columns are missing: {', '.join(missing)}; the file has {columns}."
        yield table.place.error("wrong_columns", printable(message))
    if not all(is_valid(name) for name in table.columns):
        message = "A column's name holds a NUL or a lone surrogate."
        yield table.place.error("invalid_unicode", message)


def id_text(value: Any) -> str:
    """An id as text: a whole number or a text, "" for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


class RowReader:
    """Gives the values of one row and collects what is wrong or remarkable in it.

    A row with an error makes no item; what it has beside the error is still read, so that all of
    its problems are found at once.

    Parameters
    ----------
    record
        The row; NaN, which pandas writes for a missing value, counts as missing.
    item_id, condition
        Of the item that the row becomes, as far as they are known: problems name them.
    """

    def __init__(self, record: Record, item_id: str, condition: str = "") -> None:
        self.place = record.place.of(item_id, condition)
        self.values: Mapping[str, Any] = {k: _nan_as_none(v) for k, v in record.values.items()}
        self.item_id = item_id
        self.condition = condition
        self.subject = "The row"  # of the sentences about it
        self.problems: list[Problem] = []
        if not item_id.strip():
            self.error("missing_item_id", "The row has no id that is a text or a whole number.")
        if not is_valid(item_id):
            self._invalid_unicode("its id")

    @property
    def failed(self) -> bool:
        """Whether the row has an error."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    def error(self, kind: str, message: str) -> None:
        self.problems.append(self.place.error(kind, printable(message)))

    def note(self, kind: str, message: str) -> None:
        self.problems.append(self.place.note(kind, printable(message)))

    def text(self, column: str) -> str:
        """The text in a column as it stands; "" where nothing is, an error where no text is."""
        return self.checked(self.values.get(column), column)

    def label(self, column: str) -> str:
        """The text in a column without white space around it."""
        return self.text(column).strip()

    def sentence(self, column: str) -> str:
        """The text in a column, of which something has to be visible."""
        return self.visible(self.values.get(column), column)

    def checked(self, value: Any, name: str) -> str:
        """A value that has to be a text or missing; `name` says in a message what it is."""
        if value is not None and not isinstance(value, str):
            self.error(
                "not_text", f"{self.subject} has {shown(value)} in {name}, which is not a text."
            )
            return ""
        if value is not None and not is_valid(value):
            self._invalid_unicode(name)
        return value or ""

    def visible(self, value: Any, name: str) -> str:
        """A value that has to be a text in which something is visible."""
        text = self.checked(value, name)
        if isinstance(value, str | None) and not visible(text).strip():
            self.error("empty_text", f"{self.subject} has nothing visible in {name}.")
        return text

    def metadata(self, without: Collection[str | None]) -> dict[str, Any]:
        """All other columns that hold something, as JSON can hold them."""
        metadata = {}
        for name, value in self.values.items():
            if name in without or value is None or value == "":
                continue
            try:
                metadata[name] = plain(value)
            except UnicodeError:
                self._invalid_unicode(name)
            except (TypeError, RecursionError) as error:
                self.error("bad_metadata", f"{self.subject} has {error} in {name}.")
        return metadata

    def _invalid_unicode(self, name: str) -> None:
        message = f"{self.subject} has a NUL or a lone surrogate in {name}."
        self.error("invalid_unicode", message)


def _nan_as_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
