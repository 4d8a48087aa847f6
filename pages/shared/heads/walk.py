"""Axis by axis: which axes there are to walk through, the open one, buttons and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.heads.sentences import axis_words
from core.axes.axis import Axis, plain_name
from core.selection import Selection
from core.words import counted
from pages.shared import state
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_axes
from pages.shared.walk.component import walk_buttons, walk_key
from pages.shared.walk.steps import is_stepping

_WALK = "heads-walk"  # ids of the axes, as the page has shown them
_AXES = "axes"
MAP = "head-map"  # the key of the map, whose arrows go from axis to axis too
KEYS = "J and K or the arrow keys on the map go to the next and the previous axis."


def open_axis(asked: Asked, order: Sequence[str] = ()) -> tuple[Selection, Axis]:
    """The open axis, with what goes to another one.

    Parameters
    ----------
    order
        Ids of axes in the order in which one walks; by default all, as they lie in the set.
    """
    axes = {axis.axis_id: axis for axis in read_axes(asked.question)}
    ids = [axis_id for axis_id in order if axis_id in axes] or list(axes)
    selection = asked.selection
    if selection.axis not in axes:
        if selection.axis and state.linked().axis == selection.axis:
            st.warning(
                f"The axis {literal(plain_name(selection.axis))} is not in "
                f"{literal(asked.question.axes)} or was not read; the first one is shown instead.",
                icon=":material/link_off:",
            )
        selection = replace(selection, axis=ids[0])
        state.put(replace(state.current(), axis=ids[0]))  # steps begin here, also while this runs
    st.session_state[_WALK] = ids
    at, n = place_of(selection.axis)
    options = ids if at >= 0 else [selection.axis, *ids]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.show_field("axis", selection.axis)
        listed = state.bound("axis")

        def choose() -> None:
            # What the list shows comes with every key; it may not know of the last step yet.
            if not any(map(is_stepping, (walk_key(_AXES), MAP))):
                listed["on_change"]()

        st.selectbox(
            "Axis",
            options,
            format_func=lambda axis_id: axis_words(axes[axis_id]),
            width=320,
            key=listed["key"],
            on_change=choose,
        )
        walk_buttons(_AXES, ("Previous axis", "Next axis"), at, n, step, KEYS)
        place = f"Axis {at + 1:,} of {n:,}" if at >= 0 else "The filters hide this axis"
        hidden = f", {counted(len(axes), 'axis', 'axes')} in all" if n < len(axes) else ""
        st.caption(f"{place}{hidden}", width="content")
    return selection, axes[selection.axis]


def place_of(axis_id: str) -> tuple[int, int]:
    """Place of an axis among those that one walks through, -1 beside them, and of how many."""
    ids: list[str] = st.session_state.get(_WALK, [])
    return (ids.index(axis_id) if axis_id in ids else -1), len(ids)


def step(by: int) -> None:
    """Go on by so many axes, and no further than to the last or the first."""
    ids: list[str] = st.session_state.get(_WALK, [])
    if not ids:
        return
    at, n = place_of(state.current().axis)
    place = min(max(at + by, 0), n - 1)
    # The number of the open table page follows the axis, not the other way round.
    state.put(replace(state.current(), axis=ids[place]))


def dimension_note(axis: Axis) -> str:
    """What the axis is about, where somebody has said so."""
    parts = dict.fromkeys(part for part in (axis.dimension, axis.facet) if part)
    return ", ".join(parts)


def poles_note(axis: Axis) -> str:
    """Which sense of either pole's word is meant, where somebody has said so."""
    return "; ".join(
        f"{pole.lemmas[0]}: {pole.definition}"
        for pole in (axis.negative, axis.positive)
        if pole.definition
    )


def definitions(axis: Axis) -> pd.DataFrame:
    """Both poles with all their words and their definitions."""
    poles = {"negative": axis.negative, "positive": axis.positive}
    return pd.DataFrame(
        {
            "pole": list(poles),
            "words": [", ".join(pole.lemmas) for pole in poles.values()],
            "definition": [pole.definition for pole in poles.values()],
        }
    )
