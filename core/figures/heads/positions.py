"""How well the side of an axis predicts where people place groups, by the number of heads."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import COLOURS, ENGLISH
from core.figures.theme import Figure, drawn, plain
from core.words import counted

_APART = 1.5  # times as many heads: nearer ticks would overlap
_LOOKS = {"warmth": (COLOURS[0], "circle"), "competence": (COLOURS[3], "square")}


def accuracy_lines(
    rows: pd.DataFrame, *, chosen: int = 0, of: str = "", centre: str = ""
) -> Figure:
    """Mean accuracy over the axes of a dimension, with what guessing reaches.

    Parameters
    ----------
    rows
        Of `core.analysis.heads.positions.position_table`.
    chosen
        The number of heads that the page is at, marked; 0 for none.
    of
        What it is of, for the caption: the model, the concepts.
    centre
        What divides the sides, for the caption.
    """
    known = rows.dropna(subset=["accuracy"])
    traces: list[go.Scatter] = []
    for dimension, part in known.groupby("dimension", sort=False):
        traces += _lines(part, str(dimension))
    shapes = []
    if chosen and len(known):
        place = {"x0": chosen, "x1": chosen, "yref": "paper", "y0": 0, "y1": 1}
        shapes = [{"type": "line", "layer": "below", "line": {"width": 1, "dash": "dot"}} | place]
    top = 20 * len(traces) + 12
    ks = _ticks(sorted(known["k"].unique().tolist()))
    layout: dict[str, Any] = {
        "height": top + 360,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "heads of highest R (k)"}, "type": "log", "fixedrange": True}
        | {"tickvals": ks, "ticktext": [str(k) for k in ks], "zeroline": False},
        "yaxis": {"title": {"text": "share on the side of their label"}, "fixedrange": True}
        | {"range": [0, 1.02], "zeroline": False, "tickformat": ".0%"},
        "shapes": shapes,
        "meta": {"caption": _caption(rows, known, of, centre)},
    }
    return drawn(traces, layout)


def _ticks(ks: list[int]) -> list[int]:
    """Numbers of heads that have room beside each other; the largest always has."""
    kept: list[int] = []
    for k in reversed(ks):
        if not kept or kept[-1] >= _APART * k:
            kept.append(k)
    return kept[::-1]


def _lines(part: pd.DataFrame, dimension: str) -> list[go.Scatter]:
    colour, symbol = _LOOKS.get(dimension, (ENGLISH, "diamond"))
    n_axes, n_groups = (int(part[name].max()) for name in ("n_axes", "n_groups"))
    sd = [None if math.isnan(v) else v for v in part["accuracy_sd"]]  # no bar where undefined
    measured = go.Scatter(
        x=part["k"].tolist(),
        y=part["accuracy"].tolist(),
        mode="lines+markers",
        name=f"{plain(dimension)}: accuracy, mean and sd of "
        f"{counted(n_axes, 'axis', 'axes')} (n = {n_groups} labels)",
        line={"color": colour, "width": 2.5},
        marker={"color": colour, "symbol": symbol, "size": 8},
        error_y={"array": sd, "color": colour, "thickness": 1, "width": 3},
        customdata=part[["balanced_accuracy", "auc", "pvalue", "n_axes", "n_groups"]]
        .to_numpy(object)
        .tolist(),
        hovertemplate="<b>k = %{x}</b>: %{y:.1%}<br>balanced %{customdata[0]:.1%}, AUC "
        "%{customdata[1]:.2f}<br>p %{customdata[2]:.4f} over labelings<br>n = %{customdata[4]} "
        "groups; axes: %{customdata[3]}<extra></extra>",
    )
    balanced = go.Scatter(
        x=part["k"].tolist(),
        y=part["balanced_accuracy"].tolist(),
        mode="lines",
        name=f"{plain(dimension)}: balanced accuracy (guessing: 50 %)",
        line={"color": colour, "width": 1.2},
        hoverinfo="skip",
    )
    guessing = go.Scatter(
        x=part["k"].tolist(),
        y=part["majority"].tolist(),
        mode="lines",
        name=f"{plain(dimension)}: always guessing the commoner label",
        line={"color": colour, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    return [measured, balanced, guessing]


def _caption(rows: pd.DataFrame, known: pd.DataFrame, of: str, centre: str) -> str:
    named = f" ({of})" if of else ""
    sentences = [
        f"Share of labelled groups that lie on the side of their label{named}, mean over the axes "
        "of a dimension, by how many heads are averaged; bars: one sd over axes, which share their "
        "groups. Dashed: always guessing the commoner label."
    ]
    if centre:
        sentences.append(f"Centre: {centre}.")
    sentences.append("p is not adjusted over k and settings.")
    gone = rows[rows["accuracy"].isna()].drop_duplicates("dimension")
    sentences += [
        f"{row['dimension'].capitalize()} is undefined: {row['reason']}."
        for row in gone.to_dict("records")
        if not (known["dimension"] == row["dimension"]).any()
    ]
    return " ".join(sentences)
