"""One row per model, language or condition: the layout, and what such charts share."""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.figures.colours import ENGLISH

ROW = 26  # px


def rows_layout(height: int, n_traces: int, n_places: int, ticks: dict[str, Any]) -> dict[str, Any]:
    """The layout of `n_places` rows from the top down.

    Parameters
    ----------
    height
        Of all rows, px.
    n_traces
        How many the legend names, one below the other: side by side they are cut on a narrow
        screen.
    ticks
        tickvals and ticktext of the rows.
    """
    top = 20 * n_traces + 12
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "height": top + height + 76,
        "margin": {"l": 8, "r": 12, "t": top, "b": 68},
        "dragmode": False,
        "barmode": "overlay",
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
        "showlegend": n_traces > 0,
        "xaxis": axis | {"nticks": 7},
        "yaxis": axis
        | {"range": [n_places - 0.4, -0.6], "ticklabelstandoff": 6, "showgrid": False}
        | ticks,
    }


def zero_line() -> dict[str, Any]:
    """A line at no change, behind the marks."""
    place = {"x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", "line": {"width": 1.5}} | place


def whiskers(rows: pd.DataFrame, value: str, ends: str) -> dict[str, Any]:
    """Error bars from the columns `ends`_low and `ends`_high; none where they are missing."""
    return {
        "type": "data",
        "symmetric": False,
        "array": (rows[f"{ends}_high"] - rows[value]).fillna(0).tolist(),
        "arrayminus": (rows[value] - rows[f"{ends}_low"]).fillna(0).tolist(),
        "color": ENGLISH,
        "thickness": 1.5,
        "width": 3,
    }


def of_data(origin: str) -> str:
    """The data set, as the end of a phrase."""
    return f", data set {origin}" if origin else ""


def span(numbers: pd.Series) -> str:
    """The least and the largest of these counts."""
    if not len(numbers):
        return "0"
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
