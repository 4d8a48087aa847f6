"""Drops of languages beside what rewording does, models against languages, groups of items.

A drop is the score in English minus that in the language, of the same items. Rows are those of the
tables of an audit; nothing is computed here but places and colours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import ENGLISH, change_colours, language_colour, score_colours
from core.figures.theme import Figure, plain, signed, template
from core.items.languages import language_name
from core.words import short_labels

Row: TypeAlias = dict[Any, Any]


@dataclass(frozen=True)
class Yardstick:
    """What every drop is shown beside."""

    floor: float  # median over `n_models` of the noise floor; NaN where there is none
    n_models: int
    margin: float  # of equivalence


ROW_HEIGHT = 30  # px per language
_GROUP_HEIGHT = 22  # px per group of items
LEAST_LIMIT = 0.1  # the colours of changes reach at least so far, so that small ones stay pale


def drop_plot(rows: pd.DataFrame, verdicts: pd.DataFrame, beside: Yardstick) -> Figure:
    """The drop of each language, its two intervals, the noise floor and the margin.

    Parameters
    ----------
    rows : DataFrame
        Of the table `main`, languages alone.
    verdicts : DataFrame
        Of the table of that name: `condition`, `reads`.
    """
    records = rows.to_dict("records")
    reads = dict(zip(verdicts["condition"], verdicts["reads"], strict=True))
    traces = _frame(len(records), beside)
    spread = [row for row in records if math.isfinite(row["drop_low"])]
    traces += [
        _legend_line("95 % over items", 4),
        *([_legend_line("95 % over models: their spread", 1.5)] if spread else []),
    ]
    for at, row in enumerate(records):
        colour = language_colour(row["condition"])
        if math.isfinite(row["drop_items_low"]):
            traces.append(_line(row["drop_items_low"], row["drop_items_high"], at, colour, 4))
        if math.isfinite(row["drop_low"]):
            traces.append(_line(row["drop_low"], row["drop_high"], at + 0.24, colour, 1.5))
        if math.isfinite(row["drop_items"]):
            traces.append(_drop_dot(row, at, colour, reads.get(row["condition"], "")))
        else:
            traces.append(_undefined(row, at))
    labels = [f"{_named(row)} ({_count(row['n_items'])})" for row in records]
    layout = _layout(labels, 5, ROW_HEIGHT, "drop: English minus language (n items)")
    layout["meta"] = {"caption": _drop_caption(records, beside)}
    return go.Figure(traces, layout)


def group_plot(rows: pd.DataFrame, beside: Yardstick, title: str) -> Figure:
    """The drop beyond rewording of every language in every group of items.

    Parameters
    ----------
    rows : DataFrame
        Of the table `item_tests`, of one `group_kind`.
    title : str
        What the groups are.
    """
    records = rows.to_dict("records")
    traces = _frame(len(records), beside)
    traces.append(_legend_line("95 % over items", 3))
    known = [math.isfinite(row["qvalue"]) and row["qvalue"] < 0.05 for row in records]
    for name, symbol, wanted in (
        ("q < .05", "circle", True),
        ("no more shown", "circle-open", False),
    ):
        if any(wanted == k and math.isfinite(r["t"]) for k, r in zip(known, records, strict=True)):
            traces.append(_legend_dot(name, symbol))
    for at, (row, shown) in enumerate(zip(records, known, strict=True)):
        colour = ENGLISH if row["condition"] == "pooled" else language_colour(row["condition"])
        if not math.isfinite(row["t"]):
            traces.append(_undefined(row, at))
            continue
        if math.isfinite(row["t_low"]):
            traces.append(_line(row["t_low"], row["t_high"], at, colour, 3))
        traces.append(_group_dot(row, at, colour, shown))
    labels = [f"{_group_label(row)} ({_count(row['n'])})" for row in records]
    layout = _layout(labels, 5, _GROUP_HEIGHT, "drop beyond rewording (n items)")
    n_undefined = sum(not math.isfinite(row["t"]) for row in records)
    sentences = [
        f"Drop beyond that of rewording, T = −mean(D − R), by {title}, with 95 % bootstrap "
        "intervals over items. Filled: q < .05 over the languages of the same group. Groups are "
        "small, and many of them are looked at."
    ]
    if n_undefined:
        sentences.append(f"{n_undefined} of {len(records)} are undefined and at the edge.")
    layout["meta"] = {"caption": " ".join([*sentences, _frame_words(beside)])}
    return go.Figure(traces, layout)


def change_map(rows: pd.DataFrame) -> Figure:
    """Mean change of every model in every language; a dot marks the reliable ones.

    Parameters
    ----------
    rows : DataFrame
        Of the table `cells`.
    """
    sizes = rows["mean_change"].abs()
    limit = max(LEAST_LIMIT, float(sizes.max()) if sizes.notna().any() else 0.0)
    reliable = rows["reliable"].fillna(False) | rows["reliable_rise"].fillna(False)
    hover = [
        f"change {signed(r['mean_change'], 4)}, n = {r['n']}<br>q = {_q(r['qvalue'])}"
        f" over {r['n_tests']} cells"
        for r in rows.to_dict("records")
    ]
    figure = _map(rows, "mean_change", reliable.tolist(), hover, change_colours(limit), "change")
    n = int(reliable.sum())
    figure.layout.meta = {
        "caption": f"Mean change of score from English to the language, of the same items, per "
        f"model. A dot marks the {n} of {len(rows)} cells with q < .05 over all cells; the others "
        "are not shown to differ from English, nor to be equal to it. Cells picked because they "
        "are reliable look larger than they are."
    }
    return figure


def score_heatmap(rows: pd.DataFrame, neutral: float) -> Figure:
    """Mean score of every model in every language, English first.

    Parameters
    ----------
    rows : DataFrame
        Of the table `score_map`.
    neutral : float
        The score of no preference: 0.5, or 0 on the scale of standardised scores.
    """
    hover = [f"mean {signed(r['score'], 4)}, n = {r['n']}" for r in rows.to_dict("records")]
    sizes = (rows["score"] - neutral).abs()
    limit = max(0.5, float(sizes.max()) if sizes.notna().any() else 0.0)
    colours = score_colours() if neutral else change_colours(limit)
    figure = _map(rows, "score", [False] * len(rows), hover, colours, "score")
    figure.layout.meta = {
        "caption": "Mean score per model and language, over all items of each that did not "
        f"collapse; {neutral:g} is no preference. The difference of two cells is not the drop, "
        "which compares the same items."
    }
    return figure


def _map(
    rows: pd.DataFrame,
    column: str,
    marked: list[bool],
    hover: list[str],
    colours: dict[str, Any],
    title: str,
) -> Figure:
    """Models down, languages across; the rows hold one value of each pair."""
    scorers = list(dict.fromkeys(rows["scorer_id"]))
    conditions = list(dict.fromkeys(rows["condition"]))
    names = dict(zip(rows["scorer_id"], rows["model"], strict=True))
    shape = (len(scorers), len(conditions))
    values = np.full(shape, np.nan)
    texts = np.full(shape, "–", dtype=object)
    data = [[["", "", "", ""] for _ in conditions] for _ in scorers]
    for row, mark, words in zip(rows.to_dict("records"), marked, hover, strict=True):
        m, k = scorers.index(row["scorer_id"]), conditions.index(row["condition"])
        values[m, k] = row[column]
        if math.isfinite(row[column]):
            texts[m, k] = _short(row[column]) + (" ●" if mark else "")
        else:
            words = plain(row["reason"])
        data[m][k] = [row["scorer_id"], plain(row["model"]), language_name(row["condition"]), words]
    heat = go.Heatmap(
        z=[[value if math.isfinite(value) else None for value in line] for line in values.tolist()],
        x=list(range(len(conditions))),
        y=list(range(len(scorers))),
        text=texts.tolist(),
        texttemplate="%{text}",
        textfont={"size": 10},
        customdata=data,
        hovertemplate="<b>%{customdata[2]}</b>, %{customdata[1]}<br>%{customdata[3]}"
        "<extra></extra>",
        hoverongaps=True,
        xgap=1,
        ygap=1,
        colorscale=colours["colorscale"],
        zmin=colours["cmin"],
        zmid=colours["cmid"],
        zmax=colours["cmax"],
        colorbar={
            "title": {"text": title, "side": "right"},
            "thickness": 10,
            "orientation": "h",
            "y": 1.0,
            "yanchor": "bottom",
            "len": 0.6,
        },
    )
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    layout = {
        "template": template("light"),
        "height": 128 + 26 * len(scorers),
        "margin": {"l": 8, "r": 8, "t": 64, "b": 36},
        "dragmode": False,
        "xaxis": axis | {"tickvals": list(range(len(conditions))), "ticktext": conditions},
        "yaxis": axis
        | {
            "autorange": "reversed",
            "tickvals": list(range(len(scorers))),
            "ticktext": [plain(n) for n in short_labels([names[s] for s in scorers])],
        },
    }
    return go.Figure([heat], layout)


def _frame(n_rows: int, beside: Yardstick) -> list[go.Scatter]:
    """What every chart of drops has: the noise floor as a band, the margin as dotted lines."""
    top, bottom = -0.6, n_rows - 0.4
    floor, margin = beside.floor, beside.margin
    traces = []
    if math.isfinite(floor):
        traces.append(
            go.Scatter(
                x=[-floor, floor, floor, -floor],
                y=[top, top, bottom, bottom],
                fill="toself",
                fillcolor="rgba(120, 120, 120, 0.22)",
                mode="lines",
                line={"width": 0, "color": ENGLISH},
                name=f"rewording alone: ±{floor:.3f}",
                hoverinfo="skip",
            )
        )
    traces.append(
        go.Scatter(
            x=[-margin, -margin, None, margin, margin],
            y=[top, bottom, None, top, bottom],
            mode="lines",
            line={"width": 1.5, "dash": "dot", "color": ENGLISH},
            name=f"margin of equivalence: ±{margin:g}",
            hoverinfo="skip",
        )
    )
    return traces


def _frame_words(beside: Yardstick) -> str:
    whose = "one model" if beside.n_models == 1 else f"median over {beside.n_models} models"
    band = (
        f"Band: ±{beside.floor:.3f}, what rewording English does to a mean score ({whose})."
        if math.isfinite(beside.floor)
        else "No rewording covers every English item, so there is no noise band."
    )
    return f"{band} Dotted: the margin of equivalence, ±{beside.margin:g}."


def _line(low: float, high: float, at: float, colour: str, width: float) -> go.Scatter:
    return go.Scatter(
        x=[low, high],
        y=[at, at],
        mode="lines",
        line={"width": width, "color": colour},
        showlegend=False,
        hoverinfo="skip",
    )


def _legend_line(name: str, width: float) -> go.Scatter:
    return go.Scatter(
        x=[None], y=[None], mode="lines", line={"width": width, "color": ENGLISH}, name=name
    )


def _legend_dot(name: str, symbol: str) -> go.Scatter:
    marker = {"symbol": symbol, "size": 9, "color": ENGLISH}
    return go.Scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)


def _dot(
    row: Row, x: float, at: int, colour: str, *, filled: bool, title: str, lines: list[str]
) -> go.Scatter:
    return go.Scatter(
        x=[x],
        y=[at],
        mode="markers",
        marker={
            "symbol": "circle" if filled else "circle-open",
            "color": colour,
            "size": 11,
            "line": {"color": colour, "width": 2},
        },
        customdata=[[row["condition"], title, "<br>".join(lines)]],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        name=row["condition"],
        showlegend=False,
    )


def _drop_dot(row: Row, at: int, colour: str, reads: str) -> go.Scatter:
    between = interval(row["drop_items_low"], row["drop_items_high"])
    lines = [
        f"drop {signed(row['drop_items'], 4)} {between} over {_count(row['n_items'])} items",
        f"mean of {_count(row['n_models'])} models {signed(row['drop'], 4)} "
        f"{interval(row['drop_low'], row['drop_high'])}"
        if row["n_models"] > 1
        else "one model: no spread",
        reads,
    ]
    return _dot(row, row["drop_items"], at, colour, filled=True, title=_named(row), lines=lines)


def _group_dot(row: Row, at: int, colour: str, shown: bool) -> go.Scatter:
    lines = [
        f"T {signed(row['t'], 4)} {interval(row['t_low'], row['t_high'])}",
        f"n = {_count(row['n'])} items, q = {_q(row['qvalue'])}",
        *([plain(row["reason"])] if row["reason"] else []),
    ]
    title = plain(_group_label(row))
    return _dot(row, row["t"], at, colour, filled=shown, title=title, lines=lines)


def _undefined(row: Row, at: int) -> go.Scatter:
    """A mark at the left edge, not at a value: there is none."""
    return go.Scatter(
        x=[0.01],
        xaxis="x2",
        y=[at],
        mode="text",
        text=["– undefined"],
        textposition="middle right",
        textfont={"color": ENGLISH},
        customdata=[[row["condition"], plain(row["reason"])]],
        hovertemplate="%{customdata[1]}<extra></extra>",
        showlegend=False,
        name=row["condition"],
    )


def _layout(labels: list[str], n_entries: int, row_height: int, title: str) -> dict[str, Any]:
    top = 20 * n_entries + 12
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "template": template("light"),
        "height": top + row_height * max(len(labels), 1) + 60,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": False,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": axis | {"title": {"text": title}, "nticks": 7},
        # Marks of what is undefined have a place on the screen and none among the values.
        "xaxis2": {"overlaying": "x", "range": [0, 1], "visible": False, "fixedrange": True},
        "yaxis": axis
        | {
            "range": [len(labels) - 0.4, -0.6],
            "tickvals": list(range(len(labels))),
            "ticktext": [plain(label) for label in labels],
            "showgrid": False,
            "ticklabelstandoff": 6,
        },
        "shapes": [
            {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1}
            | {"layer": "below", "line": {"width": 1.5}}
        ],
    }


def _drop_caption(records: list[Row], beside: Yardstick) -> str:
    models = max((int(row["n_models"]) for row in records), default=0)
    over = (
        "One model: no spread over models."
        if models == 1
        else f"Thin lines: 95 % t interval over {models} models, their spread on these same items."
    )
    return (
        "Drop of each language: mean score in English minus that in the language, of the items "
        "that every model has scored in both; right of zero the language scores lower. Thick "
        f"lines: 95 % bootstrap interval over items. {over} {_frame_words(beside)} Verdicts rest "
        "on the test of the drop beyond rewording, not on whether an interval leaves the band."
    )


def interval(low: float, high: float) -> str:
    """An interval for people; a dash where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    # Rounded to zero from below, a number would read -0.000.
    return f"[{signed(round(low, 3) + 0.0, 3)}, {signed(round(high, 3) + 0.0, 3)}]"


def _named(row: Row) -> str:
    return language_name(row["condition"])


def _group_label(row: Row) -> str:
    condition = row["condition"]
    if row["group_kind"] == "rewording":
        return str(condition)
    name = "all" if condition == "pooled" else condition
    return f"{row['group']} · {name}" if row["group"] else str(name)


def _count(value: Any) -> str:
    return "0" if pd.isna(value) else f"{int(value)}"


def _q(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"


def _short(value: float) -> str:
    """Three digits without the zero before the point, to fit into a cell."""
    return signed(round(value, 3) + 0.0, 3).replace("0.", ".", 1)
