"""Whether a verdict survives any other defensible choice.

The curve is that of Simonsohn, Simmons and Nelson (2020): all specifications, sorted by what they
find, over a plan of what each of them chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.specifications import ALL, WITHOUT_LARGEST
from core.analysis.audit.words import p_words
from core.figures.colours import EVIDENCE
from core.figures.drop_rows import Row
from core.figures.theme import Figure, drawn, plain, signed
from core.languages import language_name

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
    places: list[tuple[str, str]] = []
    for column, known_values in _CHOICES.items():
        order = [*(words if column == "kind" else known_values)]
        values = sorted(rows[column].unique().tolist(), key=lambda v: _rank(v, order))
        places += [(column, _choice(column, value, words)) for value in values]
    traces = [*_curve(records, words), _plan(records, places, words)]
    layout = _layout(len(records), [name for _, name in places])
    return drawn(traces, layout | {"meta": {"caption": _curve_caption(rows, known)}})


def _curve(records: list[Row], words: Mapping[str, str]) -> list[go.Scatter]:
    """Every specification, those with q < .05 and the one of this page by marks of their own."""
    of_page = [i for i, row in enumerate(records) if row["main"] is True]
    traces = []
    for name, significant, colour in (
        ("q < .05", True, EVIDENCE["shown"]),
        ("not shown", False, EVIDENCE["open"]),
    ):
        at = [
            i
            for i, row in enumerate(records)
            if (row["significant"] is True) is significant and i not in of_page
        ]
        if at:
            traces.append(_specifications(records, at, colour, "circle", 5, name, words))
    if of_page:
        shown = records[of_page[0]]["significant"] is True
        colour = EVIDENCE["shown" if shown else "open"]
        name = f"the choice of this page ({'q < .05' if shown else 'not shown'})"
        traces.append(_specifications(records, of_page, colour, "star-diamond", 14, name, words))
    return traces


def _plan(
    records: list[Row], places: list[tuple[str, str]], words: Mapping[str, str]
) -> go.Scatter:
    """What each specification chose: a dash in the row of every choice."""
    marks = [
        (i, places.index((column, _choice(column, row[column], words))))
        for i, row in enumerate(records)
        for column in _CHOICES
    ]
    return go.Scatter(
        x=[i for i, _ in marks],
        y=[y for _, y in marks],
        yaxis="y2",
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 7, "color": EVIDENCE["open"]},
        hoverinfo="skip",
        showlegend=False,
        name="choices",
    )


def _layout(n_specifications: int, choices: list[str]) -> dict[str, Any]:
    plan_height = 17 * len(choices)
    height = 200 + plan_height + 90
    split = plan_height / (height - 90)
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 70, "b": 20},
        "dragmode": False,
        "showlegend": True,
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": axis | {"range": [-1, max(n_specifications, 1)], "visible": False, "anchor": "y2"},
        "yaxis": axis
        | {"domain": [split + 0.02, 1], "title": {"text": "z of the drop"}, "zeroline": True},
        "yaxis2": axis
        | {
            "domain": [0, split],
            "range": [len(choices) - 0.4, -0.6],
            "tickvals": list(range(len(choices))),
            "ticktext": [plain(name) for name in choices],
            "showgrid": False,
            "tickfont": {"size": 10},
        },
    }


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
        f"{p_words('q', row['qvalue'])}"
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
