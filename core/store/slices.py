"""Slices: named parts of a data set, as a filter or as a list of items."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import InputError
from core.store.clock import utc_now
from core.store.fetch import first_row
from core.store.gate import Cache
from core.store.items import check_dataset

LONGEST_NAME = 100


@dataclass(frozen=True)
class Slice:
    """A named part of a data set: the rows that a filter leaves, or the items of a list."""

    name: str
    dataset: str
    query: str  # the filter as the query of an address; empty for a list
    item_ids: tuple[str, ...] = ()


def put_slice(cache: Cache, new: Slice) -> None:
    """Store a slice; one of that name in the data set is replaced.

    Raises
    ------
    InputError
        The name is empty or too long, the slice is empty, or there is no such data set.
    """
    if not new.name.strip() or len(new.name) > LONGEST_NAME:
        raise InputError(f"A slice's name has 1 to {LONGEST_NAME} characters.")
    if not new.query and not new.item_ids:
        raise InputError("A slice needs a filter or at least one item.")
    with cache.writing() as con:
        check_dataset(con, new.dataset)
        con.execute("DELETE FROM slice WHERE dataset = ? AND name = ?", [new.dataset, new.name])
        con.execute(
            "INSERT INTO slice VALUES (?, ?, ?, ?, ?)",
            [new.name, new.dataset, new.query, list(new.item_ids), utc_now()],
        )


def slice_names(cache: Cache, dataset: str) -> list[str]:
    """Names of a data set's slices, in alphabetical order."""
    with cache.reading() as con:
        rows = con.execute(
            "SELECT name FROM slice WHERE dataset = ? ORDER BY name", [dataset]
        ).fetchall()
    return [name for (name,) in rows]


def get_slice(cache: Cache, dataset: str, name: str) -> Slice:
    """A slice by name.

    Raises
    ------
    InputError
        There is none of that name; the message names those that there are.
    """
    with cache.reading() as con:
        row = first_row(
            con,
            "SELECT query, item_ids FROM slice WHERE dataset = ? AND name = ?",
            [dataset, name],
        )
    if row is None:
        known = ", ".join(slice_names(cache, dataset)) or "none yet"
        raise InputError(f"{dataset} has no slice {name!r} in this cache; it has {known}.")
    return Slice(name, dataset, row[0], tuple(row[1]))


def delete_slice(cache: Cache, dataset: str, name: str) -> None:
    """Remove a slice; nothing happens where there is none of that name."""
    with cache.writing() as con:
        con.execute("DELETE FROM slice WHERE dataset = ? AND name = ?", [dataset, name])
