"""Carry-over: does an item keep its score?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.analysis.audit.audit import Audit
from core.analysis.audit.kept import kept
from core.analysis.audit.quality import ALL_LANGUAGES
from core.analysis.audit.request import AuditTable
from pages.shared import state
from pages.shared.audit.audit import choose_audit, publish_audit, read_audit
from pages.shared.audit.carry_over import (
    choose_version,
    open_what_was_clicked,
    show_fates,
    show_others,
    show_scatter,
    show_sentence,
    show_slopes,
    version_name,
)
from pages.shared.audit.carry_over_columns import (
    AGREEMENT,
    ASSOCIATION,
    ATTENUATION,
    DISTANCE,
    FATES,
    FILTERS,
    INTERCEPT,
    JUDGED,
    SAME_CHOICE,
    SIMILARITY,
    SURFACE,
)
from pages.shared.figures import literal
from pages.shared.routing import require_router
from pages.shared.tables import show_notes, show_table

TABLES = (
    *("association", "same_choice", "fates", "agreement", "distance", "intercept"),
    *("attenuation", "quality", "surface"),
)
TABS = {
    "How much is kept": "association",
    "Same choice": "same_choice",
    "Agreement between models": "agreement",
    "Strength": "distance",
    "Beyond wording": "attenuation",
    "Translation quality": "quality",
}


def part(table: AuditTable, columns: dict[str, Any], stem: str, **wanted: Any) -> None:
    """The rows of a table in which columns have wanted values; nothing where there are none."""
    rows = table.rows
    for column, value in wanted.items():
        values = value if isinstance(value, tuple) else (value,)
        rows = rows[rows[column].isin(values)]
    if len(rows):
        show_table(table, columns, stem, rows=rows)
    else:
        show_notes(table)


def show_tab(name: str, found: Audit, against: str) -> None:
    """One tab of tables."""
    table = found.tables[name]
    if name == "association":
        plain = {n: c for n, c in ASSOCIATION.items() if n not in ("group_kind", "group")}
        part(table, plain, "association", group_kind="all")
        st.markdown(f"**Models, and groups of items, in {literal(version_name(against))}**")
        kinds = ("model", "source", "dimension", "judgment")
        part(table, ASSOCIATION, f"association-{against}", group_kind=kinds, condition=against)
        st.markdown("**Single rewordings**")
        part(table, ASSOCIATION, "association-rewordings", group_kind="rewording")
    elif name == "same_choice":
        part(table, SAME_CHOICE, "same-choice", group_kind="all")
        st.markdown(f"**Models in {literal(version_name(against))}**")
        part(table, SAME_CHOICE, f"same-choice-{against}", group_kind="model", condition=against)
    elif name == "distance":
        part(table, DISTANCE, "distance", group_kind="all")
        st.markdown("**Where the fitted line puts an item without a preference in English**")
        show_table(found.tables["intercept"], INTERCEPT, "intercept")
    elif name == "quality":
        show_quality(table, against)
    else:
        show_table(table, {"agreement": AGREEMENT}.get(name, ATTENUATION), name)


def show_quality(table: AuditTable, against: str) -> None:
    """Filters with what they take off the drop; judgments and similarity of the version shown."""
    rows = table.rows
    here = tuple(dict.fromkeys([against, ALL_LANGUAGES]))
    for title, kind, columns, wanted in (
        ("What each filter takes off the drop", "filter", FILTERS, {"condition": here}),
        ("Drop by judgment", "judgment", JUDGED, {"condition": here}),
        ("Similarity after translation back", "similarity", SIMILARITY, {"source": ""}),
    ):
        if (rows["kind"] == kind).any():
            st.markdown(f"**{title}**")
            part(table, columns, f"quality-{kind}", kind=kind, **wanted)
    if rows.empty:
        show_notes(table)


def main() -> None:
    """The page from top to bottom."""
    require_router()
    open_what_was_clicked(state.current())
    st.title("Carry-over")
    st.caption("Does an item keep its score?")
    selection, request = choose_audit(state.current())
    found = read_audit(request, TABLES)
    selection = choose_version(selection, found)
    association, attenuation = found.tables["association"], found.tables["attenuation"]
    said = kept(association.rows, attenuation.rows)
    left, right = st.columns([3, 2])
    with left:
        show_sentence(said, selection.against)
        show_notes(association)
    with right:
        show_slopes(found)
    show_others(said, selection.against)
    st.subheader("Item by item", divider="gray")
    show_scatter(selection, found)
    st.subheader("What became of clear preferences", divider="gray")
    show_fates(found, selection.against)
    with st.expander("Counts", icon=":material/table:"):
        show_table(found.tables["fates"], FATES, "fates")
    for tab, name in zip(st.tabs(list(TABS)), TABS.values(), strict=True):
        with tab:
            show_tab(name, found, selection.against)
    with st.expander("Does mere surface explain the changes?", icon=":material/straighten:"):
        show_table(found.tables["surface"], SURFACE, "surface")
    publish_audit(selection, request, found)


main()
