"""What rewording does to mean scores and to single items, and which gaps lie beyond it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.floors import MODEL
from core.figures.colours import ENGLISH, language_colour
from core.figures.theme import Figure, plain, signed, template
from core.items.conditions import is_rewording

EVIDENT = "#8320ff"  # what a test or interval shows, as the verdict "shift"
_GREY = "rgba(120, 120, 120, 0.3)"
_SYMBOLS = (
    *("diamond", "square", "triangle-up", "pentagon", "circle", "star", "triangle-down"),
    *("hexagram", "cross", "hourglass"),
)
_LANE = 12  # px of one rewording under one model
_ROW = 26  # px of one gap or language
_RIDGE = 40  # px of one distribution
_NARROW = 0.72  # of a ridge's height that the highest curve takes

Row = Mapping[Any, Any]


def floor_figure(
    rows: pd.DataFrame, names: Mapping[str, str], *, score: str, origin: str = ""
) -> Figure:
    """|mean change| of each rewording under each model, beside what pure noise would show.

    Parameters
    ----------
    rows : DataFrame
        Of `floors`, of one original; those repeated on the items of a partial one are left out.
    names : mapping
        Scorer id to what its model is called.
    score : str
        Kind of score, for the axis.
    origin : str
        Data set, for the caption.
    """
    rows = rows[(rows["subset"] == "") & rows["abs_mean_change"].notna()]
    conditions = list(dict.fromkeys(rows["condition"]))
    scorers = [s for s in names if s in set(rows["scorer_id"])]
    step = len(conditions) + 1  # a lane stays empty between two models
    lanes = [
        scorers.index(s) * step + conditions.index(c)
        for s, c in zip(rows["scorer_id"], rows["condition"], strict=True)
    ]
    rows = rows.assign(lane=lanes)
    noise = go.Bar(
        x=rows["expected_noise"].tolist(),
        y=lanes,
        orientation="h",
        width=0.8,
        marker={"color": _GREY, "line": {"width": 0}},
        hoverinfo="skip",
        name="expected of pure noise",
    )
    one = len(scorers) == 1  # then each lane has its name at the axis
    traces = [noise]
    for i, condition in enumerate(conditions):
        part = rows[rows["condition"] == condition]
        marks = _floor_marks(part, names, _SYMBOLS[0 if one else i % len(_SYMBOLS)])
        traces.append(marks.update(showlegend=not one))
    found = rows[rows["qvalue"] < 0.05]
    if len(found):
        traces.append(_rings(found))
    ticks = (
        {"tickvals": lanes, "ticktext": [plain(c) for c in rows["condition"]]}
        if one
        else {
            "tickvals": [i * step + (len(conditions) - 1) / 2 for i in range(len(scorers))],
            "ticktext": [plain(names[s]) for s in scorers],
        }
    )
    n_lanes = len(scorers) * step - 1
    layout = _layout((22 if one else _LANE) * n_lanes, _n_named(traces), n_lanes, ticks)
    layout["xaxis"] |= {"title": {"text": f"|mean change|<br>{score}"}, "rangemode": "tozero"}
    layout["meta"] = {"caption": _floor_caption(rows, len(scorers), origin)}
    return go.Figure(traces, layout)


def gap_figure(
    rows: pd.DataFrame, names: Mapping[str, str], *, score: str, origin: str = ""
) -> Figure:
    """Gap minus floor with its interval: models, then languages; 0 is a gap as large as the floor.

    Parameters
    ----------
    rows : DataFrame
        Of `floor_vs_gap`.
    names, score, origin
        As of `floor_figure`.
    """
    of_model = rows["unit"] == MODEL
    places = [i + int(not m) for i, m in enumerate(of_model)]  # a row stays empty between them
    labels = [
        names.get(s, s) if m else c
        for m, s, c in zip(of_model, rows["scorer_id"], rows["condition"], strict=True)
    ]
    rows = rows.assign(place=places, label=labels)
    traces = []
    known = rows["difference"].notna()
    several = int(of_model.sum()) > 1
    for name, chosen, symbol in (
        ("model, mean over languages", of_model, "square"),
        ("language, mean over models" if several else "language", ~of_model, "circle"),
    ):
        if (known & chosen).any():
            traces.append(_gap_marks(rows[known & chosen], name, symbol))
    if not known.all():
        traces.append(_dashes(rows[~known], "gap alone; the floor is not known"))
    n = max(places, default=0) + 1
    ticks = {"tickvals": places, "ticktext": [plain(label) for label in labels]}
    layout = _layout(_ROW * n, len(traces), n, ticks)
    layout["shapes"] = [_zero_line()]
    layout["xaxis"] |= {"title": {"text": f"gap − floor<br>{score}"}}
    n_items = rows["n_items"]
    layout["meta"] = {
        "caption": f"Mean absolute gap minus noise floor{_of(origin)}: 0 is a gap as large as what "
        "rewording does. Bias-corrected 95 % intervals over items "
        f"(n = {_span(n_items)}); filled where the interval lies above 0."
    }
    return go.Figure(traces, layout)


def wording_figure(
    languages: pd.DataFrame,
    rewordings: pd.DataFrame,
    english: Row,
    *,
    who: str,
    score: str,
    origin: str = "",
) -> Figure:
    """Mean changes of languages, each on the prediction interval for one more rewording.

    Parameters
    ----------
    languages : DataFrame
        Rows of `wording_variance` about languages, of one model or of all; where known with
        `change_low` and `change_high`, the item interval of `mean_change`.
    rewordings : DataFrame
        condition, mean_change and n of the rewordings behind the interval.
    english : mapping
        Row of `wording_variance` about the rewordings of English, of the same.
    who : str
        Whose scores, for the caption: "over 10 models" or "of that model".
    """
    bands = [("en", english), *((r["condition"], r) for r in languages.to_dict("records"))]
    places = {condition: i for i, (condition, _) in enumerate(bands)}
    traces: list[Any] = [_bands([b for b in bands if not math.isnan(b[1]["prediction_low"])])]
    if len(rewordings):
        traces.append(_reworded_marks(rewordings))
    known = languages[languages["mean_change"].notna()]
    if len(known):
        traces.append(_language_marks(known, places))
    labels = ["en, reworded", *(plain(c) for c in places if c != "en")]
    ticks = {"tickvals": list(places.values()), "ticktext": labels}
    layout = _layout(_ROW * len(places), len(traces), len(places), ticks)
    layout["shapes"] = [_zero_line()]
    layout["xaxis"] |= {"title": {"text": f"mean change from English<br>{score}"}}
    layout["meta"] = {
        "caption": f"Mean changes from English {who}{_of(origin)}, on the 95 % prediction "
        "interval for the mean change that one more rewording of English would make to the same "
        f"items (t with {max(int(english['n_rewordings']) - 1, 0)} degrees of freedom, "
        f"{english['n_rewordings']} rewordings, n = {english['n']} items). Filled: outside it. "
        f"{_interval_words(known)}"
    }
    return go.Figure(traces, layout)


def distribution_figure(
    table: pd.DataFrame, curves: pd.DataFrame, *, who: str, score: str, origin: str = ""
) -> Figure:
    """Changes of single items in each condition, on one scale: curve, quantiles, sd and n.

    Parameters
    ----------
    table, curves : DataFrame
        Of `distributions`.
    who : str
        Whose scores, for the caption: "over 10 models" or "of that model".
    """
    rows = table[table["n"] > 0].to_dict("records")
    highest = float(curves["density"].max()) if len(curves) else 1.0
    grouped = dict(iter(curves.groupby("condition")))
    traces = []
    for place, row in enumerate(rows):
        colour, reworded = language_colour(row["condition"]), is_rewording(row["condition"])
        if row["condition"] in grouped:
            traces.append(_ridge(grouped[row["condition"]], place, highest, colour, reworded))
        traces += _quantiles(row, place, colour)
    ticks = {"tickvals": list(range(len(rows))), "ticktext": [_ridge_label(r) for r in rows]}
    layout = _layout(_RIDGE * len(rows), 0, len(rows), ticks)
    layout["yaxis"]["range"] = [len(rows) - 0.55, -0.95]
    layout["shapes"] = [_zero_line()]
    layout["showlegend"] = False
    layout["xaxis"] |= {"title": {"text": f"change of one item<br>{score}"}}
    layout["meta"] = {
        "caption": f"Changes of single items {who}{_of(origin)}: rewordings from what they reword "
        "(dashed), translations from English (solid). Curve: density, smoothed by a Gaussian "
        "kernel; thick line: middle half, thin line: 5 to 95 %, tick: median, cross: mean."
    }
    return go.Figure(traces, layout)


def _floor_marks(part: pd.DataFrame, names: Mapping[str, str], symbol: str) -> go.Scatter:
    condition = str(part["condition"].iloc[0])
    full = part["full_coverage"].tolist()
    coverage = "" if all(full) else ", partial" if not any(full) else ", partly partial"
    return go.Scatter(
        x=part["abs_mean_change"].tolist(),
        y=part["lane"].tolist(),
        mode="markers",
        marker={
            "symbol": [symbol if f else f"{symbol}-open" for f in full],
            "size": 8,
            "color": language_colour(condition),
            "line": {"width": 1.5},
        },
        cliponaxis=False,
        customdata=[
            [
                f"{r['scorer_id']}|{r['condition']}",
                plain(names[r["scorer_id"]]),
                plain(r["condition"]),
                _floor_hover(r),
            ]
            for r in part.to_dict("records")
        ],
        hovertemplate="<b>%{customdata[1]}, %{customdata[2]}</b><br>%{customdata[3]}"
        "<extra></extra>",
        name=f"{plain(condition)}{coverage}",
    )


def _floor_hover(row: Row) -> str:
    lines = [
        f"mean change {signed(row['mean_change'], 4)}, n = {row['n']}",
        f"expected |mean| of pure noise {row['expected_noise']:.4f}",
        f"sd of item changes {row['sd']:.4f}",
        f"p = {row['pvalue']:.4f}, q = {row['qvalue']:.4f}",
        "full coverage" if row["full_coverage"] else "not on all items of the original",
    ]
    return "<br>".join(line for line in lines if "nan" not in line)


def _rings(found: pd.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=found["abs_mean_change"].tolist(),
        y=found["lane"].tolist(),
        mode="markers",
        marker={"symbol": "circle-open", "size": 15, "color": EVIDENT, "line": {"width": 2}},
        hoverinfo="skip",
        name="q < .05",
    )


def _gap_marks(rows: pd.DataFrame, name: str, symbol: str) -> go.Scatter:
    colours = [language_colour(c) if c else ENGLISH for c in rows["condition"]]
    above = rows["above"].fillna(False).astype(bool)
    return go.Scatter(
        x=rows["difference"].tolist(),
        y=rows["place"].tolist(),
        mode="markers",
        marker={
            "symbol": [symbol if a else f"{symbol}-open" for a in above],
            "size": 10,
            "color": colours,
            "line": {"width": 2, "color": colours},
        },
        error_x=_whiskers(rows, "difference", "difference"),
        customdata=[
            [r["scorer_id"] or r["condition"], plain(r["label"]), _gap_hover(r)]
            for r in rows.to_dict("records")
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        name=name,
    )


def _gap_hover(row: Row) -> str:
    low, high = row["difference_low"], row["difference_high"]
    bounds = "no interval" if math.isnan(low) else f"[{signed(low, 4)}, {signed(high, 4)}]"
    return (
        f"gap {row['gap']:.4f}, floor {row['floor']:.4f}<br>"
        f"difference {signed(row['difference'], 4)} {bounds}<br>"
        f"n = {row['n_items']} items, {row['n_rewordings']} rewordings"
    )


def _dashes(rows: pd.DataFrame, name: str) -> go.Scatter:
    """A dash where there is no number, with the reason."""
    return go.Scatter(
        x=[0.0] * len(rows),
        y=rows["place"].tolist(),
        mode="text",
        text=["–"] * len(rows),
        customdata=[
            [r["scorer_id"] or r["condition"], plain(r["label"]), plain(r["reason"])]
            for r in rows.to_dict("records")
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        name=name,
    )


def _bands(bands: list[tuple[str, Row]]) -> go.Bar:
    lows = [row["prediction_low"] for _, row in bands]
    return go.Bar(
        x=[row["prediction_high"] - low for (_, row), low in zip(bands, lows, strict=True)],
        base=lows,
        y=list(range(len(bands))),
        orientation="h",
        width=0.62,
        marker={"color": _GREY, "line": {"width": 0}},
        customdata=[
            [condition, signed(row["prediction_low"], 4), signed(row["prediction_high"], 4)]
            for condition, row in bands
        ],
        hovertemplate="<b>one more rewording</b><br>predicted in [%{customdata[1]}, "
        "%{customdata[2]}]<extra></extra>",
        name="one more rewording, 95 % prediction interval",
    )


def _reworded_marks(rewordings: pd.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=rewordings["mean_change"].tolist(),
        y=[0] * len(rewordings),
        mode="markers",
        marker={"symbol": "diamond-open", "size": 9, "color": ENGLISH, "line": {"width": 2}},
        customdata=[
            [r["condition"], signed(r["mean_change"], 4), r["n"]]
            for r in rewordings.to_dict("records")
        ],
        hovertemplate="<b>%{customdata[0]}</b><br>mean change %{customdata[1]}<br>"
        "n = %{customdata[2]}<extra></extra>",
        name="rewording of English",
    )


def _language_marks(rows: pd.DataFrame, places: Mapping[str, int]) -> go.Scatter:
    outside = rows["outside"].fillna(False).astype(bool)
    colours = [language_colour(c) for c in rows["condition"]]
    return go.Scatter(
        x=rows["mean_change"].tolist(),
        y=[places[c] for c in rows["condition"]],
        mode="markers",
        marker={
            "symbol": ["circle" if o else "circle-open" for o in outside],
            "size": 11,
            "color": colours,
            "line": {"width": 2, "color": colours},
        },
        **_own_interval(rows),
        customdata=[[r["condition"], _wording_hover(r)] for r in rows.to_dict("records")],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        name="language",
    )


def _interval_words(rows: pd.DataFrame) -> str:
    if "change_low" in rows and rows["change_low"].notna().any():
        return "Whiskers: 95 % intervals over items."
    return "Intervals over items are drawn where all models, or one alone, are chosen."


def _own_interval(rows: pd.DataFrame) -> dict[str, Any]:
    """Whiskers of the mean changes, where their interval is known."""
    if "change_low" not in rows:
        return {}
    return {"error_x": _whiskers(rows, "mean_change", "change")}


def _whiskers(rows: pd.DataFrame, value: str, ends: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": (rows[f"{ends}_high"] - rows[value]).fillna(0).tolist(),
        "arrayminus": (rows[value] - rows[f"{ends}_low"]).fillna(0).tolist(),
        "color": ENGLISH,
        "thickness": 1.5,
        "width": 3,
    }


def _wording_hover(row: Row) -> str:
    low, high = row.get("change_low", math.nan), row.get("change_high", math.nan)
    own = "" if math.isnan(low) else f" [{signed(low, 4)}, {signed(high, 4)}]"
    lines = [f"mean change {signed(row['mean_change'], 4)}{own}, n = {row['n']}"]
    lines += [
        f"{name}: p = {row[f'pvalue_{name}']:.4f}, q = {row[f'qvalue_{name}']:.4f}"
        for name in ("prediction", "exchange")
        if not math.isnan(row[f"pvalue_{name}"])
    ]
    return "<br>".join(lines)


def _ridge(
    curve: pd.DataFrame, place: int, highest: float, colour: str, reworded: bool
) -> go.Scatter:
    x, heights = curve["change"].tolist(), curve["density"] / highest * _NARROW
    shown = curve["density"].to_numpy() > highest / 500
    first, last = shown.argmax(), len(shown) - shown[::-1].argmax()
    return go.Scatter(
        x=[x[first], *x[first:last], x[last - 1]],
        y=[place, *(place - heights[first:last]).tolist(), place],
        mode="lines",
        line={"color": colour, "width": 1.5, "dash": "dot" if reworded else "solid"},
        fill="toself",
        fillcolor=f"rgba({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))}, 0.18)",
        hoverinfo="skip",
    )


def _quantiles(row: Row, place: int, colour: str) -> list[go.Scatter]:
    y = place + 0.14
    line = {"mode": "lines", "hoverinfo": "skip"}
    return [
        go.Scatter(
            x=[row["q05"], row["q95"]], y=[y, y], line={"color": colour, "width": 1.5}
        ).update(line),
        go.Scatter(x=[row["q25"], row["q75"]], y=[y, y], line={"color": colour, "width": 5}).update(
            line
        ),
        go.Scatter(
            x=[row["q50"], row["mean_change"]],
            y=[y, y],
            mode="markers",
            marker={
                "symbol": ["line-ns", "x-thin"],
                "size": [13, 8],
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            customdata=[[row["condition"], _ridge_hover(row)]] * 2,
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        ),
    ]


def _ridge_hover(row: Row) -> str:
    sd = "" if math.isnan(row["sd"]) else f", sd {row['sd']:.4f}"
    return (
        f"mean {signed(row['mean_change'], 4)}{sd}<br>median {signed(row['q50'], 4)}<br>"
        f"5 to 95 %: {signed(row['q05'], 3)} to {signed(row['q95'], 3)}<br>"
        f"extremes: {signed(row['lowest'], 3)} to {signed(row['highest'], 3)}<br>"
        f"n = {row['n']} changes of {row['n_items']} items"
    )


def _ridge_label(row: Row) -> str:
    sd = "–" if math.isnan(row["sd"]) else f"{row['sd']:.3f}"
    return f"<b>{plain(row['condition'])}</b><br>sd {sd}, n {row['n']}"


def _layout(height: int, n_traces: int, n_places: int, ticks: dict[str, Any]) -> dict[str, Any]:
    top = 20 * n_traces + 12
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "template": template("light"),
        "height": top + height + 76,
        "margin": {"l": 8, "r": 12, "t": top, "b": 68},
        "dragmode": False,
        "barmode": "overlay",
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
        "showlegend": n_traces > 0,
        "xaxis": axis | {"nticks": 7},
        "yaxis": axis
        | {"range": [n_places - 0.4, -0.6], "ticklabelstandoff": 6, "showgrid": False}
        | ticks,
    }


def _n_named(traces: list[Any]) -> int:
    """Traces that the legend names."""
    return sum(trace.showlegend is not False for trace in traces)


def _zero_line() -> dict[str, Any]:
    place = {"x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", "line": {"width": 1.5}} | place


def _floor_caption(rows: pd.DataFrame, n_models: int, origin: str) -> str:
    original = "English" if rows.empty else _original(str(rows["original"].iloc[0]))
    models = f"{n_models} models" if n_models != 1 else "one model"
    return (
        f"How far each rewording of {original} moves the mean score of {models}{_of(origin)} "
        f"(n = {_span(rows['n'])} items): marks. Grey bars: what changes of single items would "
        "show if they were nothing but noise, sd √(2 / (πn)). Filled: scored on every "
        f"item of the original, so it enters the floor; open: on some. {_ring_words(rows)} "
        "(sign-flip test). A mean of absolute values has no honest interval of its own."
    )


def _ring_words(rows: pd.DataFrame) -> str:
    n, tested = int((rows["qvalue"] < 0.05).sum()), int(rows["qvalue"].notna().sum())
    return f"Ring: q < .05, {n} of {tested}" if n else f"None of {tested} has q < .05"


def _original(condition: str) -> str:
    return "English" if condition == "en" else condition


def _of(origin: str) -> str:
    return f", data set {origin}" if origin else ""


def _span(numbers: pd.Series) -> str:
    if not len(numbers):
        return "0"
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"
