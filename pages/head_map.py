"""Head map: where does an axis live?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import get_args

import streamlit as st

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen, parse_choice
from core.analysis.heads.sentences import (
    position_sentence,
    separability_sentence,
    strongest_sentence,
)
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.selection import GRIDS, Selection
from core.stats.probes.flags import Flag
from pages.shared import state
from pages.shared.figures import literal
from pages.shared.head_map.component import head_map
from pages.shared.head_map.data import GridMode, head_map_data
from pages.shared.heads.choice import Asked, choose_heads, default_heads
from pages.shared.heads.data import read_chosen, read_heads_provenance, read_view
from pages.shared.heads.jobs import show_running
from pages.shared.heads.layers import show_heads
from pages.shared.heads.positions import show_positions
from pages.shared.heads.rows import filter_axes, list_axes
from pages.shared.heads.second import Second, said_of_both, second_model
from pages.shared.heads.share import publish_heads, take_along
from pages.shared.heads.values import show_values
from pages.shared.heads.verdict import own_lines, own_sentences, row_of, show_verdicts
from pages.shared.heads.walk import MAP, dimension_note, open_axis, place_of, poles_note, step
from pages.shared.routing import require_router
from pages.shared.widgets import content_warning, show_open_tab


def take_heads(heads: str) -> None:
    """Other heads; nothing for the usual ones. The page of the list stays."""
    state.change(heads=heads, page=state.current().page)


def viewed(asked: Asked, selection: Selection, axis: Axis) -> tuple[AxisView, Chosen]:
    """The open axis and what is found in the chosen heads; its sentence where it cannot be read."""
    try:
        view = read_view(asked.question, axis.axis_id)
        return view, read_chosen(asked.question, axis.axis_id, asked.heads)
    except StereoscopeError as error:
        st.error(literal(str(error)), icon=":material/error:")
        st.caption("Go to another axis above, or choose other sets; what you had chosen is kept.")
        publish_heads(asked, selection)
        st.stop()


def choose_mode(asked: Asked) -> GridMode:
    """How two models are shown; one alone where there is no second."""
    if not asked.selection.reader_compare:
        return "one"
    state.show_field("grid", asked.selection.grid)
    st.segmented_control("Show", GRIDS, required=True, **state.bound("grid"))
    modes = get_args(GridMode)
    return next(mode for mode in modes if mode == asked.selection.grid)


def show_map(
    asked: Asked, view: AxisView, found: Chosen, second: Second | None, mode: GridMode, said: str
) -> None:
    """The component, with a second model where one is chosen and can be shown."""
    message = partial(
        head_map_data,
        view,
        found,
        choice=parse_choice(asked.heads, *view.shape),
        model=asked.model,
        provenance=read_heads_provenance(asked.question),
        caption=said,
    )
    try:
        data = message()
        if second is not None:
            both = (second.view, second.found)
            data = message(both, mode, compare_model=second.asked.model)
    except StereoscopeError as error:
        st.warning(f"{literal(str(error))} One model is shown.", icon=":material/info:")
    place, n = place_of(view.axis.axis_id)
    head_map(data, key=MAP, on_choice=take_heads, on_step=step, place=place, n=n)


def show_sentences(
    asked: Asked, view: AxisView, found: Chosen, own: Mapping[str, Flag], *, last: bool = True
) -> None:
    """What is found in the chosen heads of one model."""
    choice = parse_choice(asked.heads, *view.shape)
    row = row_of(asked, view.question.reference, view.axis.axis_id)
    show_verdicts(
        asked,
        view.axis,
        separability_sentence(view, found, choice, row),  # R anew needs no phrases' test
        strongest_sentence(view),
        position_sentence(view, found),
        own=own_lines(own),
        heading=asked.model if asked.selection.reader_compare else "",
        last=last,
    )


def choose_again(asked: Asked) -> None:
    """Why the heads of the link are not those shown, and the way back to the usual ones."""
    if asked.complaint:
        st.warning(
            f"{literal(asked.complaint)} Shown are the usual heads ({asked.heads}).",
            icon=":material/info:",
        )
    usual = default_heads(asked.shape)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Chosen heads: `{asked.heads}`", width="content")
        st.button(
            f"Back to {usual}",
            disabled=asked.heads == usual,
            on_click=take_heads,
            args=[""],
            type="tertiary",
        )


def main() -> None:
    """The page from top to bottom."""
    require_router()
    st.title("Head map")
    st.caption("Where does an axis live?")
    content_warning()
    asked = choose_heads(state.current(), compare=True)
    listed = list_axes(asked)
    filter_axes(asked, listed)
    show_running(asked)
    selection, axis = open_axis(asked, listed.ids)
    asked = replace(asked, selection=selection)
    view, found = viewed(asked, selection, axis)
    notes = [f"An axis of {note}." if (note := dimension_note(axis)) else "", poles_note(axis)]
    if said := " ".join(filter(None, notes)):
        st.caption(literal(said))
    mode = choose_mode(asked)
    second = second_model(asked, axis) if mode != "one" else None
    own = own_sentences(asked, view, found)
    said = said_of_both(asked, axis, own, second)
    show_map(asked, view, found, second, mode, said)
    choose_again(asked)
    beside = None
    both = second is not None and second.found is not None
    show_sentences(asked, view, found, own, last=not both)
    if second is not None and second.found is not None:
        show_sentences(second.asked, second.view, second.found, second.own)
        beside = (second.asked.model, second.view, second.found)
    parts = {
        "Concepts": lambda: show_values(asked, view, found, beside),
        "Heads and layers": lambda: show_heads(asked, view, found),
        "Accuracy against k": lambda: show_positions(asked),
        "Take along": lambda: take_along(asked, axis, found, view.concepts[0].text),
    }
    show_open_tab(parts, "map-tabs")
    publish_heads(asked, selection)


main()
