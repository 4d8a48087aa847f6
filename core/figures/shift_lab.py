"""Figures of the shift lab about known causes: errors of pipelines, sentences put in front."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.words import p_words
from core.figures.colours import BAND, COLOURS, ENGLISH, condition_symbol, language_colour
from core.figures.theme import Figure, drawn, plain

AFTER = COLOURS[1]
_LINE_HEIGHT = 30  # px per row
_WRONG = ("x-thin", "square-open", "triangle-up-open")  # marks of the pipelines with an error
_BESIDE = 0.22  # of a row, between two pipelines
_MUTED = "#808495"


def drops_with_errors(rows: pd.DataFrame, names: Mapping[str, str], floor: float) -> Figure:
    """The drop of every language under the right pipeline and under those with an error.

    Parameters
    ----------
    rows
        Rows of the table `pipeline_errors`, the right pipeline among them, without "all".
    names
        Pipeline -> what to call it, in the order of the legend, the right one first.
    floor
        Noise floor, the band; NaN where there is none.
    """
    conditions = list(dict.fromkeys(rows["condition"]))
    places = {condition: place for place, condition in enumerate(conditions)}
    traces = [
        _drops(rows[rows["pipeline"] == pipeline], plain(name), places, number, len(names))
        for number, (pipeline, name) in enumerate(names.items())
    ]
    top = 20 * len(traces) + 12
    layout = {
        "height": top + _LINE_HEIGHT * len(conditions) + 60,
        "margin": {"l": 8, "r": 12, "t": top, "b": 48},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "drop below English (score)"}, "fixedrange": True},
        "yaxis": {
            "range": [len(conditions) - 0.5, -0.5],
            "tickvals": list(places.values()),
            "ticktext": conditions,
            "zeroline": False,
            "fixedrange": True,
        },
        "shapes": band(floor),
        "meta": {
            "caption": "Drop of each language below English, mean over models, with the right "
            f"pipeline and with an error put back; bars are 95 % intervals over items. "
            f"{band_words(floor)}"
        },
    }
    return drawn(traces, layout)


def _drops(
    part: pd.DataFrame, name: str, places: Mapping[str, int], number: int, n_pipelines: int
) -> go.Scatter:
    """The drops under one pipeline; `number` 0 is the right one."""
    colours = [language_colour(condition) for condition in part["condition"]]
    symbols: str | list[str] = [condition_symbol(condition) for condition in part["condition"]]
    if number:
        symbols = _WRONG[(number - 1) % 3]
    counts = ("pipeline", "n_items", "n_affected", "n_reliable", "n_reliable_rise", "n_cells")
    beside = (number - (n_pipelines - 1) / 2) * _BESIDE
    ends = part[["drop_low", "drop", "drop_high"]].to_numpy().tolist()
    return go.Scatter(
        x=part["drop"].tolist(),
        y=[places[condition] + beside for condition in part["condition"]],
        mode="markers",
        name=name,
        error_x={
            "array": [gap(high, drop) for _, drop, high in ends],
            "arrayminus": [gap(drop, low) for low, drop, _ in ends],
            "color": _MUTED,
            "thickness": 1.5,
            "width": 4,
        },
        marker={
            "symbol": symbols,
            "size": 12,
            "color": colours,
            "line": {"color": colours, "width": 2.5 if number else 0},
        },
        customdata=part[[*counts, "condition", "drop_low", "drop_high"]].to_numpy(object).tolist(),
        hovertemplate=(
            f"<b>{name}</b><br>%{{customdata[6]}}: drop %{{x:.4f}} "
            "[%{customdata[7]:.4f}, %{customdata[8]:.4f}]<br>"
            "n %{customdata[1]} items, %{customdata[2]} scores changed by the error<br>"
            "reliable drops %{customdata[3]}, rises %{customdata[4]} of "
            "%{customdata[5]} models"
            "<extra></extra>"
        ),
    )


def control_arms(rows: pd.DataFrame, reads: pd.DataFrame, floor: float) -> Figure:
    """What every sentence in front does: one dot per model, the mean with its interval.

    Parameters
    ----------
    rows
        Of the table `control`, of single models.
    reads
        Of `core.analysis.audit.arms.arms`.
    floor
        Noise floor, the band; NaN where there is none.
    """
    labels = [f"{c} − {a}" for c, a in zip(reads["condition"], reads["against"], strict=True)]
    place = {key: n for n, key in enumerate(zip(reads["condition"], reads["against"], strict=True))}
    at = [place[key] for key in zip(rows["condition"], rows["against"], strict=True)]
    mean, low, high = (reads[name].tolist() for name in ("mean_change", "low", "high"))
    alone = bool((reads["n_models"] <= 1).all())
    traces = [
        go.Scatter(
            x=rows["mean_change"].tolist(),
            y=at,
            mode="markers",
            name="one model",
            marker={"color": ENGLISH, "size": 8, "symbol": "circle-open"},
            customdata=_with_q(rows[["scorer_id", "model", "n", "qvalue"]]),
            hovertemplate="<b>%{customdata[1]}</b><br>change %{x:.4f}, n %{customdata[2]}<br>"
            "%{customdata[3]}<extra></extra>",
        ),
        go.Scatter(
            x=mean,
            y=list(range(len(reads))),
            mode="markers",
            name="its 95 % interval over items" if alone else "mean over models, 95 % interval",
            marker={"color": AFTER, "size": 12, "symbol": "diamond"},
            error_x={
                "array": [gap(h, m) for h, m in zip(high, mean, strict=True)],
                "arrayminus": [gap(m, lo) for lo, m in zip(low, mean, strict=True)],
                "color": AFTER,
            },
            customdata=_with_q(reads[["condition", "n_moved", "n_up", "qvalue"]]),
            hovertemplate="<b>%{customdata[0]}</b><br>mean change %{x:.4f}<br>%{customdata[2]} of "
            "%{customdata[1]} models that move go up, %{customdata[3]}<extra></extra>",
        ),
    ]
    layout = {
        "height": 52 + _LINE_HEIGHT * len(reads) + 60,
        "margin": {"l": 8, "r": 12, "t": 52, "b": 48},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {"title": {"text": "change of the mean score"}, "fixedrange": True},
        "yaxis": {
            "range": [len(reads) - 0.5, -0.5],
            "tickvals": list(range(len(reads))),
            "ticktext": labels,
            "zeroline": False,
            "fixedrange": True,
        },
        "shapes": band(floor),
        "meta": {
            "caption": "What a sentence in front of every context does to the mean score, against "
            f"the version named behind the minus. {band_words(floor)}"
        },
    }
    return drawn(traces, layout)


def band(floor: float) -> list[dict[str, Any]]:
    """The noise floor as a band over the first axes; nothing where there is none."""
    if not math.isfinite(floor):
        return []
    sides = {"type": "rect", "xref": "x", "x0": -floor, "x1": floor, "y0": 0, "y1": 1}
    look = {"yref": "y domain", "fillcolor": BAND, "layer": "below", "line": {"width": 0}}
    return [sides | look]


def band_words(floor: float) -> str:
    """What the band is, for the caption."""
    if not math.isfinite(floor):
        return "No English rewording is scored under every item, so there is no noise band."
    return f"Band: ±{floor:.3f}, the noise floor, what rewording alone does to a mean."


def gap(a: float, b: float) -> float:
    """Length of an error bar; 0 where there is no interval."""
    return a - b if math.isfinite(a - b) else 0.0


def _with_q(rows: pd.DataFrame) -> list[list[Any]]:
    """What a hover tells of each row, with its q in words."""
    found: list[list[Any]] = (
        rows.assign(qvalue=[p_words("q", q) for q in rows["qvalue"]]).to_numpy(object).tolist()
    )
    return found
