"""Jobs on a page: how far they are, live while one runs, with buttons to stop and to resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from core.errors import StereoscopeError
from core.heads_request import HeadsRequest, ProjectionsRequest
from core.jobs.follow import JobView, State, can_resume, follow, unfinished
from core.jobs.launch import dismiss, request_stop, resume
from core.jobs.progress import PLACING, PROJECTING
from core.score_request import ScoreRequest
from core.store.gate import Cache
from core.words import counted, duration_words
from pages.shared.data import open_cache
from pages.shared.figures import literal

LATEST = 100  # runs that are looked at; the list says so when there are more
SECONDS_BETWEEN_LOOKS = 1.0

Color = Literal["red", "orange", "blue", "green", "gray"]
LOOKS: dict[State, tuple[str, Color]] = {
    "starting": (":material/hourglass_top:", "blue"),
    "running": (":material/play_arrow:", "blue"),
    "stopping": (":material/hourglass_bottom:", "orange"),
    "stopped": (":material/pause:", "gray"),
    "finished": (":material/check:", "green"),
    "failed": (":material/error:", "red"),
    "died": (":material/heart_broken:", "red"),
}
DIED = (
    "It ended without a word: it was killed, memory ran out, or the machine went off. What it had "
    "stored is kept; resuming computes the rest."
)
DISMISS = (
    "No longer offered here. It stays in the list of all runs, and what it has stored is kept."
)


def read_jobs() -> list[JobView]:
    """The latest runs, the newest first."""
    return follow(open_cache(), latest=LATEST)


def show_jobs(chosen: Callable[[list[JobView]], list[JobView]], *, empty: str = "") -> None:
    """Cards of the chosen runs, looked at every second as long as one of them lives.

    When one begins or ends the whole page runs again: there may be new scores to show. The cards
    have one place, however many they are, so that nothing below them moves and folds up.
    """
    alive = [view.run_id for view in read_jobs() if view.alive]

    def cards() -> None:
        views = read_jobs()
        if [view.run_id for view in views if view.alive] != alive:
            st.rerun()
        shown = chosen(views)
        for view in shown:
            show_card(view, resumable=can_resume(view, views), dismissible=unfinished(view, views))
        if not shown and empty:
            st.caption(empty)

    with st.container():
        st.fragment(cards, run_every=SECONDS_BETWEEN_LOOKS if alive else None)()


def show_card(view: JobView, *, resumable: bool, dismissible: bool) -> None:
    """One run: what it is, how far, and what can be done about it."""
    icon, color = LOOKS[view.state]
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(view.state, icon=icon, color=color)
            st.markdown(f"**{literal(title(view))}**", width="stretch")
            if view.state in ("starting", "running"):
                st.button(
                    "Stop", icon=":material/stop:", key=f"stop-{view.run_id}", on_click=_stop,
                    args=[view.run_id],
                )  # fmt: skip
            if resumable:
                st.button(
                    "Resume", icon=":material/resume:", key=f"resume-{view.run_id}",
                    on_click=_resume, args=[view.run_id],
                )  # fmt: skip
            if dismissible:
                st.button(
                    "Dismiss", icon=":material/close:", key=f"dismiss-{view.run_id}",
                    on_click=_dismiss, args=[view.run_id], help=DISMISS,
                )  # fmt: skip
        if view.alive or view.progress.total_texts:
            st.progress(view.fraction, text=progress_words(view))
        if view.state == "failed":
            st.markdown(f":red[{literal(view.error)}]")
        if view.state == "died":
            st.caption(DIED)


def title(view: JobView) -> str:
    """A run in a few words: demo on demo, or what its folder lost."""
    if view.spec is None:
        return f"Run {view.run_id}"
    request = view.spec.request
    options = [request.family, request.pooling] if isinstance(request, ProjectionsRequest) else []
    if isinstance(request, ScoreRequest | HeadsRequest):
        options += [request.quantization] if request.quantization != "none" else []
        options += [request.dtype] if request.dtype != "auto" else []
    options += ["exact"] if isinstance(request, ScoreRequest) and request.exact else []
    named = f"{short_model(view.work)} on {view.dataset}"
    return f"{named} ({', '.join(options)})" if options else named


def short_model(model: str) -> str:
    """A hub name as it is, a folder by its last part."""
    return model.rstrip("/").rpartition("/")[2] if model.startswith("/") else model


def progress_words(view: JobView) -> str:
    """How far, how fast, how long still."""
    p = view.progress
    if not p.total_texts:
        return f"{p.phase.capitalize()} …" if view.alive else p.phase.capitalize()
    words = [p.part] if p.part else []
    if p.phase in (PROJECTING, PLACING):
        words.append(p.phase)
    words.append(f"{p.done_texts:,} of {counted(p.total_texts, 'text')}")
    if view.rate is not None:
        words.append(f"{view.rate:,.1f} texts/s")
    if view.seconds_left is not None:
        words.append(f"about {duration_words(view.seconds_left)} left")
    if p.failed:
        words.append(f"{p.failed:,} cannot be scored")
    return " · ".join(words)


def _stop(run_id: str) -> None:
    _try(request_stop, run_id)


def _resume(run_id: str) -> None:
    _try(resume, run_id)


def _dismiss(run_id: str) -> None:
    _try(dismiss, run_id)


def _try(action: Callable[[Cache, str], object], run_id: str) -> None:
    """A click on a button that has lost its meaning says so, and the page goes on."""
    try:
        action(open_cache(), run_id)
    except StereoscopeError as error:
        st.toast(literal(str(error)), icon=":material/error:")
