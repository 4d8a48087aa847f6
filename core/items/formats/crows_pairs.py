"""Sentence pairs in the layout of CrowS-Pairs (Nangia et al. 2020): one row per pair.

    id, sent_more, sent_less, stereo_antistereo, bias_type

`sent_more` is the stereotypical sentence in every row, also where `stereo_antistereo` says that it
is about an advantaged group and the other about a disadvantaged one. A row becomes an item without
a context; the direction and all other columns become its metadata. A file is in one language.

Traps of the published files:

- The id is in a first column without a name (English), or in `id` (Dutch, French).
- The direction's column is misspelt `stereo_antistero` in files of the WinoQueer family.
- Direction and type belong to a language: they differ between the Dutch, French and English rows
  of one pair.
- Labels and sentences begin with a space in hundreds of rows.
- On the Hugging Face hub the labels are numbers: 0 is stereo, 1 antistereo; types as `HUB_TYPES`.
- Files of results have the same columns and scores besides; they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.files.tables import Table
from core.items.file_language import language_of_table
from core.items.layout import Layout, ReadOptions
from core.items.pairs import (
    DIRECTION,
    MISSPELT,
    TYPE,
    PairReader,
    id_column,
    leading_space_note,
    pair_id,
    row_number_note,
    rows_note,
)
from core.items.rows import Row, column_errors
from core.types import Item, Problem, Severity

SENTENCES = ("sent_more", "sent_less")
RESULTS = ("sent_more_score", "sent_less_score")
HUB_TYPES = (
    "race-color",
    "socioeconomic",
    "gender",
    "disability",
    "nationality",
    "sexual-orientation",
    "physical-appearance",
    "religion",
    "age",
)
_HUB_DIRECTIONS = {"0": "stereo", "1": "antistereo"}


def looks_like_pairs(table: Table) -> bool:
    """Whether a table's header is that of sentence pairs."""
    return set(SENTENCES) <= set(table.columns)


def read_pairs(
    table: Table, options: ReadOptions, source: str = "crows_pairs"
) -> tuple[list[Row], list[Problem]]:
    """Turn a table of sentence pairs into items; every problem of every row is reported.

    Without a language among the options it is taken from the file's name, else English is assumed;
    a note says which.
    """
    misspelt = DIRECTION not in table.columns and MISSPELT in table.columns
    direction = MISSPELT if misspelt else DIRECTION
    problems = list(_column_problems(table, direction))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return [], problems
    if misspelt:
        message = f"The column {MISSPELT} was read as {DIRECTION}."
        problems.append(table.place.note("misspelt_column", message))
    condition, notes = language_of_table(table.place, options)
    problems += notes
    ids = id_column(table)
    problems += row_number_note(table.place, ids)
    rows = []
    spaced, numbered = [], []  # numbers of rows
    for number, record in enumerate(table.records):
        reader = _RowReader(record, pair_id(record, number, ids), condition)
        rows.append(Row(reader.place, reader.item(direction, ids, source)))
        spaced += [record.place.row] * reader.has_leading_space
        numbered += [record.place.row] * reader.is_numbered
        problems += reader.problems
    problems += leading_space_note(table.place, spaced)
    message = "whose labels are numbers, read as the Hugging Face hub numbers them"
    problems += rows_note(table.place, "numbered_labels", numbered, message)
    return rows, problems


def _column_problems(table: Table, direction: str) -> Iterator[Problem]:
    results = [name for name in RESULTS if name in table.columns]
    if results:
        message = (
            f"The file holds results ({', '.join(results)}), it is not a data set; import-scores "
            "reads results."
        )
        yield table.place.error("wrong_columns", message)
    else:
        yield from column_errors(table, (*SENTENCES, direction, TYPE))


class _RowReader(PairReader):
    """Reads one row of this layout."""

    is_numbered = False

    def item(self, direction_column: str, id_column: str | None, source: str) -> Item | None:
        more, less = (self.sentence(column) for column in SENTENCES)
        self.is_numbered = self.label(direction_column) in _HUB_DIRECTIONS
        direction = self.direction(direction_column)
        category = self._type()
        named = {*SENTENCES, direction_column, TYPE, id_column}
        metadata = {DIRECTION: direction, **self.metadata(named)}
        return self.pair(more, less, source=source, category=category, metadata=metadata)

    def direction(self, column: str) -> str:
        if self.is_numbered:
            return _HUB_DIRECTIONS[self.label(column)]
        return super().direction(column)

    def _type(self) -> str:
        label = self.label(TYPE)
        if not self.is_numbered or not label:
            return label
        if label.isdecimal() and int(label) < len(HUB_TYPES):
            return HUB_TYPES[int(label)]
        message = f"The row has {label!r} in {TYPE}, but its direction is a number: write 0 to 8."
        self.error("bad_type", message)
        return label


LAYOUT = Layout("crows-pairs", "CrowS-Pairs", looks_like_pairs, read_pairs, frozenset({"language"}))
