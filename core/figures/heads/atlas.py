"""The atlas: axes, or concepts, placed so that what is alike lies close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types
from plotly import graph_objects as go

from core.figures.colours import CHANGE_SCALE, COLOURS, ENGLISH, EVIDENCE
from core.figures.theme import Figure, drawn, plain

LABELLED = 60  # points that carry their words at most
NEAREST = 6  # of them that do on a narrow screen: the open one and its neighbours
_WIDE, _NARROW = (700.0, 480.0), (225.0, 480.0)  # px of the plot that labels are laid out for
_LETTER, _LINE = 6.3, 14.0  # px of a label's letter and line
_SEQUENTIAL = [[0.0, "#9a9da3"], [1.0, EVIDENCE["shown"]]]
_PLACES = {  # where a label may stand: its middle beside the point, in label widths and px
    "top center": (0.0, 12.0),
    "bottom center": (0.0, -12.0),
    "middle right": (0.5, 0.0),
    "middle left": (-0.5, 0.0),
}


@dataclass(frozen=True)
class Labels:
    """Where words stand."""

    places: list[str]  # of every row; empty where there is no room
    narrow: list[int]  # rows whose words have room on a narrow screen, too


def atlas_scatter(
    rows: pd.DataFrame,
    *,
    colour: str,
    colour_name: str,
    axis_names: tuple[str, str],
    said: str,
    chosen: str = "",
    words: bool = True,
) -> Figure:
    """Points with their words where there is room, coloured by a column.

    Parameters
    ----------
    rows
        One row per point: key, words, x, y and the column `colour`, which holds numbers (a scale)
        or texts (a legend). Numbers below 0 ask for a scale around 0.
    axis_names
        What x and y are.
    said
        Caption.
    chosen
        Key of the open point, which gets a ring.
    words
        Whether points carry their words where there is room.
    """
    rows = rows.reset_index(drop=True)
    labels = label_places(rows, chosen) if words else Labels([""] * len(rows), [])
    numeric = types.is_numeric_dtype(rows[colour]) and not types.is_bool_dtype(rows[colour])
    traces = [_scaled(rows, colour, colour_name)] if numeric else []
    if not numeric:
        groups = rows.groupby(colour, sort=True)
        traces = [
            _group(part, str(name), COLOURS[i % len(COLOURS)])
            for i, (name, part) in enumerate(groups)
        ]
    if any(labels.places):
        traces.append(_words(rows, labels))
    if (rows["key"] == chosen).any():
        traces.append(_ring(rows[rows["key"] == chosen].iloc[0]))
    n_named = sum(trace.showlegend is not False for trace in traces)
    top = 20 * n_named + 12
    layout: dict[str, Any] = {
        "height": top + 560,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": n_named > 0,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": {"title": {"text": axis_names[0]}, "zeroline": False, "range": _range(rows["x"])},
        "yaxis": {"title": {"text": axis_names[1]}, "zeroline": False, "range": _range(rows["y"])},
        "meta": {"caption": said},
    }
    return drawn(traces, layout)


def narrow_style(figure: Figure, within: str) -> str:
    """A style sheet for a page: on a narrow screen only words that have room there are shown.

    Parameters
    ----------
    within
        Selects what the figure is drawn in.
    """
    n = next((trace.meta for trace in figure.data if trace.mode == "markers+text"), 0)
    hidden = f"{within} .textpoint:nth-child(n+{n + 1})"
    return f"@media (max-width: 640px) {{ {hidden} {{ display: none; }} }}"


def _range(values: pd.Series) -> list[float]:
    """Room for words at both ends; around a single place, too."""
    low, high = float(values.min()), float(values.max())
    margin = 0.16 * (high - low) or 1.0
    return [low - margin, high + margin]


def label_places(rows: pd.DataFrame, chosen: str = "") -> Labels:
    """Where each point's words stand so that no two overlap and none leaves the plot.

    Earlier rows go first, before them the open point and those nearest to it, which are to have
    room on a narrow screen too; hovering names every point.
    """
    places, narrow = [""] * len(rows), list[int]()
    near = _nearest(rows, chosen)
    order = [*near, *(i for i in range(len(rows)) if i not in near)][:LABELLED]
    on_wide, on_narrow = _Chart(rows, _WIDE), _Chart(rows, _NARROW)
    for i in order:
        width = _LETTER * len(str(rows["words"].iloc[i])) + 8
        free = [place for place in _PLACES if on_wide.is_free(i, place, width)]
        both = [place for place in free if i in near and on_narrow.is_free(i, place, width)]
        if both:
            narrow.append(i)
            on_narrow.take(i, both[0], width)
        if free:
            places[i] = (both or free)[0]
            on_wide.take(i, places[i], width)
    return Labels(places, narrow)


def _nearest(rows: pd.DataFrame, chosen: str) -> list[int]:
    """The open point and those nearest to it; the first ones where none is open."""
    if not (rows["key"] == chosen).any():
        return list(range(min(NEAREST, len(rows))))
    points = _pixels(rows, _WIDE)
    away = points - points[int(np.argmax(rows["key"] == chosen))]
    return [int(i) for i in np.argsort(np.hypot(*away.T), kind="stable")[:NEAREST]]


def _pixels(rows: pd.DataFrame, size: tuple[float, float]) -> npt.NDArray[np.float64]:
    """Where points lie in a plot of so many pixels, whose axes have the range of `_range`."""
    columns = []
    for name, px in zip(("x", "y"), size, strict=True):
        low, high = _range(rows[name])
        columns.append((rows[name].to_numpy(dtype=np.float64) - low) / (high - low) * px)
    return np.column_stack(columns)


class _Chart:
    """A plot of some size, and the room that words have taken in it."""

    def __init__(self, rows: pd.DataFrame, size: tuple[float, float]) -> None:
        self.size = np.array(size)
        self.points = _pixels(rows, size) if len(rows) else np.empty((0, 2))
        self.taken = np.empty((0, 4))

    def is_free(self, i: int, place: str, width: float) -> bool:
        """Whether words of this width have room beside point i."""
        box = self._box(i, place, width)
        inside = (box[:2] >= 0).all() and (box[2:] <= self.size).all()
        others = np.delete(self.points, i, axis=0)
        return bool(inside and not _overlap(self.taken, box).any() and not _covers(box, others))

    def take(self, i: int, place: str, width: float) -> None:
        """Put words there."""
        self.taken = np.vstack([self.taken, self._box(i, place, width)])

    def _box(self, i: int, place: str, width: float) -> npt.NDArray[np.float64]:
        aside, above = _PLACES[place]
        x, y = self.points[i] + (aside * (width + 14), above)
        return np.array([x - width / 2, y - _LINE / 2, x + width / 2, y + _LINE / 2])


def _overlap(boxes: npt.NDArray[np.float64], box: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    beside = (boxes[:, 0] > box[2]) | (boxes[:, 2] < box[0])
    above = (boxes[:, 1] > box[3]) | (boxes[:, 3] < box[1])
    return np.asarray(~(beside | above))


def _covers(box: npt.NDArray[np.float64], points: npt.NDArray[np.float64]) -> bool:
    inside = (points > box[:2]) & (points < box[2:])
    return bool(inside.all(axis=1).any())


def _marks(part: pd.DataFrame) -> dict[str, Any]:
    return {
        "x": part["x"].to_numpy(),
        "y": part["y"].to_numpy(),
        "mode": "markers",
        "customdata": [[key, plain(w)] for key, w in zip(part["key"], part["words"], strict=True)],
        "selected": {"marker": {"opacity": 1.0}},
        "unselected": {"marker": {"opacity": 1.0}},
    }


def _size(rows: pd.DataFrame) -> int:
    return 11 if len(rows) < 300 else 7


def _words(rows: pd.DataFrame, labels: Labels) -> go.Scatter:
    """The words of those points that have room for them: a trace of few points is drawn sooner.

    First those that a narrow screen has room for: `narrow_style` hides the others there.
    """
    others = (i for i, place in enumerate(labels.places) if place and i not in labels.narrow)
    named = [*labels.narrow, *others]
    part = rows.iloc[named]
    return go.Scatter(
        x=part["x"].to_numpy(),
        y=part["y"].to_numpy(),
        mode="markers+text",
        marker={"size": _size(rows), "opacity": 0},  # words keep clear of the points below
        text=[plain(words) for words in part["words"]],
        textposition=[labels.places[i] for i in named],
        meta=len(labels.narrow),
        textfont={"size": 11},
        hoverinfo="skip",
        showlegend=False,
    )


def _scaled(rows: pd.DataFrame, colour: str, name: str) -> go.Scatter:
    values = rows[colour].astype(float)
    low, high = float(values.min()), float(values.max())
    limit = max(abs(low), abs(high), 1e-9)
    around = low < 0
    scale = {"colorscale": CHANGE_SCALE, "cmin": -limit, "cmax": limit} if around else {}
    scale = scale or {"colorscale": _SEQUENTIAL, "cmin": 0.0, "cmax": 1.0}
    return go.Scatter(
        **_marks(rows),
        marker={
            "color": values.to_numpy(),
            "size": _size(rows),
            "line": {"width": 0.8},
            "colorbar": {"title": {"text": name, "side": "right"}, "thickness": 12},
            **scale,
        },
        hovertemplate=f"<b>%{{customdata[1]}}</b><br>{plain(name)} %{{marker.color:.3f}}"
        "<extra></extra>",
        showlegend=False,
    )


def _group(part: pd.DataFrame, name: str, colour: str) -> go.Scatter:
    return go.Scatter(
        **_marks(part),
        marker={"color": colour if name else ENGLISH, "size": _size(part)},
        name=f"{plain(name) or 'none'} (n = {len(part):,})",
        hovertemplate=f"<b>%{{customdata[1]}}</b><br>{plain(name)}<extra></extra>",
    )


def _ring(row: pd.Series) -> go.Scatter:
    return go.Scatter(
        x=[float(row["x"])],
        y=[float(row["y"])],
        mode="markers",
        marker={"symbol": "circle-open", "size": 20, "color": EVIDENCE["shown"]},
        name=f"open: {plain(str(row['words']))}",
        showlegend=True,
        hoverinfo="skip",
    )
