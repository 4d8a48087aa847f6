"""Runs: what is computing?"""

import pandas as pd
import streamlit as st

from core.jobs.follow import JobView, count_runs, unfinished
from core.words import counted
from pages.shared.data import open_cache, read_overview
from pages.shared.jobs.job_details import show_details
from pages.shared.jobs.job_form import start_form
from pages.shared.jobs.jobs import read_jobs, show_jobs, title
from pages.shared.routing import require_router
from pages.shared.widgets import empty_cache, errors_in_one_sentence

CARDS = 5  # of runs that left something to do; the rest is in the list


def attention(views: list[JobView]) -> list[JobView]:
    """The runs that get a card: those that live, and the latest that left something to do."""
    waiting = [view for view in views if unfinished(view, views)][:CARDS]
    return [view for view in views if view.alive or view in waiting]


def run_list(views: list[JobView]) -> JobView | None:
    """All runs; returns the one that is chosen."""
    rows = [
        {
            "State": view.state,
            "Job": title(view),
            "Started (UTC)": view.started,
            "Stored": view.progress.computed,
            "Not scorable": view.progress.failed,
            "Run": view.run_id,
        }
        for view in views
    ]
    event = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="runs",
        column_config={
            "Started (UTC)": st.column_config.DatetimeColumn(
                format="YYYY-MM-DD HH:mm:ss", timezone="UTC"
            )
        },
    )
    chosen = event["selection"]["rows"]
    return views[chosen[0]] if chosen and chosen[0] < len(views) else None


require_router()
st.title("Runs")
with errors_in_one_sentence():
    held = read_overview()
    views = read_jobs()
if held is None or held.datasets.empty:
    if not any(view.alive for view in views):
        empty_cache()
else:
    st.subheader("Start a job")
    start_form(list(held.datasets["dataset"]), views)
if views:
    st.subheader("Now and unfinished")
    show_jobs(attention, empty="Nothing is computing.")
    st.subheader("All runs")
    n_runs = count_runs(open_cache())
    cut = (
        f"Showing the latest {len(views)} of {counted(n_runs, 'run')}. "
        if len(views) < n_runs
        else ""
    )
    st.caption(f"{cut}Click the box at the left of a row for its details.")
    chosen = run_list(views)
    if chosen:
        show_details(chosen)
