"""Models against languages: mean changes from English, or mean scores, on fixed colour scales."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.words import p_words
from core.figures.colours import change_colours, score_colours
from core.figures.drop_rows import Yardstick
from core.figures.rows import span
from core.figures.theme import Figure, drawn, plain, signed
from core.languages import language_name
from core.words import short_labels

LEAST_LIMIT = 0.1  # the colours of changes reach at least so far, so that small ones stay pale


def change_map(rows: pd.DataFrame, beside: Yardstick) -> Figure:
    """Mean change of every model in every language; a dot marks the reliable ones.

    Parameters
    ----------
    rows : DataFrame
        Of the table `cells`; with `shrunk` and its interval, as of the table `shrunk`, beside the
        reliable ones.
    """
    sizes = rows["mean_change"].abs()
    limit = max(LEAST_LIMIT, float(sizes.max()) if sizes.notna().any() else 0.0)
    reliable = rows["reliable"].fillna(False) | rows["reliable_rise"].fillna(False)
    hover = [
        f"change {signed(r['mean_change'], 4)}, n = {r['n']:,}<br>{p_words('q', r['qvalue'])}"
        f" over {r['n_tests']} cells{_shrunk_words(r) if mark else ''}"
        for r, mark in zip(rows.to_dict("records"), reliable, strict=True)
    ]
    figure = _map(rows, "mean_change", reliable.tolist(), hover, change_colours(limit), "change")
    n = int(reliable.sum())
    figure.layout.meta = {
        "caption": f"Mean change of score from English to the language, of the same items, per "
        f"model. A dot marks the {n} of {len(rows)} cells with q < .05 over all cells; the others "
        "are not shown to differ from English, nor to be equal to it. Cells picked because they "
        f"are reliable look larger than they are. n = {span(rows['n'])} items per cell."
        f"{_floor_words(beside)}"
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
    hover = [f"mean {signed(r['score'], 4)}, n = {r['n']:,}" for r in rows.to_dict("records")]
    sizes = (rows["score"] - neutral).abs()
    limit = max(0.5, float(sizes.max()) if sizes.notna().any() else 0.0)
    colours = score_colours() if neutral else change_colours(limit)
    figure = _map(rows, "score", [False] * len(rows), hover, colours, "score")
    figure.layout.meta = {
        "caption": "Mean score per model and language, over all items of each that did not "
        f"collapse; {neutral:g} is no preference. The difference of two cells is not the drop, "
        f"which compares the same items. n = {span(rows['n'])} items per cell."
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
            texts[m, k] = _short(row[column]) + ("●" if mark else "")
        else:
            words = plain(row["reason"])
        data[m][k] = [row["scorer_id"], plain(row["model"]), language_name(row["condition"]), words]
    heat = go.Heatmap(
        z=[[value if math.isfinite(value) else None for value in line] for line in values.tolist()],
        x=list(range(len(conditions))),
        y=list(range(len(scorers))),
        text=texts.tolist(),
        texttemplate="%{text}",
        textfont={"size": 9},
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
            "title": {
                "text": f"{title}\u2002",
                "side": "right",
            },  # on top it falls into the bar of one row
            "thickness": 10,
            "orientation": "h",
            "yref": "container",  # else as much room again stays empty above it
            "y": 1.0,
            "yanchor": "top",
            "ypad": 2,
            "len": 0.6,
        },
    )
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    layout = {
        "height": 102 + 26 * len(scorers),
        "margin": {"l": 8, "r": 8, "t": 38, "b": 36},
        "dragmode": False,
        "xaxis": axis | {"tickvals": list(range(len(conditions))), "ticktext": conditions},
        "yaxis": axis
        | {
            "autorange": "reversed",
            "tickvals": list(range(len(scorers))),
            "ticktext": [plain(n) for n in short_labels([names[s] for s in scorers])],
        },
    }
    return drawn([heat], layout)


def _shrunk_words(row: dict[Any, Any]) -> str:
    """A change once chance is taken back; `shrunk` is that of a drop, of the other sign."""
    if not math.isfinite(row.get("shrunk", math.nan)):
        return ""
    value, low, high = (-row[name] for name in ("shrunk", "shrunk_high", "shrunk_low"))
    return f"<br>shrunk {signed(value, 4)} [{signed(low, 4)}, {signed(high, 4)}]"


def _floor_words(beside: Yardstick) -> str:
    if not math.isfinite(beside.floor):
        return ""
    whose = "" if beside.n_models == 1 else f" (median over {beside.n_models} models)"
    return f" Rewording English alone moves a mean by {beside.floor:.3f}{whose}."


def _short(value: float) -> str:
    """Three digits without the zero before the point, to fit into a cell."""
    return signed(round(value, 3) + 0.0, 3).replace("0.", ".", 1)
