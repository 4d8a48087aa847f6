"""The stereotype score of one item in every condition, beside what rewording alone does."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.card import Row, state_sentence
from core.figures.colours import BAND, ENGLISH, condition_symbol, language_colour
from core.figures.theme import Figure, drawn, plain
from core.items.conditions import is_rewording, language_of
from core.languages import language_name
from core.settings import REFERENCE_CONDITION
from core.stats.noise import RewordingNoise

_LINE_HEIGHT = 26  # px per condition


def item_across_conditions(
    rows: pd.DataFrame,
    noise: RewordingNoise,
    other: pd.DataFrame | None = None,
    *,
    model: str = "",
    other_model: str = "",
    dataset: str = "",
) -> Figure:
    """Dots of one item's SS, English first, with the rewording noise of single items as a band.

    Parameters
    ----------
    rows, other : DataFrame
        Of `core.analysis.card.card_rows`; `other` is the same item under a second scorer.
    noise : RewordingNoise
        Of the first scorer.
    model, other_model, dataset : str
        Named in legend and caption.
    """
    parts = [rows] if other is None else [rows, other]
    order = list(dict.fromkeys(c for part in parts for c in part["condition"]))
    places = {condition: place for place, condition in enumerate(order)}
    traces = []
    if _has_band(rows, noise):
        traces.append(_band(_english(rows), noise, len(places)))
    first = f" ({model})" if other is not None and model else ""
    worded = rows["condition"].map(is_rewording)
    scored = rows["ss"].notna()
    for name, chosen in (
        ("original or translation", scored & ~worded),
        ("rewording", scored & worded),
    ):
        if chosen.any():
            traces.append(_dots(rows[chosen], places, f"{name}{first}"))
    if not scored.all():
        traces.append(_empty_marks(rows[~scored], places))
    if other is not None and other["ss"].notna().any():
        dots = _dots(other[other["ss"].notna()], places, other_model or "second scorer")
        traces.append(dots.update(marker={"symbol": "x-thin", "line": {"width": 2}}))
    layout = _layout(order, len(traces))
    layout["meta"] = {"caption": _caption(rows, noise, model, other_model, dataset)}
    return drawn(traces, layout)


def version(condition: str) -> str:
    """The name of a condition's language, and which rewording of it."""
    label = condition.partition("~")[2]
    name = language_name(language_of(condition))
    return f"{name}, reworded ({label})" if label else name


def _english(rows: pd.DataFrame) -> float:
    """SS of the English version; NaN where there is none."""
    found = rows.loc[(rows["condition"] == REFERENCE_CONDITION) & ~rows["native"], "ss"]
    return float(found.iloc[0]) if len(found) else math.nan


def _has_band(rows: pd.DataFrame, noise: RewordingNoise) -> bool:
    return math.isfinite(_english(rows)) and math.isfinite(noise.item_sd)


def _band(english: float, noise: RewordingNoise, n_conditions: int) -> go.Scatter:
    low, high = max(english - noise.item_sd, 0.0), min(english + noise.item_sd, 1.0)
    top, bottom = -0.5, n_conditions - 0.5
    return go.Scatter(
        x=[low, high, high, low],
        y=[top, top, bottom, bottom],
        fill="toself",
        fillcolor=BAND,
        mode="lines",
        line={"width": 0, "color": ENGLISH},
        name=f"rewording alone: English ± {noise.item_sd:.3f} (sd, n = {noise.n_changes})",
        hoverinfo="skip",
    )


def _dots(rows: pd.DataFrame, places: dict[str, int], name: str) -> go.Scatter:
    colours = [language_colour(condition) for condition in rows["condition"]]
    return go.Scatter(
        x=rows["ss"].tolist(),
        y=[places[condition] for condition in rows["condition"]],
        mode="markers",
        marker={
            "color": colours,
            "symbol": [condition_symbol(condition) for condition in rows["condition"]],
            "size": 11,
            "line": {"color": colours, "width": 2},
        },
        customdata=[_hover(row) for row in rows.to_dict("records")],
        hovertemplate="<b>%{customdata[1]}</b><br>SS %{x:.4f}%{customdata[2]}<extra></extra>",
        name=name,
    )


