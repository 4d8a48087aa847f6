"""Verdicts about axes on pages: coloured by evidence, never by direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.heads.sentences import CAUTION, axis_sentence, pole_words
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.stats.probes.rejection import Stability
from pages.shared.figures import literal
from pages.shared.heads_choice import Asked, against
from pages.shared.heads_data import read_axes_table

LOOKS = {
    Stability.WELL_POWERED: (":material/priority_high:", "violet"),
    Stability.MARGINAL: (":material/remove:", "blue"),
    Stability.NO_SIGN: (":material/question_mark:", "gray"),
    Stability.UNDERPOWERED: (":material/question_mark:", "gray"),
    Stability.TOO_FEW: (":material/question_mark:", "gray"),
    Stability.UNDEFINED: (":material/block:", "gray"),
}


def verdicts(asked: Asked, axis: Axis) -> list[str]:
    """One sentence for each set of phrases whose table is at hand, with its badge in Markdown."""
    lines = []
    for reference in (asked.question.reference, asked.second):
        row = row_of(asked, reference, axis.axis_id) if reference else None
        if row is not None:
            lines.append(_line(asked, axis, reference, row))
    return lines


def show_verdicts(asked: Asked, axis: Axis, *more: str) -> None:
    """The sentences about an axis, further ones, and what no flag means."""
    lines = [*verdicts(asked, axis), *(f"- {literal(sentence)}" for sentence in more if sentence)]
    st.markdown("\n".join(lines))
    st.caption(CAUTION)


def row_of(asked: Asked, reference: str, axis_id: str) -> Mapping[str, Any] | None:
    """An axis's row in the table against some phrases; None where it is not at hand."""
    try:
        stored = read_axes_table(against(asked.question, reference))
    except StereoscopeError:  # the page says it where it lists the axes
        return None
    if stored is None:
        return None
    rows = stored.table[stored.table["axis_id"] == axis_id]
    return None if rows.empty else {str(k): v for k, v in rows.iloc[0].to_dict().items()}


def said_of(asked: Asked, axis: Axis) -> str:
    """The verdicts as plain text, for captions."""
    found = []
    for reference in (asked.question.reference, asked.second):
        row = row_of(asked, reference, axis.axis_id) if reference else None
        if row is not None:
            found.append(_sentence(asked, axis, reference, row))
    return " ".join(found)


def _line(asked: Asked, axis: Axis, reference: str, row: Mapping[str, Any]) -> str:
    reads = Stability.UNDEFINED if math.isnan(row["pvalue"]) else Stability(row["stability"])
    icon, colour = LOOKS[reads]
    sentence = literal(_sentence(asked, axis, reference, row))
    return f"- :{colour}-badge[{icon} {reads}] {sentence}"


def _sentence(asked: Asked, axis: Axis, reference: str, row: Mapping[str, Any]) -> str:
    stored = read_axes_table(against(asked.question, reference))
    n_axes = int(stored.table["pvalue"].notna().sum()) if stored else 0
    return axis_sentence(
        row,
        poles=pole_words(axis),
        concepts=asked.question.concepts,
        reference=reference,
        n_axes=n_axes,
    )


def reads_words(rows: pd.DataFrame) -> dict[str, int]:
    """How many axes of a table read what, in the order of the evidence."""
    counts = rows["stability"].where(rows["pvalue"].notna(), Stability.UNDEFINED).value_counts()
    return {str(reads): int(counts[reads]) for reads in LOOKS if counts.get(reads, 0)}
