"""What charts of drops share: the yardstick beside them, intervals, dots, layout.

A drop is the score in English minus that in the language, of the same items. Rows are those of the
tables of an audit; nothing is computed here but places and colours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.names import POOLED
from core.figures.colours import BAND, ENGLISH, language_colour
from core.figures.theme import plain, signed

Row: TypeAlias = dict[Any, Any]


@dataclass(frozen=True)
class Yardstick:
    """What every drop is shown beside."""

    floor: float  # median over `n_models` of the noise floor; NaN where there is none
    n_models: int
    margin: float  # of equivalence; NaN where scores have no unit for one


def frame(n_rows: int, beside: Yardstick) -> list[go.Scatter]:
    """What every chart of drops has: the noise floor as a band, the margin as dashed lines."""
    top, bottom = -0.6, n_rows - 0.4
    floor, margin = beside.floor, beside.margin
    traces = []
    if math.isfinite(floor):
        traces.append(
            go.Scatter(
                x=[-floor, floor, floor, -floor],
                y=[top, top, bottom, bottom],
                fill="toself",
                fillcolor=BAND,
                mode="lines",
                line={"width": 0, "color": ENGLISH},
                name=f"rewording alone: ±{floor:.3f}",
                hoverinfo="skip",
            )
        )
    if math.isfinite(margin):
        traces.append(_margin_lines(margin, top, bottom))
    return traces


def _margin_lines(margin: float, top: float, bottom: float) -> go.Scatter:
    return go.Scatter(
        x=[-margin, -margin, None, margin, margin],
        y=[top, bottom, None, top, bottom],
        mode="lines",
        line={"width": 1.5, "dash": "dash", "color": ENGLISH},
        name=f"margin of equivalence: ±{margin:g}",
        hoverinfo="skip",
    )


def frame_words(beside: Yardstick) -> str:
    """What the frame is, for the caption."""
    whose = "one model" if beside.n_models == 1 else f"median over {beside.n_models} models"
    band = (
        f"Band: ±{beside.floor:.3f}, what rewording English does to a mean score ({whose})."
        if math.isfinite(beside.floor)
        else "No rewording covers every English item, so there is no noise band."
    )
    if not math.isfinite(beside.margin):
        return f"{band} On this scale there is no margin of equivalence."
    return f"{band} Dashed: the margin of equivalence, ±{beside.margin:g}."


def intervals(
    records: list[Row], ends: tuple[str, str], name: str, width: float, below: float = 0
) -> list[go.Scatter]:
    """Intervals as lines, one trace per colour, and their name in grey; none without intervals."""
    by_colour: dict[str, tuple[list[Any], list[Any]]] = {}
    for at, row in enumerate(records):
        if math.isfinite(row[ends[0]]):
            x, y = by_colour.setdefault(_colour(row), ([], []))
            x += [row[ends[0]], row[ends[1]], None]
            y += [at + below, at + below, None]
    if not by_colour:
        return []
    grey = {"width": width, "color": ENGLISH}
    return [
        go.Scatter(x=[None], y=[None], mode="lines", line=grey, name=name),
        *(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line={"width": width, "color": colour},
                showlegend=False,
                hoverinfo="skip",
                name=name,
            )
            for colour, (x, y) in by_colour.items()
        ),
    ]


def dots(
    records: list[Row], column: str, filled: list[bool], hover: list[list[str]]
) -> list[go.Scatter]:
    """A dot per row, and a dash at the left edge, not at a value, where there is none."""
    known = [at for at, row in enumerate(records) if math.isfinite(row[column])]
    rest = [at for at, row in enumerate(records) if not math.isfinite(row[column])]
    colours = [_colour(records[at]) for at in known]
    traces = [
        go.Scatter(
            x=[records[at][column] for at in known],
            y=known,
            mode="markers",
            marker={
                "symbol": ["circle" if filled[at] else "circle-open" for at in known],
                "color": colours,
                "size": 11,
                "line": {"color": colours, "width": 2},
            },
            customdata=[hover[at] for at in known],
            hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
            name="drops",
            showlegend=False,
        )
    ]
    if rest:
        traces.append(
            go.Scatter(
                x=[0.01] * len(rest),
                xaxis="x2",
                y=rest,
                mode="text",
                text=["– undefined"] * len(rest),
                textposition="middle right",
                textfont={"color": ENGLISH},
                customdata=[
                    [records[at]["condition"], plain(records[at]["reason"])] for at in rest
                ],
                hovertemplate="%{customdata[1]}<extra></extra>",
                showlegend=False,
                name="undefined",
            )
        )
    return traces


def _colour(row: Row) -> str:
    """Of the row's language; what is pooled over all of them is grey."""
    return ENGLISH if row["condition"] == POOLED else language_colour(row["condition"])


def layout_of(
    traces: list[go.Scatter], labels: list[str], row_height: int, title: str
) -> dict[str, Any]:
    """The layout of one row per label, wide enough for all that the traces show."""
    top = 20 * sum(trace.showlegend is not False for trace in traces) + 12
    ends = [x for trace in traces if trace.xaxis is None for x in trace.x if x is not None]
    low, high = min(ends, default=-1.0), max(ends, default=1.0)
    space = 0.04 * (high - low)
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "height": top + row_height * max(len(labels), 1) + 60,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": False,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": axis
        | {"title": {"text": title}, "nticks": 7, "range": [low - space, high + space]},
        # Marks of what is undefined have a place on the screen and none among the values.
        "xaxis2": {"overlaying": "x", "range": [0, 1], "visible": False, "fixedrange": True},
        "yaxis": axis
        | {
            "range": [len(labels) - 0.4, -0.6],
            "tickvals": list(range(len(labels))),
            "ticktext": [plain(label) for label in labels],
            "showgrid": False,
            "ticklabelstandoff": 6,
        },
        "shapes": [
            {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1}
            | {"layer": "below", "line": {"width": 1.5}}
        ],
    }


def interval(low: float, high: float) -> str:
    """An interval for people; a dash where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    # Rounded to zero from below, a number would read -0.000.
    return f"[{signed(round(low, 3) + 0.0, 3)}, {signed(round(high, 3) + 0.0, 3)}]"


def count(value: Any) -> str:
    """A number of items or models for people; none counts as 0."""
    return "0" if pd.isna(value) else f"{int(value):,}"
