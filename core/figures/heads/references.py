"""Every axis by how far concepts lie from two sets of phrases: any phrases, and people."""

from __future__ import annotations

from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import EVIDENCE
from core.figures.theme import Figure, drawn, plain
from core.words import counted

_BOTH, _ONE, _NONE = "flagged against both", "flagged against one", "flagged against none"
_DRAWN = ["axis_id", "axis", "statistic", "flagged", "statistic_other", "flagged_other"]
_LOOKS = {  # by how much evidence there is, never by its direction
    _BOTH: (EVIDENCE["shown"], "circle"),
    _ONE: (EVIDENCE["small"], "diamond-open"),
    _NONE: (EVIDENCE["open"], "circle-open"),
}


def two_references(
    rows: pd.DataFrame, *, first: str, second: str, said: str = "", chosen: str = ""
) -> Figure:
    """D against one set of phrases over D against another.

    Parameters
    ----------
    rows
        One row per axis: axis_id, axis (its words), statistic, flagged, statistic_other,
        flagged_other. Axes that are undefined against either are left out and counted.
    first, second
        Names of the sets.
    said
        What the tests come to, which a page shows once and a file carries too.
    chosen
        The id of the open axis, which gets a ring.
    """
    known = rows[_DRAWN].dropna(subset=["statistic", "statistic_other"])  # of wide tables
    both = known["flagged"].fillna(value=False).astype(bool)
    other = known["flagged_other"].fillna(value=False).astype(bool)
    kinds = {_BOTH: both & other, _ONE: both ^ other, _NONE: ~(both | other)}
    traces = [_points(known[mask], kind) for kind, mask in kinds.items() if mask.any()]
    if (known["axis_id"] == chosen).any():
        traces.insert(0, _ring(known[known["axis_id"] == chosen].iloc[0]))
    top = 20 * len(traces) + 12
    axis: dict[str, Any] = {"range": [0, 1], "zeroline": False, "fixedrange": True, "nticks": 6}
    layout = {
        "height": top + 420,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": axis | {"title": {"text": f"KS D against {plain(first)}"}},
        "yaxis": axis | {"title": {"text": f"KS D against {plain(second)}"}},
        "shapes": [
            {"type": "line", "layer": "below", "x0": 0, "y0": 0, "x1": 1, "y1": 1}
            | {"line": {"width": 1, "dash": "dot"}}
        ],
        "meta": {"caption": _caption(rows, known, first, second), "caution": said},
    }
    return drawn(traces, layout)


def _points(part: pd.DataFrame, kind: str) -> go.Scatter:
    colour, symbol = _LOOKS[kind]
    return go.Scatter(
        _validate=False,  # looking at each property of thousands of points again takes longest
        x=part["statistic"].tolist(),
        y=part["statistic_other"].tolist(),
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": 10 if len(part) < 300 else 6},
        selected={"marker": {"opacity": 1.0}},
        unselected={"marker": {"opacity": 1.0}},
        name=f"{kind} (n = {len(part):,})",
        customdata=[
            [axis_id, plain(words)]
            for axis_id, words in zip(part["axis_id"], part["axis"], strict=True)
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>D %{x:.3f} and %{y:.3f}<extra></extra>",
    )


def _ring(row: pd.Series) -> go.Scatter:
    return go.Scatter(
        x=[float(row["statistic"])],
        y=[float(row["statistic_other"])],
        mode="markers",
        marker={"symbol": "circle-open", "size": 20, "color": EVIDENCE["shown"]},
        name=f"open: {plain(str(row['axis']))}",
        hoverinfo="skip",
    )


def _caption(rows: pd.DataFrame, known: pd.DataFrame, first: str, second: str) -> str:
    sentences = [
        f"Each point is one of {counted(len(known), 'axis', 'axes')}: how far the concepts lie "
        f"from {first} and from {second} (Kolmogorov-Smirnov D, 0 to 1; flagged at p < 0.05)."
    ]
    if len(known) < len(rows):
        sentences.append(
            f"Showing {len(known):,} of {len(rows):,}: the others are undefined against one."
        )
    return " ".join(sentences)
