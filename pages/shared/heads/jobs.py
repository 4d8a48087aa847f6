"""Jobs that pages about heads start and show: what is missing of axes, tests of all, a UMAP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.analysis.heads.atlas import Of, atlas_request
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import request_of
from core.errors import StereoscopeError
from core.jobs.follow import JobView, unfinished
from core.jobs.heads_line import SetsToRead, reading_line, reading_spec
from core.jobs.launch import launch
from core.jobs.own_axis import OWN_AXES, latest_own_axis_job
from core.jobs.spec import ATLAS, AXES, STEREOTYPES, JobSpec
from core.store.heads import AXIS
from core.words import counted
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked, against
from pages.shared.heads.data import read_axes_table, read_sets_of
from pages.shared.heads.rows import AxisList
from pages.shared.jobs.jobs import read_jobs, show_jobs

OF_HEADS = (AXES, STEREOTYPES, ATLAS)
_TYPED_IN = "own-axis-typed-in"


@dataclass(frozen=True)
class TypedIn:
    """An axis that somebody has typed in and had read, in this browser tab."""

    axis_id: str
    words: str
    notes: tuple[str, ...]


def typed_in() -> TypedIn | None:
    """The latest axis that was typed in here."""
    found: TypedIn | None = st.session_state.get(_TYPED_IN)
    return found


def note_typed_in(axis: TypedIn | None) -> None:
    """Note what was typed in, or that it is of no interest any more."""
    st.session_state[_TYPED_IN] = axis


def show_running(asked: Asked, *, own_apart: bool = False) -> None:
    """Jobs about heads that compute now, or left something of these axes undone.

    They have a place that is always there: nothing below it moves, and so folds up, when one comes
    or goes.

    Parameters
    ----------
    own_apart
        The page shows the job of an axis that was typed in where that was done.
    """

    def chosen(views: list[JobView]) -> list[JobView]:
        apart = latest_own_axis_job(views) if own_apart and typed_in() else None
        return [v for v in views if v is not apart and _is_shown(v, views, asked.question.axes)]

    with st.container(key="heads-jobs"):
        if chosen(read_jobs()):
            show_jobs(chosen)
    with st.container(key="heads-unread"):
        _say_unread(asked)


def offer_tests(asked: Asked, listed: AxisList, *, own_apart: bool = False) -> None:
    """The jobs about heads, and what to do where the tests of all axes are not at hand."""
    show_running(asked, own_apart=own_apart)
    with st.container(key="heads-tests"):
        if listed.problem:
            st.warning(literal(listed.problem), icon=":material/error:")
            return
        questions = [asked.question]
        questions += [against(asked.question, asked.second)] if asked.second else []
        missing = [question for question in questions if read_axes_table(question) is None]
        if missing:
            _offer_job(missing)


def offer_umap(question: HeadsQuestion, of: Of) -> None:
    """Why there is no UMAP of this yet, and a button that computes it."""
    st.info(
        "UMAP takes a minute or more and is computed by a job; until then the principal "
        "components are shown.",
        icon=":material/hourglass_empty:",
    )
    spec = JobSpec(command=ATLAS, request=atlas_request(question, of))
    _start_button("Compute the UMAP", "compute-umap", lambda: spec)


def _offer_job(missing: Sequence[HeadsQuestion]) -> None:
    """A button that has the tests of these questions computed."""
    st.info(
        "The tests of all these axes are not computed yet: one axis is shown at once, a list of "
        "them takes a job, which goes on when this page is closed and can be stopped on Runs.",
        icon=":material/hourglass_empty:",
    )
    phrases = tuple(question.reference for question in missing if question.reference)
    spec = JobSpec(command=STEREOTYPES, request=replace(request_of(missing[0]), reference=phrases))
    _start_button("Compute the tests of all axes", "compute-tests", lambda: spec)


def _say_unread(asked: Asked) -> None:
    """How many axes of the set were read where it is not all of them, and how to go on."""
    question = asked.question
    sets = read_sets_of(question.reader_id)
    is_set = (sets["kind"] == AXIS) & (sets["name"] == question.axes)
    left = sets[is_set & (sets["family"] == question.family) & (sets["n_read"] < sets["n"])]
    if left.empty:
        return
    row = left.iloc[0]
    own = question.axes == OWN_AXES
    out = ", or take axes out under *An axis of your own words* on Axes" if own else ""
    st.warning(
        f"The heads were read for {row['n_read']:,} of {counted(int(row['n']), 'axis', 'axes')} "
        f"of {literal(question.axes)}, and only these are shown and tested: read the rest{out}.",
        icon=":material/hourglass_top:",
    )
    sets_of = SetsToRead(
        axes=question.axes,
        concepts=(question.concepts,),
        reference=tuple(name for name in (question.reference, asked.second) if name),
        family=question.family,
    )
    with st.popover("Read the rest", icon=":material/play_arrow:"):
        spec = partial(reading_spec, open_cache(), question.reader_id, sets_of)
        _start_button("Read them in the background", "read-rest", spec)
        st.caption("Or run this line in the project's folder:")
        line = reading_line(open_cache(), question.reader_id, sets_of)
        st.code(line, language="bash", wrap_lines=True)


def _start_button(label: str, key: str, spec: Callable[[], JobSpec]) -> None:
    """A button that starts a job, unless one about heads computes already."""
    if any(map(_computes, read_jobs())):
        st.caption("A job about heads computes now; what is missing after it can be started then.")
        return
    st.button(
        label, key=key, icon=":material/play_arrow:", type="primary", on_click=_launch, args=[spec]
    )


def _launch(spec: Callable[[], JobSpec]) -> None:
    try:
        launch(open_cache(), spec())
    except StereoscopeError as error:
        st.toast(literal(str(error)), icon=":material/error:")


def _is_shown(view: JobView, views: Sequence[JobView], axes: str) -> bool:
    """Whether a job about heads computes, or ended early at these axes and was not taken up."""
    return _computes(view) or (
        view.command in OF_HEADS and view.dataset == axes and unfinished(view, views)
    )


def _computes(view: JobView) -> bool:
    return view.alive and view.command in OF_HEADS
