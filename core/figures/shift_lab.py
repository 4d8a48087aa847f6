"""The figures of the shift lab: a shift put in, how often it is found, errors put back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import COLOURS, ENGLISH, condition_symbol, language_colour
from core.figures.theme import Figure, drawn, plain, signed

BEFORE, AFTER = ENGLISH, COLOURS[1]
_BAND = "rgba(120, 120, 120, 0.22)"
_BINS = {"start": -1.0, "end": 1.0, "size": 0.04}
_LINE_HEIGHT = 30  # px per row
_CURVES = {
    "detection": "Share of runs in which<br>the shift is found",
    "flags_among_rest": "Other pairs found<br>per run",
    "exaggeration": "Estimate over true shift<br>where it is found",
}
_MARKS = {"right": "circle", "wrong": ("x-thin", "square-open", "triangle-up-open")}


def before_and_after(shown: Mapping[str, Any], items: pd.DataFrame, sentence: str) -> Figure:
    """The mean change of a pair with its interval and noise band, above the items' changes.

    Parameters
    ----------
    shown, items
        `shown` and `items` of an `Injected`.
    sentence
        The caption begins with it.
    """
    traces: list[Any] = []
    for name, suffix, colour, y in (("before", "_before", BEFORE, 1), ("after", "", AFTER, 0)):
        low, mean, high = (float(shown[f"{part}{suffix}"]) for part in ("low", "mean", "high"))
        traces.append(
            go.Scatter(
                x=[mean],
                y=[y],
                mode="markers",
                marker={"symbol": "diamond", "size": 12, "color": colour},
                error_x={
                    "array": [_gap(high, mean)],
                    "arrayminus": [_gap(mean, low)],
                    "color": colour,
                    "thickness": 2.5,
                    "width": 6,
                },
                customdata=[[shown["pair"], low, high, shown["n"], shown[f"qvalue{suffix}"]]],
                hovertemplate=(
                    f"<b>{name}</b><br>mean change %{{x:.4f}}<br>95 % interval "
                    "%{customdata[1]:.4f} to %{customdata[2]:.4f}<br>n %{customdata[3]}"
                    "<br>q %{customdata[4]:.4f}<extra></extra>"
                ),
                showlegend=False,
            )
        )
        traces.append(
            go.Histogram(
                x=items[name].tolist(),
                xbins=_BINS,
                name=f"items {name} the shift",
                marker={"color": colour, "line": {"width": 0}},
                opacity=0.55,
                xaxis="x2",
                yaxis="y2",
                hovertemplate=f"{name}: %{{y}} items<br>change %{{x}}<extra></extra>",
            )
        )
    widest = max((abs(v) for v in (*items["before"], *items["after"])), default=0.1)
    ends = [shown[n] for n in ("low", "high", "low_before", "high_before", "mean", "mean_before")]
    reach = 1.15 * max(0.06, *(abs(v) for v in ends if math.isfinite(v)))
    axis = {"zeroline": True, "fixedrange": True}
    layout: dict[str, Any] = {
        "height": 440,
        "margin": {"l": 8, "r": 12, "t": 44, "b": 48},
        "barmode": "overlay",
        "dragmode": False,
        "legend": {"orientation": "v", "x": 0, "y": 1.0, "yanchor": "bottom"},
        "xaxis": axis
        | {
            "range": [-reach, reach],
            "anchor": "y",
            "title": {"text": "mean change of the pair (score)"},
        },
        "yaxis": axis
        | {
            "domain": [0.70, 0.98],
            "range": [-0.6, 1.6],
            "tickvals": [1, 0],
            "ticktext": ["before", "after"],
            "zeroline": False,
        },
        "xaxis2": axis
        | {
            "range": [-1.05 * widest, 1.05 * widest],
            "anchor": "y2",
            "title": {"text": "change of single items (score)"},
        },
        "yaxis2": axis | {"domain": [0.0, 0.46], "title": {"text": "items"}},
        "shapes": _band(float(shown["floor"])),
        "meta": {"caption": f"{sentence} {_band_words(float(shown['floor']))}"},
    }
    return drawn(traces, layout)


def detection_curves(points: pd.DataFrame, now: float, *, n_wanted: int, seed: int) -> Figure:
    """Three curves over the size of the shift: found, flags among the rest, exaggeration.

    Parameters
    ----------
    points
        Of `core.analysis.audit.lab.runs`.
    now
        The shift of the mean score that the sliders make; marked.
    """
    n_runs = int(points["n_runs"].max())
    errors = {"detection": points["detection_error"].tolist()}
    traces = []
    for row, column in enumerate(_CURVES, start=1):
        traces.append(
            go.Scatter(
                x=points["shift"].tolist(),
                y=points[column].tolist(),
                mode="lines+markers",
                line={"color": AFTER, "width": 2},
                marker={"size": 8},
                error_y={"array": errors[column], "color": AFTER} if column in errors else None,
                xaxis=f"x{row}" if row > 1 else "x",
                yaxis=f"y{row}" if row > 1 else "y",
                customdata=points[["delta", "n_runs", "n_detected", "n_pairs"]].to_numpy().tolist(),
                hovertemplate=(
                    "log-odds %{customdata[0]:+.2f}, shift %{x:.4f}<br>%{y:.3f}"
                    "<br>found in %{customdata[2]} of %{customdata[1]} runs, %{customdata[3]} pairs"
                    "<extra></extra>"
                ),
                showlegend=False,
            )
        )
    layout: dict[str, Any] = {
        "height": 620,
        "margin": {"l": 8, "r": 12, "t": 16, "b": 48},
        "dragmode": False,
        "shapes": [_upright(now, "paper")] if math.isfinite(now) and now else [],
    }
    domains = ([0.70, 1.0], [0.36, 0.64], [0.0, 0.28])
    for row, (title, domain) in enumerate(zip(_CURVES.values(), domains, strict=True), start=1):
        suffix = str(row) if row > 1 else ""
        layout[f"yaxis{suffix}"] = {
            "domain": domain,
            "title": {"text": title},
            "rangemode": "tozero",
            "fixedrange": True,
        }
        layout[f"xaxis{suffix}"] = {
            "anchor": f"y{suffix}",
            "fixedrange": True,
            "showticklabels": row == 3,
        } | ({"matches": "x"} if row > 1 else {})
    layout["yaxis"]["range"] = [-0.03, 1.05]
    layout["xaxis3"]["title"] = {"text": "shift of the pair's mean score"}
    caption = (
        f"{n_runs} of {n_wanted} runs of each size, one of {int(points['n_pairs'].max())} pairs "
        f"shifted in each, seed {seed}; bars are Monte-Carlo standard errors. At shift 0 a pair is "
        "found where its scores differ already. The exaggeration is undefined where nothing is "
        "found."
    )
    if layout["shapes"]:
        caption += f" Dashed: the shift of the sliders, {signed(now, 3)}."
    return drawn(traces, layout | {"meta": {"caption": caption}})


def items_for_shifts(table: pd.DataFrame) -> Figure:
    """Items needed against the shift to find, one line per kind of change.

    Parameters
    ----------
    table
        Rows of `core.analysis.audit.lab.needed`.
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
                name=f"{plain(str(what))} (n = {int(part['n'].iloc[0])})",
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
    traces = []
    for number, (pipeline, name) in enumerate(names.items()):
        part = rows[rows["pipeline"] == pipeline]
        colours = [language_colour(condition) for condition in part["condition"]]
        symbols: str | list[str] = [condition_symbol(condition) for condition in part["condition"]]
        if number:
            symbols = _MARKS["wrong"][(number - 1) % 3]
        counts = ("pipeline", "n_items", "n_affected", "n_reliable", "n_reliable_rise", "n_cells")
        counted = part[[*counts, "condition", "drop_low", "drop_high"]]
        beside = (number - (len(names) - 1) / 2) * _BESIDE
        ends = part[["drop_low", "drop", "drop_high"]].to_numpy().tolist()
        traces.append(
            go.Scatter(
                x=part["drop"].tolist(),
                y=[places[condition] + beside for condition in part["condition"]],
                mode="markers",
                name=plain(name),
                error_x={
                    "array": [_gap(high, drop) for _, drop, high in ends],
                    "arrayminus": [_gap(drop, low) for low, drop, _ in ends],
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
                customdata=counted.to_numpy(object).tolist(),
                hovertemplate=(
                    f"<b>{plain(name)}</b><br>%{{customdata[6]}}: drop %{{x:.4f}} "
                    "[%{customdata[7]:.4f}, %{customdata[8]:.4f}]<br>"
                    "n %{customdata[1]} items, %{customdata[2]} scores changed by the error<br>"
                    "reliable drops %{customdata[3]}, rises %{customdata[4]} of "
                    "%{customdata[5]} models"
                    "<extra></extra>"
                ),
            )
        )
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
        "shapes": _band(floor),
        "meta": {
            "caption": "Drop of each language below English, mean over models, with the right "
            f"pipeline and with an error put back; bars are 95 % intervals over items. "
            f"{_band_words(floor)}"
        },
    }
    return drawn(traces, layout)


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
    traces = [
        go.Scatter(
            x=rows["mean_change"].tolist(),
            y=at,
            mode="markers",
            name="one model",
            marker={"color": ENGLISH, "size": 8, "symbol": "circle-open"},
            customdata=rows[["scorer_id", "model", "n", "qvalue"]].to_numpy(object).tolist(),
            hovertemplate="<b>%{customdata[1]}</b><br>change %{x:.4f}, n %{customdata[2]}<br>"
            "q %{customdata[3]:.4f}<extra></extra>",
        ),
        go.Scatter(
            x=mean,
            y=list(range(len(reads))),
            mode="markers",
            name="mean over models, 95 % interval",
            marker={"color": AFTER, "size": 12, "symbol": "diamond"},
            error_x={
                "array": [_gap(h, m) for h, m in zip(high, mean, strict=True)],
                "arrayminus": [_gap(m, lo) for lo, m in zip(low, mean, strict=True)],
                "color": AFTER,
            },
            customdata=reads[["condition", "n_moved", "n_up", "qvalue"]].to_numpy(object).tolist(),
            hovertemplate="<b>%{customdata[0]}</b><br>mean change %{x:.4f}<br>%{customdata[2]} of "
            "%{customdata[1]} models that move go up, q %{customdata[3]:.4f}<extra></extra>",
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
        "shapes": _band(floor),
        "meta": {
            "caption": "What a sentence in front of every context does to the mean score, against "
            f"the version named behind the minus. {_band_words(floor)}"
        },
    }
    return drawn(traces, layout)


def _band(floor: float) -> list[dict[str, Any]]:
    if not math.isfinite(floor):
        return []
    sides = {"type": "rect", "xref": "x", "x0": -floor, "x1": floor, "y0": 0, "y1": 1}
    look = {"yref": "y domain", "fillcolor": _BAND, "layer": "below", "line": {"width": 0}}
    return [sides | look]


def _band_words(floor: float) -> str:
    if not math.isfinite(floor):
        return "No English rewording is scored under every item, so there is no noise band."
    return f"Band: ±{floor:.3f}, the noise floor, what rewording alone does to a mean."


def _upright(x: float, yref: str) -> dict[str, Any]:
    line = {"width": 1.5, "dash": "dash"}
    return {"type": "line", "x0": x, "x1": x, "yref": yref, "y0": 0, "y1": 1, "line": line}


def _gap(a: float, b: float) -> float:
    """Length of an error bar; 0 where there is no interval."""
    return a - b if math.isfinite(a - b) else 0.0
