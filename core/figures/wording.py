"""Mean changes of languages, on what one more rewording of English would do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.words import p_words
from core.figures.colours import BAND, ENGLISH, language_colour
from core.figures.rows import ROW, of_data, rows_layout, whiskers, zero_line
from core.figures.theme import Figure, drawn, plain, signed

Row = Mapping[Any, Any]


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
    layout = rows_layout(ROW * len(places), len(traces), len(places), ticks)
    layout["shapes"] = [zero_line()]
    layout["xaxis"] |= {"title": {"text": f"mean change from English<br>{score}"}}
    layout["meta"] = {
        "caption": f"Mean changes from English {who}{of_data(origin)}, on the 95 % prediction "
        "interval for the mean change that one more rewording of English would make to the same "
        f"items (t with {max(int(english['n_rewordings']) - 1, 0)} degrees of freedom, "
        f"{english['n_rewordings']} rewordings, n = {english['n']:,} items). Filled: outside it. "
        f"{_interval_words(known)}"
    }
    return drawn(traces, layout)


def _bands(bands: list[tuple[str, Row]]) -> go.Bar:
    lows = [row["prediction_low"] for _, row in bands]
    return go.Bar(
        x=[row["prediction_high"] - low for (_, row), low in zip(bands, lows, strict=True)],
        base=lows,
        y=list(range(len(bands))),
        orientation="h",
        width=0.62,
        marker={"color": BAND, "line": {"width": 0}},
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
    return {"error_x": whiskers(rows, "mean_change", "change")}


def _wording_hover(row: Row) -> str:
    low, high = row.get("change_low", math.nan), row.get("change_high", math.nan)
    own = "" if math.isnan(low) else f" [{signed(low, 4)}, {signed(high, 4)}]"
    lines = [f"mean change {signed(row['mean_change'], 4)}{own}, n = {row['n']:,}"]
    lines += [
        f"{name}: {p_words('p', row[f'pvalue_{name}'])}, {p_words('q', row[f'qvalue_{name}'])}"
        for name in ("prediction", "exchange")
        if not math.isnan(row[f"pvalue_{name}"])
    ]
    return "<br>".join(lines)
