"""Shift lab: would we notice?"""

from __future__ import annotations

import streamlit as st

from core.analysis.audit.audit import audit_tables
from core.analysis.audit.floors import median_floor
from core.analysis.audit.lab import open_lab
from pages.shared import state
from pages.shared.audit.audit import choose_audit, publish_audit, read_audit
from pages.shared.audit.floor_columns import read_floors
from pages.shared.audit.pipeline_switches import show_switches
from pages.shared.audit.positive_control import show_control
from pages.shared.audit.shift_lab import (
    choose_shift,
    show_injection,
    show_needed,
    show_runs,
    show_size,
)
from pages.shared.data import open_cache
from pages.shared.routing import require_router

TABLES = ("injection", "power", "control", "pipeline_errors")
INTRODUCTION = (
    "Would we notice? A test that finds nothing says little before it is known what it could have "
    "found. Here a shift of a known size is put into scores in which there is nothing to find but "
    "rewording, and the tests run as ever. Nothing on this page is a finding about a model."
)


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Shift lab")
    st.caption(INTRODUCTION)
    selection, request = choose_audit(state.current())
    found = read_audit(request, ["item_flow"])
    lab = open_lab(open_cache(), request)
    floor = median_floor(read_floors(request).rows)

    st.header("Put a shift in", divider="gray")
    for note in lab.notes:
        st.info(note, icon=":material/info:")
    if not lab.pairs.empty:
        selection, shift = choose_shift(selection, lab)
        injected = show_injection(lab, shift, request.margin, found.provenance)

        st.header("How often would it be found?", divider="gray")
        st.caption(
            "Each run puts the shift into one pair after the other, in a random order, and draws "
            "new signs. Share, subgroup and direction are those of the sliders above."
        )
        now = float(injected.shown["put_in"])
        show_runs(lab, shift, now, found.provenance)

    with st.spinner("Testing …"):
        tables = audit_tables(open_cache(), request, TABLES)
    if not lab.pairs.empty:
        show_size(tables["injection"])
        st.header("How many items does it take?", divider="gray")
        show_needed(injected, tables["power"], request, found.provenance)

    st.header("Positive control", divider="gray")
    st.caption(
        "A sentence in front of every context that calls stereotypes true, or false, ought to move "
        "the scores; a neutral one tells how far any sentence does."
    )
    show_control(request, tables["control"], floor, found.provenance)

    st.header("Three errors of pipelines", divider="gray")
    st.caption(
        "Known from published scores. The stored scores are arranged as the wrong pipeline would "
        "have had them, and everything is tested again."
    )
    selection = show_switches(selection, tables["pipeline_errors"], floor, found.provenance)
    publish_audit(selection, request, found)


main()
