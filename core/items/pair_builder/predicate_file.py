"""The predicates of a folder: a plain list of one's own, or the published file with its survey."""

from __future__ import annotations

from pathlib import Path

from core.files.reading import read_files
from core.files.rows import read_list
from core.files.tables import read_table
from core.items.predicate_rows import PLAIN, PUBLISHED
from core.items.predicates import Predicates, predicates_of, read_predicates


def read_predicate_file(path: Path) -> Predicates:
    """The predicates of a file in either layout.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        It cannot be read, a column is missing, or a row has an error; the error carries them all.
    """
    if is_published(path):
        return read_predicates(path)
    table = read_list(path, PLAIN.needed, (*PLAIN.answers, *PLAIN.others))
    return predicates_of(path, table, PLAIN)


def is_published(path: Path) -> bool:
    """Whether the file has the columns of WinoQueer-NL's rather than those of a plain list."""
    ((file,), _) = read_files(path)
    columns = read_table(file).columns
    return PUBLISHED.text in columns and not set(PLAIN.needed) <= set(columns)
