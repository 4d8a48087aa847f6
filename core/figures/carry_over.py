"""The scatter of items before and after a change of language or wording."""

from __future__ import annotations

import math
from typing import Any

from plotly import graph_objects as go

from core.analysis.audit.kept import CAUTION, bounds, number
from core.analysis.audit.names import ALL_MODELS, REWORDING
from core.analysis.audit.points import MEAN, FittedLine, Points
from core.figures.colours import BAND, ENGLISH, language_colour
from core.figures.conditions import version
from core.figures.theme import Figure, drawn, plain, signed
from core.words import short_labels


def carry_scatter(
    points: Points,
    fitted: FittedLine | None,
    ceiling: FittedLine | None,
    *,
    neutral: float = 0.5,
    of: str = "",
    passing: str = "",
    dataset: str = "",
    drawing: bool = False,
) -> Figure:
    """Each item's score in a version over its score in the original.

    Parameters
    ----------
    points : Points
        Of `core.analysis.audit.points.points`.
    fitted, ceiling : FittedLine or None
        Lines of the table `association`; nothing is fitted here.
    neutral : float
        The score of no preference; 0 for standardised scores, which have no bounds.
    of, passing
        What the points were asked for.
    dataset
        Named in the caption.
    drawing
        Whether dragging draws around points, else a click takes one: Streamlit allows one of both.
    """
    low, high = _range(points, neutral)
    traces = []
    if math.isfinite(points.noise):
        traces.append(_band(points, low, high))
    traces.append(_straight("kept in full (slope 1)", 1.0, neutral, neutral, low, high, dash="dot"))
    if ceiling is not None and math.isfinite(ceiling.slope):
        name = f"{_ceiling_name(ceiling)}: slope {number(ceiling.slope)}, the ceiling"
        line = ceiling.slope, ceiling.at_neutral, neutral, low, high
        traces.append(_straight(name, *line, dash="dash", width=2.0))
    traces.append(_dots(points))
    if fitted is not None and math.isfinite(fitted.slope):
        name = f"fitted{_of_what(fitted)}: slope {number(fitted.slope)} "
        name += bounds(fitted.low, fitted.high)
        line = fitted.slope, fitted.at_neutral, neutral, low, high
        colour = language_colour(points.condition)
        traces.append(_straight(name, *line, width=3.5, colour=colour))
    layout = _scatter_layout(points, neutral, (low, high), len(traces), drawing=drawing)
    caption = _scatter_caption(points, fitted, ceiling, of, passing, dataset)
    layout["meta"] = {"caption": caption, "caution": CAUTION}
    return drawn(traces, layout)


def _range(points: Points, neutral: float) -> tuple[float, float]:
    """The same for both axes: all scores, or where they have no bounds what there is."""
    if neutral:
        return -0.02, 1.02
    values = points.rows[["before", "after"]].to_numpy()
    most = float(abs(values).max()) if values.size else 1.0
    return -1.05 * most, 1.05 * most


def _band(points: Points, low: float, high: float) -> go.Scatter:
    sd = points.noise
    return go.Scatter(
        x=[low, high, high, low],
        y=[low - sd, high - sd, high + sd, low + sd],
        fill="toself",
        fillcolor=BAND,
        mode="lines",
        line={"width": 0, "color": ENGLISH},
        name=f"rewording alone: ±{sd:.3f} (sd, n = {points.n_noise:,})",
        hoverinfo="skip",
    )


def _straight(
    name: str,
    slope: float,
    at_neutral: float,
    neutral: float,
    low: float,
    high: float,
    *,
    width: float = 1.5,
    dash: str = "solid",
    colour: str = ENGLISH,
) -> go.Scatter:
    """A line over the whole plot, by its value where x is neutral."""
    return go.Scatter(
        x=[low, high],
        y=[at_neutral + slope * (x - neutral) for x in (low, high)],
        mode="lines",
        line={"width": width, "dash": dash, "color": colour},
        name=name,
        hoverinfo="skip",
    )


