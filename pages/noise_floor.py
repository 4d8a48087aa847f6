"""Noise floor: how big is a gap when nothing changes?"""

from __future__ import annotations

import streamlit as st

from core.analysis.audit.audit import Audit
from core.selection import Selection
from core.words import short_labels
from pages.shared import state
from pages.shared.absent import say_absent
from pages.shared.audit.audit import (
    choose_audit,
    publish_audit,
    read_audit,
    show_verdicts,
)
from pages.shared.audit.floor_columns import read_floors, read_item_changes, shown_of
from pages.shared.audit.noise_floor import floor_part, gap_part, tested_part
from pages.shared.audit.wording import distribution_part, wording_part
from pages.shared.routing import require_router
from pages.shared.tables import show_notes

TABLES = ("floors", "floor_vs_gap", "item_tests", "wording_variance", "verdicts")
INTRODUCTION = (
    "A rewording says the same in other words, so what it does to a score is noise. The noise "
    "floor of a model is how far rewordings of English move its mean score: the mean over "
    "rewordings of |mean change|. A gap between languages tells something only where it is larger."
)


def choose_model(selection: Selection, labels: dict[str, str]) -> str:
    """Whose wording variance and item changes: one scorer, or all where it is empty."""
    say_absent("scorer", labels)
    if len(labels) == 1:
        return ""
    chosen = selection.scorer if selection.scorer in labels else ""
    state.show_field("scorer", chosen)
    st.selectbox(
        "Whose changes, in the two parts below",
        ["", *labels],
        format_func=lambda s: labels[s] if s else f"all {len(labels)} models",
        **state.bound("scorer"),
    )
    return chosen


def show_language_verdicts(found: Audit) -> None:
    """What the item test says, for those who read no other page."""
    table = found.tables["verdicts"]
    if table.rows.empty:
        return
    with st.expander("What the test over items says of each language"):
        show_verdicts(table.rows)
        show_notes(table)


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Noise floor")
    st.caption("How big is a gap when nothing changes?")
    st.markdown(INTRODUCTION)
    selection, request = choose_audit(state.current())
    found = read_audit(request, TABLES)
    by_model = read_floors(request)
    models = by_model.rows.to_dict("records")
    labels = {str(row["scorer_id"]): str(row["model"]) for row in models}
    shown = shown_of(found, dict(zip(labels, short_labels([*labels.values()]), strict=True)))
    floor_part(shown, by_model)
    tested_part(shown)
    gap_part(shown)
    show_language_verdicts(found)
    scorer_id = choose_model(selection, labels)
    wording_part(shown, scorer_id)
    distribution_part(shown, scorer_id, read_item_changes(request, scorer_id))
    publish_audit(selection, request, found)


main()
