"""How many texts a data set asks for, and how many of them are distinct."""

from __future__ import annotations

from typing import NamedTuple

from core.store.fetch import first_row
from core.store.gate import Cache
from core.store.items import check_dataset


class TextCounts(NamedTuple):
    """Texts of the items of a data set, in all their roles; collapsed items are not scored."""

    requested: int  # each as often as items ask for it
    distinct: int  # each once, as it is computed


def text_counts(cache: Cache, dataset: str) -> TextCounts:
    """Count the texts of a data set.

    Raises
    ------
    InputError
        There is no such data set.
    """
    with cache.reading() as con:
        check_dataset(con, dataset)
        row = first_row(
            con,
            "SELECT count(*), count(DISTINCT text_id) FROM item_text "
            "WHERE dataset = ? AND NOT collapsed",
            [dataset],
        )
    return TextCounts(*row) if row else TextCounts(0, 0)
