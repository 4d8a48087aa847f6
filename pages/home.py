"""Home: what do I have?"""

import pandas as pd
import streamlit as st

from core.analysis.health import health
from core.jobs.follow import JobView
from core.jobs.launch import launch
from core.jobs.spec import JobSpec
from core.store.score_line import shell_line
from core.words import size_words
from pages.shared.coverage import show_scores
from pages.shared.data import open_cache, read_overview
from pages.shared.figures import literal
from pages.shared.jobs.jobs import read_jobs, show_jobs
from pages.shared.routing import require_router
from pages.shared.widgets import (
    content_warning,
    errors_in_one_sentence,
)

HEADS = {
    "model": "Model",
    "precision": "Precision",
    "device": "Device",
    "axes": "Axes",
    "concepts": "Concepts and phrases",
    "size": "Size",
    "reader_id": "Reader",
}


def alive(views: list[JobView]) -> list[JobView]:
    """The runs that compute now."""
    return [view for view in views if view.alive]


def alive_or_latest(views: list[JobView]) -> list[JobView]:
    """The runs that compute now, else how the latest one ended."""
    return alive(views) or views[:1]


def start_with_the_demo(views: list[JobView]) -> None:
    """What to do with an empty cache: one button, or the line to run; then how far it is."""
    if not alive(views):
        st.info(
            "There is nothing in the cache yet. The demo items come with the program; scoring them "
            "with the small demo model takes a few minutes and can be stopped at any time.",
            icon=":material/info:",
        )
        if st.button("Score the demo items", type="primary", icon=":material/play_arrow:"):
            with errors_in_one_sentence():
                launch(open_cache(), JobSpec(command="demo"))
            st.rerun()
        st.caption("Or run this line in the project's folder:")
        st.code(shell_line(open_cache(), "demo"), language="bash")
    show_jobs(alive_or_latest)
    if views:
        st.page_link("pages/runs.py", label="All runs", icon=":material/play_circle:")


def show_heads(heads: pd.DataFrame) -> None:
    """Which models' heads were read, for what, and what they take."""
    if heads.empty:
        return
    st.subheader("Heads")
    st.caption("What attention heads were read for; in its own files, apart from the scores.")
    st.dataframe(
        heads.assign(size=[size_words(n) for n in heads["n_bytes"]]),
        hide_index=True,
        column_order=[*HEADS],
        column_config=HEADS,
    )
    st.page_link("pages/axes.py", label="Axes", icon=":material/linear_scale:")


def show_health() -> None:
    """The checks as a small table."""
    marks = {"good": "✓", "attention": "⚠", "unknown": "–"}
    checks = health(open_cache())
    st.table(
        pd.DataFrame(
            {
                "Check": [f"{marks[c.verdict]} {c.name}".replace(" ", "\u00a0") for c in checks],
                "Found": [literal(c.found) for c in checks],
            }
        ),
        border="horizontal",
        hide_index=True,
        hide_header=True,
    )


require_router()
st.title("Stereoscope")
st.markdown(
    "Audit language models for stereotypes: look at single items across languages, at how far "
    "mere rewording moves their scores, and at what a difference between averages does and does "
    "not show."
)
content_warning()

with errors_in_one_sentence():
    held = read_overview()
    views = read_jobs()
if held is None or held.datasets.empty:
    start_with_the_demo(views)
    if held is not None:
        show_heads(held.heads)
    st.stop()

if alive(views):
    st.subheader("Computing now")
    show_jobs(alive)
    st.page_link("pages/runs.py", label="All runs", icon=":material/play_circle:")

st.subheader("Data sets")
st.dataframe(
    held.datasets[["dataset", "n_items", "n_conditions", "n_rows", "n_collapsed", "note"]],
    hide_index=True,
    column_config={
        "dataset": "Data set",
        "n_items": st.column_config.NumberColumn("Items", help="Distinct items"),
        "n_conditions": st.column_config.NumberColumn("Conditions"),
        "n_rows": st.column_config.NumberColumn("Rows", help="Items times conditions"),
        "n_collapsed": st.column_config.NumberColumn(
            "Collapsed",
            help="Rows whose stereotype and anti-stereotype say the same; kept out of statistics",
        ),
        "note": "Note",
    },
)

st.subheader("Scores")
show_scores(held)

show_heads(held.heads)

st.subheader("Health")
with errors_in_one_sentence():
    show_health()
