"""Which layouts the files of a data set have, before anything is read into items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.files.encoding import check_encoding
from core.files.tables import read_table
from core.items.hub import read_source
from core.items.layout import Layout
from core.items.layouts import detected_layout


@dataclass(frozen=True)
class Detected:
    """The layouts that the columns and first rows of the files show."""

    layouts: tuple[Layout, ...]  # in the order of the files, each once
    unknown: tuple[str, ...]  # files of no layout, which are read as the program's own schema


def detect(path: Path, encoding: str | None = None) -> Detected:
    """Look at the files of a data set.

    Raises
    ------
    InputError
        There is nothing to read, or the encoding is not known.
    DataSetError
        A file cannot be used as a whole.
    """
    encoding = None if encoding is None else check_encoding(encoding)
    files, _, _ = read_source(path)
    layouts: dict[str, Layout] = {}
    unknown = []
    for file in files:
        table = read_table(file, encoding)
        layout = detected_layout(table)
        layouts[layout.name] = layout
        if not layout.detects(table):
            unknown.append(table.place.file)
    return Detected(tuple(layouts.values()), tuple(unknown))
