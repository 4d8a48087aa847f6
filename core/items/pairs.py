"""What all layouts of sentence pairs have in common: directions, ids, and remarks on a pair.

A pair is an item without a context. White space in front of a sentence or label, which published
files have in hundreds of rows, is removed: scoring would fold it away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from core.files.places import Place, listed
from core.files.tables import Record, Table
from core.items.alignment import common_beginning, mostly_different, split_words
from core.items.rows import RowReader, id_text
from core.items.texts import is_collapsed
from core.types import Item, Problem
from core.words import counted

DIRECTION = "stereo_antistereo"
MISSPELT = "stereo_antistero"  # as the files of WinoQueer have it
DIRECTIONS = ("stereo", "antistereo")
TYPE = "bias_type"
NUMBERS = ("", "Unnamed: 0", "__index_level_0__")  # columns that pandas writes: the row's number
IDS = ("id", *NUMBERS, "index")


def id_column(table: Table, names: Sequence[str] = IDS) -> str | None:
    """The first of these columns that a table has."""
    return next((name for name in names if name in table.columns), None)


def pair_id(record: Record, number: int, column: str | None) -> str:
    """The id in a column; without one, the number of the row from 0."""
    return str(number) if column is None else id_text(record.values.get(column))


def row_number_note(place: Place, column: str | None) -> Iterator[Problem]:
    """That ids are numbers of rows where no column holds any: other files are joined by them."""
    if column is None:
        message = (
            f"No column is called {' or '.join(n for n in IDS if n.isalpha())}: the ids are the "
            "numbers of the rows, from 0, by which other files are joined too."
        )
        yield place.note("row_numbers", message)


def rows_note(
    place: Place, kind: str, rows: Sequence[int | None], message: str
) -> Iterator[Problem]:
    """One note on a file about rows that have something in common, if there are any."""
    if rows:
        numbers = listed([str(row) for row in rows])
        yield place.note(kind, f"{counted(len(rows), 'row')} {message}: {numbers}.")


def leading_space_note(place: Place, rows: Sequence[int | None]) -> Iterator[Problem]:
    """How many rows have white space in front of what they hold."""
    message = "with white space in front of a sentence or label, which was removed"
    yield from rows_note(place, "leading_space", rows, message)


def is_mostly_different(more: str, less: str) -> bool:
    """Whether more than half of the longer sentence's words have no match in the other one."""
    a, b = more.split(), less.split()
    begin = common_beginning(a, b)
    end = common_beginning(a[begin:][::-1], b[begin:][::-1])
    longer = max(len(a), len(b))
    # Most pairs need no alignment: what stands between white space holds three words at most, as
    # "(he)" does, so a quarter of it is no more than half of the words.
    if 4 * (longer - begin - end) <= longer:
        return False
    return mostly_different(split_words(more), split_words(less))


class PairReader(RowReader):
    """Reads one pair and collects what is wrong or remarkable in its row."""

    has_leading_space = False

    def sentence(self, column: str) -> str:
        """The text in a column, of which something has to be visible, from its first letter on."""
        return self._from_first_letter(super().sentence(column))

    def label(self, column: str) -> str:
        """The text in a column without white space around it; of a whole number, its digits."""
        value = self.values.get(column)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self._from_first_letter(super().text(column)).rstrip()

    def direction(self, column: str) -> str:
        """Whether the pair is about a disadvantaged group (stereo) or not (antistereo)."""
        direction = self.label(column)
        if direction not in DIRECTIONS:
            message = f"The row has {direction!r} in {column}; write {' or '.join(DIRECTIONS)}."
            self.error("bad_direction", message)
        return direction

    def metadata(self, without: Collection[str | None]) -> dict[str, Any]:
        """All other columns that hold something, but for the numbers of rows."""
        return super().metadata({*without, *NUMBERS})

    def pair(
        self, more: str, less: str, *, source: str, category: str, metadata: dict[str, Any]
    ) -> Item | None:
        """The item of two sentences, the stereotypical one first; None where the row has an error.

        What is remarkable about it is noted.
        """
        if self.failed:
            return None
        item = Item(
            item_id=self.item_id,
            condition=self.condition,
            context="",
            stereotype=more,
            anti_stereotype=less,
            language=self.condition,
            source=source,
            category=category,
            metadata=metadata,
        )
        self.remark(item)
        return item

    def remark(self, item: Item) -> None:
        """Note what a pair lacks."""
        if not item.category:
            self.note("missing_type", f"The row has no {TYPE}: it counts in no type.")
        if is_mostly_different(item.stereotype, item.anti_stereotype) and not is_collapsed(item):
            message = (
                "More than half of the words differ between the two sentences, so that little is"
                " left to compare."
            )
            self.note("mostly_different", message)

    def _from_first_letter(self, text: str) -> str:
        stripped = text.lstrip()
        self.has_leading_space |= stripped != text
        return stripped
