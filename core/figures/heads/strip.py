"""The projection strip: every concept on one axis, above them the phrases they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import BAND, ENGLISH, NEGATIVE_POLE, POSITIVE_POLE, REFERENCE
from core.figures.rows import whiskers
from core.figures.theme import Figure, drawn, plain, signed

Array = npt.NDArray[np.float64]
MOST = 200  # concepts that are drawn

_ROW, _SMALL_ROW = 19, 13  # px; from so many rows on they are small
_MANY = 60
_CLOUD = 4.0  # rows that the reference phrases take
_GOLDEN = 0.6180339887  # steps of it spread points evenly, whatever their number
_SIDES = {  # label by people -> what the mark looks like and what it is called
    1: ("triangle-right", POSITIVE_POLE),
    -1: ("triangle-left", NEGATIVE_POLE),
    0: ("circle", ENGLISH),
}


@dataclass(frozen=True, kw_only=True)
class Strip:
    """What is drawn of one axis under one model."""

    negative: str  # the poles' words
    positive: str
    concepts: pd.DataFrame  # concept, value, low, high, label (1, -1 or 0: none)
    reference: pd.DataFrame  # phrase, value
    model: str = ""
    heads: str = ""  # which, in words, with their number
    of: str = ""  # set of concepts
    against: str = ""  # set of phrases
    dimension: str = ""  # that labels are of
    said: str = ""  # verdict, which a page shows once and a file carries too


def projection_strip(strip: Strip) -> Figure:
    """Concepts from the lowest value to the highest, one row each, with intervals over heads.

    Concepts without a value are left out and counted; of more than `MOST` the outermost are drawn,
    half of them from either end.
    """
    known = strip.concepts.dropna(subset=["value"]).sort_values("value", kind="stable")
    rows = outermost(known, MOST)
    phrases = strip.reference.dropna(subset=["value"])
    traces = [_marks(rows, side, strip) for side in _SIDES]
    traces = [trace for trace in traces if len(trace.x)]
    if len(phrases):
        traces.insert(0, _cloud(phrases, strip.against))
    layout = _layout(strip, rows, phrases["value"].to_numpy(dtype=np.float64), len(traces))
    layout["meta"] = {"caption": _caption(strip, rows, known, phrases), "caution": strip.said}
    return drawn(traces, layout)


def outermost(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    """All rows, or the first and the last of them where there are more than `most`."""
    if len(rows) <= most:
        return rows
    return pd.concat([rows.iloc[: most // 2], rows.iloc[len(rows) - (most - most // 2) :]])


def pole_ends(negative: str, positive: str) -> list[dict[str, Any]]:
    """Both poles' words at the ends of the axis, above the plot."""
    place = {"yref": "paper", "y": 1, "yanchor": "bottom", "xref": "paper", "showarrow": False}
    return [
        place
        | {"x": 0, "xanchor": "left", "font": {"color": NEGATIVE_POLE, "size": 14}}
        | {"text": f"<b>\u2190 {plain(negative)}</b>"},
        place
        | {"x": 1, "xanchor": "right", "font": {"color": POSITIVE_POLE, "size": 14}}
        | {"text": f"<b>{plain(positive)} \u2192</b>"},
    ]


def _cloud(phrases: pd.DataFrame, name: str) -> go.Scatter:
    phrases = phrases.sort_values("value", kind="stable")
    height = (np.arange(len(phrases)) * _GOLDEN) % 1.0
    return go.Scatter(
        x=phrases["value"].tolist(),
        y=(-0.8 - (_CLOUD - 1) * height).tolist(),
        mode="markers",
        marker={"color": REFERENCE, "size": 7, "line": {"width": 0}},
        name=f"reference phrases: {plain(name)} (n = {len(phrases):,})",
        customdata=[plain(text) for text in phrases["phrase"]],
        hovertemplate="%{customdata}<br>%{x:.3f}<extra>reference</extra>",
    )