def _hover(row: Row) -> list[str]:
    """Item id first, then what the hover box says; every number is a column of the table."""
    lines = []
    if math.isfinite(row["change"]):
        lines.append(f"change from English {row['change']:+.4f}")
        if math.isfinite(row["rewording_sd"]):
            n = row["rewording_n"]
            lines.append(f"rewording alone: sd {row['rewording_sd']:.4f}, n = {n}")
    if not pd.isna(row["n_stereotype"]) and not pd.isna(row["n_anti"]):
        lines.append(f"tokens {row['n_stereotype']} and {row['n_anti']}")
    condition = row["condition"] + (" (native)" if row["native"] else "")
    return [row["item_id"], condition, "".join(f"<br>{line}" for line in lines)]


def _empty_marks(rows: pd.DataFrame, places: dict[str, int]) -> go.Scatter:
    """Marks at the edge, not at a score: these conditions have none."""
    records = rows.to_dict("records")
    return go.Scatter(
        x=[0.0] * len(records),
        y=[places[row["condition"]] for row in records],
        mode="markers+text",
        marker={"symbol": "square-open", "size": 9, "color": ENGLISH, "line": {"width": 1.5}},
        text=[f" {_no_score(row)}" for row in records],
        textposition="middle right",
        cliponaxis=False,
        customdata=[
            [row["item_id"], row["condition"], plain(state_sentence(row))] for row in records
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
        name="no SS",
    )


def _no_score(row: Row) -> str:
    """What a row without SS is called: its state, or which number of a scored one is missing."""
    return "scored, but without SS" if row["state"] == "scored" else str(row["state"])


def _layout(order: list[str], n_traces: int) -> dict[str, Any]:
    top = 20 * n_traces + 12
    axis = {"zeroline": False, "fixedrange": True}
    return {
        "height": top + _LINE_HEIGHT * len(order) + 56,
        "margin": {"l": 8, "r": 12, "t": top, "b": 52},
        "dragmode": False,
        # One entry below the other: side by side they are cut on a narrow screen.
        "legend": {"orientation": "v", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": True,
        "xaxis": axis
        | {
            "range": [-0.02, 1.02],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "title": {"text": "SS: anti-stereotype < 0.5 < stereotype"},
        },
        "yaxis": axis
        | {
            "range": [len(order) - 0.5, -0.5],
            "tickvals": list(range(len(order))),
            "ticktext": order,
            "ticklabelstandoff": 8,
        },
        "shapes": [
            {"type": "line", "x0": 0.5, "x1": 0.5, "yref": "paper", "y0": 0, "y1": 1}
            | {"layer": "below", "line": {"width": 1.5}}
        ],
    }


def _caption(
    rows: pd.DataFrame, noise: RewordingNoise, model: str, other_model: str, dataset: str
) -> str:
    item = rows["item_id"].iloc[0] if len(rows) else "(none)"
    origin = (f" under {model}" if model else "") + (f", data set {dataset}" if dataset else "")
    n = int(rows["ss"].notna().sum())
    sentences = [
        f"Stereotype score of item {item}{origin}, in {n} of {len(rows)} conditions that have one."
    ]
    if _has_band(rows, noise):
        sentences.append(
            f"Band: the English score ± {noise.item_sd:.3f}, the standard deviation of "
            f"{noise.n_changes} changes of single items that rewording alone makes."
        )
    elif not math.isfinite(noise.item_sd):
        sentences.append("No English rewording is scored, so there is no noise band.")
    if other_model:
        sentences.append(f"Crosses: {other_model}.")
    return " ".join(sentences)
