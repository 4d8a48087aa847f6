"""Three switches that put a known error of scoring pipelines back, and what would change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.pipeline_errors import ALL, FIRST, FIRST_PUBLISHED, LABELS, ORDER, RIGHT
from core.analysis.audit.request import AuditTable
from core.figures.shift_lab import drops_with_errors
from core.languages import language_name
from core.selection import Selection
from pages.shared import state
from pages.shared.audit import show_table
from pages.shared.figures import literal, show_figure

SWITCHES = {
    LABELS: (
        "Labels of StereoSet swapped",
        "Stereotype and anti-stereotype of its items exchanged, as where label numbers are read "
        "in the wrong order.",
    ),
    ORDER: (
        "Question roles from order",
        "The first answer that is not the unknown one is taken for the stereotype.",
    ),
    FIRST: (
        "First token not scored",
        "Where a tokenizer joins the space to the first token, that token is left out.",
    ),
}
NAMES = {RIGHT: "right pipeline"} | {key: title for key, (title, _) in SWITCHES.items()}
COLUMNS: dict[str, Any] = {
    "pipeline": "Pipeline",
    "condition": "Language",
    "english": st.column_config.NumberColumn("English mean", format="%.4f"),
    "english_binary": st.column_config.NumberColumn("English, binary", format="%.4f"),
    "drop": st.column_config.NumberColumn("Drop", format="%+.4f"),
    "drop_binary": st.column_config.NumberColumn("Drop, binary", format="%+.4f"),
    "n_cells": st.column_config.NumberColumn("Cells", help="A model in a language"),
    "n_negative": "Lower",
    "n_reliable": "Reliable drops",
    "n_reliable_rise": "Reliable rises",
    "n": "n",
    "n_affected": st.column_config.NumberColumn("n changed", help="Scores the error changes"),
    "n_single": st.column_config.NumberColumn("Poles left empty"),
    "reason": "Why not",
}


def show_switches(
    selection: Selection, table: AuditTable, floor: float, provenance: Mapping[str, object]
) -> Selection:
    """The switches, and right and wrong side by side.

    Parameters
    ----------
    table
        `pipeline_errors` of the audit.
    floor
        Noise floor, the band of the figure.
    """
    rows = table.rows
    reasons = rows[rows["condition"] == ALL].set_index("pipeline")["reason"]
    on = []
    for column, (pipeline, (title, what)) in zip(st.columns(3), SWITCHES.items(), strict=True):
        with column:
            key = f"switch-{pipeline}"
            st.session_state[key] = pipeline in selection.errors
            st.toggle(title, key=key, on_change=_flip, args=[pipeline])
            st.caption(what)
        if pipeline in selection.errors:
            on.append(pipeline)
    for pipeline in on:
        if reason := _reason(reasons[pipeline], rows, pipeline):
            st.info(f"{literal(NAMES[pipeline])}: {literal(reason)}", icon=":material/info:")
    on = [pipeline for pipeline in on if not _reason(reasons[pipeline], rows, pipeline)]
    _side_by_side(rows, [RIGHT, *on])
    for pipeline in on:
        st.markdown("\n".join(f"- {line}" for line in conclusions(rows, pipeline)))
    shown = rows[rows["pipeline"].isin([RIGHT, *on]) & (rows["condition"] != ALL)]
    if not shown.empty:
        names = {pipeline: NAMES[pipeline] for pipeline in (RIGHT, *on)}
        show_figure(
            drops_with_errors(shown, names, floor), "pipeline-errors", provenance, table=shown,
            alt="Drop per language with the right pipeline and with errors",
        )  # fmt: skip
    with st.expander("The numbers of all pipelines", icon=":material/table_rows:"):
        wanted = [RIGHT, *SWITCHES, FIRST_PUBLISHED]
        show_table(
            AuditTable(rows[rows["pipeline"].isin(wanted)], table.notes), COLUMNS, "pipeline-errors"
        )
    return selection


def conclusions(rows: pd.DataFrame, pipeline: str) -> list[str]:
    """What would be said with an error and is not said without it, one sentence each."""
    right, wrong = _by_condition(rows, RIGHT), _by_condition(rows, pipeline)
    before, after = right[ALL], wrong[ALL]
    lines = [
        f"**{literal(NAMES[pipeline])}** ({after['n_affected']:,} scores changed): the English "
        f"mean is **{after['english']:.3f}** instead of {before['english']:.3f}"
        f"{_side(before['english'], after['english'])}."
    ]
    if not math.isnan(before["drop"]):
        lines.append(
            f"The mean drop over {len(right) - 1} languages is {_signed(after['drop'])} instead of "
            f"{_signed(before['drop'])}; {_counts(before, after)}."
        )
    for condition in list(right)[1:]:
        was, now = right[condition], wrong[condition]
        reliable = int(was["n_reliable"]) != int(now["n_reliable"])
        turned = was["drop"] * now["drop"] < 0 and max(was["n_reliable"], now["n_reliable"]) > 0
        if reliable or turned or was["n_reliable_rise"] != now["n_reliable_rise"]:
            lines.append(
                f"{language_name(condition)}: drop {_signed(now['drop'])} instead of "
                f"{_signed(was['drop'])}; {_counts(was, now)}."
            )
    if len(lines) == 2:
        lines.append("No language gains or loses a reliable cell.")
    return lines


def _side_by_side(rows: pd.DataFrame, pipelines: list[str]) -> None:
    places = st.columns(max(len(pipelines), 2))
    first = rows[(rows["pipeline"] == RIGHT) & (rows["condition"] == ALL)].iloc[0]
    for place, pipeline in zip(places, pipelines, strict=False):
        row = rows[(rows["pipeline"] == pipeline) & (rows["condition"] == ALL)].iloc[0]
        with place.container(border=True):
            st.markdown(f"**{literal(NAMES[pipeline])}**")
            moved = row["english"] - first["english"]
            st.metric(
                "English mean", f"{row['english']:.3f}",
                None if pipeline == RIGHT else f"{moved:+.3f}", delta_color="off",
            )  # fmt: skip
            if math.isnan(row["drop"]):
                st.caption("There is no translation, so there is no drop.")
            else:
                st.metric("Mean drop over languages", _signed(row["drop"]))
                st.metric("Reliable drops", f"{row['n_reliable']:.0f} of {row['n_cells']:.0f}")
            st.caption(f"n = {row['n']:,} scores behind the drop")
    if len(pipelines) == 1:
        places[1].caption("Flip a switch to see here what that error would have concluded.")


def _reason(reason: str, rows: pd.DataFrame, pipeline: str) -> str:
    """Why an error can show nothing here; the missing translations alone are no reason."""
    english = rows.loc[rows["pipeline"] == pipeline, "english"]
    return str(reason) if english.isna().all() else ""


def _flip(pipeline: str) -> None:
    on = set(state.current().errors) ^ {pipeline}
    state.change(errors=tuple(name for name in SWITCHES if name in on))


def _by_condition(rows: pd.DataFrame, pipeline: str) -> dict[str, dict[Any, Any]]:
    """Rows of one pipeline, that over all translations first."""
    of_it = rows[rows["pipeline"] == pipeline]
    return {str(row["condition"]): row for row in of_it.to_dict("records")}


def _counts(was: dict[Any, Any], now: dict[Any, Any]) -> str:
    """Reliable cells with the error instead of those without."""
    words = (
        f"reliable drops {now['n_reliable']:.0f} instead of {was['n_reliable']:.0f} "
        f"of {now['n_cells']:.0f}"
    )
    if was["n_reliable_rise"] or now["n_reliable_rise"]:
        words += f", rises {now['n_reliable_rise']:.0f} instead of {was['n_reliable_rise']:.0f}"
    return words


def _side(before: float, after: float) -> str:
    """Whether the mean changes sides of 0.5."""
    if (before - 0.5) * (after - 0.5) >= 0:
        return ""
    return ", which reads as a preference for the " + (
        "anti-stereotype" if after < 0.5 else "stereotype"
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
