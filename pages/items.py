"""Items: what happened to this item?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.filtering import Matches, matching, selected_table
from core.analysis.overview import scorer_labels
from core.analysis.pair_card import PREFERENCES
from core.analysis.pair_items import Rules, summary_sentences
from core.errors import InputError
from core.selection import Selection, without
from core.stats.noise import RewordingNoise
from pages.shared import state
from pages.shared.data import (
    open_cache,
    read_content,
    read_item,
    read_items,
    read_noise,
    read_overview,
    read_provenance,
    read_rules,
    read_summaries,
    search_rows,
)
from pages.shared.figures import literal
from pages.shared.filter_bar import filter_bar, known_part, nothing_left
from pages.shared.item_card import item_card, sensitive_css
from pages.shared.routing import require_router
from pages.shared.scorer_comparison import scorer_comparison
from pages.shared.sharing import banner, provenance_panel, share_bar
from pages.shared.widgets import (
    content_warning,
    download_buttons,
    empty_cache,
    errors_in_one_sentence,
    nothing_scored,
)

ROWS_PER_PAGE = 100
NEIGHBOURS = 12  # items read together, so that steps need not open the cache
PAIR_CAUTION = (
    "Of the pairs that pass; a tie counts one half. 50 % is neutral, and an average can hide "
    "groups that go opposite ways."
)
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


def shown_columns(table: pd.DataFrame) -> list[str]:
    """The columns of the table on the page: others where the data set holds pairs of sentences."""
    return list(SHOWN_PAIRS if "preferred" in table else SHOWN)


def choose_source(selection: Selection) -> Selection:
    """Data set and scorers to look at; ends the page when there is nothing to choose from."""
    held = read_overview()
    if held is None or held.datasets.empty:
        empty_cache()
        st.stop()
    pairs = held.coverage[held.coverage["scorer_id"] != ""]
    if pairs.empty:
        nothing_scored(held.datasets["dataset"].iloc[0])
        st.stop()
    labels = scorer_labels(held.scorers)

    def named(scorer_id: str) -> str:
        return f"{labels[scorer_id]} ({scorer_id})"

    left, middle, right = st.columns([2, 3, 3])
    datasets = pairs["dataset"].unique().tolist()
    dataset = selection.dataset if selection.dataset in datasets else datasets[0]
    scorers = pairs.loc[pairs["dataset"] == dataset, "scorer_id"].unique().tolist()
    scorer = selection.scorer if selection.scorer in scorers else scorers[0]
    others = ["", *(s for s in scorers if s != scorer)]
    compare = selection.compare if selection.compare in others else ""
    for name, value in (("dataset", dataset), ("scorer", scorer), ("compare", compare)):
        state.show_field(name, value)
    left.selectbox("Data set", datasets, **state.bound("dataset"))
    middle.selectbox("Scorer", scorers, format_func=named, **state.bound("scorer"))
    right.selectbox(
        "Compare with",
        others,
        format_func=lambda s: named(s) if s else "no other scorer",
        disabled=len(others) == 1,
        **state.bound("compare"),
    )
    return replace(selection, dataset=dataset, scorer=scorer, compare=compare)


def noise_line(noise: RewordingNoise) -> str:
    """What mere rewording does under this scorer, in a sentence."""
    if noise.n_changes < 2:
        return "No English rewording is scored, so there is no yardstick for a change."
    floor = (
        f"it moves the mean by {noise.floor:.3f} (n = {noise.n_rewordings} rewordings)"
        if noise.n_rewordings
        else "no rewording covers all items, so what it does to the mean is unknown"
    )
    return (
        f"Rewording alone spreads the changes of single English items with a standard deviation of "
        f"{noise.item_sd:.3f} (n = {noise.n_changes} changes); {floor}."
    )


def summary_lines(selection: Selection, matches: Matches) -> None:
    """How often the pairs that pass prefer the stereotypical sentence, and what rewording does."""
    noise = read_noise(selection.scorer, selection.dataset)
    if not read_rules(selection.scorer, selection.dataset):
        st.caption(noise_line(noise))
        return
    found = read_summaries(selection, matches.positions)
    sentences = summary_sentences(found, selection.unit)
    if sentences:
        st.markdown("\n".join(f"- {literal(sentence)}" for sentence in sentences))
        st.caption(PAIR_CAUTION)
    if noise.n_changes:
        st.caption(noise_line(noise))


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


def show_table(table: pd.DataFrame, matches: Matches, selection: Selection, at: int) -> None:
    """One page of the matching rows; a click opens an item."""
    first = selection.page * ROWS_PER_PAGE
    positions = matches.positions[first : first + ROWS_PER_PAGE]
    chosen = [at - first] if first <= at < first + len(positions) else []
    # Other rows, or another open item, are another table: a click always refers to what was seen.
    key = f"rows-{selection.scorer}-{selection.dataset}-{hash(positions.tobytes())}-{chosen}"

    def clicked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            step(table, matches, first + rows[0])

    rows = table.iloc[positions][shown_columns(table)]
    words = {name: rows[name].map(PREFERENCES) for name in PREFERRED if name in rows}
    st.dataframe(
        rows.assign(**words),
        column_config=COLUMNS,
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
        st.caption(f"Showing {first + 1}–{last} of {n} rows that pass ({matches.n_all} in all)")
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
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, place, key in (("Previous item", at - 1, "K"), ("Next item", at + 1, "J")):
            st.button(
                label,
                shortcut=key,
                disabled=not 0 <= place < n,
                on_click=lambda place=place: step(table, matches, place),
            )
        st.caption(f"Row {at + 1} of {n}" if at >= 0 else "The filters hide the open item")


def pairs_of(selection: Selection, table: pd.DataFrame) -> Rules:
    """The open item by both rules of pairs."""
    rules = read_rules(selection.scorer, selection.dataset)
    here = np.flatnonzero(table["item_id"] == selection.item)
    return {unit: rows.iloc[here] for unit, rows in rules.items()}


def show_item(table: pd.DataFrame, selection: Selection, matches: Matches) -> Selection:
    """The card of the open item, with the way to its neighbours; the reader may turn it over."""
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
        pairs=pairs_of(selection, table),
        unit=selection.unit,
    )
    return replace(selection, condition=condition)


def found(table: pd.DataFrame, selection: Selection) -> Matches:
    """The matching rows; a regular expression that cannot be read ends the page with a way out."""
    try:
        return matching(open_cache(), table, selection, search=search_rows)
    except InputError as error:
        st.error(literal(str(error)), icon=":material/error:")
        st.button(
            "Clear the text filter",
            on_click=lambda: state.put(without(state.current(), "text")),
        )
        state.publish(selection)
        st.stop()


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Items")
    content_warning()
    if st.toggle("Blur texts until the pointer is on them", key="blur", persist_state="session"):
        st.html(sensitive_css())
    wanted = state.current()
    with errors_in_one_sentence():
        selection = choose_source(wanted)
        table = read_items(selection.scorer, selection.dataset, selection.unit)
        selection, left_out = known_part(table, selection)
        content = read_content(selection.scorer, selection.dataset)
    banner(wanted, selection, content, left_out, table)
    filter_bar(table, selection)
    matches = found(table, selection)
    if not len(matches.positions):
        nothing_left(selection, matches)
        state.publish(selection)
        st.stop()
    last_page = (len(matches.positions) - 1) // ROWS_PER_PAGE
    selection = replace(selection, page=min(selection.page, last_page), content=content)
    selection = opened(table, matches, selection)
    at = open_row(table, matches, selection)
    if state.just_opened() and at >= 0:  # a link to an item shows the rows around it
        selection = replace(selection, page=at // ROWS_PER_PAGE)
    state.put(selection)
    summary_lines(selection, matches)
    show_table(table, matches, selection, at)
    turn_pages(matches, selection)
    download_buttons(
        lambda: selected_table(open_cache(), selection),
        shown_columns(table),
        f"items-{selection.dataset}-{selection.scorer}-{len(matches.positions)}-rows",
    )
    share_bar(selection, table["item_id"].iloc[matches.positions])
    if selection.compare:
        scorer_comparison(selection.scorer, selection.compare, selection.dataset)
    with errors_in_one_sentence():
        selection = show_item(table, selection, matches)
        provenance_panel(read_provenance(selection.scorer, selection.dataset))
    state.put(selection)
    state.publish(selection)


main()
