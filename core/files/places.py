"""Where a problem was found, and how a refusal is worded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import DataSetError
from core.types import Problem, Severity
from core.words import counted

SPELT_OUT = 3  # problems spelt out in the message of a refusal
SHOWN = 60  # characters of a value in one sentence
NAMED = 10  # items named in one sentence


@dataclass(frozen=True, slots=True)  # one for every row of a file
class Place:
    """A row of a file and, once known, the item in it."""

    file: str
    row: int | None = None
    item_id: str = ""
    condition: str = ""

    def of(self, item_id: str, condition: str) -> Place:
        return replace(self, item_id=printable(item_id), condition=printable(condition))

    def error(self, kind: str, message: str) -> Problem:
        return self._problem(Severity.ERROR, kind, message)

    def note(self, kind: str, message: str, n: int | None = None) -> Problem:
        return self._problem(Severity.NOTE, kind, message, n)

    def _problem(
        self, severity: Severity, kind: str, message: str, n: int | None = None
    ) -> Problem:
        where = (self.file, self.row, self.item_id, self.condition)
        return Problem(severity, kind, message, *where, n)

    def __str__(self) -> str:
        return f"{self.file} row {self.row}" if self.row else self.file


def printable(text: str) -> str:
    """The text with lone surrogates escaped, so that it can be written anywhere."""
    escaped = text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    return text if escaped == text else escaped  # rows share the text instead of a copy


def shown(value: object) -> str:
    """A value as a message shows it: cut, however long it is."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def listed(names: Sequence[str]) -> str:
    """The names in one line, cut after the first ten with the number of the others."""
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + rest


def refusal(path: Path, problems: Sequence[Problem]) -> DataSetError:
    """The error that refuses a data set: counts its errors and spells out the first ones."""
    errors = [p for p in problems if p.severity is Severity.ERROR]
    lines = [_line(problem, path) for problem in errors[:SPELT_OUT]]
    if len(errors) > SPELT_OUT:
        lines.append(f"and {len(errors) - SPELT_OUT} more")
    count = counted(len(errors), "problem")
    return DataSetError(printable(f"{count} in {path}: {'; '.join(lines)}"), tuple(problems))


def _line(problem: Problem, path: Path) -> str:
    file = "" if problem.file in ("", path.name) else problem.file
    row = f"row {problem.row}" if problem.row else ""
    where = " ".join(part for part in (file, row) if part)
    return f"{where}: {problem.message}" if where else problem.message
