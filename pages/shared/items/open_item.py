"""The card of the open item, with the way to its neighbours among the rows of a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.filtering import Matches
from core.analysis.pair_items import Rules
from core.selection import Selection
from pages.shared.data import open_cache, read_item, read_provenance, read_rules
from pages.shared.items.item_card import item_card
from pages.shared.items.item_rows import open_row, walk

NEIGHBOURS = 12  # items read together, so that steps need not open the cache


def show_item(table: pd.DataFrame, matches: Matches, selection: Selection) -> Selection:
    """Steps to the neighbours, and the card of the open item; the reader may turn it over.

    Parameters
    ----------
    table
        As `read_items` gives it, of the selection's scorer and data set.
    """
    at = open_row(table, matches, selection)
    walk(table, matches, at)
    first = at - at % NEIGHBOURS
    neighbours = table["item_id"].iloc[matches.positions[first : first + NEIGHBOURS]]
    condition = item_card(
        open_cache(),
        selection.scorer,
        selection.dataset,
        read_item(selection.scorer, selection.dataset, selection.item, neighbours),
        selection.item,
        selection.condition,
        selection.compare or None,
        provenance=read_provenance(selection.scorer, selection.dataset),
        pairs=_pairs_of(selection, table),
        unit=selection.unit,
    )
    return replace(selection, condition=condition)


def _pairs_of(selection: Selection, table: pd.DataFrame) -> Rules:
    """The open item by both rules of pairs."""
    rules = read_rules(selection.scorer, selection.dataset)
    here = np.flatnonzero(table["item_id"] == selection.item)
    return {unit: rows.iloc[here] for unit, rows in rules.items()}
