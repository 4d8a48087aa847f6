"""What lists have in common (axes, concepts, ratings): a file, its columns, and texts in cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from core.errors import InputError
from core.files.places import listed, printable, refusal
from core.files.reading import read_files
from core.files.tables import Record, Table, read_table
from core.types import Problem, Severity

# A word, a phrase or a name; a model reads each in a sentence, and messages and tables name it.
MOST_CHARACTERS = 200
SHOWN = 20  # characters of a text that is too long


def read_list(path: Path, required: Sequence[str], optional: Sequence[str]) -> Table:
    """The one data file at a path, with the columns that a list needs and a note on the others.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        It cannot be read, or a required column is missing.
    """
    if path.is_dir():
        raise InputError(printable(f"{path} is a folder; name the file in it."))
    ((file,), _) = read_files(path)
    table = read_table(file)
    missing = [name for name in required if name not in table.columns]
    if missing:
        columns = listed([printable(name) for name in table.columns])
        message = f"Missing columns: {listed(missing)}; the file has {columns}."
        raise refusal(path, [table.place.error("wrong_columns", message)])
    others = [printable(c) for c in table.columns if c not in (*required, *optional)]
    if others:
        message = f"Columns without a meaning here: {listed(others)}; not read."
        table.problems.append(table.place.note("column_ignored", message))
    return table


def text_of(record: Record, column: str, *, most: int = MOST_CHARACTERS) -> str:
    """The text in a cell with single spaces, or "" where there is none.

    Raises
    ------
    InputError
        The cell holds no text, one of more than `most` characters, or one that cannot be written.
    """
    value = record.values.get(column)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{column} is {printable(repr(value))}, which is no text.")
    text = " ".join(value.split())
    if len(text) > most:
        raise InputError(
            f"{column} has {len(text):,} characters ({printable(text[:SHOWN])!r} …); write at most "
            f"{most}."
        )
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise InputError(f"{column} holds a character that cannot be written: {text!r}.")
    return text


def folded(text: str) -> str:
    """What two texts have in common that a reader takes for the same one."""
    return unicodedata.normalize("NFKC", text).casefold()


def refuse_errors(path: Path, problems: Sequence[Problem]) -> None:
    """Refuse the file if a problem is an error.

    Raises
    ------
    DataSetError
        At least one is; it carries all problems.
    """
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise refusal(path, problems)
