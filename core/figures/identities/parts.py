"""Bias in parts of the pairs: tiers, templates or groups of names, with the other models behind."""

from __future__ import annotations

import pandas as pd
from plotly import graph_objects as go

from core.figures.colours import REFERENCE
from core.figures.heads.strip import short
from core.figures.identities.marks import (
    Label,
    Mark,
    band_key,
    evidence_words,
    lane,
    legend_symbols,
    mark_traces,
    marks_of,
    share_layout,
)
from core.figures.identities.rows import (
    NEUTRAL,
    NEUTRAL_WORDS,
    SHARE,
    Beside,
    band_words,
    kind_names,
    kinds_of,
    kinds_words,
    of_kind,
    share_words,
    symbol_of,
)
from core.figures.rows import span
from core.figures.theme import Figure, drawn, plain
from core.languages import language_name
from core.words import counted

_LANE = 15  # px of one mark in its row
_MEASURES = (("bias_w", "bias (W)", "circle"), ("bias_m", "bias (M)", "square"))
_MEANT = {
    1: "over the pairs of each",
    2: "over all pairs of each (bias (W), circles) and as the mean of its identities (bias (M), "
    "squares)",
}


def part_plot(rows: pd.DataFrame, model: str, *, beside: Beside, title: str) -> Figure:
    """Bias (W) and (M) of one model in each part, beside 50 % and the floor.

    Parameters
    ----------
    rows
        Of a table with parts (`templates`, `tiers`), all models of one condition. Where a column
        `pairs` tells them apart, those without confounded pairs stand beside those with all, as
        open marks.
    model
        Label of the model that is drawn in full; the others are faint dots of bias (W).
    title
        What the parts are, in the plural: templates.
    """
    own = rows[rows["model"] == model]
    others = rows[(rows["model"] != model) & rows["bias_w"].notna()]
    marks, labels = _marks(own), _labels(own)
    kinds = [kind for kind, _ in kinds_of(own)]
    measures = _measures(own)
    names = [name for column in measures for name in kind_names(column[2], column[1], kinds)]
    traces = [
        *band_key(beside),
        *_faint(others, own),
        *legend_symbols(names if len(own) else []),
        *mark_traces(marks, NEUTRAL, NEUTRAL_WORDS),
    ]
    height = _LANE * (len(measures) * max(len(kinds), 1) + 1) * max(len(labels), 1)
    layout = share_layout(traces, height, labels, marks, beside, others["bias_w"].tolist())
    layout["meta"] = {"caption": _caption(own, others, marks, beside, title)}
    return drawn(traces, layout)


def _places(own: pd.DataFrame) -> dict[str, int]:
    return {part: at for at, part in enumerate(dict.fromkeys(own["part"]))}


def _marks(own: pd.DataFrame) -> list[Mark]:
    place, kinds = _places(own), [kind for kind, _ in kinds_of(own)]
    measures = _measures(own)
    n_lanes = len(kinds) * len(measures)
    marks = []
    for k, (kind, rows) in enumerate(kinds_of(own)):
        for i, (column, name, symbol) in enumerate(measures):
            below = lane(k * len(measures) + i, n_lanes)
            names = [of_kind(f"{part}, {name}", kind, kinds) for part in rows["part"]]
            places = [place[part] + below for part in rows["part"]]
            marks += marks_of(rows, column, names, places, symbol_of(symbol, kind))
    return marks


def _measures(own: pd.DataFrame) -> tuple[tuple[str, str, str], ...]:
    """Bias (W), and bias (M) where a part has several identities: of one they are the same."""
    return _MEASURES if (own["n_identities"] > 1).any() else _MEASURES[:1]


def _labels(own: pd.DataFrame) -> list[Label]:
    """Every part with its pairs, of all pairs where there are two kinds."""
    n = own.drop_duplicates("part").set_index("part")["n"]
    return [(at, f"{plain(short(part, 26))} ({n[part]:,})") for part, at in _places(own).items()]


def _faint(others: pd.DataFrame, own: pd.DataFrame) -> list[go.Scatter]:
    """Bias (W) of the other models, in the lane of the chosen one's."""
    place, kinds, measures = _places(own), kinds_of(own), _measures(own)
    below = {
        kind: lane(len(measures) * k, len(measures) * len(kinds))
        for k, (kind, _) in enumerate(kinds)
    }
    dots = [
        (row, place[row["part"]] + below[kind])
        for kind, part in kinds_of(others)
        for row in part.to_dict("records")
        if kind in below and row["part"] in place
    ]
    if not dots:
        return []
    n_models = len({row["model"] for row, _ in dots})
    return [
        go.Scatter(
            x=[row["bias_w"] for row, _ in dots],
            y=[at for _, at in dots],
            mode="markers",
            marker={"color": REFERENCE, "size": 6, "line": {"width": 0}},
            customdata=[
                [
                    plain(f"{row['model']}, {row['part']}, bias (W)"),
                    "<br>".join(map(plain, share_words(row, "bias_w"))),
                ]
                for row, _ in dots
            ],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
            name=f"bias (W) of {counted(n_models, 'other model')}",
        )
    ]


def _caption(
    own: pd.DataFrame, others: pd.DataFrame, marks: list[Mark], beside: Beside, title: str
) -> str:
    if own.empty:
        return f"No pairs by {title}, so there is nothing to draw."
    kinds = [kind for kind, _ in kinds_of(own)]
    parts = own["part"].nunique()
    faint = counted(others["model"].nunique(), "other model")
    sentences = [
        f"{own['model'].iloc[0]}, {language_name(own['condition'].iloc[0])}, by {title} "
        f"({parts:,}): {SHARE}, {_MEANT[len(_measures(own))]}; n = {span(own['n'])} pairs. Lines: "
        "95 % intervals over predicates, each with all its pairs.",
        kinds_words(kinds),
        f"Faint dots: bias (W) of {faint}." if len(others) else "",
        evidence_words(marks, NEUTRAL, NEUTRAL_WORDS),
        "Many parts are looked at: one that stands out may do so by chance.",
        band_words(beside),
    ]
    return " ".join(sentence for sentence in sentences if sentence)
