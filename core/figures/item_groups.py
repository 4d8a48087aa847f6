"""Drops of groups of items beyond what rewording does."""

from __future__ import annotations

import math

import pandas as pd
from plotly import graph_objects as go

from core.analysis.audit.names import POOLED
from core.analysis.audit.words import p_words
from core.figures.colours import ENGLISH
from core.figures.drop_rows import (
    Row,
    Yardstick,
    count,
    dots,
    frame,
    frame_words,
    interval,
    intervals,
    layout_of,
)
from core.figures.theme import Figure, drawn, plain, signed
from core.stats.levels import LEVEL

_GROUP_HEIGHT = 22  # px per group of items


def group_plot(rows: pd.DataFrame, beside: Yardstick, title: str) -> Figure:
    """The drop beyond rewording of every language in every group of items.

    Parameters
    ----------
    rows : DataFrame
        Of the table `item_tests`, of one `group_kind`.
    title : str
        What the groups are.
    """
    records = rows.to_dict("records")
    shown = [row["qvalue"] < LEVEL for row in records]
    traces = [
        *frame(len(records), beside),
        *intervals(records, ("t_low", "t_high"), "95 % over items", 3),
        *_legend_dots(records, shown),
        *dots(records, "t", shown, [_group_hover(row) for row in records]),
    ]
    labels = [f"{_group_label(row)} ({count(row['n'])})" for row in records]
    layout = layout_of(traces, labels, _GROUP_HEIGHT, "drop beyond rewording (n items)")
    n_undefined = sum(not math.isfinite(row["t"]) for row in records)
    sentences = [
        f"Drop beyond that of rewording, T = −mean(D − R), by {title}, with 95 % bootstrap "
        "intervals over items. Filled: q < .05 over the languages of the same group. Groups hold "
        "few items and many are looked at: one that stands out may do so by chance."
    ]
    if n_undefined:
        sentences.append(f"{n_undefined} of {len(records)} are undefined: a dash at the edge.")
    layout["meta"] = {"caption": " ".join([*sentences, frame_words(beside)])}
    return drawn(traces, layout)


def _legend_dots(records: list[Row], shown: list[bool]) -> list[go.Scatter]:
    known = {s for row, s in zip(records, shown, strict=True) if math.isfinite(row["t"])}
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": symbol, "size": 9, "color": ENGLISH},
            name=name,
        )
        for value, name, symbol in (
            (True, "q < .05", "circle"),
            (False, "q ≥ .05: no shift shown", "circle-open"),
        )
        if value in known
    ]


def _group_hover(row: Row) -> list[str]:
    lines = [
        f"T {signed(row['t'], 4)} {interval(row['t_low'], row['t_high'])}",
        f"n = {count(row['n'])} items, {p_words('q', row['qvalue'])}",
        *([plain(row["reason"])] if row["reason"] else []),
    ]
    return [row["condition"], plain(_group_label(row)), "<br>".join(lines)]


def _group_label(row: Row) -> str:
    condition = row["condition"]
    if row["group_kind"] == "rewording":
        return str(condition)
    name = "all" if condition == POOLED else condition
    return f"{row['group']} · {name}" if row["group"] else str(name)
