"""What became of clear preferences: kept, neutral or reversed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.names import REWORDING
from core.figures.colours import ANTI_STEREOTYPE, SHARED, STEREOTYPE
from core.figures.conditions import version
from core.figures.theme import Figure, drawn
from core.items.conditions import language_of, parse_condition
from core.languages import language_name
from core.settings import REFERENCE_CONDITION

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


def fate_bars(rows: pd.DataFrame) -> Figure:
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
            **_fate_axes(_before(rows["condition"])),
            "barmode": "stack",
            "bargap": 0.25,
            "height": 220 + 2 * _LINE_HEIGHT * max(len(shown), 1),
            "margin": {"l": 8, "r": 24, "t": 100, "b": 40},
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


def _fate_label(condition: str, n: float) -> str:
    """Name and n of a bar, and its original where that is not English."""
    name = REWORDING if condition == REWORDING else version(condition)
    original = _original(condition)
    from_what = "" if original == REFERENCE_CONDITION else f" from {language_name(original)}"
    return f"{name}{from_what} (n = {0 if pd.isna(n) else int(n):,})"


def _original(condition: str) -> str:
    """What a version was made from: the language of a rewording, English of a translation."""
    reworded = condition != REWORDING and parse_condition(condition).rewording
    return language_of(condition) if reworded else REFERENCE_CONDITION


def _before(conditions: Iterable[str]) -> str:
    """Where the preferences of all bars were before."""
    only_english = {_original(c) for c in conditions} <= {REFERENCE_CONDITION}
    return f"in {language_name(REFERENCE_CONDITION)}" if only_english else "in the original"


def _fates_caption(rows: pd.DataFrame) -> str:
    n = int(rows["n"].sum()) if len(rows) else 0
    return (
        f"Of scores clearly above or below 0.5 before, the share that ends on either side; n is "
        f"their number, of {n:,} scores of items under models in all. These are not independent of "
        "each other, so the shares carry no interval; what rewording alone does is the yardstick. "
        "Scores far from 0.5 tend to move back towards it under any change."
    )
