"""One run in full: what was asked for, what computed it, what failed, and what it said."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis.run_facts import run_facts
from core.jobs.follow import JobView, log_tail
from core.store.scores import unscored
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.jobs.jobs import progress_words, title
from pages.shared.widgets import errors_in_one_sentence

SHOWN_FAILURES = 200


def show_details(view: JobView) -> None:
    """Provenance, failures by item and the log of one run."""
    st.markdown(f"**{literal(title(view))}** · {view.state} · {literal(progress_words(view))}")
    if view.spec:
        st.caption("The line that repeats it:")
        st.code(view.spec.command_line(), language="bash", wrap_lines=True)
    cache, scorer_id = open_cache(), view.progress.scorer_id
    facts = {"run": view.run_id, "started": f"{view.started:%Y-%m-%d %H:%M:%S} UTC"}
    if view.ended:
        facts["ended"] = f"{view.ended:%Y-%m-%d %H:%M:%S} UTC"
    if view.spec and view.spec.resumes:
        facts["resumes"] = view.spec.resumes
    if view.progress.checks:
        facts["self-checks"] = view.progress.checks
    failures = pd.DataFrame()
    if cache.exists():
        with errors_in_one_sentence():
            facts |= run_facts(cache, view.run_id, scorer_id)
            if scorer_id and view.progress.failed:
                failures = unscored(cache, scorer_id, view.dataset)
    table = pd.DataFrame({"What": list(facts), "Value": list(facts.values())})
    st.dataframe(table, hide_index=True, height="content")
    if len(failures):
        shown = failures.head(SHOWN_FAILURES)
        st.caption(f"Texts without a score: showing {len(shown)} of {len(failures)}.")
        st.dataframe(shown, hide_index=True)
    with st.expander("Log", icon=":material/terminal:"):
        st.code(
            log_tail(cache, view.run_id)
            or "This run wrote no log: one in a terminal says it there.",
            language=None,
        )
