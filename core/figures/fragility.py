"""Whether a verdict survives another score, or any other defensible choice.

The curve is that of Simonsohn, Simmons and Nelson (2020): all specifications, sorted by what they
find, over a plan of what each of them chose.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.specifications import ALL, WITHOUT_LARGEST
from core.figures.colours import EVIDENCE
from core.figures.languages import Row
from core.figures.theme import Figure, drawn, plain, signed
from core.languages import language_name

# Marker and colour of what a kind of score finds: filled where a shift is shown.
MARKS = {
    "lower": ("triangle-down", "shown"),
    "higher": ("triangle-up", "shown"),
    "lower, but small": ("triangle-down-open", "small"),
    "higher, but small": ("triangle-up-open", "small"),
    "equivalent": ("square-open", "small"),
    "none shown": ("circle-open", "open"),
    "undefined": ("x-thin-open", "open"),
}
# Columns of a specification and their values, as the plan has them from top to bottom.
_CHOICES: dict[str, dict[Any, str]] = {
    "kind": {},
    "items": {
        "every model": "every model",
        "any model": "any model",
        "every model and rewording": "models and rewordings",
    },
    "corrected": {True: "rewording subtracted", False: "not subtracted"},
    "estimator": {"mean": "mean", WITHOUT_LARGEST: "without the largest", "median": "median"},
    "choice": {ALL: "all sources"},
}


def found(row: Row) -> str:
    """What a kind of score finds: one of MARKS. `row` is of the table `score_panel`."""
    side = "lower" if row["t"] > 0 else "higher"
    return {
        "shift": side,
        "real but small": f"{side}, but small",
        "equivalent": "equivalent",
        "undecided": "none shown",
    }.get(row["verdict"], "undefined")


def kinds_plot(rows: pd.DataFrame, words: Mapping[str, str]) -> Figure:
    """Kinds of score against languages, marked by what each finds.

    Parameters
    ----------
    rows : DataFrame
        Of the table `score_panel`.
    words : mapping
        What kinds of score are called.
    """
    conditions = list(dict.fromkeys(rows["condition"]))
    kinds = list(dict.fromkeys(rows["kind"]))
    by_mark: dict[str, list[Row]] = {name: [] for name in MARKS}
    for row in rows.to_dict("records"):
        by_mark[found(row)].append(row)
    traces = []
    for name, members in by_mark.items():
        symbol, evidence = MARKS[name]
        if members:
            colour = EVIDENCE[evidence]
            traces.append(
                go.Scatter(
                    x=[conditions.index(row["condition"]) for row in members],
                    y=[kinds.index(row["kind"]) for row in members],
                    mode="markers",
                    marker={
                        "symbol": symbol,
                        "size": 13,
                        "color": colour,
                        "line": {"width": 2, "color": colour},
                    },
                    customdata=[_kind_hover(row, words) for row in members],
                    hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
                    name=name,
                )
            )
    depends = sorted(
        {r["condition"] for r in rows.to_dict("records") if r["depends_on_score"] is True}
    )
    axis = {"zeroline": False, "fixedrange": True}
    top = 22 * len(traces) + 12
    layout = {
        "height": top + 34 * len(kinds) + 44,
        "margin": {"l": 8, "r": 12, "t": top, "b": 36},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": axis
        | {
            "range": [-0.6, len(conditions) - 0.4],
            "tickvals": list(range(len(conditions))),
            "ticktext": conditions,
        },
        "yaxis": axis
        | {
            "range": [len(kinds) - 0.4, -0.6],
            "tickvals": list(range(len(kinds))),
            "ticktext": [words.get(kind, kind) for kind in kinds],
        },
        "meta": {
            "caption": "What each kind of score finds in each language, beyond rewording: q < .05 "
            "over the languages under that kind. "
            + (
                f"The verdict depends on the score in {', '.join(map(language_name, depends))}."
                if depends
                else "No language has kinds of score that contradict each other; where few items "
                "are scored, none of them may show anything."
            )
        },
    }
    return drawn(traces, layout)


def specification_curve(rows: pd.DataFrame, words: Mapping[str, str]) -> Figure:
    """Every specification of one language by its z, over the choices behind it.

    Parameters
    ----------
    rows : DataFrame
        Of the table `fragility`, check "specification", of one language.
    words : mapping
        What kinds of score are called.
    """
    known = rows[rows["z"].notna()].sort_values("z", kind="stable")
    records = known.to_dict("records")
    x = list(range(len(records)))
    places: list[tuple[str, str]] = []
    for column, known_values in _CHOICES.items():
        order = [*(words if column == "kind" else known_values)]
        values = sorted(rows[column].unique().tolist(), key=lambda v: _rank(v, order))
        places += [(column, _choice(column, value, words)) for value in values]
    names = [name for _, name in places]
    plan_height = 17 * len(places)
    height = 200 + plan_height + 90
    split = plan_height / (height - 90)
    traces = []
    for name, mask, colour in (
        ("q < .05", [r["significant"] is True for r in records], EVIDENCE["shown"]),
        ("not shown", [r["significant"] is not True for r in records], EVIDENCE["open"]),
    ):
        at = [i for i in x if mask[i] and records[i]["main"] is not True]
        if at:
            traces.append(_specifications(records, at, colour, "circle", 5, name, words))
    chosen = [i for i in x if records[i]["main"] is True]
    if chosen:
        shown = records[chosen[0]]["significant"] is True
        colour = EVIDENCE["shown" if shown else "open"]
        name = f"the choice of this page ({'q < .05' if shown else 'not shown'})"
        traces.append(_specifications(records, chosen, colour, "star-diamond", 14, name, words))
    marks = [
        (i, places.index((column, _choice(column, row[column], words))))
        for i, row in enumerate(records)
        for column in _CHOICES
    ]
    traces.append(
        go.Scatter(
            x=[i for i, _ in marks],
            y=[y for _, y in marks],
            yaxis="y2",
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 7, "color": EVIDENCE["open"]},
            hoverinfo="skip",
            showlegend=False,
            name="choices",
        )
    )
    axis = {"zeroline": False, "fixedrange": True}
    layout = {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 70, "b": 20},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": axis | {"range": [-1, max(len(records), 1)], "visible": False, "anchor": "y2"},
        "yaxis": axis
        | {"domain": [split + 0.02, 1], "title": {"text": "z of the drop"}, "zeroline": True},
        "yaxis2": axis
        | {
            "domain": [0, split],
            "range": [len(places) - 0.4, -0.6],
            "tickvals": list(range(len(places))),
            "ticktext": [plain(name) for name in names],
            "showgrid": False,
            "tickfont": {"size": 10},
        },
        "meta": {"caption": _curve_caption(rows, known)},
    }
    return drawn(traces, layout)


def _specifications(
    records: list[Row],
    at: list[int],
    colour: str,
    symbol: str,
    size: int,
    name: str,
    words: Mapping[str, str],
) -> go.Scatter:
    return go.Scatter(
        x=at,
        y=[records[i]["z"] for i in at],
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 0}},
        customdata=[_specification_hover(records[i], words) for i in at],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        name=name,
    )


def _specification_hover(row: Row, words: Mapping[str, str]) -> list[str]:
    title = ", ".join(_choice(column, row[column], words) for column in _CHOICES)
    numbers = (
        f"z {signed(row['z'], 2)}, drop {signed(row['drop'], 4)}, n = {row['n']}, "
        f"q = {row['qvalue']:.4f}"
    )
    return [row["condition"], plain(title), numbers]


def _choice(column: str, value: Any, words: Mapping[str, str]) -> str:
    if column == "kind":
        return words.get(value, str(value))
    return _CHOICES[column].get(value, str(value))


def _rank(value: Any, order: list[Any]) -> tuple[int, str]:
    """Known values in their order, others after them by name."""
    return (order.index(value) if value in order else len(order), str(value))


def _curve_caption(rows: pd.DataFrame, known: pd.DataFrame) -> str:
    shown = known["significant"].fillna(False).astype(bool)
    lower, higher = int((shown & (known["z"] > 0)).sum()), int((shown & (known["z"] < 0)).sum())
    language = language_name(str(rows["condition"].iloc[0])) if len(rows) else ""
    sentences = [
        f"{len(known)} ways to test {language}, sorted by z of the drop: {lower} show it lower "
        f"(q < .05), {higher} higher, {len(known) - lower - higher} neither.",
        "Below, what each of them chose. They share their items, so they do not count as so many "
        "confirmations.",
    ]
    if len(known) < len(rows):
        sentences.append(f"{len(rows) - len(known)} of {len(rows)} are undefined and left out.")
    return " ".join(sentences)


def _kind_hover(row: Row, words: Mapping[str, str]) -> list[str]:
    q = f"q = {row['qvalue']:.4f}" if math.isfinite(row["qvalue"]) else plain(row["reason"])
    lines = [f"{found(row)}: {q}, n = {row['n_t']}"]
    if math.isfinite(row["drop"]):
        lines.append(f"drop {signed(row['drop'], 4)} in the unit of this score")
    title = f"{language_name(row['condition'])}, {words.get(row['kind'], row['kind'])}"
    return [row["condition"], title, "<br>".join(lines)]
