"""Whether a verdict survives another kind of score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.words import p_words
from core.figures.colours import EVIDENCE
from core.figures.drop_rows import Row
from core.figures.theme import Figure, drawn, plain, signed
from core.languages import language_name

# Marker and colour of what a kind of score finds: filled where a shift is shown.
MARKS = {
    "lower": ("triangle-down", "shown"),
    "higher": ("triangle-up", "shown"),
    "lower, but small": ("triangle-down-open", "small"),
    "higher, but small": ("triangle-up-open", "small"),
    "equivalent": ("square-open", "small"),
    "none shown": ("circle-open", "open"),
    "undefined": ("x-thin-open", "open"),
}


def found(row: Row) -> str:
    """What a kind of score finds: one of MARKS. `row` is of the table `score_panel`."""
    side = "lower" if row["t"] > 0 else "higher"
    return {
        "shift": side,
        "real but small": f"{side}, but small",
        "equivalent": "equivalent",
        "undecided": "none shown",
    }.get(row["verdict"], "undefined")


def kinds_plot(rows: pd.DataFrame, words: Mapping[str, str]) -> Figure:
    """Kinds of score against languages, marked by what each finds.

    Parameters
    ----------
    rows : DataFrame
        Of the table `score_panel`.
    words : mapping
        What kinds of score are called.
    """
    conditions = list(dict.fromkeys(rows["condition"]))
    kinds = list(dict.fromkeys(rows["kind"]))
    by_mark: dict[str, list[Row]] = {name: [] for name in MARKS}
    for row in rows.to_dict("records"):
        by_mark[found(row)].append(row)
    traces = [
        _marks(name, members, conditions, kinds, words)
        for name, members in by_mark.items()
        if members
    ]
    layout = _layout(conditions, [words.get(kind, kind) for kind in kinds], len(traces))
    return drawn(traces, layout | {"meta": {"caption": _caption(rows)}})


def _marks(
    name: str,
    members: list[Row],
    conditions: list[str],
    kinds: list[str],
    words: Mapping[str, str],
) -> go.Scatter:
    symbol, evidence = MARKS[name]
    colour = EVIDENCE[evidence]
    return go.Scatter(
        x=[conditions.index(row["condition"]) for row in members],
        y=[kinds.index(row["kind"]) for row in members],
        mode="markers",
        marker={
            "symbol": symbol,
            "size": 13,
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        customdata=[_kind_hover(row, words) for row in members],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        name=name,
    )


def _layout(conditions: list[str], kinds: list[str], n_traces: int) -> dict[str, Any]:
    axis = {"zeroline": False, "fixedrange": True}
    top = 22 * n_traces + 12
    return {
        "height": top + 34 * len(kinds) + 44,
        "margin": {"l": 8, "r": 12, "t": top, "b": 36},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": axis
        | {
            "range": [-0.6, len(conditions) - 0.4],
            "tickvals": list(range(len(conditions))),
            "ticktext": conditions,
        },
        "yaxis": axis
        | {
            "range": [len(kinds) - 0.4, -0.6],
            "tickvals": list(range(len(kinds))),
            "ticktext": kinds,
        },
    }


def _caption(rows: pd.DataFrame) -> str:
    depends = sorted(
        {r["condition"] for r in rows.to_dict("records") if r["depends_on_score"] is True}
    )
    return (
        "What each kind of score finds in each language, beyond rewording: q < .05 "
        "over the languages under that kind. "
        + (
            f"The verdict depends on the score in {', '.join(map(language_name, depends))}."
            if depends
            else "No language has kinds of score that contradict each other; where few items "
            "are scored, none of them may show anything."
        )
    )


def _kind_hover(row: Row, words: Mapping[str, str]) -> list[str]:
    q = p_words("q", row["qvalue"]) if math.isfinite(row["qvalue"]) else plain(row["reason"])
    lines = [f"{found(row)}: {q}, n = {row['n_t']:,}"]
    if math.isfinite(row["drop"]):
        lines.append(f"drop {signed(row['drop'], 4)} in the unit of this score")
    title = f"{language_name(row['condition'])}, {words.get(row['kind'], row['kind'])}"
    return [row["condition"], title, "<br>".join(lines)]
