"""The list of axes as a table: a click opens one, pages turn, files hold every row."""

from __future__ import annotations

import zlib

import pandas as pd
import streamlit as st

from core.selection import Selection
from core.stats.levels import LEVEL
from core.stats.probes.flags import resampled_words
from core.words import counted
from pages.shared import state
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked
from pages.shared.heads.rows import OTHER, AxisList
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
            f"the left of a row to open its axis.{_second_words(asked)}",
            width="content",
        )
        for label, to in (("Previous rows", page - 1), ("Next rows", page + 1)):
            st.button(
                label,
                disabled=not 0 <= to <= last,
                on_click=lambda to=to: state.change(page=to),
                type="tertiary",
            )
    stem = f"axes-{asked.question.axes}-{asked.question.concepts}-{asked.model}"
    shown = [c for c in _columns(asked) if c in rows]
    download_buttons(lambda: rows.drop(columns="synsets"), shown, stem)
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
    opened = ["▸" if i == selection.axis else "" for i in rows["axis_id"]]
    frame = _in_words(rows).assign(open=opened)
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


def _in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """How steadily tests reject, in the words that stand beside verdicts."""
    named = [name for name in ("stability", f"stability{OTHER}") if name in rows]
    words = {name: rows[name].map(resampled_words, na_action="ignore") for name in named}
    return rows.assign(**words)


def _second_words(asked: Asked) -> str:
    """What columns of the second set of phrases are about."""
    return f" 2nd: against {literal(asked.second)}." if asked.second else ""


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
        "axis": st.column_config.TextColumn("Axis", width=168),
        "dimension": st.column_config.TextColumn("Dimension", width=84),
        "says": st.column_config.TextColumn("Tests say", help=f"Against {first}", width=142),
        "statistic": number(
            "D", format="%.2f", help=f"Kolmogorov-Smirnov D against {first}", width=44
        ),
        "qvalue": pvalue("q", f"Of D against {first}, over all axes"),
        "length_r": number(
            "Length r",
            format="%+.2f",
            help="Spearman's r of values with the phrases' length; q stands further right",
        ),
        f"says{OTHER}": st.column_config.TextColumn(
            "Say (2nd)", help=f"Tests against {second}", width=142
        ),
        f"statistic{OTHER}": number("D (2nd)", format="%.2f", help=f"D against {second}", width=58),
        f"qvalue{OTHER}": pvalue("q (2nd)", f"Of D against {second}, over all axes"),
        "difference": number(
            "Further", format="%+.2f", help=f"Mean less that of {first}; + is the second pole"
        ),
        "difference_low": number("from", format="%+.2f", help="95 % interval of that (Welch)"),
        "difference_high": number("to", format="%+.2f"),
        "length_qvalue": pvalue("Length q", "Of r with the phrases' length, over all axes"),
        "spread_ratio": number("Spread", format="%.2f", help=f"Over that of {first}"),
        "pvalue_spread": pvalue("p of spread", "Brown-Forsythe"),
        "rejection_rate": number("Rejected", format="percent", help="Of resamples of both sets"),
        "stability": st.column_config.TextColumn("Resamples", help="How steadily the test rejects"),
        f"stability{OTHER}": st.column_config.TextColumn("Resamples (2nd)"),
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
