"""What stands beside the verdicts of the Languages page: other samples, natives, and the items."""

from __future__ import annotations

import streamlit as st

from core.analysis.audit.audit import Audit
from pages.shared.audit.language_columns import CROSSED, FLOW, NATIVES
from pages.shared.audit.languages import between, file_stem, with_names
from pages.shared.tables import show_notes, show_table


def show_crossed(found: Audit) -> None:
    """Drops with intervals over items and models at once."""
    table = found.tables["crossed"]
    st.caption(
        "Items and models are both drawn anew, so an interval speaks of other items and other "
        "models of the kind; that of the main table is of these models, or of these items."
    )
    rows = with_names(table.rows)
    rows = rows.assign(
        over_both=between(rows, "drop_pooled"), t_over_both=between(rows, "t_pooled")
    )
    show_table(table, CROSSED, file_stem("items-and-models", found), rows=rows)


def show_flow(found: Audit) -> None:
    """From imported to compared, for every version."""
    show_table(found.tables["item_flow"], FLOW, file_stem("item-flow", found))


def show_natives(found: Audit) -> None:
    """Natives beside translations, of other items."""
    table = found.tables["natives"]
    if table.rows.empty:
        show_notes(table)
        return
    show_table(table, NATIVES, file_stem("natives", found), rows=with_names(table.rows))
