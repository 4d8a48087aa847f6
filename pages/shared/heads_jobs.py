"""Jobs that pages about heads start: tests of all axes, a UMAP, an axis of one's own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from core.analysis.heads.atlas import Of, atlas_request
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import request_of
from core.axes.user_axes import axis_of_words
from core.errors import StereoscopeError
from core.jobs.follow import JobView
from core.jobs.launch import launch
from core.jobs.own_axis import OWN_AXES, own_axis_spec
from core.jobs.spec import ATLAS, AXES, STEREOTYPES, JobSpec
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.heads_choice import Asked, against
from pages.shared.heads_data import read_axes_table
from pages.shared.heads_rows import AxisList
from pages.shared.jobs import read_jobs, show_jobs

OF_HEADS = (AXES, STEREOTYPES, ATLAS)
_NEW = "own-axis-started"  # the axis that a form has just asked for


def show_running() -> None:
    """The jobs about heads that compute now; the page runs again when one ends."""
    if any(map(_about_heads, read_jobs())):
        show_jobs(lambda views: [view for view in views if _about_heads(view)])


def offer_tests(asked: Asked, listed: AxisList) -> None:
    """What to do where the tests of all axes are not at hand."""
    show_running()
    if listed.problem:
        st.warning(literal(listed.problem), icon=":material/error:")
        return
    questions = [asked.question]
    questions += [against(asked.question, asked.second)] if asked.second else []
    missing = [question for question in questions if read_axes_table(question) is None]
    if not missing:
        return
    st.info(
        "The tests of all these axes are not computed yet: one axis is shown at once, a list of "
        "them takes a job, which goes on when this page is closed and can be stopped on Runs.",
        icon=":material/hourglass_empty:",
    )
    phrases = tuple(question.reference for question in missing if question.reference)
    spec = JobSpec(command=STEREOTYPES, request=replace(request_of(missing[0]), reference=phrases))
    _start_button("Compute the tests of all axes", "compute-tests", lambda: _launch(spec))


def offer_umap(question: HeadsQuestion, of: Of) -> None:
    """Why there is no UMAP of this yet, and a button that computes it."""
    st.info(
        "UMAP takes a minute or more and is computed by a job; until then the principal "
        "components are shown.",
        icon=":material/hourglass_empty:",
    )
    spec = JobSpec(command=ATLAS, request=atlas_request(question, of))
    _start_button("Compute the UMAP", "compute-umap", lambda: _launch(spec))


def own_axis_form(asked: Asked) -> None:
    """Two poles in words typed in: an axis that joins the set of one's own."""
    st.markdown(
        "Type the words of two opposite poles, several with a bar between them; the model reads "
        "30 sentences about either. Definitions make clear which sense is meant."
    )
    with st.form("own-axis", border=False):
        left, right = st.columns(2)
        typed = {
            "negative": left.text_input("One pole", placeholder="stingy|mean"),
            "positive": right.text_input("The other", placeholder="generous"),
            "negative_definition": left.text_input("Its definition", key="own-negative"),
            "positive_definition": right.text_input("Its definition", key="own-positive"),
        }
        if st.form_submit_button("Read this axis", icon=":material/play_arrow:"):
            _start_own(asked, {name: text for name, text in typed.items() if text.strip()})
    if st.session_state.get(_NEW):
        st.caption(
            f"The axis joins the set {OWN_AXES}, which can be chosen above once it is read: "
            f"{literal(st.session_state[_NEW])}."
        )


def _start_own(asked: Asked, typed: dict[str, str]) -> None:
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
    for note in notes:
        st.warning(literal(note), icon=":material/info:")
    st.session_state[_NEW] = f"{typed['negative']} – {typed['positive']}"
    if not notes:
        st.rerun()


def _start_button(label: str, key: str, start: Callable[[], None]) -> None:
    """A button that starts a job, unless one about heads computes already."""
    if any(map(_about_heads, read_jobs())):
        st.caption("A job about heads computes now; what is missing after it can be started then.")
        return
    st.button(label, key=key, icon=":material/play_arrow:", type="primary", on_click=start)


def _launch(spec: JobSpec) -> None:
    try:
        launch(open_cache(), spec)
    except StereoscopeError as error:
        st.toast(literal(str(error)), icon=":material/error:")


def _about_heads(view: JobView) -> bool:
    return view.alive and view.spec is not None and view.spec.command in OF_HEADS
