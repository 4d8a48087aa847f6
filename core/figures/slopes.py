"""What items keep in each language: slopes beside the ceiling that rewording sets."""

from __future__ import annotations

from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.kept import CAUTION, bounds, number
from core.analysis.audit.names import REWORDING
from core.figures.colours import BAND, ENGLISH, language_colour
from core.figures.conditions import version
from core.figures.theme import Figure, drawn

_LINE_HEIGHT = 24  # px per language


def slope_dots(rows: pd.DataFrame, *, dataset: str = "") -> Figure:
    """What items keep in each language, with the ceiling that rewording sets as a band.

    Parameters
    ----------
    rows : DataFrame
        Of the table `association`, those of all models and items of each condition.
    """
    known = rows[rows["slope"].notna()]
    ceiling = known[known["condition"] == REWORDING]
    shown = known[known["condition"] != REWORDING]
    bands = [_ceiling(row, len(shown)) for row in ceiling.to_dict("records")]
    layout = _layout(known, shown, len(bands)) | {
        "meta": {"caption": _slopes_caption(rows, shown, dataset), "caution": CAUTION}
    }
    return drawn([*bands, *_intervals(shown), _dots(shown)], layout)


def _ceiling(row: dict[Any, Any], n_shown: int) -> go.Scatter:
    name = f"rewording: {number(row['slope'])} {bounds(row['slope_low'], row['slope_high'])}"
    low, high, last = row["slope_low"], row["slope_high"], max(n_shown, 1) - 0.5
    return go.Scatter(
        x=[low, high, high, low],
        y=[-0.5, -0.5, last, last],
        fill="toself",
        fillcolor=BAND,
        mode="lines",
        line={"width": 0, "color": ENGLISH},
        name=f"{name}, the ceiling (n = {row['n_items']:,})",
        hoverinfo="skip",
    )


def _intervals(shown: pd.DataFrame) -> list[go.Scatter]:
    columns = (shown[name].tolist() for name in ("condition", "slope_low", "slope_high"))
    return [
        go.Scatter(
            x=[low, high],
            y=[at, at],
            mode="lines",
            line={"width": 3, "color": language_colour(condition)},
            hoverinfo="skip",
            showlegend=False,
        )
        for at, (condition, low, high) in enumerate(zip(*columns, strict=True))
    ]


def _dots(shown: pd.DataFrame) -> go.Scatter:
    columns = zip(*(shown[c] for c in ("condition", "slope_low", "slope_high")), strict=True)
    return go.Scatter(
        x=shown["slope"].tolist(),
        y=list(range(len(shown))),
        mode="markers",
        marker={"color": [language_colour(c) for c in shown["condition"]], "size": 10},
        customdata=[list(row) for row in columns],
        hovertemplate="<b>%{customdata[0]}</b><br>slope %{x:.4f}"
        "<br>[%{customdata[1]:.4f}, %{customdata[2]:.4f}]<extra></extra>",
        name="slope, 95 % interval over items",
    )


def _layout(known: pd.DataFrame, shown: pd.DataFrame, n_bands: int) -> dict[str, Any]:
    names = zip(shown["condition"], shown["n_items"], strict=True)
    n_rows, top = max(len(shown), 1), 20 * (1 + n_bands) + 14
    values = known[["slope_low", "slope_high"]].to_numpy()
    low = min([0.0, *values[pd.notna(values)].tolist()])
    high = max([1.0, *values[pd.notna(values)].tolist()])
    axis = {"zeroline": False, "fixedrange": True}
    upright = {"type": "line", "layer": "below", "yref": "paper", "y0": 0, "y1": 1}
    return {
        "height": top + _LINE_HEIGHT * n_rows + 60,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": False,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": axis
        | {
            "range": [low - 0.05, high + 0.05],
            "title": {"text": "slope: 0 nothing is kept, 1 all of it"},
        },
        "yaxis": axis
        | {
            "range": [n_rows - 0.5, -0.5],
            "tickvals": list(range(len(shown))),
            "ticktext": [f"{version(condition)} (n = {n:,})" for condition, n in names],
            "ticklabelstandoff": 6,
        },
        "shapes": [upright | {"x0": x, "x1": x, "line": {"width": 1}} for x in (0, 1)],
    }


def _slopes_caption(rows: pd.DataFrame, shown: pd.DataFrame, dataset: str) -> str:
    origin = f", data set {dataset}" if dataset else ""
    sentences = [
        f"What items keep of what sets them apart in English{origin}: slopes of {len(shown)} "
        "languages, all models, with 95 % intervals over items for each language alone; n items."
    ]
    if (rows["condition"] == REWORDING).any():
        sentences.append("Band: the slope under mere rewording of English.")
    else:
        sentences.append("No rewording is scored, so the ceiling is unknown.")
    undefined = rows.loc[rows["slope"].isna(), "condition"]
    if len(undefined):
        sentences.append(f"No slope: {', '.join(undefined)}.")
    return " ".join(sentences)
