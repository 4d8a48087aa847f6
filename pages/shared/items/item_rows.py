"""The rows of the Items page: the table, its pages, and the way from one row to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.filtering import Matches
from core.analysis.items import POLES, has_choices_alone
from core.analysis.pair_card import PREFERENCES
from core.analysis.pair_items import has_one_rule
from core.selection import Selection
from core.words import counted
from pages.shared import state
from pages.shared.walk.component import walk_buttons

ROWS_PER_PAGE = 100
SHOWN = (
    *("item_id", "condition", "ss", "change", "n_stereotype", "n_anti", "category", "dimension"),
    *("source", "state", "flags"),
)
SHOWN_PAIRS = (
    *("item_id", "condition", "score_more", "score_less", "difference", "preferred"),
    *("preferred_other_rule", "n_unmodified", "ss", "category", "direction", "state", "flags"),
)
PREFERRED = ("preferred", "preferred_other_rule")
COLUMNS: dict[str, Any] = {
    "item_id": st.column_config.TextColumn("Item", pinned=True),
    "condition": st.column_config.TextColumn("Condition", help="Language, or language~rewording"),
    "ss": st.column_config.NumberColumn(
        "SS", format="%.3f", help="Stereotype score: above 0.5 the stereotype is more likely"
    ),
    "change": st.column_config.NumberColumn(
        "Change", format="%+.3f", help="SS minus the SS of the same item in English"
    ),
    "binary": st.column_config.TextColumn(
        "Preferred", help="The pole with the higher score; known without a mean per token too"
    ),
    "n_stereotype": st.column_config.NumberColumn("n+", help="Scored tokens, stereotype"),
    "n_anti": st.column_config.NumberColumn("n−", help="Scored tokens, anti-stereotype"),
    "category": "Category",
    "dimension": "Dimension",
    "source": "Source",
    "state": st.column_config.TextColumn(
        "State", help="scored; collapsed: both poles say the same; unscored: see the reason"
    ),
    "flags": st.column_config.ListColumn("Flags"),
    "score_more": st.column_config.NumberColumn(
        "Stereotype", format="%.2f", help="Summed log-probability of its unmodified tokens, nats"
    ),
    "score_less": st.column_config.NumberColumn(
        "Other", format="%.2f", help="Summed log-probability of its unmodified tokens, nats"
    ),
    "difference": st.column_config.NumberColumn(
        "Difference", format="%+.2f", help="Stereotype minus other, nats"
    ),
    "preferred": st.column_config.TextColumn(
        "Preferred", help="The sentence with the higher score; empty without scores"
    ),
    "preferred_other_rule": st.column_config.TextColumn(
        "By other rule", help="The preferred sentence by the rule that is not chosen above"
    ),
    "n_unmodified": st.column_config.NumberColumn(
        "n unmodified", help="Unmodified tokens of the stereotypical sentence"
    ),
    "direction": st.column_config.TextColumn(
        "Direction", help="stereo or antistereo, where the data set says so"
    ),
}

# Of a pair, SS is not the score: that is the difference.
COLUMNS_OF_PAIRS = COLUMNS | {
    "ss": st.column_config.NumberColumn(
        "SS, all tokens",
        format="%.3f",
        help="From the means over all tokens, also those that differ; the score of a pair is the "
        "difference, over its unmodified tokens",
    )
}


def shown_columns(table: pd.DataFrame) -> list[str]:
    """The columns of the table on the page: others where the data set holds pairs of sentences.

    `binary` is among them where scores from elsewhere give choices alone, and the preference by the
    other rule only where there is another rule.
    """
    if "preferred" in table:
        gone = {"preferred_other_rule"} if has_one_rule(table) else set()
        return [name for name in SHOWN_PAIRS if name not in gone]
    columns = list(SHOWN)
    if has_choices_alone(table):
        columns.insert(columns.index("ss"), "binary")
    return columns


def opened(table: pd.DataFrame, matches: Matches, selection: Selection) -> Selection:
    """The selection with an open item that exists, in a condition that passes where there is one.

    An item that the filters hide stays open: who filters does not want to lose it.
    """
    here = (table["item_id"] == selection.item).to_numpy(dtype=bool)
    if not here.any():
        first = table.iloc[matches.positions[0]]
        return replace(selection, item=str(first["item_id"]), condition=str(first["condition"]))
    conditions = table["condition"].iloc[matches.positions[here[matches.positions]]]
    if conditions.empty or (conditions == selection.condition).any():
        return selection
    return replace(selection, condition=str(conditions.iloc[0]))


def open_row(table: pd.DataFrame, matches: Matches, selection: Selection) -> int:
    """Place of the open item among the matching rows; -1 when a filter hides it."""
    fits = (table["item_id"] == selection.item) & (table["condition"] == selection.condition)
    here = fits.to_numpy(dtype=bool)[matches.positions]
    return next(iter(np.flatnonzero(here).tolist()), -1)


def step(table: pd.DataFrame, matches: Matches, place: int) -> None:
    """Open the row at a place among the matching ones, and turn to its page."""
    row = table.iloc[matches.positions[place]]
    state.change(item=row["item_id"], condition=row["condition"], page=int(place) // ROWS_PER_PAGE)


def show_table(
    table: pd.DataFrame,
    matches: Matches,
    selection: Selection,
    at: int,
    *,
    facts: pd.DataFrame | None = None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """One page of the matching rows; a click opens an item.

    Parameters
    ----------
    facts
        More columns, in the rows of the table.
    columns
        Those on the page with their labels, where they are not the usual ones.
    """
    first = selection.page * ROWS_PER_PAGE
    positions = matches.positions[first : first + ROWS_PER_PAGE]
    chosen = [at - first] if first <= at < first + len(positions) else []
    # Other rows, or another open item, are another table: a click always refers to what was seen.
    key = f"rows-{selection.scorer}-{selection.dataset}-{hash(positions.tobytes())}-{chosen}"

    def clicked() -> None:
        # Between two runs a table may tell once more what it was drawn with; that is no click.
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows != chosen:
            step(table, matches, first + rows[0])

    rows = table.iloc[positions]
    if facts is not None:
        rows = pd.concat([rows, facts.iloc[positions]], axis=1)
    rows = rows[list(columns or shown_columns(table))]
    words = {name: rows[name].map(PREFERENCES) for name in PREFERRED if name in rows}
    words |= {"binary": rows["binary"].map(POLES)} if "binary" in rows else {}
    st.dataframe(
        rows.assign(**words),
        column_config=columns or (COLUMNS_OF_PAIRS if "preferred" in rows else COLUMNS),
        hide_index=True,
        placeholder="–",
        height=390,
        on_select=clicked,
        selection_mode="single-row",
        selection_default={"selection": {"rows": chosen, "columns": [], "cells": []}},
        key=key,
    )


def turn_pages(matches: Matches, selection: Selection) -> None:
    """Which rows are shown of how many, with buttons to the pages before and after."""
    n = len(matches.positions)
    first = selection.page * ROWS_PER_PAGE
    last = min(first + ROWS_PER_PAGE, n)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"Showing {first + 1:,}–{last:,} of "
            f"{counted(n, 'row that passes', 'rows that pass')} "
            f"({matches.n_all:,} in all)"
        )
        for label, page, possible in (
            ("Previous rows", selection.page - 1, first > 0),
            ("Next rows", selection.page + 1, last < n),
        ):
            st.button(
                label,
                disabled=not possible,
                on_click=lambda page=page: state.change(page=page),
            )


def walk(table: pd.DataFrame, matches: Matches, at: int) -> None:
    """Buttons and keys to the item before and after the open one, or to the first."""
    n = len(matches.positions)

    def go(by: int) -> None:
        here = open_row(table, matches, state.current())  # a run may have ended before it came here
        step(table, matches, min(max(here + by, 0), n - 1))

    with st.container(horizontal=True, vertical_alignment="center"):
        walk_buttons("items", ("Previous item", "Next item"), at, n, go)
        st.caption(f"Row {at + 1} of {n}" if at >= 0 else "The filters hide the open item")
