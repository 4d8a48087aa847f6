"""Changes of single items in each condition, on one scale: curve, quantiles, sd and n."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import ENGLISH, language_colour
from core.figures.rows import of_data, rows_layout, zero_line
from core.figures.theme import Figure, drawn, plain, signed
from core.items.conditions import is_rewording

_BELOW = 0.14  # of a row: quantiles lie that far under the curve
_RIDGE = 40  # px of one distribution
_HIGHEST = 0.72  # of a ridge's height that the highest curve takes

Row: TypeAlias = dict[Any, Any]


def distribution_figure(
    table: pd.DataFrame, curves: pd.DataFrame, *, who: str, score: str, origin: str = ""
) -> Figure:
    """Changes of single items in each condition, on one scale: curve, quantiles, sd and n.

    Parameters
    ----------
    table, curves : DataFrame
        Of `distributions`.
    who : str
        Whose scores, for the caption: "over 10 models" or "of that model".
    """
    rows = table[table["n"] > 0].to_dict("records")
    highest = float(curves["density"].max()) if len(curves) else 1.0
    grouped = dict(iter(curves.groupby("condition")))
    traces: list[Any] = [
        _ridge(grouped[row["condition"]], place, highest, row["condition"])
        for place, row in enumerate(rows)
        if row["condition"] in grouped
    ]
    traces += [_spans(rows, "q05", "q95", 1.5), _spans(rows, "q25", "q75", 5), _marks(rows)]
    ticks = {"tickvals": list(range(len(rows))), "ticktext": [_ridge_label(r) for r in rows]}
    layout = rows_layout(_RIDGE * len(rows), 0, len(rows), ticks)
    layout["yaxis"]["range"] = [len(rows) - 0.55, -0.95]
    layout["shapes"] = [zero_line()]
    layout["showlegend"] = False
    layout["xaxis"] |= {"title": {"text": f"change of one item<br>{score}"}}
    layout["meta"] = {
        "caption": f"Changes of single items {who}{of_data(origin)}: rewordings from what they "
        "reword (dotted), translations from English (solid). Curve: density, smoothed by a "
        "Gaussian kernel; thick line: middle half, thin line: 5 to 95 %, tick: median, cross: mean."
    }
    return drawn(traces, layout)


def _ridge(curve: pd.DataFrame, place: int, highest: float, condition: str) -> go.Scatter:
    colour = language_colour(condition)
    x, heights = curve["change"].tolist(), curve["density"] / highest * _HIGHEST
    shown = curve["density"].to_numpy() > highest / 500
    first, last = shown.argmax(), len(shown) - shown[::-1].argmax()
    return go.Scatter(
        x=[x[first], *x[first:last], x[last - 1]],
        y=[place, *(place - heights[first:last]).tolist(), place],
        mode="lines",
        line={"color": colour, "width": 1.5, "dash": "dot" if is_rewording(condition) else "solid"},
        fill="toself",
        fillcolor=f"rgba({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))}, 0.18)",
        hoverinfo="skip",
    )


def _spans(rows: list[Row], low: str, high: str, width: float) -> go.Scatter:
    """From one quantile to another, of all conditions in one trace with gaps."""
    return go.Scatter(
        x=[end for row in rows for end in (row[low], row[high], None)],
        y=[place + _BELOW for place in range(len(rows)) for _ in range(3)],
        mode="lines",
        line={"color": ENGLISH, "width": width},
        hoverinfo="skip",
    )


def _marks(rows: list[Row]) -> go.Scatter:
    """Medians and means, which also say the numbers."""
    colours = [language_colour(row["condition"]) for row in rows for _ in range(2)]
    return go.Scatter(
        x=[x for row in rows for x in (row["q50"], row["mean_change"])],
        y=[place + _BELOW for place in range(len(rows)) for _ in range(2)],
        mode="markers",
        marker={
            "symbol": ["line-ns", "x-thin"] * len(rows),
            "size": [13, 8] * len(rows),
            "color": colours,
            "line": {"width": 2, "color": colours},
        },
        customdata=[[row["condition"], _ridge_hover(row)] for row in rows for _ in range(2)],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
    )


def _ridge_hover(row: Row) -> str:
    sd = "" if math.isnan(row["sd"]) else f", sd {row['sd']:.4f}"
    return (
        f"mean {signed(row['mean_change'], 4)}{sd}<br>median {signed(row['q50'], 4)}<br>"
        f"5 to 95 %: {signed(row['q05'], 3)} to {signed(row['q95'], 3)}<br>"
        f"extremes: {signed(row['lowest'], 3)} to {signed(row['highest'], 3)}<br>"
        f"n = {row['n']:,} changes of {row['n_items']:,} items"
    )


def _ridge_label(row: Row) -> str:
    sd = "–" if math.isnan(row["sd"]) else f"{row['sd']:.3f}"
    return f"<b>{plain(row['condition'])}</b><br>sd {sd}, n {row['n']:,}"
