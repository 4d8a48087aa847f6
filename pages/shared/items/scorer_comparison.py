"""Two scorers over a whole data set, in a table that is folded away."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared.data import read_comparison

_SCORE, _CHANGE = "%.4f", "%+.4f"
COLUMNS: dict[str, Any] = {
    "condition": st.column_config.TextColumn(
        "Condition", pinned=True, help="overall counts each item once, by its mean over conditions"
    ),
    "n_items": st.column_config.NumberColumn("n", help="Items that both have scored"),
    "difference": st.column_config.NumberColumn("B − A", format=_CHANGE),
    "interval_low": st.column_config.NumberColumn(
        "from", format=_CHANGE, help="95 % t interval of the mean difference, paired over items"
    ),
    "interval_high": st.column_config.NumberColumn("to", format=_CHANGE),
    "rewording_floor": st.column_config.NumberColumn(
        "Rewording", format=_SCORE, help="How far rewording alone moves a mean under A"
    ),
    "ss_a": st.column_config.NumberColumn("SS, A", format=_SCORE),
    "ss_b": st.column_config.NumberColumn("SS, B", format=_SCORE),
    "sd": st.column_config.NumberColumn(
        "sd", format=_SCORE, help="Standard deviation of the items' differences"
    ),
    "rewording_sd": st.column_config.NumberColumn(
        "Rewording, sd", format=_SCORE, help="The same of single items' changes by rewording, A"
    ),
    "largest_absolute": st.column_config.NumberColumn("Largest", format=_SCORE),
    "n_flips": st.column_config.NumberColumn(
        "Flips", help="Rows in which the preferred pole is another one"
    ),
    "n_rows": st.column_config.NumberColumn("of rows"),
    "correlation": st.column_config.NumberColumn("r", format=_SCORE),
    "n_collapsed": st.column_config.NumberColumn("Collapsed", help="Rows that compare nothing"),
    "n_not_scored": st.column_config.NumberColumn("Not scored", help="Rows that one or both lack"),
}


def scorer_comparison(scorer_id: str, other: str, dataset: str) -> None:
    """The summary of scorer B against scorer A, whatever filters the page has."""
    summary, sentence = read_comparison(scorer_id, other, dataset)
    with st.expander("The two scorers over the whole data set"):
        st.caption(
            f"A is the chosen scorer, B the one it is compared with; no filter applies. {sentence}"
        )
        st.dataframe(
            summary[list(COLUMNS)],
            column_config=COLUMNS,
            hide_index=True,
            placeholder="–",
            height="content",
        )
