"""How far rewording moves mean scores, and which gaps lie beyond it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.names import MODEL
from core.analysis.audit.words import p_words
from core.figures.colours import BAND, ENGLISH, EVIDENCE, language_colour
from core.figures.rows import ROW, of_data, rows_layout, span, whiskers, zero_line
from core.figures.theme import Figure, drawn, plain, signed

_SYMBOLS = (
    *("diamond", "square", "triangle-up", "pentagon", "circle", "star", "triangle-down"),
    *("hexagram", "cross", "hourglass"),
)
_LANE = 12  # px of one rewording under one of several models
_NAMED_LANE = 22  # px of one rewording under the only model

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
        marker={"color": BAND, "line": {"width": 0}},
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
    layout = rows_layout(
        (_NAMED_LANE if one else _LANE) * n_lanes, _n_named(traces), n_lanes, ticks
    )
    layout["xaxis"] |= {"title": {"text": f"|mean change|<br>{score}"}, "rangemode": "tozero"}
    layout["meta"] = {"caption": _floor_caption(rows, len(scorers), origin)}
    return drawn(traces, layout)


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
    layout = rows_layout(ROW * n, len(traces), n, ticks)
    layout["shapes"] = [zero_line()]
    layout["xaxis"] |= {"title": {"text": f"gap − floor<br>{score}"}}
    n_items = rows["n_items"]
    layout["meta"] = {
        "caption": f"Mean absolute gap minus noise floor{of_data(origin)}: 0 is a gap as large as "
        "what rewording does. Bias-corrected 95 % intervals over items "
        f"(n = {span(n_items)}); filled where the interval lies above 0."
    }
    return drawn(traces, layout)


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
            "line": {"width": 1.5},  # in the ink of light or dark, to be seen on the bars
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
        f"mean change {signed(row['mean_change'], 4)}, n = {row['n']:,}",
        f"expected |mean| of pure noise {row['expected_noise']:.4f}",
        f"sd of item changes {row['sd']:.4f}",
        f"{p_words('p', row['pvalue'])}, {p_words('q', row['qvalue'])}",
        "full coverage" if row["full_coverage"] else "not on all items of the original",
    ]
    return "<br>".join(line for line in lines if "nan" not in line)


def _rings(found: pd.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=found["abs_mean_change"].tolist(),
        y=found["lane"].tolist(),
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 15,
            "color": EVIDENCE["shown"],
            "line": {"width": 2},
        },
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
        error_x=whiskers(rows, "difference", "difference"),
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
    floor = f"floor {row['floor']:.4f}"
    if row["unit"] != MODEL:
        floor = f"floor of the mean over models {row['floor_of_mean']:.4f}"
    return (
        f"gap {row['gap']:.4f}, {floor}<br>"
        f"difference {signed(row['difference'], 4)} {bounds}<br>"
        f"n = {row['n_items']:,} items, {row['n_rewordings']} rewordings"
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


def _n_named(traces: list[Any]) -> int:
    """Traces that the legend names."""
    return sum(trace.showlegend is not False for trace in traces)


def _floor_caption(rows: pd.DataFrame, n_models: int, origin: str) -> str:
    original = "English" if rows.empty else _original(str(rows["original"].iloc[0]))
    models = f"{n_models} models" if n_models != 1 else "one model"
    return (
        f"How far each rewording of {original} moves the mean score of {models}{of_data(origin)} "
        f"(n = {span(rows['n'])} items): marks. Grey bars: what changes of single items would "
        "show if they were nothing but noise, sd √(2 / (πn)). Filled: scored on every "
        f"item of the original, so it enters the floor; open: on some. {_ring_words(rows)} "
        "(sign-flip test). A mean of absolute values has no honest interval of its own."
    )


def _ring_words(rows: pd.DataFrame) -> str:
    n, tested = int((rows["qvalue"] < 0.05).sum()), int(rows["qvalue"].notna().sum())
    return f"Ring: q < .05, {n} of {tested}" if n else f"None of {tested} has q < .05"


def _original(condition: str) -> str:
    return "English" if condition == "en" else condition
