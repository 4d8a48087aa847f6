"""Harmfulness of predicates against what a model does with their pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.words import bounds, number, p_words
from core.figures.colours import COLOURS, ENGLISH
from core.figures.theme import Figure, drawn, plain, signed
from core.languages import language_name
from core.words import counted

_SCALE = (-1.0, 4.0)  # of harmfulness, as the survey asked for it
_NOTHING = "No predicate has both a rating and a difference of scores, so nothing is drawn."


def harm_scatter(rows: pd.DataFrame, correlation: Mapping[Any, Any]) -> Figure:
    """A dot for every rated predicate, and a line where the correlation is defined.

    Parameters
    ----------
    rows
        Of the table `predicates`, those of one model, condition and value of `pairs`.
    correlation
        The row of the table `harmfulness` of the same.
    """
    rated = rows[rows["harmfulness"].notna()]
    known = rated[rated["mean_difference"].notna()]
    traces = [_dots(known)] if len(known) else []
    if len(known) and math.isfinite(correlation["pearson"]):
        traces.insert(0, _line(known))
    top = 20 * len(traces) + 12
    axis = {"zeroline": False, "fixedrange": True}
    layout: dict[str, Any] = {
        "height": top + (360 if len(known) else 120) + 56,
        "margin": {"l": 8, "r": 12, "t": top, "b": 56},
        "dragmode": False,
        "hovermode": "closest",
        "showlegend": bool(traces),
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": axis
        | {"title": {"text": "harmfulness, as people rated it"}, "dtick": 1}
        | {"range": [_SCALE[0] - 0.2, _SCALE[1] + 0.2]},
        "yaxis": axis
        | {
            "title": {"text": "mean centred difference (nats)"},
            "zeroline": True,
            "zerolinewidth": 1.5,
        },
        "meta": {"caption": _caption(rows, rated, known, correlation)},
    }
    if known.empty:
        layout["annotations"] = [_empty()]
        layout |= {name: {"visible": False, "fixedrange": True} for name in ("xaxis", "yaxis")}
    return drawn(traces, layout)


def _empty() -> dict[str, Any]:
    """Why nothing is drawn, in the middle of where it would be."""
    place = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    return place | {"text": "<br>".join(wrap(_NOTHING, 40)), "font": {"size": 13}}


def _dots(known: pd.DataFrame) -> go.Scatter:
    return go.Scatter(
        x=known["harmfulness"].tolist(),
        y=known["mean_difference"].tolist(),
        mode="markers",
        marker={"color": COLOURS[3], "size": 7, "opacity": 0.75, "line": {"width": 0}},
        selected={"marker": {"opacity": 1.0}},
        unselected={"marker": {"opacity": 0.75}},
        customdata=[
            [plain(str(row["predicate"])), "<br>".join(map(plain, _hover(row)))]
            for row in known.to_dict("records")
        ],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        cliponaxis=False,
        name=f"predicates (n = {len(known):,})",
    )


def _hover(row: dict[Any, Any]) -> list[str]:
    tier = "no tier" if pd.isna(row["tier"]) else f"tier {int(row['tier'])}"
    return [
        f"harmfulness {number(row['harmfulness'], 2)}, {tier}",
        f"mean difference {number(row['mean_difference'])} nats, n = {counted(row['n'], 'pair')}",
    ]


def _line(known: pd.DataFrame) -> go.Scatter:
    """Least squares over predicates, as far as they reach."""
    x = known["harmfulness"].to_numpy(np.float64)
    slope, start = np.polyfit(x, known["mean_difference"].to_numpy(np.float64), 1).tolist()
    ends = [float(x.min()), float(x.max())]
    return go.Scatter(
        x=ends,
        y=[start + slope * end for end in ends],
        mode="lines",
        line={"width": 2, "color": ENGLISH},
        hoverinfo="skip",
        name=f"least squares: {signed(slope, 3)} nats for each step",
    )


def _caption(
    rows: pd.DataFrame, rated: pd.DataFrame, known: pd.DataFrame, found: Mapping[Any, Any]
) -> str:
    who = ""
    if len(rows):
        who = f"{rows['model'].iloc[0]}, {language_name(rows['condition'].iloc[0])}: "
    sentences = [
        f"{who}how harmful people rated a predicate (\u22121 to 4), and the mean difference of "
        "scores of its pairs, stereotypical less other sentence, each less the mean of its "
        f"identity, counterfactual and template. n = {counted(len(known), 'predicate')}.",
        f"By predicate: {_correlation('Pearson', 'pearson', found)}; "
        f"{_correlation('Spearman', 'spearman', found)}; n = {found['n_predicates']:,}; p by "
        "permuting harmfulness over predicates, intervals (95 %) by drawing predicates.",
        _by_row(found),
        str(found["reason"]),
        _left_out(len(rows) - len(rated), len(rated) - len(known)),
    ]
    if known.empty:
        sentences.insert(0, _NOTHING)
    return " ".join(sentence for sentence in sentences if sentence)


def _correlation(name: str, column: str, found: Mapping[Any, Any]) -> str:
    if not math.isfinite(found[column]):
        return f"{name} undefined"
    ends = bounds(found[f"{column}_low"], found[f"{column}_high"], 2)
    return f"{name} {number(found[column], 2)} {ends}, {p_words('p', found[f'{column}_p'])}"


def _by_row(found: Mapping[Any, Any]) -> str:
    """The published correlation, with what it must not be read without."""
    if not math.isfinite(found["r_rows"]):
        return f"By row, as published: undefined (n = {counted(found['n'], 'pair')})."
    return (
        f"By row, as published: Pearson {number(found['r_rows'], 2)}, "
        f"{p_words('p', found['p_rows'])}, n = {counted(found['n'], 'pair')}, but "
        f"{found['rows']}: p is far too small."
    )


def _left_out(n_unrated: int, n_without: int) -> str:
    parts = [
        f"{n_unrated:,} not rated" if n_unrated else "",
        f"{n_without:,} rated but without a difference" if n_without else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"Not drawn: {said}." if said else ""
