"""Single pairs of identities: which ones, a table of them, and the item card of the open one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.filtering import Matches
from core.analysis.identities.browse import PairsWanted, Places, pair_positions
from core.analysis.items import item_table
from core.analysis.pair_card import PREFERENCES
from core.selection import Selection, with_field
from core.words import counted
from pages.shared import state
from pages.shared.absent import say_absent
from pages.shared.data import open_cache, read_items
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import read_confounded, read_facts, read_places
from pages.shared.items.item_card import sensitive_css
from pages.shared.items.item_rows import (
    COLUMNS_OF_PAIRS,
    ROWS_PER_PAGE,
    open_row,
    opened,
    show_table,
    shown_columns,
    turn_pages,
)
from pages.shared.items.open_item import show_item
from pages.shared.items.pair_card import RULES, choose_rule
from pages.shared.tables import SIMULATED
from pages.shared.widgets import download_buttons

LABELS = {
    "identity": "Identity",
    "counterfactual": "Held against",
    "pair_template": "Template",
    "predicate": "Predicate",
}
FACTS = {
    "predicate": st.column_config.TextColumn("Predicate", pinned=True),
    "identity": "Identity",
    "counterfactual": "Held against",
    "template": "Template",
}
NUMBERS = (
    *("difference", "preferred", "preferred_other_rule", "score_more", "score_less"),
    *("n_unmodified", "flags"),
)
TEXTS = ["item_id", "condition", "stereotype", "anti_stereotype"]


def show_pairs(asked: Asked) -> Selection:
    """The pairs asked for, the largest difference first, with the card of the open one."""
    selection = _choose(asked)
    table = read_items(selection.scorer, selection.dataset, selection.unit)
    positions = _positions(asked, selection, table)
    if not len(positions):
        st.info("No pair has all of these; take one of the choices back.", icon=":material/info:")
        return selection
    say_absent("item", asked.panel.facts["item_id"].array)
    matches = Matches(positions, len(table), {})
    selection = _with_open_pair(selection, table, matches)
    state.put(selection)
    st.caption(
        f"{counted(len(positions), 'pair')} of {len(asked.panel.facts):,}; the largest difference "
        f"of scores on {RULES[selection.unit]}, in either direction, stands first"
    )
    _table(asked, selection, table, matches)
    # Who turns the card over to another language does not turn the page.
    show_item(table, matches, replace(selection, compare=""))
    st.page_link("pages/items.py", label="Open on Items", icon=":material/open_in_new:")
    return selection


def _positions(asked: Asked, selection: Selection, table: pd.DataFrame) -> Places:
    """Places in the item table of the pairs asked for."""
    wanted = PairsWanted(
        identity=selection.identity,
        counterfactual=selection.counterfactual,
        template=selection.pair_template,
        predicate=selection.predicate,
        preferences=selection.preferences,
    )
    places = read_places(asked.question, selection.scorer)
    only = read_confounded(selection.dataset) if selection.only_confounded else None
    return pair_positions(asked.panel, table, places, wanted, only=only)


def _with_open_pair(selection: Selection, table: pd.DataFrame, matches: Matches) -> Selection:
    """The selection with a page that there is and a pair that is among those asked for."""
    last_page = (len(matches.positions) - 1) // ROWS_PER_PAGE
    selection = replace(selection, page=min(selection.page, last_page))
    selection = opened(table, matches, selection)
    if open_row(table, matches, selection) < 0:  # it was open on another page
        first = table.iloc[matches.positions[0]]
        selection = replace(selection, item=str(first["item_id"]), page=0)
    return selection


def _table(asked: Asked, selection: Selection, table: pd.DataFrame, matches: Matches) -> None:
    """A page of the pairs asked for, and files of all of them."""
    positions = matches.positions
    facts = read_facts(asked.question, selection.scorer)
    columns = _columns(table)
    at = open_row(table, matches, selection)
    show_table(table, matches, selection, at, facts=facts, columns=columns)
    turn_pages(matches, selection)
    download_buttons(
        lambda: _whole_rows(selection, table.iloc[positions], facts.iloc[positions]),
        list(columns),
        f"pairs-{selection.dataset}-{selection.scorer}-{len(positions)}-rows",
        simulated=bool(st.session_state.get(SIMULATED)),
    )


def _choose(asked: Asked) -> Selection:
    """Widgets for what a pair must have."""
    selection = asked.selection
    if st.toggle("Blur texts until the pointer is on them", key="blur", persist_state="session"):
        st.html(sensitive_css())
    held = _held(asked)
    places = st.columns(len(held) + 1)
    for place, (name, values) in zip(places, held.items(), strict=False):
        selection = _choose_one(place, selection, name, values)
    with places[-1]:
        selection = _choose_preferences(selection)
    with st.container(horizontal=True):
        choose_rule(selection.unit, "list")
        if asked.n_confounded:
            state.show_field("only_confounded", selection.only_confounded)
            st.toggle(
                f"Only the {asked.n_confounded:,} confounded", **state.bound("only_confounded")
            )
    return selection


def _held(asked: Asked) -> dict[str, list[str]]:
    """The values that pairs have, by field of the selection."""
    facts = asked.panel.facts
    return {
        "identity": list(asked.panel.identities),
        "counterfactual": _values(facts["counterfactual"]),
        "pair_template": _values(facts["template"]),
        "predicate": _values(facts["predicate"]),
    }


def _choose_one(
    place: DeltaGenerator, selection: Selection, name: str, values: Sequence[str]
) -> Selection:
    """One of the values of a field, or all."""
    if name != "identity":  # which is said under every view
        say_absent(name, values)
    chosen = getattr(selection, name)
    chosen = chosen if chosen in values else ""
    state.show_field(name, chosen)
    place.selectbox(
        LABELS[name], ["", *values], format_func=lambda v: v or "all", **state.bound(name)
    )
    return with_field(selection, name, chosen)


def _choose_preferences(selection: Selection) -> Selection:
    """Which of its sentences the model prefers; none chosen asks for nothing."""
    known = tuple(name for name in selection.preferences if name in PREFERENCES)
    say_absent("preferences", PREFERENCES)
    state.show_field("preferences", list(known))
    st.multiselect(
        "Preferred",
        list(PREFERENCES),
        format_func=PREFERENCES.__getitem__,
        placeholder="all",
        **state.bound("preferences", tuple),
    )
    return replace(selection, preferences=known)


def _values(column: pd.Series) -> list[str]:
    return sorted((v for v in column.unique() if v), key=lambda v: (len(v), v))


def _columns(table: pd.DataFrame) -> dict[str, Any]:
    """What is shown of pairs: what they are about, then those numbers that there are."""
    there = set(shown_columns(table))
    numbers = {name: COLUMNS_OF_PAIRS[name] for name in NUMBERS if name in there}
    return {**FACTS, **numbers, "item_id": st.column_config.TextColumn("Item")}


def _whole_rows(selection: Selection, rows: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Rows of the item table with what each pair is about and both sentences, for a file."""
    texts = item_table(open_cache(), selection.scorer, selection.dataset)[TEXTS]
    both = pd.concat([rows, facts], axis=1)
    return both.merge(texts, on=TEXTS[:2], how="left", validate="one_to_one")
