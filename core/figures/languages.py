"""Drops of languages, beside what rewording does."""

from __future__ import annotations

from typing import Any

import pandas as pd

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
from core.figures.theme import Figure, drawn, signed
from core.languages import language_name

_ROW_HEIGHT = 30  # px per language


def drop_plot(rows: pd.DataFrame, verdicts: pd.DataFrame, beside: Yardstick) -> Figure:
    """The drop of each language, its two intervals, the noise floor and the margin.

    Parameters
    ----------
    rows : DataFrame
        Of the table `main`, languages alone.
    verdicts : DataFrame
        Of the table of that name: `condition`, `reads`.
    """
    records = rows.to_dict("records")
    reads = dict(zip(verdicts["condition"], verdicts["reads"], strict=True))
    traces = [
        *frame(len(records), beside),
        *intervals(records, ("drop_items_low", "drop_items_high"), "95 % over items", 4),
        *intervals(records, ("drop_low", "drop_high"), "95 % over models: their spread", 1.5, 0.24),
        *dots(
            records,
            "drop_items",
            [True] * len(records),
            [_drop_hover(row, reads.get(row["condition"], "")) for row in records],
        ),
    ]
    labels = [f"{language_name(r['condition'])} ({count(r['n_items'])})" for r in records]
    layout = layout_of(traces, labels, _ROW_HEIGHT, "drop: English minus language (n items)")
    layout["meta"] = {"caption": _drop_caption(records, reads, beside)}
    return drawn(traces, layout)


def _drop_hover(row: Row, reads: str) -> list[str]:
    """Condition first, then what the hover box says; every number is a column of the table."""
    lines = [
        f"drop {signed(row['drop_items'], 4)} "
        f"{interval(row['drop_items_low'], row['drop_items_high'])}"
        f" over {count(row['n_items'])} items",
        "one model: no spread"
        if row["n_models"] == 1
        else f"mean of {count(row['n_models'])} models {signed(row['drop'], 4)} "
        f"{interval(row['drop_low'], row['drop_high'])}",
        reads,
    ]
    return [row["condition"], language_name(row["condition"]), "<br>".join(lines)]


def _drop_caption(records: list[Row], reads: dict[Any, Any], beside: Yardstick) -> str:
    models = max((int(row["n_models"]) for row in records), default=0)
    over = (
        "One model: no spread over models."
        if models == 1
        else f"Thin lines: 95 % t interval over {models} models, their spread on these same items."
    )
    found: dict[str, list[str]] = {}
    for row in records:
        found.setdefault(str(reads.get(row["condition"], "")), []).append(row["condition"])
    verdicts = "; ".join(
        f"{verdict}: {', '.join(map(language_name, conditions))}"
        for verdict, conditions in found.items()
    )
    return (
        "Drop of each language: mean score in English minus that in the language, of the items "
        "that every model has scored in both; right of zero the language scores lower. Thick "
        f"lines: 95 % bootstrap interval over items. {over} {frame_words(beside)} Verdicts rest "
        "on the test of the drop beyond rewording, not on whether an interval leaves the band: "
        f"{verdicts}."
    )
