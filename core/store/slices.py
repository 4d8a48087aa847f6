"""Slices: named parts of a data set, as a filter or as a list of items."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

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


def put_slice(cache: Cache, new: Slice, *, replace: bool = False) -> None:
    """Store a slice; the same one once more changes nothing.

    Parameters
    ----------
    replace
        Put it in the place of another one of that name, to which links may lead.

    Raises
    ------
    InputError
        The name is empty or too long, or taken by another slice of the data set; the slice is
        empty, or there is no such data set.
    """
    if not new.name.strip() or len(new.name) > LONGEST_NAME:
        raise InputError(f"A slice's name has 1 to {LONGEST_NAME} characters.")
    if not new.query and not new.item_ids:
        raise InputError("A slice needs a filter or at least one item.")
    with cache.writing() as con:
        check_dataset(con, new.dataset)
        if not replace and (held := _stored(con, new.dataset, new.name)) and _differ(held, new):
            raise InputError(
                f"{new.dataset} has a slice {new.name!r} of other items; choose another name, or "
                "replace that slice."
            )
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
        found = _stored(con, dataset, name)
    if found is None:
        known = ", ".join(slice_names(cache, dataset)) or "none yet"
        raise InputError(f"{dataset} has no slice {name!r} in this cache; it has {known}.")
    return found


def _stored(con: duckdb.DuckDBPyConnection, dataset: str, name: str) -> Slice | None:
    row = first_row(
        con, "SELECT query, item_ids FROM slice WHERE dataset = ? AND name = ?", [dataset, name]
    )
    return None if row is None else Slice(name, dataset, row[0], tuple(row[1]))


def _differ(one: Slice, other: Slice) -> bool:
    """Whether two slices may show different items, in whatever order they are listed."""
    return (one.query, set(one.item_ids)) != (other.query, set(other.item_ids))
