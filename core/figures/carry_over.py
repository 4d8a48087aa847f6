"""Items before and after a change of language or wording: their scatter, and their fates."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.kept import CAUTION, bounds, number
from core.analysis.audit.names import ALL_MODELS, REWORDING
from core.analysis.audit.points import MEAN, FittedLine, Points
from core.figures.colours import ANTI_STEREOTYPE, ENGLISH, SHARED, STEREOTYPE, language_colour
from core.figures.theme import Figure, drawn, plain, signed
from core.items.conditions import language_of
from core.languages import language_name

_FATES = (  # how many there are, what becomes of them, and the colour of the side they end on
    ("n_above", ("kept", "neutral", "reversed"), (STEREOTYPE, SHARED, ANTI_STEREOTYPE)),
    (
        "n_below",
        ("kept_below", "neutral_below", "reversed_below"),
        (ANTI_STEREOTYPE, SHARED, STEREOTYPE),
    ),
)
_AXES = (("x", "y"), ("x2", "y2"))  # of either side
_FATE_WORDS = ("kept", "neutral", "reversed")
_LEAST_LABELLED = 0.1  # a narrower bar has no room for its number
_LINE_HEIGHT = 24  # px per bar


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
    layout["meta"] = {"caption": caption}
    return drawn(traces, layout)


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
    labels = [
        f"{_version(c)} (n = {n})"
        for c, n in zip(shown["condition"], shown["n_items"], strict=True)
    ]
    colours = [language_colour(c) for c in shown["condition"]]
    traces = []
    for row in ceiling.to_dict("records"):
        name = f"rewording: {number(row['slope'])} {bounds(row['slope_low'], row['slope_high'])}"
        low, high, last = row["slope_low"], row["slope_high"], max(len(shown), 1) - 0.5
        traces.append(
            go.Scatter(
                x=[low, high, high, low],
                y=[-0.5, -0.5, last, last],
                fill="toself",
                fillcolor="rgba(120, 120, 120, 0.3)",
                mode="lines",
                line={"width": 0, "color": ENGLISH},
                name=f"{name}, the ceiling (n = {row['n_items']})",
                hoverinfo="skip",
            )
        )
    ends = shown[["slope_low", "slope_high"]].to_numpy().tolist()
    for at, (colour, (low, high)) in enumerate(zip(colours, ends, strict=True)):
        traces.append(
            go.Scatter(
                x=[low, high],
                y=[at, at],
                mode="lines",
                line={"width": 3, "color": colour},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    columns = zip(*(shown[c] for c in ("condition", "slope_low", "slope_high")), strict=True)
    traces.append(
        go.Scatter(
            x=shown["slope"].tolist(),
            y=list(range(len(shown))),
            mode="markers",
            marker={"color": colours, "size": 10},
            customdata=[list(row) for row in columns],
            hovertemplate="<b>%{customdata[0]}</b><br>slope %{x:.4f}"
            "<br>[%{customdata[1]:.4f}, %{customdata[2]:.4f}]<extra></extra>",
            name="slope, 95 % interval over items",
        )
    )
    top = 20 * (1 + len(ceiling)) + 14
    axis = {"zeroline": False, "fixedrange": True}
    values = known[["slope_low", "slope_high"]].to_numpy()
    low = min([0.0, *values[pd.notna(values)].tolist()])
    high = max([1.0, *values[pd.notna(values)].tolist()])
    upright = {"type": "line", "layer": "below", "yref": "paper", "y0": 0, "y1": 1}
    return drawn(
        traces,
        {
            "height": top + _LINE_HEIGHT * max(len(shown), 1) + 60,
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
                "range": [max(len(shown), 1) - 0.5, -0.5],
                "tickvals": list(range(len(shown))),
                "ticktext": labels,
                "ticklabelstandoff": 6,
            },
            "shapes": [upright | {"x0": x, "x1": x, "line": {"width": 1}} for x in (0, 1)],
            "meta": {"caption": _slopes_caption(rows, shown, dataset)},
        },
    )


def fate_bars(rows: pd.DataFrame, *, original: str = "en") -> Figure:
    """What becomes of clear preferences: bars of the shares kept, neutral and reversed.

    Parameters
    ----------
    rows : DataFrame
        Of the table `fates`. The colours say on which side of 0.5 the scores end.
    """
    shown = rows.iloc[::-1]
    bars = [_fate_bars(shown, at) for at in range(len(_FATES))]
    sides = (("ends above 0.55", STEREOTYPE), ("ends between", SHARED))
    legend = [
        go.Bar(x=[None], y=[None], marker={"color": colour}, name=side)
        for side, colour in (*sides, ("ends below 0.45", ANTI_STEREOTYPE))
    ]
    return drawn(
        [*bars[0], *bars[1], *legend],
        {
            **_fate_axes(f"in {language_name(original)}"),
            "barmode": "stack",
            "bargap": 0.25,
            "height": 220 + 2 * _LINE_HEIGHT * max(len(shown), 1),
            "margin": {"l": 8, "r": 12, "t": 100, "b": 40},
            "dragmode": False,
            "legend": {"orientation": "v", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
            "meta": {"caption": _fates_caption(rows)},
        },
    )


def _fate_bars(shown: pd.DataFrame, at: int) -> list[go.Bar]:
    """What became of the preferences of one side: three bars that make up a line."""
    total, names, colours = _FATES[at]
    labels = [_fate_label(c, n) for c, n in zip(shown["condition"], shown[total], strict=True)]
    bars = []
    for name, word, colour in zip(names, _FATE_WORDS, colours, strict=True):
        shares = shown[f"share_{name}"]
        counts = zip(shown["condition"], shown[name], shown[total], strict=True)
        bars.append(
            go.Bar(
                x=shares.tolist(),
                y=labels,
                xaxis=_AXES[at][0],
                yaxis=_AXES[at][1],
                orientation="h",
                marker={"color": colour, "line": {"width": 0}},
                name=word,
                customdata=[
                    [str(c), *(None if pd.isna(number) else int(number) for number in of)]
                    for c, *of in counts
                ],
                text=[f"{100 * s:.0f} %" if s >= _LEAST_LABELLED else "" for s in shares],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                insidetextfont={"color": "#ffffff", "size": 10},
                hovertemplate=f"<b>%{{customdata[0]}}</b><br>{word}: %{{customdata[1]}} of "
                "%{customdata[2]} (%{x:.3f})<extra></extra>",
                showlegend=False,
            )
        )
    return bars


def _fate_axes(before: str) -> dict[str, Any]:
    """One chart above the other, each under what its preferences were before."""
    x = {"range": [0, 1], "tickformat": ".0%", "fixedrange": True, "zeroline": False}
    x |= {"tickvals": [0, 0.25, 0.5, 0.75, 1]}
    y = {"fixedrange": True, "showgrid": False, "ticklabelstandoff": 6}
    title = {"x": 0, "xref": "paper", "xanchor": "left", "yref": "paper", "yanchor": "bottom"}
    title |= {"showarrow": False, "font": {"size": 12}}
    return {
        "xaxis": x | {"anchor": "y"},
        "xaxis2": x | {"anchor": "y2"},
        "yaxis": y | {"anchor": "x", "domain": [0.6, 1.0]},
        "yaxis2": y | {"anchor": "x2", "domain": [0.0, 0.4]},
        "annotations": [
            title | {"text": f"above 0.55 {before}", "y": 1.0},
            title | {"text": f"below 0.45 {before}", "y": 0.4},
        ],
    }


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
        fillcolor="rgba(120, 120, 120, 0.2)",
        mode="lines",
        line={"width": 0, "color": ENGLISH},
        name=f"rewording alone: ± {sd:.3f} (sd, n = {points.n_noise})",
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
    sample = f"showing {len(rows)} of {points.n}" if len(rows) < points.n else f"n = {points.n}"
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
        "xaxis": axis | {"title": {"text": f"score in {_version(points.original)}"}},
        "yaxis": axis
        | {"title": {"text": f"score in {_version(points.condition)}"}}
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
    names = f"{_version(points.original)} and {_version(points.condition)}"
    origin = f", data set {dataset}" if dataset else ""
    sentences = [f"{names}{origin}: each point is one {each}; {points.n} points of "]
    sentences[0] += f"{points.n_items} items."
    if len(points.rows) < points.n:
        sentences.append(f"Showing {len(points.rows)} of {points.n}, drawn by the seed.")
    if passing:
        sentences.append(f"Only versions with {passing}; {points.n_failed} points are left out.")
    if math.isfinite(points.noise):
        sentences.append(
            f"Band: what rewording alone does to such a point, ± {points.noise:.3f} (sd, "
            f"n = {points.n_noise} changes)."
        )
    else:
        sentences.append("No rewording is scored, so there is no noise band.")
    if fitted is None or math.isnan(fitted.slope):
        sentences.append("There is no fitted line.")
    else:
        sentences.append(
            f"Fitted line{_of_what(fitted)}: least squares over {fitted.n_rows} scores of "
            f"{fitted.n_items} items, slope {number(fitted.slope)} "
            f"{bounds(fitted.low, fitted.high)} (95 %, over items)."
        )
        if of == MEAN and fitted.model == ALL_MODELS:
            sentences.append(
                "It is the line of the single scores, not of their means, which scatter less."
            )
    if ceiling is not None and math.isfinite(ceiling.slope):
        sentences.append(
            f"{_ceiling_name(ceiling).capitalize()} keeps {number(ceiling.slope)} "
            f"{bounds(ceiling.low, ceiling.high)} ({ceiling.n_items} items): the ceiling."
        )
    return " ".join([*sentences, CAUTION])


def _ceiling_name(ceiling: FittedLine) -> str:
    if ceiling.condition == REWORDING:
        return "rewording"
    return "rewording English, same items"


def _of_what(line: FittedLine) -> str:
    """Which scores a line is of, where that is not all of them."""
    parts = [line.model] if line.model != ALL_MODELS else []
    parts += [f"judged {line.group}"] if line.group else []
    return f" ({', '.join(parts)})" if parts else ""


def _version(condition: str) -> str:
    """The language's name, and which rewording of it."""
    label = condition.partition("~")[2]
    name = language_name(language_of(condition))
    return f"{name}, reworded ({label})" if label else name


def _fate_label(condition: str, n: float) -> str:
    name = REWORDING if condition == REWORDING else _version(condition)
    return f"{name} (n = {0 if pd.isna(n) else int(n)})"


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
    return " ".join([*sentences, CAUTION])


def _fates_caption(rows: pd.DataFrame) -> str:
    n = int(rows["n"].sum()) if len(rows) else 0
    return (
        f"Of scores clearly above or below 0.5 before, the share that ends on either side; n is "
        f"their number, of {n} scores of items under models in all. These are not independent of "
        "each other, so the shares carry no interval; what rewording alone does is the yardstick. "
        "Scores far from 0.5 tend to move back towards it under any change."
    )
