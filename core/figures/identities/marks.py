"""Marks of shares in rows, with their intervals: shared by charts of identity pairs.

Colours say whether an interval leaves out what is neutral, never on which side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import BAND, ENGLISH, EVIDENCE
from core.figures.identities.rows import NEUTRAL, SHARE_TITLE, Beside, points, share_words
from core.figures.rows import rows_layout
from core.figures.theme import plain

Level = Literal["shown", "open", "none"]
Label: TypeAlias = tuple[float, str]  # place and name of a row

_LEAST_RANGE = (0.4, 0.6)  # of shares: what lies close together is not blown up


@dataclass(frozen=True)
class Mark:
    """A number in its row, with what hovering says; NaN where it is undefined."""

    at: float  # row, from the top down
    value: float
    low: float  # of its 95 % interval; NaN without one
    high: float
    title: str
    words: list[str]
    symbol: str = "circle"

    def level(self, neutral: float) -> Level:
        """Whether its interval leaves out what is neutral."""
        if math.isnan(self.low) or math.isnan(self.high):
            return "none"
        return "open" if self.low <= neutral <= self.high else "shown"


def lane(at: int, of: int, height: float = 0.8) -> float:
    """How far below the middle of its row one of several marks lies, in rows."""
    return (at - (of - 1) / 2) * height / of


def marks_of(
    rows: pd.DataFrame, column: str, names: Iterable[str], places: Iterable[float], symbol: str
) -> list[Mark]:
    """Marks of a share with its interval, one per row of a table.

    Parameters
    ----------
    column
        Of the share; its interval is in `column`_low and `column`_high.
    names
        What each mark is called.
    places
        Where each stands.
    """
    low, high = f"{column}_low", f"{column}_high"
    return [
        Mark(at, row[column], row[low], row[high], name, share_words(row, column), symbol)
        for row, name, at in zip(rows.to_dict("records"), names, places, strict=True)
    ]


def mark_traces(marks: Sequence[Mark], neutral: float, neutral_name: str) -> list[go.Scatter]:
    """Marks with their intervals, coloured by whether these leave out what is neutral.

    What is undefined is a dash at the left edge, not at a value.
    """
    known = [mark for mark in marks if math.isfinite(mark.value)]
    names: dict[Level, str] = {
        "shown": f"95 % interval leaves out {neutral_name}",
        "open": f"95 % interval holds {neutral_name}",
        "none": "no interval",
    }
    found = {level: [m for m in known if m.level(neutral) == level] for level in names}
    traces = []
    for level, name in names.items():
        if found[level]:
            traces += [_key("circle", f"{name} (n = {len(found[level]):,})", _colour(level))]
            traces += [_marks(found[level], level)]
    if found["none"]:
        traces.append(_no_interval(found["none"], neutral))
    if len(known) < len(marks):
        traces.append(_dashes([mark for mark in marks if not math.isfinite(mark.value)]))
    return traces


def _colour(level: Level) -> str:
    return EVIDENCE["shown" if level == "shown" else "open"]


def _marks(marks: Sequence[Mark], level: Level) -> go.Scatter:
    colour = _colour(level)
    ends = {
        "array": [mark.high - mark.value for mark in marks],
        "arrayminus": [mark.value - mark.low for mark in marks],
    }
    bars = {"type": "data", "symmetric": False, "color": colour, "thickness": 2, "width": 0}
    return go.Scatter(
        x=[mark.value for mark in marks],
        y=[mark.at for mark in marks],
        mode="markers",
        marker={
            "symbol": [mark.symbol for mark in marks],
            "color": colour,
            "size": 9,
            "line": {"width": 2, "color": colour},
        },
        error_x=None if level == "none" else bars | ends,
        customdata=_hovers(marks),
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
        name=level,
    )


def _no_interval(marks: Sequence[Mark], neutral: float) -> go.Scatter:
    """Words beside marks without an interval, on the side that has more room."""
    sides = ["middle left" if mark.value > neutral else "middle right" for mark in marks]
    return go.Scatter(
        x=[mark.value for mark in marks],
        y=[mark.at for mark in marks],
        mode="text",
        text=["\u2003no interval\u2003"] * len(marks),
        textposition=sides,
        textfont={"size": 10, "color": ENGLISH},
        hoverinfo="skip",
        showlegend=False,
    )


def _dashes(marks: Sequence[Mark]) -> go.Scatter:
    return go.Scatter(
        x=[0.01] * len(marks),
        xaxis="x2",
        y=[mark.at for mark in marks],
        mode="text",
        text=["– undefined"] * len(marks),
        textposition="middle right",
        textfont={"size": 10, "color": ENGLISH},
        customdata=_hovers(marks),
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        showlegend=False,
        name="undefined",
    )


def _hovers(marks: Sequence[Mark]) -> list[list[str]]:
    return [[plain(mark.title), "<br>".join(map(plain, mark.words))] for mark in marks]


def legend_symbols(names: Sequence[tuple[str, str]]) -> list[go.Scatter]:
    """What symbols mean, in grey; nothing where there is one only."""
    if len(names) < 2:
        return []
    return [_key(symbol, name, ENGLISH) for symbol, name in names]


def _key(symbol: str, name: str, colour: str) -> go.Scatter:
    """An entry of the legend: a trace would show the symbol of its first mark."""
    marker = {"symbol": symbol, "size": 9, "color": colour, "line": {"width": 2, "color": colour}}
    return go.Scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)


def marks_layout(
    traces: Sequence[go.Scatter],
    height: int,
    labels: Sequence[Label],
    neutral: float,
    title: str,
) -> dict[str, Any]:
    """The layout of marks in rows, wide enough for all that is drawn.

    Parameters
    ----------
    height
        Of all rows, px.
    labels
        Place and name of each row.
    neutral
        Where a line stands behind the marks.
    """
    n_places = max((place for place, _ in labels), default=0.0) + 1
    n_named = sum(trace.showlegend is not False for trace in traces)
    ticks = {
        "tickvals": [place for place, _ in labels],
        "ticktext": [name for _, name in labels],
    }
    layout = rows_layout(height, n_named, 1, ticks)
    layout["yaxis"] |= {"range": [n_places - 0.4, -0.6]}
    layout["xaxis"] |= {"title": {"text": title}}
    # Marks of what is undefined have a place on the screen and none among the values.
    layout["xaxis2"] = {"overlaying": "x", "range": [0, 1], "visible": False, "fixedrange": True}
    ends = {"y0": -0.6, "y1": n_places - 0.4}  # not of the paper: below it the grid would hide it
    line = {"x0": neutral, "x1": neutral, "line": {"width": 1.5}}
    layout["shapes"] = [{"type": "line", "layer": "between"} | line | ends]
    return layout


def share_layout(
    traces: Sequence[go.Scatter],
    height: int,
    labels: Sequence[Label],
    marks: Sequence[Mark],
    beside: Beside,
    others: Sequence[float] = (),
) -> dict[str, Any]:
    """The layout of marks of shares: 50 % and the floor on both sides of it, behind all marks.

    Parameters
    ----------
    others
        What is drawn besides the marks.
    """
    layout = marks_layout(traces, height, labels, NEUTRAL, SHARE_TITLE)
    edges = put_band(layout, NEUTRAL, beside.floor)
    ends = around([*values_of(marks), *others, *edges, *_LEAST_RANGE])
    layout["xaxis"] |= {"range": ends, "tickformat": ".0%"}
    return layout


def put_band(layout: dict[str, Any], middle: float, half: float) -> list[float]:
    """Put a band behind the marks of a layout; its edges, none where the half is undefined."""
    if not math.isfinite(half):
        return []
    edges = [middle - half, middle + half]
    place = {"x0": edges[0], "x1": edges[1], "yref": "paper", "y0": 0, "y1": 1}
    look = {"fillcolor": BAND, "line": {"width": 0}}
    layout["shapes"] = [{"type": "rect", "layer": "below"} | place | look, *layout["shapes"]]
    return edges


def band_key(beside: Beside) -> list[go.Scatter]:
    """What the band is, for the legend; nothing without a floor."""
    if not math.isfinite(beside.floor):
        return []
    marker = {"symbol": "square", "size": 14, "color": BAND, "line": {"width": 0}}
    name = f"another template: ±{points(beside.floor)}"
    return [go.Scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)]


def values_of(marks: Sequence[Mark]) -> list[float]:
    """Every number that is drawn of marks: values and ends of intervals."""
    return [x for mark in marks for x in (mark.value, mark.low, mark.high) if math.isfinite(x)]


def around(values: Sequence[float]) -> list[float]:
    """The range of an axis that holds these values."""
    low, high = min(values), max(values)
    space = 0.04 * (high - low)
    return [low - space, high + space]


def evidence_words(marks: Sequence[Mark], neutral: float, neutral_name: str) -> str:
    """What the colours say and how many marks have which, for a caption."""
    known = [mark for mark in marks if math.isfinite(mark.value)]
    n = sum(mark.level(neutral) == "shown" for mark in known)
    sentences = [
        f"Coloured: the interval leaves out {neutral_name} ({n:,} of {len(known):,} marks); grey "
        f"ones are not shown to differ from {neutral_name}, nor to be equal to it."
    ]
    if len(known) < len(marks):
        sentences.append(
            f"{len(marks) - len(known):,} of {len(marks):,} are undefined: a dash at the edge."
        )
    return " ".join(sentences)
