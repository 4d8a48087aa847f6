"""Which rows of an item table a selection leaves, and which filter took the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.items import item_table
from core.analysis.pair_items import pair_rules, with_pairs
from core.errors import InputError
from core.selection import SORTS, Selection, active_filters, parse_link
from core.store.gate import Cache
from core.store.search import find_rows
from core.store.slices import get_slice

Mask = npt.NDArray[np.bool_]
Search = Callable[..., npt.NDArray[np.int64]]  # as `find_rows`

# Fields of a selection that hold the allowed values of a column.
_CHOICES = {
    "conditions": "condition",
    "sources": "source",
    "categories": "category",
    "dimensions": "dimension",
    "states": "state",
    "preferences": "preferred",
}
# Sorts by the size of a column.
_SIZES = {"abs_change": "change", "abs_difference": "difference"}
# Fields that bound a column from below or above.
_BOUNDS: dict[str, tuple[str, Callable[[pd.Series, float], pd.Series]]] = {
    "ss_min": ("ss", pd.Series.ge),
    "ss_max": ("ss", pd.Series.le),
    "change_min": ("change", pd.Series.ge),
    "change_max": ("change", pd.Series.le),
}


@dataclass(frozen=True)
class Matches:
    """The rows that pass, in the selection's order."""

    positions: npt.NDArray[np.intp]  # into the table
    n_all: int
    without: dict[str, int]  # active filter -> rows that would pass if it alone were taken off


def matching(
    cache: Cache, table: pd.DataFrame, selection: Selection, *, search: Search = find_rows
) -> Matches:
    """Filter and sort an item table.

    Parameters
    ----------
    table
        Of `item_table`, all rows of the selection's scorer and data set, with the columns of pairs
        where they are filtered or sorted by.
    search
        Finds the rows that hold a text; a page brings one that remembers.

    Raises
    ------
    InputError
        The regular expression cannot be read, or there is no such slice.
    """
    masks = {
        name: _mask(cache, table, selection, name, search) for name in active_filters(selection)
    }
    passed = _all(list(masks.values()), len(table))
    others = {
        name: int(_all([m for n, m in masks.items() if n != name], len(table)).sum())
        for name in masks
    }
    positions = np.flatnonzero(passed)
    return Matches(positions[_order(table, selection, positions)], len(table), others)


def unknown_values(table: pd.DataFrame, selection: Selection) -> dict[str, list[str]]:
    """Values that a selection asks for and no row of the table has, by filter."""
    unknown = {}
    for name, column in _CHOICES.items():
        if wanted := set(getattr(selection, name)):
            unknown[name] = sorted(wanted - set(_values(table, column)))
    return {name: values for name, values in unknown.items() if values}


def sorts_of(table: pd.DataFrame) -> list[str]:
    """The sorts that an item table has a column for."""
    return [name for name in SORTS if name == "order" or _SIZES.get(name, name) in table]


def _values(table: pd.DataFrame, column: str) -> list[str]:
    return [v for v in table[column].dropna().unique() if v] if column in table else []


def _mask(
    cache: Cache, table: pd.DataFrame, selection: Selection, name: str, search: Search
) -> Mask:
    """Which rows pass one filter. An undefined score passes no bound."""
    value = getattr(selection, name)
    if name in _CHOICES:
        passed = table[_CHOICES[name]].isin(value)
    elif name in _BOUNDS:
        column, compare = _BOUNDS[name]
        passed = compare(table[column], value)
    elif name == "flags":
        wanted = set(value)
        passed = table["flags"].map(lambda flags: not wanted.isdisjoint(flags))
    elif name == "text":
        found = search(cache, selection.dataset, value, regex=selection.regex)
        passed = table["row_order"].isin(found)
    else:
        return _slice_mask(cache, table, selection, search)
    return passed.to_numpy(dtype=bool)


def _slice_mask(cache: Cache, table: pd.DataFrame, selection: Selection, search: Search) -> Mask:
    part = get_slice(cache, selection.dataset, selection.slice)
    if part.item_ids:
        return table["item_id"].isin(part.item_ids).to_numpy(dtype=bool)
    inner, _ = parse_link(part.query)
    inner = replace(inner, dataset=selection.dataset, slice="")
    return _all([_mask(cache, table, inner, n, search) for n in active_filters(inner)], len(table))


def _all(masks: list[Mask], n: int) -> Mask:
    return np.logical_and.reduce(masks) if masks else np.ones(n, dtype=bool)


def _order(
    table: pd.DataFrame, selection: Selection, positions: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Stable order of the passing rows: ties keep the table's order, undefined goes last."""
    if selection.sort == "order":
        order = np.arange(len(positions))
        return order[::-1] if selection.descending else order
    column = _SIZES.get(selection.sort, selection.sort)
    keys = table[column].iloc[positions].reset_index(drop=True)
    if selection.sort in _SIZES:
        keys = keys.abs()
    ordered = keys.sort_values(
        ascending=not selection.descending, kind="stable", na_position="last"
    )
    return ordered.index.to_numpy()


def selected_table(cache: Cache, selection: Selection) -> pd.DataFrame:
    """The rows that a selection leaves, in its order, with every column of `item_table`.

    Where the data set holds pairs of sentences, with the columns of `with_pairs` too. What a page
    shows, a download holds, the command line exports and a snippet computes.

    Raises
    ------
    InputError
        There is no such data set or slice, the regular expression cannot be read, or the
        selection asks for a value or an order that the data set does not have.
    """
    table = item_table(cache, selection.scorer, selection.dataset)
    rules = pair_rules(cache, table, selection.scorer, selection.dataset)
    table = with_pairs(table, rules, selection.unit)
    for name, values in unknown_values(table, selection).items():
        known = ", ".join(_values(table, _CHOICES[name])) or "none at all"
        raise InputError(
            f"{selection.dataset} has no {_CHOICES[name]} {', '.join(values)}; it has {known}."
        )
    if selection.sort not in sorts_of(table):
        raise InputError(
            f"{selection.dataset} holds no pairs of sentences, so it has no order by "
            f"{SORTS[selection.sort]}."
        )
    rows = table.iloc[matching(cache, table, selection).positions]
    return rows.drop(columns="row_order").reset_index(drop=True)
