"""The list of axes as a table: a click opens one, pages turn, files hold every row."""

from __future__ import annotations

import zlib

import pandas as pd
import streamlit as st

from core.analysis.heads.sentences import reads
from core.selection import Selection
from core.stats.levels import LEVEL
from core.words import counted
from pages.shared import state
from pages.shared.figures import literal
from pages.shared.heads_choice import Asked
from pages.shared.heads_rows import OTHER, AxisList
from pages.shared.tables import MISSING, pvalue, written
from pages.shared.widgets import download_buttons

ROWS = 20  # on a page
_SHOWN, _IDS = "axis-list-key", "axis-list-ids"


def page_of(listed: AxisList, axis_id: str) -> int:
    """The page of the list that an axis is on; the first where it is on none."""
    ids = listed.ids
    return ids.index(axis_id) // ROWS if axis_id in ids else 0


def show_list(asked: Asked, selection: Selection, listed: AxisList) -> Selection:
    """One page of the list; the selection with a page that there is."""
    rows = listed.rows
    if rows.empty:
        st.info("No axis passes these filters; take one off above.", icon=":material/filter_list:")
        return selection
    last = (len(rows) - 1) // ROWS
    page = min(selection.page, last)
    _table(asked, selection, rows.iloc[page * ROWS : (page + 1) * ROWS])
    with st.container(horizontal=True, vertical_alignment="center"):
        first = page * ROWS + 1
        st.caption(
            f"Axes {first:,} to {min(first + ROWS - 1, len(rows)):,} of {len(rows):,}; click on "
            "the left of a row to open its axis.",
            width="content",
        )
        for label, to in (("Previous rows", page - 1), ("Next rows", page + 1)):
            st.button(
                label,
                disabled=not 0 <= to <= last,
                on_click=lambda to=to: state.change(page=to),
                type="tertiary",
            )
    files = rows.drop(columns="synsets")
    stem = f"axes-{asked.question.axes}-{asked.question.concepts}-{asked.model}"
    download_buttons(lambda: files, [c for c in _columns(asked) if c in files], stem)
    return selection if page == selection.page else _on_page(selection, page)


def counts_sentence(asked: Asked, listed: AxisList) -> str:
    """How many axes are flagged, against how many by chance; for both sets of phrases."""
    parts = []
    for ending, reference in (("", asked.question.reference), (OTHER, asked.second)):
        name = f"pvalue{ending}"
        if name not in listed.everything or not reference:
            continue
        known = listed.everything[name].notna()
        n, flagged = int(known.sum()), int(listed.everything[f"flagged{ending}"].sum())
        stays = int((listed.everything[f"qvalue{ending}"] < LEVEL).sum())
        parts.append(
            f"Against {reference}: {flagged:,} of {counted(n, 'axis', 'axes')} flagged "
            f"(p < {LEVEL}), {stays:,} at q < {LEVEL}; chance alone would flag {LEVEL * n:.1f}."
        )
    if parts:
        parts.append("Axes share phrases, so that how many chance flags varies widely.")
    return " ".join(parts)


def _table(asked: Asked, selection: Selection, rows: pd.DataFrame) -> None:
    columns = {name: c for name, c in _columns(asked).items() if name in rows or name == "open"}
    rows = _as_read(_as_read(rows, ""), OTHER)
    frame = rows.assign(open=["▸" if i == selection.axis else "" for i in rows["axis_id"]])
    frame = frame[list(columns)].reset_index(drop=True)
    styled, config = written(frame, columns)
    ids = rows["axis_id"].tolist()
    # A table of its own for each state: a selection that it keeps is of rows, not of axes.
    number = zlib.crc32("\0".join([selection.axis, *ids]).encode())
    st.session_state.update({_SHOWN: f"axis-list-{number}", _IDS: ids})
    st.dataframe(
        styled,
        column_config=config,
        hide_index=True,
        placeholder=MISSING,
        height="content",
        on_select=_opened,
        selection_mode="single-row",
        key=f"axis-list-{number}",
    )


def _as_read(rows: pd.DataFrame, ending: str) -> pd.DataFrame:
    """What tests against one set of phrases read, in the words that sentences have for it."""
    names = [f"stability{ending}", "n_concepts", f"n_reference{ending}"]
    if not set(names) <= set(rows):
        return rows
    fields = ("stability", "n_concepts", "n_reference")
    values = rows[names].itertuples(index=False)
    said = [reads(dict(zip(fields, row, strict=True))) for row in values]
    known = rows[names[0]].notna()
    return rows.assign(**{names[0]: rows[names[0]].mask(known, pd.Series(said, rows.index))})


def _opened() -> None:
    """Open the axis whose row was clicked."""
    event = st.session_state.get(st.session_state[_SHOWN]) or {}
    for row in event.get("selection", {}).get("rows", []):
        state.change(axis=st.session_state[_IDS][row], page=state.current().page)


def _on_page(selection: Selection, page: int) -> Selection:
    state.change(page=page)
    return state.current() if state.current().axis == selection.axis else selection


def _columns(asked: Asked) -> dict[str, object]:
    number = st.column_config.NumberColumn
    first, second = literal(asked.question.reference or "phrases"), literal(asked.second)
    return {
        "open": st.column_config.TextColumn("", width=16),
        "axis": "Axis",
        "dimension": "Dimension",
        "statistic": number("D", format="%.2f", help=f"Kolmogorov-Smirnov D against {first}"),
        "qvalue": pvalue("q", f"Of D against {first}, over all axes"),
        "stability": st.column_config.TextColumn(
            "Reads", help="By how many of 1,000 resamples reject"
        ),
        "rejection_rate": number("Rejected", format="percent", help="Of resamples of both sets"),
        f"statistic{OTHER}": number("D (2nd)", format="%.2f", help=f"D against {second}"),
        f"qvalue{OTHER}": pvalue("q (2nd)", f"Of D against {second}, over all axes"),
        f"stability{OTHER}": st.column_config.TextColumn("Reads (2nd)", help=f"Against {second}"),
        "difference": number(
            "Further", format="%+.2f", help=f"Mean less that of {first}; + is the second pole"
        ),
        "spread_ratio": number("Spread", format="%.2f", help=f"Over that of {first}"),
        "separability": number("R", format="%.3f", help="Separability, mean over the heads"),
        "separability_chance": number("R by chance", format="%.3f", help="Under swapped labels"),
        "separability_held_out": number(
            "R anew",
            format="%.3f",
            help="R of the best heads of half of the sentences, in the other half: free of the "
            "choice of heads",
        ),
        "held_out_chance": number("R anew by chance", format="%.3f"),
        "n_concepts": number("n", format="%d", help="Concepts with a value"),
        "n_reference": number("Phrases", format="%d"),
        f"n_reference{OTHER}": number("Phrases (2nd)", format="%d", help=f"Of {second}"),
        "reason": "Why undefined",
    }
