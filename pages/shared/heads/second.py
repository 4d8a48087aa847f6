"""A second model beside the first: the same axis and heads, its sentences and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen
from core.axes.axis import Axis
from core.errors import InputError, StereoscopeError
from core.stats.probes.flags import Flag
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked, other_question
from pages.shared.heads.data import read_chosen, read_view
from pages.shared.heads.verdict import own_sentences, said_of


@dataclass(frozen=True, eq=False)
class Second:
    """The open axis under the second model."""

    asked: Asked  # the same of that model
    view: AxisView
    found: Chosen | None  # None where it has no such heads
    own: Mapping[str, Flag]  # as `own_sentences`


def second_model(asked: Asked, axis: Axis) -> Second | None:
    """The open axis under the second model; says why where it cannot be shown."""
    other = replace(asked, question=other_question(asked, asked.selection.reader_compare))
    try:
        view = read_view(other.question, axis.axis_id)
    except StereoscopeError as error:
        st.warning(f"{literal(str(error))} One model is shown.", icon=":material/info:")
        return None
    try:
        found = read_chosen(other.question, axis.axis_id, asked.heads)
    except InputError:  # the map says that it has no such heads
        return Second(other, view, None, {})
    return Second(other, view, found, own_sentences(other, view, found))


def said_of_both(asked: Asked, axis: Axis, own: Mapping[str, Flag], second: Second | None) -> str:
    """The verdicts as plain text; of both models, by name, where there are two."""
    first = " ".join(own) or said_of(asked, axis)
    if second is None:
        return first
    other = "" if second.found is None else " ".join(second.own) or said_of(second.asked, axis)
    both = {asked.model: first, second.asked.model: other}
    return " ".join(f"{model}: {said}" for model, said in both.items() if said)
