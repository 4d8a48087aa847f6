"""Verdicts about axes on pages: coloured by evidence, never by direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen, HeadChoice, parse_choice
from core.analysis.heads.sentences import (
    CAUTION,
    axis_sentence,
    choice_sentence,
    pole_words,
    reads,
)
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.stats.probes.rejection import Stability
from pages.shared.figures import literal
from pages.shared.heads_choice import Asked, against, default_heads
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


def own_sentence(asked: Asked, view: AxisView, found: Chosen, stored: StoredAxes | None) -> str:
    """The test in the chosen heads, where no table holds it; nothing where one does."""
    if asked.heads == _table_heads(asked) and stored is not None and view.reference:
        return ""
    choice = parse_choice(asked.heads, *view.shape)
    return choice_sentence(view, found, choice, by_hand=_by_hand(asked))


def said_of(asked: Asked, axis: Axis) -> str:
    """The verdicts as plain text, for captions."""
    found = []
    for reference in (asked.question.reference, asked.second):
        row = row_of(asked, reference, axis.axis_id) if reference else None
        if row is not None:
            found.append(_sentence(asked, axis, reference, row))
    return " ".join(found)


def _line(asked: Asked, axis: Axis, reference: str, row: Mapping[str, Any]) -> str:
    undefined = math.isnan(row["pvalue"])
    icon, colour = LOOKS[Stability.UNDEFINED if undefined else Stability(row["stability"])]
    sentence = literal(_sentence(asked, axis, reference, row))
    badge = Stability.UNDEFINED if undefined else reads(row)
    return f"- :{colour}-badge[{icon} {badge}] {sentence}"


def _sentence(asked: Asked, axis: Axis, reference: str, row: Mapping[str, Any]) -> str:
    stored = read_axes_table(against(asked.question, reference))
    n_axes = int(stored.table["pvalue"].notna().sum()) if stored else 0
    return axis_sentence(
        row,
        poles=pole_words(axis),
        concepts=asked.question.concepts,
        reference=reference,
        n_axes=n_axes,
        k=asked.question.k,
        by_hand=_by_hand(asked) and asked.heads == _table_heads(asked),
    )


def _by_hand(asked: Asked) -> bool:
    return asked.heads != default_heads(asked.shape)


def _table_heads(asked: Asked) -> str:
    """The heads that the tables of all axes are of, as a link writes them."""
    return str(HeadChoice(k=asked.question.k))
