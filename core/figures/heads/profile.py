"""In which layers the heads lie that separate an axis best."""

from __future__ import annotations

from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import COLOURS, ENGLISH
from core.figures.theme import Figure, drawn

_LOOKS = {"mean": (COLOURS[1], ""), "last": (COLOURS[5], "/")}  # colour and hatching


def profile_bars(rows: pd.DataFrame, *, expected: float, what: str = "") -> Figure:
    """How many of the top heads lie in each layer, one bar per pooling.

    Parameters
    ----------
    rows
        One row per pooling and layer: pooling, layer, n_heads.
    expected
        Heads in each layer if the top ones were spread evenly.
    what
        Of what, for the caption: the axis, the model.
    """
    traces = []
    totals = rows.groupby("pooling", sort=False)["n_heads"].sum()
    for pooling, part in rows.groupby("pooling", sort=False):
        colour, shape = _LOOKS.get(str(pooling), (ENGLISH, ""))
        traces.append(
            go.Bar(
                x=part["layer"].tolist(),
                y=part["n_heads"].tolist(),
                name=f"{_words(str(pooling))} (n = {totals[pooling]:,} heads)",
                marker={"color": colour, "pattern": {"shape": shape}, "line": {"width": 0}},
                hovertemplate="layer %{x}: %{y} heads<extra></extra>",
            )
        )
    layout = _layout(rows, expected, len(traces))
    named = f", {what}" if what else ""
    layout["meta"] = {
        "caption": f"Heads of highest separability R by layer{named}. Dotted: {expected:.1f} heads "
        "in each layer, if they were spread evenly over the layers."
    }
    return drawn(traces, layout)


def _words(pooling: str) -> str:
    return {"mean": "mean over tokens", "last": "last token"}.get(pooling, pooling)


def _layout(rows: pd.DataFrame, expected: float, n_traces: int) -> dict[str, Any]:
    top = 20 * n_traces + 12
    place = {"xref": "paper", "x0": 0, "x1": 1, "y0": expected, "y1": expected}
    line = {"type": "line", "layer": "above", "line": {"width": 1.5, "dash": "dot"}}
    return {
        "height": top + 240,
        "margin": {"l": 8, "r": 12, "t": top, "b": 48},
        "dragmode": False,
        "barmode": "group",
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "layer"}, "fixedrange": True, "nticks": 12, "showgrid": False},
        "yaxis": {
            "title": {"text": "heads"},
            "fixedrange": True,
            "rangemode": "tozero",
            "zeroline": False,
        },
        "shapes": [line | place] if len(rows) else [],
    }
