"""A shift put into a pair: its mean change and the changes of its items, before and after."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.words import p_words
from core.figures.colours import COLOURS, ENGLISH
from core.figures.shift_lab import band, band_words, gap
from core.figures.theme import Figure, drawn

_COLOURS = {"before": ENGLISH, "after": COLOURS[1]}
_SUFFIXES = {"before": "_before", "after": ""}  # of the columns of a pair
_BINS = {"start": -1.0, "end": 1.0, "size": 0.04}


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
    for name, y in (("before", 1), ("after", 0)):
        traces += [_pair_mean(shown, name, y), _item_changes(items, name)]
    floor = float(shown["floor"])
    layout = _layout(shown, items) | {
        "shapes": band(floor),
        "meta": {"caption": f"{sentence} {band_words(floor)}"},
    }
    return drawn(traces, layout)


def _pair_mean(shown: Mapping[str, Any], name: str, y: int) -> go.Scatter:
    suffix, colour = _SUFFIXES[name], _COLOURS[name]
    low, mean, high = (float(shown[f"{part}{suffix}"]) for part in ("low", "mean", "high"))
    return go.Scatter(
        x=[mean],
        y=[y],
        mode="markers",
        marker={"symbol": "diamond", "size": 12, "color": colour},
        error_x={
            "array": [gap(high, mean)],
            "arrayminus": [gap(mean, low)],
            "color": colour,
            "thickness": 2.5,
            "width": 6,
        },
        customdata=[[shown["pair"], low, high, shown["n"], p_words("q", shown[f"qvalue{suffix}"])]],
        hovertemplate=(
            f"<b>{name}</b><br>mean change %{{x:.4f}}<br>95 % interval "
            "%{customdata[1]:.4f} to %{customdata[2]:.4f}<br>n %{customdata[3]}"
            "<br>%{customdata[4]}<extra></extra>"
        ),
        showlegend=False,
    )


def _item_changes(items: pd.DataFrame, name: str) -> go.Histogram:
    return go.Histogram(
        x=items[name].tolist(),
        xbins=_BINS,
        name=f"items {name} the shift",
        marker={"color": _COLOURS[name], "line": {"width": 0}},
        opacity=0.55,
        xaxis="x2",
        yaxis="y2",
        hovertemplate=f"{name}: %{{y}} items<br>change %{{x}}<extra></extra>",
    )


def _layout(shown: Mapping[str, Any], items: pd.DataFrame) -> dict[str, Any]:
    widest = max((abs(v) for v in (*items["before"], *items["after"])), default=0.1)
    ends = [shown[n] for n in ("low", "high", "low_before", "high_before", "mean", "mean_before")]
    reach = 1.15 * max(0.06, *(abs(v) for v in ends if math.isfinite(v)))
    axis = {"zeroline": True, "fixedrange": True}
    return {
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
    }
