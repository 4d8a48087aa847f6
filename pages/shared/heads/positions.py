"""How well sides predict people's labels, by the number of heads: computed when asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.heads.positions import position_table, usual_centre
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.sentences import centre_words
from core.figures.heads.positions import accuracy_lines
from core.store.gate import Cache
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import show_figure
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_heads_provenance
from pages.shared.tables import pvalue, show_frame
from pages.shared.widgets import download_buttons, errors_end_this_part

COLUMNS = {
    "dimension": "Dimension",
    "k": st.column_config.NumberColumn("k", format="%d"),
    "accuracy": st.column_config.NumberColumn("Accuracy", format="percent"),
    "accuracy_sd": st.column_config.NumberColumn("sd of axes", format="%.3f"),
    "majority": st.column_config.NumberColumn(
        "Guessing", help="Always the commoner label", format="percent"
    ),
    "balanced_accuracy": st.column_config.NumberColumn("Balanced", format="percent"),
    "auc": st.column_config.NumberColumn("AUC", format="%.3f"),
    "pvalue": pvalue(
        "p", "Of the accuracy, over labelings with all axes together; not adjusted over k"
    ),
    "n_axes": st.column_config.NumberColumn("Axes", format="%d"),
    "n_groups": st.column_config.NumberColumn("Labels", format="%d"),
    "reason": "Why undefined",
}


@errors_end_this_part()
def show_positions(asked: Asked) -> None:
    """Accuracy against k with its baselines, for all axes of the set."""
    question = asked.question
    if not st.toggle(
        "Compare with people's labels, at every number of heads",
        key="positions-shown",
        persist_state="session",
        help="Looks at every axis of warmth and competence in the set.",
    ):
        return
    rows = _read(question)
    known = rows["accuracy"].notna()
    if not known.any():
        reasons = ", ".join(dict.fromkeys(rows["reason"]))
        st.info(
            f"There is nothing to compare with: {reasons}. Choose concepts with labels, such as "
            "groups25, and axes of warmth or competence, such as scm.",
            icon=":material/info:",
        )
        return
    of = f"{asked.model}, {question.concepts}, {question.family} templates"
    show_figure(
        accuracy_lines(
            rows,
            chosen=question.k or 0,
            of=of,
            centre=centre_words(question.concepts, question.reference),
        ),
        f"accuracy-{question.axes}-{question.concepts}",
        read_heads_provenance(question),
        table=rows,
    )
    columns = {n: c for n, c in COLUMNS.items() if n != "reason" or (rows["reason"] != "").any()}
    show_frame(rows[list(columns)], columns, height=420)
    download_buttons(lambda: rows, list(columns), f"accuracy-{question.axes}-{question.concepts}")


def _read(question: HeadsQuestion) -> pd.DataFrame:
    cache = open_cache()
    return _table(str(cache.folder), cache.stamp(), question)


@st.cache_resource(max_entries=20, show_spinner="Comparing positions …")
def _table(folder: str, stamp: Stamp, question: HeadsQuestion) -> pd.DataFrame:
    return position_table(Cache(Path(folder)), question, centre=usual_centre(question))