def _dots(points: Points) -> go.Scatter:
    rows = points.rows
    crowded = len(rows) > 500
    sample = f"n = {points.n:,}"
    if len(rows) < points.n:
        sample = f"showing {len(rows):,} of {points.n:,}"
    columns = ["category", "model", "before", "after", "change"]
    return go.Scatter(
        x=rows["before"].tolist(),
        y=rows["after"].tolist(),
        mode="markers",
        marker={
            "color": language_colour(points.condition),
            "size": 5 if crowded else 8,
            "opacity": 0.35 if crowded else 0.6,
        },
        selected={"marker": {"opacity": 1.0}},
        unselected={"marker": {"opacity": 0.12}},
        customdata=rows[["item_id", "scorer_id"]].to_numpy(object).tolist(),
        text=[_hover(*row) for row in rows[columns].itertuples(index=False)],
        hovertemplate="<b>%{customdata[0]}</b>%{text}<extra></extra>",
        name=f"points ({sample})",
    )


def _hover(category: str, model: str, before: float, after: float, change: float) -> str:
    numbers = (
        f"before {signed(before, 4)}<br>after {signed(after, 4)}<br>change {signed(change, 4)}"
    )
    return "".join(f"<br>{part}" for part in (plain(category), plain(model), numbers) if part)


def _scatter_layout(
    points: Points, neutral: float, ends: tuple[float, float], n_traces: int, *, drawing: bool
) -> dict[str, Any]:
    low, high = ends
    top = 20 * n_traces + 14
    axis = {"range": [low, high], "zeroline": False, "fixedrange": True, "constrain": "domain"}
    if neutral:
        axis |= {"tickvals": [0, 0.25, 0.5, 0.75, 1]}
    quadrant = {"type": "line", "layer": "between", "line": {"width": 1.5}}
    upright = {"x0": neutral, "x1": neutral, "y0": low, "y1": high}
    flat = {"y0": neutral, "y1": neutral, "x0": low, "x1": high}
    return {
        "height": top + 480,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": "lasso" if drawing else "pan",
        "hovermode": "closest",
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": axis | {"title": {"text": f"score in {version(points.original)}"}},
        "yaxis": axis
        | {"title": {"text": f"score in {version(points.condition)}"}}
        | {"scaleanchor": "x", "scaleratio": 1, "constraintoward": "top"},
        "shapes": [quadrant | upright, quadrant | flat],
    }


def _scatter_caption(
    points: Points,
    fitted: FittedLine | None,
    ceiling: FittedLine | None,
    of: str,
    passing: str,
    dataset: str,
) -> str:
    each = "item, mean over its models" if of == MEAN else "score of an item under a model"
    names = f"{version(points.original)} and {version(points.condition)}"
    origin = f", data set {dataset}" if dataset else ""
    sentences = [f"{names}{origin}: each point is one {each}; {points.n:,} points of "]
    sentences[0] += f"{points.n_items:,} items."
    if len(points.rows) < points.n:
        sentences.append(f"Showing {len(points.rows):,} of {points.n:,}, drawn by the seed.")
    if passing:
        sentences.append(f"Only versions with {passing}; {points.n_failed:,} points are left out.")
    if math.isfinite(points.noise):
        sentences.append(
            f"Band: what rewording alone does to such a point, ±{points.noise:.3f} (sd, "
            f"n = {points.n_noise:,} changes)."
        )
    else:
        sentences.append("No rewording is scored, so there is no noise band.")
    if fitted is None or math.isnan(fitted.slope):
        sentences.append("There is no fitted line.")
    else:
        sentences.append(
            f"Fitted line{_of_what(fitted)}: least squares over {fitted.n_rows:,} scores of "
            f"{fitted.n_items:,} items, slope {number(fitted.slope)} "
            f"{bounds(fitted.low, fitted.high)} (95 %, over items)."
        )
        if of == MEAN and fitted.model == ALL_MODELS:
            sentences.append(
                "It is the line of the single scores, not of their means, which scatter less."
            )
    if ceiling is not None and math.isfinite(ceiling.slope):
        sentences.append(
            f"{_ceiling_name(ceiling).capitalize()} keeps {number(ceiling.slope)} "
            f"{bounds(ceiling.low, ceiling.high)} ({ceiling.n_items:,} items): the ceiling."
        )
    return " ".join(sentences)


def _ceiling_name(ceiling: FittedLine) -> str:
    if ceiling.condition == REWORDING:
        return "rewording"
    return "rewording English, same items"


def _of_what(line: FittedLine) -> str:
    """Which scores a line is of, where that is not all of them."""
    parts = short_labels([line.model]) if line.model != ALL_MODELS else []
    parts += [f"judged {line.group}"] if line.group else []
    return f" ({', '.join(parts)})" if parts else ""
