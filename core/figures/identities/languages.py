"""One language less another, of the same predicates, identities and model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from plotly import graph_objects as go

from core.figures.heads.strip import short
from core.figures.identities.marks import (
    Mark,
    around,
    band_key,
    evidence_words,
    lane,
    legend_symbols,
    mark_traces,
    marks_layout,
    put_band,
    values_of,
)
from core.figures.identities.rows import (
    SHARE,
    Beside,
    Row,
    band_words,
    interval_words,
    kind_names,
    kinds_of,
    kinds_words,
    of_kind,
    percent,
    points,
    symbol_of,
)
from core.figures.rows import span
from core.figures.theme import Figure, drawn, plain
from core.languages import language_name
from core.words import counted

_ROW = 40  # px: a mark and the shares below it
_ABOVE, _BELOW = -0.14, 0.24  # of the middle of a row, in rows
_LEAST = 10.0  # points to either side that the axis holds
_NEUTRAL_WORDS = "0"


def language_plot(rows: pd.DataFrame, *, beside: Beside) -> Figure:
    """Difference of bias (W), bias (M) and each identity's share, in points.

    Parameters
    ----------
    rows
        Of the table `languages`, those of one model and one other language. Where a column `pairs`
        tells them apart, those without confounded pairs stand below those with all, as open marks.
    beside
        The larger floor of both languages.
    """
    kinds = [kind for kind, _ in kinds_of(rows)]
    place = {name: at for at, name in enumerate(dict.fromkeys(rows["measure"]))}
    records = [
        (place[row["measure"]] + lane(k, len(kinds), 1.0), row, kind)
        for k, (kind, part) in enumerate(kinds_of(rows))
        for row in part.to_dict("records")
    ]
    n_kinds = max(len(kinds), 1)
    marks = [_mark(at + _ABOVE / n_kinds, row, kind, kinds) for at, row, kind in records]
    traces = [
        *band_key(beside),
        *legend_symbols(kind_names("circle", "", kinds)),
        *mark_traces(marks, 0.0, _NEUTRAL_WORDS),
        *_shares([(at + _BELOW / n_kinds, row) for at, row, _ in records]),
    ]
    labels = [(float(at), _label(name)) for name, at in place.items()]
    height = _ROW * n_kinds * max(len(labels), 1)
    layout = marks_layout(traces, height, labels, 0.0, "difference of shares (points)")
    edges = put_band(layout, 0.0, 100 * beside.floor)
    layout["xaxis"] |= {"range": around([*values_of(marks), *edges, -_LEAST, _LEAST])}
    layout["meta"] = {"caption": _caption(rows, kinds, marks, beside)}
    return drawn(traces, layout)


def _mark(at: float, row: Row, kind: str, kinds: Sequence[str]) -> Mark:
    """A difference in points, which the table has as one of shares."""
    value, low, high = (100 * row[f"difference{end}"] for end in ("", "_low", "_high"))
    ends = interval_words(row["difference_low"], row["difference_high"], "points")
    words = [
        f"difference {points(row['difference'])}, {ends}",
        f"{_named(row, 'dataset', 'condition')}: {percent(row['share'])}, "
        f"n = {counted(row['n'], 'pair')}",
        f"{_named(row, 'other_dataset', 'other')}: {percent(row['share_other'])}, "
        f"n = {counted(row['n_other'], 'pair')}",
        counted(row["n_predicates"], "shared predicate"),
    ]
    words += [row["reason"]] if row["reason"] else []
    name = of_kind(row["measure"], kind, kinds)
    return Mark(at, value, low, high, name, words, symbol_of(_symbol(row["measure"]), kind))


def _symbol(measure: str) -> str:
    return {"bias (W)": "diamond", "bias (M)": "square"}.get(measure, "circle")


def _label(measure: str) -> str:
    name = plain(short(measure, 18))
    return name if _symbol(measure) == "circle" else f"<b>{name}</b>"


def _shares(records: list[tuple[float, Row]]) -> list[go.Scatter]:
    """Both shares as words below each mark."""
    if not records:
        return []
    return [
        go.Scatter(
            x=[0.01] * len(records),
            xaxis="x2",
            y=[at for at, _ in records],
            mode="text",
            text=[
                f"{percent(row['share'])} (n {row['n']:,}) \u2212 "
                f"{percent(row['share_other'])} (n {row['n_other']:,})"
                for _, row in records
            ],
            textposition="middle right",
            textfont={"size": 10},
            hoverinfo="skip",
            showlegend=False,
            name="shares",
        )
    ]


def _caption(rows: pd.DataFrame, kinds: Sequence[str], marks: list[Mark], beside: Beside) -> str:
    if rows.empty:
        return "No measure is in both languages, so there is nothing to draw."
    row = rows.iloc[0].to_dict()
    n_predicates = counted(int(rows["n_predicates"].max()), "shared predicate")
    sentences = [
        f"{row['model']}: {SHARE} in {_named(row, 'dataset', 'condition')} less that in "
        f"{_named(row, 'other_dataset', 'other')}, in points, of {n_predicates} and the shared "
        f"identities; n = {span(rows['n'])} and {span(rows['n_other'])} pairs. Lines: 95 % "
        "intervals, the same predicates drawn in both. Bias (W) is over all pairs, bias (M) the "
        "mean of the identities.",
        kinds_words(kinds),
        evidence_words(marks, 0.0, _NEUTRAL_WORDS),
        f"{band_words(beside, '0')} The larger floor of both languages is taken.",
        "Templates, names and forms are each language's own, so that more than the language "
        "differs.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _named(row: dict[Any, Any], dataset: str, condition: str) -> str:
    return f"{row[dataset]} ({language_name(row[condition])})"
