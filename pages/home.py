"""Home: what do I have?"""

import pandas as pd
import streamlit as st

from core.items.conditions import condition_rank
from pages.shared.data import open_cache, read_overview
from pages.shared.widgets import (
    content_warning,
    empty_cache,
    errors_in_one_sentence,
    nothing_scored,
)


def coverage_grid(coverage: pd.DataFrame) -> pd.DataFrame:
    """Conditions down, scorers and data sets across; a cell is "scored / can be scored"."""
    scored = coverage[coverage["scorer_id"] != ""]
    can_be_scored = scored["n_items"] - scored["n_collapsed"]
    cells = pd.DataFrame(
        {
            "Condition": scored["condition"],
            "column": scored["dataset"] + " · " + scored["model"] + " " + scored["scorer_id"],
            "cell": scored["n_scored"].astype(str) + " / " + can_be_scored.astype(str),
        }
    )
    order = sorted(cells["Condition"].unique(), key=condition_rank)
    return cells.pivot(index="Condition", columns="column", values="cell").loc[order]


st.title("Stereoscope")
st.markdown(
    "Audit language models for stereotypes: look at single items across languages, at how far "
    "mere rewording moves their scores, and at what a difference between averages does and does "
    "not show."
)
content_warning()

with errors_in_one_sentence():
    held = read_overview()
if held is None or held.datasets.empty:
    empty_cache()
    st.stop()

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
if not (held.coverage["scorer_id"] != "").any():
    nothing_scored(held.datasets["dataset"].iloc[0])
else:
    st.caption(
        "Scored items of those that can be scored, per condition and scorer "
        "(collapsed ones are left out)."
    )
    st.dataframe(coverage_grid(held.coverage), placeholder="–")
    st.caption("Each scorer is one model exactly as it was run; scores of two never mix.")
    st.dataframe(
        held.scorers,
        hide_index=True,
        column_order=("model", "scorer_id", "dtype", "device", "attention", "batching", "bos"),
        column_config={
            "model": "Model",
            "scorer_id": "Scorer",
            "dtype": "Precision",
            "device": "Device",
            "attention": "Attention",
            "batching": "Batching",
            "bos": "Start token",
        },
    )

st.caption(f"Cache: {open_cache().folder} ({held.size_bytes / 1e6:.1f} MB)")
