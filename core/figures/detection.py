"""How often a shift is found, and how many items that takes."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import COLOURS
from core.figures.theme import Figure, drawn, plain, signed

_CURVES = {
    "detection": "Share of runs in which<br>the shift is found",
    "flags_among_rest": "Other pairs found<br>per run",
    "exaggeration": "Estimate over true shift<br>where it is found",
}
_DOMAINS = ([0.70, 1.0], [0.36, 0.64], [0.0, 0.28])  # of the curves, from the top down
_COLOUR = COLOURS[1]


def detection_curves(points: pd.DataFrame, now: float, *, n_wanted: int, seed: int) -> Figure:
    """Three curves over the size of the shift: found, flags among the rest, exaggeration.

    Parameters
    ----------
    points
        Of `core.analysis.audit.lab_plan.runs`.
    now
        The shift of the mean score that the sliders make; marked.
    """
    n_runs = int(points["n_runs"].max())
    marked = math.isfinite(now) and bool(now)
    caption = (
        f"{n_runs} of {n_wanted} runs of each size, one of {int(points['n_pairs'].max())} pairs "
        f"shifted in each, seed {seed}; bars are Monte-Carlo standard errors. At shift 0 a pair is "
        "found where its scores differ already. The exaggeration is undefined where nothing is "
        "found."
    )
    if marked:
        caption += f" Dashed: the shift of the sliders, {signed(now, 3)}."
    layout = _curves_layout() | {
        "shapes": [_upright(now, "paper")] if marked else [],
        "meta": {"caption": caption},
    }
    return drawn([_curve(points, column, row) for row, column in enumerate(_CURVES)], layout)


def _curve(points: pd.DataFrame, column: str, row: int) -> go.Scatter:
    suffix = _suffix(row)
    errors = {"array": points["detection_error"].tolist(), "color": _COLOUR}
    return go.Scatter(
        x=points["shift"].tolist(),
        y=points[column].tolist(),
        mode="lines+markers",
        line={"color": _COLOUR, "width": 2},
        marker={"size": 8},
        error_y=errors if column == "detection" else None,
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
        customdata=points[["delta", "n_runs", "n_detected", "n_pairs"]].to_numpy().tolist(),
        hovertemplate=(
            "log-odds %{customdata[0]:+.2f}, shift %{x:.4f}<br>%{y:.3f}"
            "<br>found in %{customdata[2]} of %{customdata[1]} runs, %{customdata[3]} pairs"
            "<extra></extra>"
        ),
        showlegend=False,
    )


def _curves_layout() -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": 620,
        "margin": {"l": 8, "r": 12, "t": 16, "b": 48},
        "dragmode": False,
    }
    for row, (title, domain) in enumerate(zip(_CURVES.values(), _DOMAINS, strict=True)):
        suffix = _suffix(row)
        layout[f"yaxis{suffix}"] = {
            "domain": domain,
            "title": {"text": title},
            "rangemode": "tozero",
            "fixedrange": True,
        }
        layout[f"xaxis{suffix}"] = {
            "anchor": f"y{suffix}",
            "fixedrange": True,
            "showticklabels": row == len(_CURVES) - 1,
        } | ({"matches": "x"} if row else {})
    layout["yaxis"]["range"] = [-0.03, 1.05]
    layout[f"xaxis{len(_CURVES)}"]["title"] = {"text": "shift of the pair's mean score"}
    return layout


def _suffix(row: int) -> str:
    """Of the axes of a row: x and y, then x2 and y2."""
    return str(row + 1) if row else ""


def items_for_shifts(table: pd.DataFrame) -> Figure:
    """Items needed against the shift to find, one line per kind of change.

    Parameters
    ----------
    table
        Rows of `core.analysis.audit.lab_plan.needed`.
    """
    marks = ("circle", "square", "diamond", "x")
    traces = []
    for number, (what, part) in enumerate(table.groupby("what", sort=False)):
        ordered = part.sort_values("shift")
        colour = COLOURS[(1, 5, 4, 6)[number % 4]]
        traces.append(
            go.Scatter(
                x=ordered["shift"].tolist(),
                y=ordered["items_needed"].tolist(),
                mode="lines+markers",
                name=f"{plain(str(what))} (n = {int(part['n'].iloc[0]):,})",
                line={"color": colour, "width": 2},
                marker={"symbol": marks[number % 4], "size": 9, "color": colour},
                customdata=ordered[["what", "n", "sd", "smallest_shift"]].to_numpy().tolist(),
                hovertemplate=(
                    "<b>%{customdata[0]}</b><br>a shift of %{x:.3f} needs %{y:,.0f} items"
                    "<br>its %{customdata[1]} items find %{customdata[3]:.3f}<br>"
                    "sd %{customdata[2]:.3f}<extra></extra>"
                ),
            )
        )
    layout = {
        "height": 340 + 20 * len(traces),
        "margin": {"l": 8, "r": 12, "t": 20 * len(traces) + 12, "b": 48},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "true shift to find (score)"}, "fixedrange": True},
        "yaxis": {
            "type": "log",
            "dtick": 1,
            "tickformat": ",",
            "title": {"text": "items needed"},
            "fixedrange": True,
        },
        "meta": {
            "caption": "Items with which a paired test at 5 % finds a true shift 8 times in 10, by "
            "the standard deviation of one item's change in these data; one test by itself, "
            "without adjustment for others."
        },
    }
    return drawn(traces, layout)


def _upright(x: float, yref: str) -> dict[str, Any]:
    line = {"width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": x, "x1": x, "yref": yref, "y0": 0, "y1": 1, "line": line}
