"""Labels of the tables in the first parts of the Shift lab, as the reader sees them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared.tables import pvalue

PAIR_COLUMNS: dict[str, Any] = {
    "model": "Model",
    "condition": "Rewording",
    "shifted": "Shifted",
    "n": "n",
    "put_in": st.column_config.NumberColumn(
        "Put in", format="%+.4f", help="What the shift does to the mean score"
    ),
    "mean": st.column_config.NumberColumn(
        "Mean change", format="%+.4f", help="Reworded minus original score, mean over n items"
    ),
    "low": st.column_config.NumberColumn("95 % from", format="%+.4f"),
    "high": st.column_config.NumberColumn("to", format="%+.4f"),
    "floor": st.column_config.NumberColumn(
        "Floor", format="%.4f", help="What rewording alone does to the means of this model"
    ),
    "pvalue": pvalue("p"),
    "qvalue": pvalue("q", "Adjusted over all pairs (Benjamini-Hochberg)"),
    "verdict_before": "Verdict before",
    "verdict": "Verdict after",
}
CURVE_COLUMNS: dict[str, Any] = {
    "delta": st.column_config.NumberColumn("Log-odds", format="%+.2f"),
    "shift": st.column_config.NumberColumn("Shift of the mean", format="%+.4f"),
    "detection": st.column_config.NumberColumn("Found", format="%.3f"),
    "detection_error": st.column_config.NumberColumn("± (Monte Carlo)", format="%.3f"),
    "flags_among_rest": st.column_config.NumberColumn("Others found per run", format="%.2f"),
    "exaggeration": st.column_config.NumberColumn("Exaggeration", format="%.2f"),
    "n_detected": "Runs with it found",
    "n_runs": "n runs",
    "n_pairs": "n pairs",
}
NEEDED_COLUMNS: dict[str, Any] = {
    "what": "Change",
    "n": "n",
    "sd": st.column_config.NumberColumn("sd of one item", format="%.3f"),
    "shift": st.column_config.NumberColumn("Shift to find", format="%.3f"),
    "items_needed": st.column_config.NumberColumn("Items needed", format="%d"),
    "smallest_shift": st.column_config.NumberColumn("Smallest found with n", format="%.3f"),
    "equivalence_n": st.column_config.NumberColumn(
        "Items for equivalence", format="%d", help="To show that a true shift of 0 is within margin"
    ),
}
POWER_COLUMNS: dict[str, Any] = {
    "condition": "Language",
    "n": "n",
    "sd": st.column_config.NumberColumn("sd", format="%.3f"),
    "items_needed": st.column_config.NumberColumn("Items for 0.02", format="%d"),
    "smallest_shift": st.column_config.NumberColumn("Smallest found", format="%.3f"),
    "power_002": st.column_config.NumberColumn("Power at 0.02", format="%.2f"),
    "power_004": st.column_config.NumberColumn("at 0.04", format="%.2f"),
    "power_006": st.column_config.NumberColumn("at 0.06", format="%.2f"),
    "size": st.column_config.NumberColumn("at 0 (size)", format="%.3f"),
    "size_error": st.column_config.NumberColumn("±", format="%.3f"),
    "n_worlds": "n worlds",
}
