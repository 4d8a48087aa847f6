"""Axes of one's own words: two poles typed in, how far they are read, and their end."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.analysis.heads.sentences import axis_words
from core.axes.user_axes import axis_of_words
from core.errors import StereoscopeError
from core.jobs.follow import JobView, unfinished
from core.jobs.launch import launch
from core.jobs.own_axis import OWN_AXES, latest_own_axis_job, own_axis_spec, remove_own_axis
from pages.shared import state
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_axes, read_whole_set
from pages.shared.heads.jobs import TypedIn, note_typed_in, typed_in
from pages.shared.heads.rows import clear_filters
from pages.shared.jobs.jobs import read_jobs, show_jobs


def show_own_axes(asked: Asked) -> None:
    """A form for an axis, what has become of the latest one, and axes to take out again."""
    st.markdown(
        "Type the words of two opposite poles, several with a bar between them; the model reads "
        f"30 sentences about either. The axis joins the set {OWN_AXES}. Definitions make clear "
        "which sense is meant."
    )
    with st.container(key="own-axis-progress"):
        _show_typed_in(asked)
    with st.form("own-axis", border=False):
        left, right = st.columns(2)
        typed = {
            "negative": left.text_input("One pole", placeholder="stingy|mean"),
            "positive": right.text_input("The other", placeholder="generous"),
            "negative_definition": left.text_input("Its definition", key="own-negative"),
            "positive_definition": right.text_input("Its definition", key="own-positive"),
        }
        if st.form_submit_button("Read this axis", icon=":material/play_arrow:"):
            _start(asked, {name: text for name, text in typed.items() if text.strip()})
    _offer_removal()


def _show_typed_in(asked: Asked) -> None:
    """How far the job of the axis is, what it left undone, or a button that opens the axis."""
    axis = typed_in()
    if axis is None:
        return
    for note in axis.notes:
        st.caption(f":material/info: {literal(note)}")
    if _of_own_axes(read_jobs()):
        show_jobs(_of_own_axes)
        return
    question = replace(asked.question, axes=OWN_AXES)
    if axis.axis_id not in {each.axis_id for each in read_whole_set(OWN_AXES)}:
        note_typed_in(None)
    elif axis.axis_id in {each.axis_id for each in read_axes(question)}:
        st.success(f"The model was read for {literal(axis.words)}.", icon=":material/check:")
        st.button(
            f"Open {literal(axis.words)}",
            key="own-axis-open",
            icon=":material/arrow_forward:",
            on_click=_open,
            args=[axis.axis_id],
        )


def _of_own_axes(views: list[JobView]) -> list[JobView]:
    """The latest job of one's own axes, where it computes or something is left to do."""
    view = latest_own_axis_job(views)
    return [view] if view and (view.alive or unfinished(view, views)) else []


def _open(axis_id: str) -> None:
    """Go to an axis of one's own, whatever the filters hide."""
    clear_filters()
    state.change(axes=OWN_AXES, axis=axis_id)
    note_typed_in(None)


def _start(asked: Asked, typed: dict[str, str]) -> None:
    question, cache = asked.question, open_cache()
    try:
        axis, notes = axis_of_words(typed)
        spec = own_axis_spec(
            cache,
            axis,
            reader_id=question.reader_id,
            concepts=[question.concepts],
            reference=[r for r in (question.reference, asked.second) if r],
            family=question.family,
        )
        launch(cache, spec)
    except StereoscopeError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    note_typed_in(TypedIn(axis.axis_id, axis_words(axis), notes))
    st.rerun()


def _offer_removal() -> None:
    """The axes of one's own, of which one can be taken out of the set."""
    axes = {axis.axis_id: axis for axis in read_whole_set(OWN_AXES)}
    if not axes:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            f"Take an axis out of {OWN_AXES}",
            list(axes),
            index=None,
            format_func=lambda axis_id: axis_words(axes[axis_id]),
            placeholder="choose",
            key="own-axis-out",
            width=320,
            help="What was read for it stays in the cache, and is there when it comes back.",
        )
        st.button(
            "Take it out",
            key="own-axis-take-out",
            icon=":material/delete:",
            disabled=chosen is None,
            on_click=_remove,
            args=[chosen],
        )


def _remove(axis_id: str) -> None:
    st.session_state.pop("own-axis-out", None)
    try:
        axis = remove_own_axis(open_cache(), axis_id)
    except StereoscopeError as error:
        st.toast(literal(str(error)), icon=":material/error:")
        return
    st.toast(f"{literal(axis_words(axis))} is out of {OWN_AXES}.", icon=":material/check:")
