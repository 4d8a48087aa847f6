"""Which items are scored under which scorer, and what to do about those that are not."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis.overview import Overview
from core.items.conditions import condition_rank
from core.store.score_line import score_line
from core.words import IMPORTED, method_words
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.widgets import nothing_scored

NO_SCORER = "not scored yet"
SCORERS = {
    "model": "Model",
    "scorer_id": "Scorer",
    "variant": "Variant",
    "dtype": "Precision",
    "quantization": "Quantisation",
    "device": "Device",
    "attention": "Attention",
    "batching": "Batching",
    "bos": "Start token",
}


def coverage_grid(coverage: pd.DataFrame) -> pd.DataFrame:
    """Conditions down, scorers and data sets across; a cell is "scored / can be scored".

    A data set without any scorer has a column too.
    """
    can_be_scored = coverage["n_items"] - coverage["n_collapsed"]
    scorer = (coverage["model"] + " " + coverage["scorer_id"]).str.strip().replace("", NO_SCORER)
    cells = pd.DataFrame(
        {
            "Condition": coverage["condition"],
            "column": coverage["dataset"] + " · " + scorer,
            "cell": coverage["n_scored"].astype(str) + " / " + can_be_scored.astype(str),
        }
    )
    order = sorted(cells["Condition"].unique(), key=condition_rank)
    return cells.pivot(index="Condition", columns="column", values="cell").loc[order]


def show_scores(held: Overview) -> None:
    """The grid of what is scored, the scorers behind it, and how to score the rest."""
    unscored = held.coverage.loc[held.coverage["scorer_id"] == "", "dataset"].unique().tolist()
    if len(unscored) == len(held.datasets):
        nothing_scored(unscored[0])
        _start_here("Or start it here")
        return
    st.caption(
        "Scored items of those that can be scored, per condition and scorer "
        "(collapsed ones are left out)."
    )
    imported = held.scorers.loc[held.scorers["method"].str.startswith(IMPORTED), "scorer_id"]
    is_imported = held.coverage["scorer_id"].isin(imported)
    names = held.coverage["model"].mask(is_imported, held.coverage["model"] + ", imported,")
    grid = coverage_grid(held.coverage.assign(model=names))
    st.dataframe(grid, placeholder="–", height="content")
    if unscored:
        st.info(
            literal(f"No model has scored {', '.join(unscored)} yet. ")
            + "Run this line in the project's folder, or start it on the Runs page:",
            icon=":material/info:",
        )
        lines = [score_line(open_cache(), name) for name in unscored]
        st.code("\n".join(lines), language="bash")
        _start_here("Start it on the Runs page")
    st.caption("Each scorer is one model exactly as it was run; scores of two never mix.")
    variants = held.scorers["method"].map(method_words)
    shown = [name for name in SCORERS if name != "variant" or variants.any()]
    st.dataframe(
        held.scorers.assign(variant=variants),
        hide_index=True,
        column_order=shown,
        column_config=SCORERS,
    )


def _start_here(label: str) -> None:
    st.page_link("pages/runs.py", label=label, icon=":material/play_circle:")
