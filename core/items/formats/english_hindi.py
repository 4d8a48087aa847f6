"""Sentence pairs in English and Hindi, in the layout of IndiBias (Sahoo et al. 2024).

    index, modified_eng_sent_more, modified_eng_sent_less, sent_more_hindi, sent_less_hindi,
    bias_type, stereo_antistereo

A row becomes two items with one id: the pair in `en` and its translation in `hi`, which share type
and direction. As in CrowS-Pairs `..._more` is the stereotypical sentence.

Traps:

- A first column without a name numbers the rows; the id that holds across files is `index`.
- A row may lack its Hindi pair (or its English one): it becomes one item, and a note says so. With
  one sentence of the two it is refused.
- The pairs that come from CrowS-Pairs keep its rule, by which `..._more` is the stereotypical
  sentence of an `antistereo` row too. In the published file many antistereo rows that were written
  anew, those about caste above all, have under `..._more` a sentence that contradicts the
  stereotype. The layout does not tell them apart; a note counts the antistereo rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.files.tables import Table
from core.items.layout import Layout, ReadOptions
from core.items.pairs import (
    DIRECTION,
    TYPE,
    PairReader,
    id_column,
    leading_space_note,
    pair_id,
    row_number_note,
    rows_note,
)
from core.items.rows import Row, column_errors
from core.items.texts import visible
from core.types import Item, Problem

Columns = dict[str, tuple[str, str]]

# Columns of the stereotypical and the other sentence, by condition.
SENTENCES: Columns = {
    "en": ("modified_eng_sent_more", "modified_eng_sent_less"),
    "hi": ("sent_more_hindi", "sent_less_hindi"),
}
IDS = ("index", "id", "", "Unnamed: 0")


def looks_like_english_hindi(table: Table) -> bool:
    """Whether a table's header has English or Hindi sentences as this layout names them."""
    return bool(_languages(table))


def read_english_hindi(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn every row into a pair in each of its languages; every problem is reported."""
    languages = _languages(table) or SENTENCES
    sentences = [column for columns in languages.values() for column in columns]
    problems = list(column_errors(table, (*sentences, DIRECTION, TYPE)))
    if problems:
        return [], problems
    ids = id_column(table, IDS)
    problems += row_number_note(table.place, ids)
    rows: list[Row] = []
    spaced = []
    for number, record in enumerate(table.records):
        reader = _RowReader(record, pair_id(record, number, ids))
        rows += reader.rows(languages, ids)
        spaced += [record.place.row] * reader.has_leading_space
        problems += reader.problems
    problems += leading_space_note(table.place, spaced)
    problems += _antistereo_note(table, rows)
    return rows, problems


def _languages(table: Table) -> Columns:
    """The languages of which a table has a column, with the columns of both their sentences."""
    here = set(table.columns)
    return {code: both for code, both in SENTENCES.items() if not here.isdisjoint(both)}


def _antistereo_note(table: Table, rows: list[Row]) -> Iterator[Problem]:
    items = [(row.place.row, row.item) for row in rows if row.item is not None]
    turned = {row: None for row, item in items if item.metadata[DIRECTION] == "antistereo"}
    message = (
        "labelled antistereo, whose first sentence is taken for the stereotypical one as in"
        " CrowS-Pairs, though in the published file some contradict the stereotype; read both"
        " directions apart"
    )
    yield from rows_note(table.place, "antistereo_roles", list(turned), message)


class _RowReader(PairReader):
    """Reads one row of this layout: its labels once, and the pair in every language."""

    def rows(self, languages: Columns, id_column: str | None) -> list[Row]:
        direction, category = self.direction(DIRECTION), self.label(TYPE)
        named = {column for columns in languages.values() for column in columns}
        metadata = self.metadata({*named, DIRECTION, TYPE, id_column})
        there = [code for code in languages if any(map(self._holds_text, languages[code]))]
        if not there:
            self.error("empty_text", "The row has no sentence in any language.")
        elif missing := [code for code in languages if code not in there]:
            message = f"The row has no pair in {', '.join(missing)}, only in {', '.join(there)}."
            self.note("missing_translation", message)
        items = []
        for code in there:
            self.place = self.place.of(self.item_id, code)
            more, less = map(self.sentence, languages[code])
            item = Item(
                item_id=self.item_id,
                condition=code,
                context="",
                stereotype=more,
                anti_stereotype=less,
                language=code,
                source="indibias",
                category=category,
                metadata={DIRECTION: direction, **metadata},
            )
            items.append((self.place, item))
        if self.failed:
            return [Row(place, None) for place, _ in items]
        for self.place, item in items:
            self.remark(item)
        return [Row(place, item) for place, item in items]

    def _holds_text(self, column: str) -> bool:
        value = self.values.get(column)
        return bool(visible(value).strip()) if isinstance(value, str) else value is not None


LAYOUT = Layout(
    "english-hindi", "English/Hindi pairs", looks_like_english_hindi, read_english_hindi
)