def _marks(rows: pd.DataFrame, side: int, strip: Strip) -> go.Scatter:
    at = np.flatnonzero(rows["label"].to_numpy() == side)
    part = rows.iloc[at]
    symbol, colour = _SIDES[side]
    names = {
        1: f"held to be + {plain(strip.dimension)}",
        -1: f"held to be \u2212 {plain(strip.dimension)}",
        0: "concepts" if (strip.concepts["label"] == 0).all() else "concepts without a label",
    }
    return go.Scatter(
        x=part["value"].tolist(),
        y=at.tolist(),
        mode="markers",
        marker={"symbol": symbol, "color": colour, "size": 10, "line": {"width": 0}},
        error_x=whiskers_of(part),
        name=f"{names[side]} (n = {len(part):,})",
        customdata=[
            [plain(text), *(signed(number, 3) for number in numbers)]
            for text, *numbers in part[["concept", "value", "low", "high"]].to_numpy().tolist()
        ],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]} "
        "[%{customdata[2]}, %{customdata[3]}]<extra></extra>",
    )


def whiskers_of(rows: pd.DataFrame) -> dict[str, Any]:
    """Thin error bars from the columns low and high."""
    ends = rows.rename(columns={"low": "value_low", "high": "value_high"})
    return whiskers(ends, "value", "value") | {"width": 0, "thickness": 1.2}


def _layout(strip: Strip, rows: pd.DataFrame, phrases: Array, n_traces: int) -> dict[str, Any]:
    row = _SMALL_ROW if len(rows) > _MANY else _ROW
    above = _CLOUD if len(phrases) else 0.4
    legend = 20 * n_traces + 6
    plot = row * (len(rows) + above)
    shapes = [_upright(0.0, dash="dot")]
    if len(phrases):
        low, high = np.quantile(phrases, [0.05, 0.95])
        place = {"yref": "paper", "y0": 0, "y1": 1, "x0": float(low), "x1": float(high)}
        look = {"fillcolor": BAND, "opacity": 0.35, "line": {"width": 0}}
        shapes.insert(0, {"type": "rect", "layer": "below"} | place | look)
    return {
        "height": legend + 26 + plot + 50,
        "margin": {"l": 8, "r": 12, "t": legend + 26, "b": 46},
        "dragmode": False,
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1 + 26 / plot, "yanchor": "bottom"},
        "xaxis": {
            "title": {"text": "value (mean z over heads, in sd)", "standoff": 8},
            "zeroline": False,
            "fixedrange": True,
            "nticks": 7,
        },
        "yaxis": {
            "range": [len(rows) - 0.4, -above - 0.2],
            "tickvals": list(range(len(rows))),
            "ticktext": [plain(short(text)) for text in rows["concept"]],
            "tickfont": {"size": 12 if row == _ROW else 10},
            "ticklabelstandoff": 6,
            "showgrid": len(rows) <= _MANY,
            "zeroline": False,
            "fixedrange": True,
        },
        "annotations": pole_ends(strip.negative, strip.positive),
        "shapes": shapes,
    }


def _upright(x: float, *, dash: str) -> dict[str, Any]:
    place = {"x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", "line": {"width": 1.2, "dash": dash}} | place


def short(text: str, most: int = 26) -> str:
    """A text that leaves room for the plot on a narrow screen."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}\u2026"


def _caption(strip: Strip, rows: pd.DataFrame, known: pd.DataFrame, phrases: pd.DataFrame) -> str:
    n = len(strip.concepts)
    sentences = [
        f"{strip.negative} \u2013 {strip.positive}{_named(', ', strip.model)}: each row is one of "
        f"{n:,} concepts{_named(' of ', strip.of)}, its value the mean of z over {strip.heads}; "
        "bars are 95 % intervals over these heads only, drawn anew, with the same sentences. "
        "Dotted: the mean of all."
    ]
    if len(rows) < n:
        sentences.append(f"Showing {len(rows):,} of {n:,}{_which(rows, known, n)}.")
    if len(phrases):
        sentences.append(
            f"Grey: {len(phrases):,} reference phrases{_named(' of ', strip.against)}; the band "
            "holds the middle 90 % of them."
        )
    else:
        sentences.append("No reference phrases: how widely just any phrase spreads is not known.")
    return " ".join(sentences)


def _which(rows: pd.DataFrame, known: pd.DataFrame, n: int) -> str:
    parts: Sequence[str] = [
        f"the {len(rows):,} outermost" if len(rows) < len(known) else "",
        f"{n - len(known):,} without a value" if len(known) < n else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f" ({said})"


def _named(before: str, name: str) -> str:
    return f"{before}{name}" if name else ""
