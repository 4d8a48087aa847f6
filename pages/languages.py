"""Languages: which gaps are real?"""

from __future__ import annotations

import streamlit as st

from core.analysis.audit.audit import WITHOUT_ENGLISH, Audit
from core.analysis.audit.request import AuditRequest
from core.analysis.audit.unknown_fluency import official_rows
from core.selection import Selection
from pages.shared import state
from pages.shared.audit.audit import (
    choose_audit,
    publish_audit,
    read_audit,
    show_verdicts,
)
from pages.shared.audit.language_alone import has_languages, show_alone, show_official
from pages.shared.audit.language_samples import show_crossed, show_flow, show_natives
from pages.shared.audit.languages import (
    choose_margin,
    show_cells,
    show_consistency,
    show_drops,
    show_fragility,
    show_groups,
    show_kinds,
    yardstick,
)
from pages.shared.routing import require_router
from pages.shared.tables import show_notes

TABLES = (
    *("main", "verdicts", "cells", "shrunk", "score_map", "item_tests", "score_panel", "natives"),
    *("crossed", "item_flow"),
)
CAUTION = (
    "A verdict is about the difference of two means of the same items, under these models. A lower "
    "score is not less bias, and where no difference is shown there may still be one."
)


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Languages")
    st.caption("Which gaps are real?")
    selection, request = choose_audit(state.current())
    choose_margin(selection)
    found = read_audit(request, WITHOUT_ENGLISH)
    if not has_languages(found):
        show_alone(found)
        publish_audit(selection, request, found)
        st.stop()
    names = (*TABLES, *WITHOUT_ENGLISH)
    found = read_audit(request, names, stamp=False, doing="Testing every language …")
    tables = found.tables
    beside = yardstick(request, tables["main"])
    show_verdicts(tables["verdicts"].rows)
    st.caption(CAUTION)
    show_notes(tables["verdicts"])
    show_drops(found, beside)
    st.subheader("Which models?")
    selection = show_cells(selection, found, beside)
    st.subheader("Which items?")
    selection = show_groups(selection, found, beside)
    st.subheader("Does the verdict depend on the score?")
    show_kinds(found)
    selection = show_folded(selection, request, found)
    publish_audit(selection, request, found)


def show_folded(selection: Selection, request: AuditRequest, found: Audit) -> Selection:
    """What stands folded away below the verdicts; the two that take long are asked for."""
    fragility = st.expander(
        "What do the verdicts hang on?",
        expanded=bool(selection.against),
        icon=":material/broken_image:",
        on_change="rerun",
        key="fragility",
    )
    if fragility.open:
        with fragility:
            selection = show_fragility(selection, request)
    with st.expander("Natives, beside the translations (not a comparison)"):
        show_natives(found)
    with st.expander("Would other items and other models drop as much?"):
        show_crossed(found)
    if len(official_rows(found.tables["fluency_icat"])):
        with st.expander("StereoSet's own metric"):
            show_official(found)
    with st.expander("What became of the items?"):
        show_flow(found)
    consistency = st.expander(
        "Consistency over languages: CSS and CLCI",
        expanded=selection.reference != request.reference,
        on_change="rerun",
        key="consistency",
    )
    if consistency.open:
        with consistency:
            selection = show_consistency(selection, request)
    return selection


main()
