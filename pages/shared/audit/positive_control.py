"""The positive control: what each arm does, and making the arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.arms import arms, summary
from core.analysis.audit.names import MODEL
from core.analysis.audit.request import AuditRequest, AuditTable
from core.figures.shift_lab import control_arms
from core.figures.theme import Figure
from core.items.control import as_jsonl, read_arms, with_control
from core.store.items import stored_items
from core.store.score_line import shell_line
from pages.shared.audit.control_form import blur_sentences, control_form, control_jobs
from pages.shared.data import Stamp, key_of, open_cache
from pages.shared.figures import literal, show_figure
from pages.shared.tables import pvalue, show_notes, show_table

COLUMNS: dict[str, Any] = {
    "condition": "Version",
    "against": "Against",
    "n": "n",
    "mean_change": st.column_config.NumberColumn("Mean change", format="%+.4f"),
    "low": st.column_config.NumberColumn(
        "95 % from", format="%+.4f", help="Over models; over items where there is one model"
    ),
    "high": st.column_config.NumberColumn("to", format="%+.4f"),
    "n_up": "Models up",
    "n_moved": "of",
    "pvalue": pvalue("p (sign test)"),
    "qvalue": pvalue("q"),
    "n_reliable": "Models with q < .05",
}


def show_control(
    request: AuditRequest, control: AuditTable, floor: float, provenance: Mapping[str, object]
) -> None:
    """What each arm does, or how to get the arms."""
    if control.rows.empty:
        show_notes(control)
    else:
        reads, figure = _arms(*key_of(request), floor, _control=control)
        st.markdown("\n".join(f"- {literal(sentence)}" for sentence in summary(reads)))
        show_figure(
            figure, "control-arms", provenance, table=control.rows,
            alt="Change of the mean score by arm, per model and over models",
        )  # fmt: skip
        with st.expander(f"Every comparison in a sentence ({len(reads)})", icon=":material/list:"):
            st.markdown("\n".join(f"- {literal(sentence)}" for sentence in reads["sentence"]))
        with st.expander("The numbers of the positive control", icon=":material/table_rows:"):
            show_table(AuditTable(reads, control.notes), COLUMNS, "positive-control")
    control_jobs(request.dataset)
    label = "Make the four arms" if control.rows.empty else "Other models or sentences"
    with st.expander(label, icon=":material/playlist_add:", expanded=control.rows.empty):
        blur_sentences()
        control_form(request.dataset)
        _elsewhere(request)


# Sentences and figure take longer to make than to show, and no slider of the page changes them.
@st.cache_resource(max_entries=50, show_spinner=False)
def _arms(
    folder: str, stamp: Stamp, request: AuditRequest, floor: float, _control: AuditTable
) -> tuple[pd.DataFrame, Figure]:
    reads = arms(_control, floor=floor)
    single = _control.rows[_control.rows["unit"] == MODEL]
    return reads, control_arms(single, reads, floor)


def _elsewhere(request: AuditRequest) -> None:
    """The same in a terminal, and the data set for another machine."""
    st.caption(
        "In a terminal; own sentences are given with --arm. For models that compute elsewhere, the "
        "file below is the data set with the sentences that come with the program."
    )
    line = shell_line(open_cache(), "positive-control", "--dataset", request.dataset)
    st.code(line, language="bash", wrap_lines=True)

    def content() -> bytes:
        items = stored_items(open_cache(), request.dataset)
        return as_jsonl(with_control(items, read_arms())).encode()

    st.download_button(
        "Data set with the four arms", content, f"{request.dataset}-control.jsonl",
        "application/jsonl", icon=":material/download:", on_click="ignore",
    )  # fmt: skip
