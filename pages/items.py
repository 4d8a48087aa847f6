"""Items: what happened to this item?"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.filtering import Matches, matching, selected_table
from core.errors import InputError
from core.selection import Selection, without
from pages.shared import state
from pages.shared.data import (
    open_cache,
    read_content,
    read_items,
    read_provenance,
    search_rows,
)
from pages.shared.figures import literal
from pages.shared.items.filter_bar import filter_bar, known_part, nothing_left
from pages.shared.items.item_card import sensitive_css
from pages.shared.items.item_rows import (
    ROWS_PER_PAGE,
    open_row,
    opened,
    show_table,
    shown_columns,
    turn_pages,
)
from pages.shared.items.item_source import choose_source, summary_lines
from pages.shared.items.open_item import show_item
from pages.shared.items.scorer_comparison import scorer_comparison
from pages.shared.routing import require_router
from pages.shared.sharing import banner, provenance_panel, share_bar
from pages.shared.widgets import content_warning, download_buttons, errors_in_one_sentence


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
        selection = show_item(table, matches, selection)
        provenance_panel(read_provenance(selection.scorer, selection.dataset))
    state.put(selection)
    state.publish(selection)


main()
