"""Sentence pairs in the layout of CrowS-Pairs (Nangia et al. 2020): one row per pair.

    id, sent_more, sent_less, stereo_antistereo, bias_type

`sent_more` is the stereotypical sentence in every row, also where `stereo_antistereo` says that it
is about an advantaged group and the other about a disadvantaged one. A row becomes an item without
a context; the direction and all other columns become its metadata. A file is in one language.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.files.tables import Table
from core.items.alignment import mostly_different, split_words
from core.items.file_language import language_of_table
from core.items.layout import Layout, ReadOptions
from core.items.rows import Row, RowReader, column_errors, id_text
from core.items.texts import is_collapsed
from core.types import Item, Problem, Severity

DIRECTION = "stereo_antistereo"
DIRECTIONS = ("stereo", "antistereo")
TYPE = "bias_type"
SENTENCES = ("sent_more", "sent_less")
REQUIRED = (*SENTENCES, DIRECTION, TYPE)
IDS = ("id", "", "Unnamed: 0", "index", "__index_level_0__")  # unnamed in the published file
RESULTS = ("sent_more_score", "sent_less_score")


def looks_like_pairs(table: Table) -> bool:
    """Whether a table's header is that of sentence pairs."""
    return set(SENTENCES) <= set(table.columns)


def read_pairs(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn a table of sentence pairs into items; every problem of every row is reported.

    Without a language among the options it is taken from the file's name, else English is assumed;
    a note says which.
    """
    problems = list(_column_problems(table))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return [], problems
    condition, notes = language_of_table(table.place, options)
    problems += notes
    id_column = next((name for name in IDS if name in table.columns), None)
    rows = []
    for number, record in enumerate(table.records):
        item_id = str(number) if id_column is None else id_text(record.values.get(id_column))
        reader = _PairReader(record, item_id, condition)
        rows.append(Row(reader.place, reader.item(id_column)))
        problems += reader.problems
    return rows, problems


def _column_problems(table: Table) -> Iterator[Problem]:
    results = [name for name in RESULTS if name in table.columns]
    if results:
        message = (
            f"The file holds results ({', '.join(results)}), it is not a data set; import-scores "
            "reads results."
        )
        yield table.place.error("wrong_columns", message)
    else:
        yield from column_errors(table, REQUIRED)


class _PairReader(RowReader):
    """Reads one row and collects what is wrong or remarkable in it."""

    def item(self, id_column: str | None) -> Item | None:
        more, less = (self.sentence(column) for column in SENTENCES)
        direction = self.label(DIRECTION)
        if direction not in DIRECTIONS:
            message = f"The row has {direction!r} in {DIRECTION}; write {' or '.join(DIRECTIONS)}."
            self.error("bad_direction", message)
        category = self.label(TYPE)
        metadata = {DIRECTION: direction, **self.metadata({*REQUIRED, id_column})}
        if self.failed:
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

    def _remark(self, item: Item) -> None:
        if not item.category:
            self.note("missing_type", f"The row has no {TYPE}: it counts in no type.")
        words = [split_words(text) for text in (item.stereotype, item.anti_stereotype)]
        if not is_collapsed(item) and mostly_different(*words):
            message = (
                "More than half of the words differ between the two sentences, so that little is"
                " left to compare."
            )
            self.note("mostly_different", message)


LAYOUT = Layout("crows-pairs", "CrowS-Pairs", looks_like_pairs, read_pairs, frozenset({"language"}))
