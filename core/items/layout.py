"""What the reader of one layout is: how it knows its files, and what it may be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.files.tables import Table
from core.items.metadata import FILL_IN
from core.items.rows import Row
from core.types import Problem


@dataclass(frozen=True)
class ReadOptions:
    """What a person may say about the rows that the file itself does not; each has a default."""

    language: str | None = None  # in its normal form, where the rows do not name theirs
    contexts: str = "ambiguous"  # of questions: "ambiguous" ones only, or "all"
    form: str = FILL_IN  # of sentences with a blank: "fill_in", or "sentence" without context
    # Role corrections by base id: {role: field that holds it}, or None for an item to leave out.
    labels: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)


Read = Callable[[Table, ReadOptions], tuple[list[Row], list[Problem]]]


@dataclass(frozen=True)
class Layout:
    """A layout of rows that data sets of this field come in."""

    name: str  # as `--format` takes it
    title: str  # as people call it
    detects: Callable[[Table], bool]  # whether a file's columns or first rows are of this layout
    read: Read
    options: frozenset[str] = frozenset()  # the fields of ReadOptions that mean something to it
