"""The log-probability of every token of the two continuations, one above the other.

::

    Stereotype       sum = l * n
       The   nurse |  hung   her    <- tokens, in reading order
    0 ▆▆▆▆▆ ▆▆▆▆▆ | ▆▆▆▆▆ ▆▆▆▆▆
      shared       |  from here on the continuations differ
    Anti-stereotype ...

Both rows have the same places, so that shared tokens stand above each other. Long texts break into
lines, as a paragraph does. Of a pair of sentences the unmodified tokens are coloured, the others
grey and hatched.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.analysis.pair_card import SENTENCES, sum_words
from core.figures.colours import ANTI_STEREOTYPE, SHARED, STEREOTYPE
from core.figures.theme import Figure, drawn, plain, signed

PER_LINE = 28  # tokens whose labels can be read on a screen of 390 px
LABEL_LENGTH = 12  # characters of a token above its bar; hover has all of it
POLES = {
    "stereotype": ("Stereotype", STEREOTYPE),
    "anti_stereotype": ("Anti-stereotype", ANTI_STEREOTYPE),
}
_HOVER = (
    "<b>%{customdata[0]}</b><br>log-probability %{y:.4f} nats"
    "<br>token %{customdata[1]} of %{customdata[2]}"
)
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_TITLE, _BARS, _GAP = 24, 76, 14  # px


@dataclass(frozen=True)
class _Row:
    """One line of one continuation, and where it stands in the figure."""

    tokens: pd.DataFrame
    title: str
    colour: str
    places: tuple[float, float]  # range of the x axis; falling where the text runs right to left
    top: float  # px from the figure's upper edge to the bars
    number: int  # of its axes


def token_bars(table: pd.DataFrame, *, model: str = "", dataset: str = "") -> Figure:
    """Bars of the log-probabilities of both continuations of one item in one condition.

    Parameters
    ----------
    table : DataFrame
        Of `core.analysis.card.token_table`, for one item in one condition.
    model, dataset : str
        Named in the caption.

    Raises
    ------
    ValueError
        A continuation has no tokens, or the table holds more than one item or condition.
    """
    poles = _poles(table)
    titles = {role: f"<b>{name}</b> {_sum(poles[role])}" for role, (name, _) in POLES.items()}
    return _figure(poles, titles, _caption(poles, model, dataset))


def pair_bars(
    table: pd.DataFrame,
    unit: str,
    *,
    informative: bool = True,
    model: str = "",
    dataset: str = "",
) -> Figure:
    """Bars of the log-probabilities of both sentences of a pair, unmodified tokens marked.

    Parameters
    ----------
    table : DataFrame
        Of `core.analysis.pair_card.pair_tokens` under the unit, for one pair in one condition.
    informative : bool
        Whether the sums of the pair say anything.
    unit, model, dataset : str
        Named in the caption.

    Raises
    ------
    ValueError
        A sentence has no tokens, or the table holds more than one item or condition.
    """
    poles = _poles(table)
    measures = {r: sum_words(poles[r], informative=informative) for r in SENTENCES}
    # Short enough for a screen of 390 px.
    titles = {str(r): f"<b>{name.split()[0]}</b> {measures[r]}" for r, name in SENTENCES.items()}
    parts = [f"{name}: {measures[r]}." for r, name in SENTENCES.items()]
    meaning = f"Grey hatched bars: modified tokens, which the {unit} rule leaves out."
    return _figure(poles, titles, _sentences(poles, model, dataset, [*parts, meaning]))


def _poles(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    if len(table[["item_id", "condition"]].drop_duplicates()) > 1:
        raise ValueError("token bars show one item in one condition")
    poles = {role: table[table["role"] == role] for role in POLES}
    if any(rows.empty for rows in poles.values()):
        raise ValueError("a continuation has no tokens")
    return poles


def _figure(poles: dict[str, pd.DataFrame], titles: Mapping[str, str], caption: str) -> Figure:
    tokens = pd.concat(list(poles.values()))
    room = _label_room(tokens)
    rows = _rows(poles, titles, room)
    height = len(rows) * (_TITLE + room + _BARS + _GAP)
    lowest = min(float(tokens["logprob"].min()), -1e-3)
    layout: dict[str, Any] = {"shapes": [], "annotations": []}
    for row in rows:
        layout[f"xaxis{row.number}"] = _token_axis(row)
        layout[f"yaxis{row.number}"] = _value_axis(row, lowest, height)
        layout["annotations"].append(_row_title(row, room, height))
        _mark_difference(row, lowest, layout)
    layout |= {
        "meta": {"caption": caption},
        "height": height,
        "margin": {"l": 36, "r": 8, "t": 0, "b": 0},
        "showlegend": False,
        "dragmode": False,  # a finger that scrolls the page must not zoom
        "bargap": 0.15,
    }
    return drawn([_bars(row) for row in rows], layout)


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction runs right to left, as dir="auto" decides."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def _rows(poles: dict[str, pd.DataFrame], titles: Mapping[str, str], room: float) -> list[_Row]:
    longest = max(len(rows) for rows in poles.values())
    n_lines = -(-longest // PER_LINE)
    width = -(-longest // n_lines)
    backwards = any(is_right_to_left("".join(rows["text"])) for rows in poles.values())
    found: list[_Row] = []
    for line in range(n_lines):
        places = (line * width + 0.5, (line + 1) * width + 0.5)
        for role, (_, colour) in POLES.items():
            tokens = poles[role].iloc[line * width : (line + 1) * width]
            if tokens.empty:
                continue
            title = titles[role]
            if line:
                title = f"{title.split('</b>')[0]}</b> line {line + 1} of {n_lines}"
            top = len(found) * (_TITLE + room + _BARS + _GAP) + _TITLE + room
            range_ = (places[1], places[0]) if backwards else places
            found.append(_Row(tokens, title, colour, range_, top, len(found) + 1))
    return found


def _sum(rows: pd.DataFrame) -> str:
    total = float(rows["logprob"].astype(float).sum())
    return f"sum {signed(total, 2)} nats, n = {len(rows)}, l = {signed(total / len(rows), 3)}"


def _bars(row: _Row) -> go.Bar:
    tokens = row.tokens
    if "unmodified" in tokens:
        coloured = tokens["unmodified"].fillna(False).astype(bool)
        pattern = {"shape": ["" if c else "/" for c in coloured], "size": 5, "solidity": 0.4}
    else:
        coloured = tokens["differs"].fillna(True).astype(bool)
        pattern = {}
    return go.Bar(
        x=tokens["position"].tolist(),
        y=tokens["logprob"].astype(float).tolist(),
        marker={
            "color": [row.colour if c else SHARED for c in coloured],
            "line": {"width": 0},
            "pattern": pattern,
        },
        customdata=[
            [plain(token), position, n]
            for token, position, n in zip(
                tokens["token"], tokens["position"].tolist(), tokens["n"].tolist(), strict=True
            )
        ],
        hovertemplate=f"{_HOVER}<extra></extra>",
        name=row.title,
        xaxis=f"x{row.number}",
        yaxis=f"y{row.number}",
    )


def _token_axis(row: _Row) -> dict[str, Any]:
    return {
        "anchor": f"y{row.number}",
        "side": "top",
        "range": list(row.places),
        "tickvals": row.tokens["position"].tolist(),
        "ticktext": [plain(label) for label in _ticks(row.tokens)],
        "autotickangles": [0, -90],
        "tickfont": {"size": 11},
        "ticklen": 0,
        "ticklabelstandoff": 3,
        "showgrid": False,
        "zeroline": False,
        "automargin": False,
        "fixedrange": True,
    }


def _value_axis(row: _Row, lowest: float, height: float) -> dict[str, Any]:
    return {
        "anchor": f"x{row.number}",
        "domain": [max(1 - (row.top + _BARS) / height, 0), 1 - row.top / height],
        "range": [lowest * 1.25, 0],  # below the longest bar there is room for a word
        "nticks": 4,
        "tickfont": {"size": 10},
        "automargin": False,
        "fixedrange": True,
    }


def _row_title(row: _Row, room: float, height: float) -> dict[str, Any]:
    return {
        "text": row.title,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "xshift": -34,
        "xanchor": "left",
        "y": 1 - (row.top - room - _TITLE) / height,
        "yanchor": "top",
        "font": {"size": 12},
    }


def _mark_difference(row: _Row, lowest: float, layout: dict[str, Any]) -> None:
    """A line before the first differing token, and a word on the side where there is room.

    Not for a pair of sentences, whose hatching says more.
    """
    if "unmodified" in row.tokens:
        return
    first = row.tokens.loc[row.tokens["first_difference"].fillna(False), "position"]
    if first.empty:
        return
    edge = float(first.iloc[0]) - 0.5
    axes = {"xref": f"x{row.number}", "yref": f"y{row.number}"}
    layout["shapes"].append(
        {**axes, "type": "line", "x0": edge, "x1": edge, "y0": lowest * 1.25, "y1": 0}
        | {"line": {"width": 1.5, "dash": "dot"}}
    )
    on_the_right = abs(edge - row.places[0]) < abs(row.places[1] - row.places[0]) / 2
    layout["annotations"].append(
        {**axes, "x": edge, "y": lowest * 1.25, "yanchor": "bottom", "font": {"size": 11}}
        | {"text": "first difference", "xanchor": "left" if on_the_right else "right"}
    )


def _label_room(tokens: pd.DataFrame) -> float:
    """Height in px of the longest label when it stands upright."""
    return 10 + max(_pixels(label) for label in _ticks(tokens))


def _pixels(label: str) -> float:
    return sum(11.5 if unicodedata.east_asian_width(c) in "WF" else 6.6 for c in label)


def _ticks(tokens: pd.DataFrame) -> list[str]:
    """A short label per token: the first byte of a character shows it, further ones a number."""
    labels = []
    for token, piece, pieces in tokens[["token", "piece", "pieces"]].itertuples(index=False):
        shown = token.removesuffix(f" {piece}/{pieces}")
        if piece > 1:
            shown = str(piece).translate(_SUBSCRIPT)
        short = f"{shown[: LABEL_LENGTH - 1]}…" if len(shown) > LABEL_LENGTH else shown
        labels.append(short)
    return labels


def _caption(poles: dict[str, pd.DataFrame], model: str, dataset: str) -> str:
    parts = [f"{POLES[role][0]}: {_sum(rows)}." for role, rows in poles.items()]
    if any(rows["first_difference"].fillna(False).any() for rows in poles.values()):
        meaning = "Grey bars: tokens before the first one in which the two differ."
    else:
        meaning = "The two have the same tokens."
    return _sentences(poles, model, dataset, [*parts, meaning])


def _sentences(
    poles: dict[str, pd.DataFrame], model: str, dataset: str, sentences: list[str]
) -> str:
    first = poles["stereotype"].iloc[0]
    place = f"item {first['item_id']} in {first['condition']}"
    origin = (f" under {model}" if model else "") + (f", data set {dataset}" if dataset else "")
    if any((rows["piece"] > 1).any() for rows in poles.values()):
        sentences.append("Small numbers: further bytes of the character before.")
    return f"Log-probability of every scored token of {place}{origin}. {' '.join(sentences)}"
