"""Importing a data set on its page: the file, what it is read as, its problems, a few items."""

from __future__ import annotations

import streamlit as st

from core.analysis.data_sets import PROBLEM_COLUMNS, problem_counts, problem_table
from core.items.import_notes import import_note, left_out_rows
from core.items.report import ImportReport
from core.store.items import put_dataset
from core.store.score_line import score_line
from core.types import Severity
from core.words import counted
from pages.shared import state
from pages.shared.data import open_cache, read_overview
from pages.shared.data_sets.items import read_few
from pages.shared.data_sets.options import (
    begin_again,
    choose_files,
    choose_format,
    choose_options,
)
from pages.shared.data_sets.reading import Files, Reading, Wish, read
from pages.shared.figures import literal
from pages.shared.widgets import download_buttons, errors_end_this_part

_IMPORTED = "data-set-imported"
_NOUNS = {
    "error": ("error", "errors"),
    "left_out": ("reason to leave a row out", "reasons to leave a row out"),
    "note": ("note", "notes"),
}


def import_form() -> None:
    """Everything from the file to the button that stores it."""
    files = choose_files()
    if files is None:
        return
    with errors_end_this_part():
        wish, layouts = choose_format(files)
        wish = choose_options(files, wish, layouts)
        reading = read(files, wish)
        show_problems(reading, files.name)
        if reading.report is None:
            say_refused(reading, wish)
            return
        preview(reading.report)
        store_form(files, reading.report)


def show_problems(reading: Reading, name: str) -> None:
    """Problems by kind and by row, with a filter and downloads."""
    if not reading.problems:
        st.caption("No problem was found in any row.")
        return
    counts = problem_counts(reading.problems)
    table = problem_table(reading.problems)
    n_of = {kind: int(n) for kind, n in counts.groupby("kind", sort=False)["n"].sum().items()}
    n_severe = counts.groupby("severity")["n"].sum()
    words = ", ".join(counted(int(n_severe[s]), *w) for s, w in _NOUNS.items() if s in n_severe)
    st.markdown(f"**Problems**: {words}. Notes are stored all the same.")
    kinds = st.pills(
        "Kinds",
        list(n_of),
        selection_mode="multi",
        format_func=lambda k: f"{k} ({n_of[k]:,})",
        key="data-set-kinds",
        label_visibility="collapsed",
    )
    shown = table[table["kind"].isin(kinds)] if kinds else table
    st.dataframe(
        shown.assign(severity=shown["severity"].str.replace("_", " ")),
        hide_index=True,
        height="content" if len(shown) <= 8 else 320,
        placeholder="–",
        column_order=("severity", "kind", "row", "message", "item_id", "condition", "file"),
        column_config={
            "severity": "Severity",
            "kind": "Kind",
            "file": "File",
            "row": st.column_config.NumberColumn("Row", help="As an editor shows it"),
            "item_id": "Item",
            "condition": "Condition",
            "message": st.column_config.TextColumn("What is wrong", width="large"),
        },
    )
    st.caption(f"Showing {len(shown):,} of {counted(len(table), 'problem')}")
    download_buttons(lambda: shown, list(PROBLEM_COLUMNS), f"problems-{name}-{len(shown)}-rows")


def say_refused(reading: Reading, wish: Wish) -> None:
    """Why nothing can be stored, and the way out."""
    rows = {(p.file, p.row) for p in reading.problems if p.severity is Severity.ERROR}
    of_rows = all(row is not None for _, row in rows)
    way_out = (
        f" Mend {counted(len(rows), 'row')} of the file, or choose to leave these rows out."
        if of_rows and not wish.lenient
        else " Mend the file, or choose another format."
    )
    st.error(literal(reading.refusal + way_out), icon=":material/error:")


def preview(report: ImportReport) -> None:
    """Counts by condition, and a few items with their roles."""
    st.subheader("Read a few items with their labels", anchor=False)
    counts = ", ".join(
        f"{condition} {count.imported:,}"
        + (f" ({count.collapsed:,} collapsed)" if count.collapsed else "")
        for condition, count in report.counts.items()
    )
    st.caption(literal(f"{counted(len(report.items), 'row')} by condition: {counts}."))
    read_few(report.items, report.format, key="data-set-preview")


def store_form(files: Files, report: ImportReport) -> None:
    """The name to store the data set under, and the button."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input("Name", value=files.name[:100], key=f"data-set-name-{files.token}") or ""
    held = read_overview()
    taken = held is not None and name in set(held.datasets["dataset"])
    replace = taken and st.checkbox(
        literal(
            f"{name} is taken: put these items in its place (imported scores of items that change "
            "are lost, no others)"
        ),
        key="data-set-replace",
    )
    pressed = right.button(
        "Import", type="primary", icon=":material/download_done:", disabled=taken and not replace
    )
    if pressed:
        store(files, report, name, replace=replace)


def store(files: Files, report: ImportReport, name: str, *, replace: bool) -> None:
    """Put the data set into the cache and show it."""
    stored = put_dataset(
        open_cache(),
        name,
        report.items,
        path=files.origin,
        format=report.format,
        sha256=report.sha256,
        note=import_note(report),
        replace=replace,
    )
    sentence = f"{name}: stored {counted(stored.stored, 'row')}, {stored.collapsed:,} collapsed"
    if n := left_out_rows(report).total():
        sentence += f", {counted(n, 'row')} of the file left out"
    if n := stored.n_scores_gone:
        sentence += f", {counted(n, 'imported score')} lost with items that changed"
    if stored.unchanged:
        sentence = f"{name} was in the cache already, with the same content"
    st.session_state[_IMPORTED] = (name, f"{sentence}.")
    state.change(dataset=name)
    begin_again()
    st.rerun()


def say_imported() -> None:
    """What was stored a moment ago, and the next step."""
    if _IMPORTED not in st.session_state:
        return
    name, sentence = st.session_state.pop(_IMPORTED)
    st.success(literal(sentence), icon=":material/check:")
    st.caption("Next: score it, by this line in the project's folder or on the Runs page.")
    st.code(score_line(open_cache(), name), language="bash")
    st.page_link("pages/runs.py", label="Start it on the Runs page", icon=":material/play_circle:")
