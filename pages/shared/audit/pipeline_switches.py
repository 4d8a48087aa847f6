"""Three switches that put a known error of scoring pipelines back, and what would change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.pipeline_errors import ALL, FIRST, FIRST_PUBLISHED, LABELS, ORDER, RIGHT
from core.analysis.audit.request import AuditTable
from core.analysis.audit.words import bounds, number, signed
from core.figures.shift_lab import drops_with_errors
from core.languages import language_name
from core.selection import Selection
from pages.shared import state
from pages.shared.absent import say_absent
from pages.shared.figures import literal, show_figure
from pages.shared.tables import pvalue, show_table

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
FLOOR = st.column_config.NumberColumn(
    "Floor", format="%.4f", help="What rewording alone does to the mean: median over models"
)
COLUMNS: dict[str, Any] = {
    "pipeline": "Pipeline",
    "condition": "Language",
    "english": st.column_config.NumberColumn("English mean", format="%.4f"),
    "english_binary": st.column_config.NumberColumn("English, binary", format="%.4f"),
    "drop": st.column_config.NumberColumn("Drop", format="%+.4f"),
    "drop_low": st.column_config.NumberColumn("95 % from", format="%+.4f", help="Over items"),
    "drop_high": st.column_config.NumberColumn("to", format="%+.4f"),
    "drop_binary": st.column_config.NumberColumn("Drop, binary", format="%+.4f"),
    "noise_floor": FLOOR,
    "n_cells": st.column_config.NumberColumn("Cells", help="A model in a language"),
    "n_negative": "Lower",
    "n_reliable": "Reliable drops",
    "n_reliable_rise": "Reliable rises",
    "n": st.column_config.NumberColumn("n", help="Scores behind the drop"),
    "n_items": st.column_config.NumberColumn("n items", help="Items drawn for the intervals"),
    "n_affected": st.column_config.NumberColumn("n changed", help="Scores the error changes"),
    "n_single": st.column_config.NumberColumn("Poles left empty"),
    "reason": "Why not",
}
# Of one error, per language: the conclusion as it is, and as the wrong pipeline would have it.
SIDES: dict[str, Any] = {
    "condition": "Language",
    "right_drop": st.column_config.NumberColumn(
        "As it is", format="%+.4f", help="Drop with the right pipeline"
    ),
    "right_drop_low": st.column_config.NumberColumn("95 % from", format="%+.4f", help="Over items"),
    "right_drop_high": st.column_config.NumberColumn("to", format="%+.4f"),
    "drop": st.column_config.NumberColumn(
        "With error", format="%+.4f", help="Drop with the error, of the same scores"
    ),
    "drop_low": st.column_config.NumberColumn("95 % from ", format="%+.4f", help="Over items"),
    "drop_high": st.column_config.NumberColumn("to ", format="%+.4f"),
    "moved": st.column_config.NumberColumn(
        "Difference", format="%+.4f", help="Drop with the error minus the drop as it is"
    ),
    "moved_low": st.column_config.NumberColumn("95 % from  ", format="%+.4f", help="Over items"),
    "moved_high": st.column_config.NumberColumn("to  ", format="%+.4f"),
    "moved_qvalue": pvalue("q", "Sign flips of items, adjusted over all errors and languages"),
    "right_n_reliable": st.column_config.NumberColumn(
        "Reliable", format="%d", help="Models with a reliable drop, as it is"
    ),
    "n_reliable": st.column_config.NumberColumn(
        "with error", format="%d", help="Models with a reliable drop, with the error"
    ),
    "n_cells": st.column_config.NumberColumn("of", format="%d", help="Models"),
    "right_noise_floor": FLOOR,
    "n_items": st.column_config.NumberColumn("n items", format="%d"),
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
    say_absent("errors", SWITCHES)
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
        of_it = rows[(rows["pipeline"] == pipeline) & (rows["condition"] != ALL)]
        if not of_it.empty:
            show_table(AuditTable(of_it), SIDES, f"pipeline-errors-{pipeline}")
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
    of_it = rows[rows["pipeline"] == pipeline].to_dict("records")
    overall = next(row for row in of_it if row["condition"] == ALL)
    languages = [row for row in of_it if row["condition"] != ALL]
    lines = [
        f"**{literal(NAMES[pipeline])}** ({overall['n_affected']:,} scores changed): the English "
        f"mean is **{overall['english']:.3f}** instead of {overall['right_english']:.3f}, "
        f"{_moved(overall, 'english_moved')} (n = {overall['n_english']:,} items)"
        f"{_side(overall['right_english'], overall['english'])}."
    ]
    if not math.isnan(overall["drop"]):
        lines.append(
            f"The mean drop over {len(languages)} languages is {_drop(overall, 'drop')} instead of "
            f"{_drop(overall, 'right_drop')}, {_moved(overall, 'moved')} (n = "
            f"{overall['n_items']:,} items); {_floor(overall)}; {_counts(overall)}."
        )
    unknown = [row for row in languages if not _is_counted(row)]
    for row in filter(_is_counted, languages):
        reliable = [row["n_reliable"], row["right_n_reliable"]]
        turned = row["right_drop"] * row["drop"] < 0 and max(reliable) > 0
        rises = row["n_reliable_rise"] != row["right_n_reliable_rise"]
        if reliable[0] != reliable[1] or turned or rises:
            lines.append(
                f"{language_name(row['condition'])}: drop {_drop(row, 'drop')} instead of "
                f"{_drop(row, 'right_drop')}, {_moved(row, 'moved')} (n = {row['n_items']:,} "
                f"items); {_counts(row)}."
            )
    if len(lines) == 2 and len(unknown) < len(languages):
        lines.append("No language gains or loses a reliable cell.")
    for reason in dict.fromkeys(str(row["reason"]) for row in unknown):
        names = [language_name(r["condition"]) for r in unknown if r["reason"] == reason]
        lines.append(f"{', '.join(names)}: no test of a cell. {literal(reason)}")
    return lines


def _is_counted(row: Mapping[Any, Any]) -> bool:
    """Whether reliable cells are counted with the error and without."""
    return not any(math.isnan(row[f"{side}n_reliable"]) for side in ("", "right_"))


def _side_by_side(rows: pd.DataFrame, pipelines: list[str]) -> None:
    places = st.columns(max(len(pipelines), 2))
    first = rows[(rows["pipeline"] == RIGHT) & (rows["condition"] == ALL)].iloc[0]
    for place, pipeline in zip(places, pipelines, strict=False):
        row = rows[(rows["pipeline"] == pipeline) & (rows["condition"] == ALL)].iloc[0]
        with place.container(border=True):
            st.markdown(f"**{literal(NAMES[pipeline])}**")
            moved = row["english"] - first["english"]
            # The arrow of a metric is up unless a hyphen says otherwise.
            st.metric(
                "English mean", number(row["english"]),
                None if pipeline == RIGHT else signed(moved), delta_color="off",
                delta_arrow="off" if not round(moved, 3) else "up" if moved > 0 else "down",
            )  # fmt: skip
            if math.isnan(row["drop"]):
                st.caption("There is no translation, so there is no drop.")
            else:
                st.metric("Mean drop over languages", signed(row["drop"]))
                known = row.to_dict()
                words = f"{_bounds(known, 'drop')} over {row['n_items']:,} items; {_floor(known)}"
                st.caption(words)
                n_reliable = number(row["n_reliable"], 0)
                st.metric("Reliable drops", f"{n_reliable} of {number(row['n_cells'], 0)}")
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


def _counts(row: Mapping[Any, Any]) -> str:
    """Reliable cells with the error instead of those without."""
    if not _is_counted(row):
        return "no cell has a test, so none is counted"
    words = (
        f"reliable drops {row['n_reliable']:.0f} instead of {row['right_n_reliable']:.0f} "
        f"of {row['n_cells']:.0f}"
    )
    if row["n_reliable_rise"] or row["right_n_reliable_rise"]:
        rises = f"{row['n_reliable_rise']:.0f} instead of {row['right_n_reliable_rise']:.0f}"
        words += f", rises {rises}"
    return words


def _side(before: float, after: float) -> str:
    """Whether the mean changes sides of 0.5."""
    if (before - 0.5) * (after - 0.5) >= 0:
        return ""
    return ", which reads as a preference for the " + (
        "anti-stereotype" if after < 0.5 else "stereotype"
    )


def _drop(row: Mapping[Any, Any], name: str) -> str:
    """A drop with its interval."""
    return f"{signed(row[name])} {_bounds(row, name)}"


def _moved(row: Mapping[Any, Any], name: str) -> str:
    """What an error does to a number, with its interval."""
    return f"a difference of {signed(row[name])} {_bounds(row, name)}"


def _bounds(row: Mapping[Any, Any], name: str) -> str:
    return bounds(row[f"{name}_low"], row[f"{name}_high"])


def _floor(row: Mapping[Any, Any]) -> str:
    floor = row["noise_floor"]
    return "no rewording" if math.isnan(floor) else f"rewording moves means by {floor:.3f}"
