"""Axes: where do groups fall?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen
from core.analysis.heads.sentences import position_sentence
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.figures.heads.references import two_references
from core.jobs.heads_line import SetsToRead, reading_line
from core.selection import Selection
from pages.shared import state
from pages.shared.data import open_cache
from pages.shared.figures import literal, selected_points, show_figure
from pages.shared.heads.axis_list import counts_sentence, page_of, show_list
from pages.shared.heads.choice import Asked, choose_heads
from pages.shared.heads.data import read_chosen, read_heads_provenance, read_view
from pages.shared.heads.jobs import offer_tests
from pages.shared.heads.own_axes import show_own_axes
from pages.shared.heads.people import show_people
from pages.shared.heads.positions import show_positions
from pages.shared.heads.rows import OTHER, AxisList, filter_axes, list_axes
from pages.shared.heads.share import publish_heads, take_along
from pages.shared.heads.values import show_strip, show_values
from pages.shared.heads.verdict import own_lines, own_sentences, said_of, show_verdicts
from pages.shared.heads.walk import definitions, open_axis
from pages.shared.heads.worth import show_models, show_settings, show_worth
from pages.shared.routing import require_router
from pages.shared.widgets import content_warning, show_open_tab

OVERVIEW = "two-references"


def open_clicked() -> None:
    """Open the axis whose point was clicked in the overview."""
    points, _ = selected_points(OVERVIEW)
    for point in points:
        if point.get("customdata"):
            state.change(axis=str(point["customdata"][0]), page=state.current().page)


def show_overview(asked: Asked, selection: Selection, listed: AxisList) -> None:
    """All axes against both sets of phrases; what to do where there is only one."""
    rows = listed.rows
    if f"statistic{OTHER}" not in rows:
        say_one_set(asked)
        return
    names = {f"{name}{OTHER}": f"{name}_other" for name in ("statistic", "flagged")}
    first, second = asked.question.reference, asked.second
    figure = two_references(
        rows.rename(columns=names),
        first=first,
        second=second,
        said=counts_sentence(asked, listed),
        chosen=selection.axis,
    )
    show_figure(
        figure,
        OVERVIEW,
        read_heads_provenance(asked.question),
        table=rows.drop(columns="synsets"),
        on_select=open_clicked,
    )


def say_one_set(asked: Asked) -> None:
    """Why there is no overview: one set of phrases was read, or the tests are not computed yet."""
    question = asked.question
    if asked.second:
        st.info("All axes are drawn here once their tests are computed.", icon=":material/info:")
        return
    st.info(
        "The concepts are held against one set of phrases. Groups of people differ from other "
        "phrases already in being people: this line reads a second set, of phrases for people.",
        icon=":material/info:",
    )
    sets = SetsToRead(
        axes=question.axes,
        concepts=(question.concepts,),
        reference=tuple(name for name in (question.reference, "people") if name),
        family=question.family,
    )
    st.code(reading_line(open_cache(), question.reader_id, sets), language="bash", wrap_lines=True)


def read_open(asked: Asked, axis: Axis) -> tuple[AxisView, Chosen] | None:
    """The open axis and what is found in the chosen heads; None, with its sentence, if unread."""
    try:
        view = read_view(asked.question, axis.axis_id)
        return view, read_chosen(asked.question, axis.axis_id, asked.heads)
    except StereoscopeError as error:
        st.error(literal(str(error)), icon=":material/error:")
        st.caption("Go to another axis, or choose other sets; what you had chosen is kept.")
        return None


def show_axis(asked: Asked, selection: Selection, axis: Axis, listed: AxisList) -> None:
    """The open axis: its strip, what that shows beside all axes, and its numbers."""
    opened = read_open(asked, axis)
    if opened is None:
        return
    view, found = opened
    own = own_sentences(asked, view, found)
    left, right = st.columns(2)
    with left:
        show_strip(asked, view, found, " ".join(own) or said_of(asked, axis))
    with right:
        show_verdicts(asked, axis, position_sentence(view, found), own=own_lines(own))
        show_overview(asked, selection, listed)
    parts = {
        "Numbers": lambda: show_values(asked, view, found),
        "Both poles": lambda: st.dataframe(definitions(axis), hide_index=True),
        "What is it worth?": lambda: show_worth(asked, axis, listed.stored),
        "Take along": lambda: take_along(asked, axis, found, view.concepts[0].text),
    }
    show_open_tab(parts, "axes-tabs")


def main() -> None:
    """The page from top to bottom."""
    require_router()
    fresh = state.just_opened()
    st.title("Axes")
    st.caption("Where do groups fall?")
    content_warning()
    asked = choose_heads(state.current())
    listed = list_axes(asked)
    filter_axes(asked, listed)
    offer_tests(asked, listed, own_apart=True)
    selection, axis = open_axis(asked, listed.ids)
    if fresh:
        selection = replace(selection, page=page_of(listed, selection.axis))
    asked = replace(asked, selection=selection)
    show_axis(asked, selection, axis, listed)
    st.subheader("All axes", divider="gray")
    st.markdown(literal(counts_sentence(asked, listed)))
    selection = show_list(asked, selection, listed)
    with st.expander("Accuracy against people's labels", icon=":material/target:"):
        show_positions(asked)
        show_settings(asked)
    with st.expander("People's ratings", icon=":material/groups:"):
        show_people(asked, listed.stored)
    with st.expander("Do two models agree?", icon=":material/compare_arrows:"):
        show_models(asked, listed.stored)
    with st.expander("An axis of your own words", icon=":material/edit:"):
        show_own_axes(asked)
    publish_heads(asked, selection)


main()
