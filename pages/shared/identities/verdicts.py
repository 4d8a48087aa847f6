"""Verdicts about identity pairs on the page: coloured by evidence, never by direction."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import streamlit as st

from core.analysis.identities.overview import BOTH_SIDES, ONE_SIDE, OPPOSITE
from core.analysis.identities.summary import hidden_sentence
from core.analysis.identities.tables import ALL_PAIRS, WITHOUT
from pages.shared.figures import literal
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import read_table

FEW = 3  # models of which every verdict is shown at once
LOOKS = {  # by evidence, never by direction
    OPPOSITE: ("opposite identities", ":material/call_split:", "orange"),
    BOTH_SIDES: ("on both sides", ":material/question_mark:", "gray"),
    ONE_SIDE: ("on one side", ":material/remove:", "gray"),
}
PAIRS = {ALL_PAIRS: "all pairs: ", WITHOUT: "without confounded pairs: "}
UNDEFINED = ("undefined", ":material/block:", "gray")
HELP = (
    "**opposite identities**: the interval of one identity lies above 50 % and that of another "
    "below; **on both sides**: only their shares do; **on one side**: no share lies on the other "
    "side. None of them says that a model treats people alike."
)


def show_overview(asked: Asked) -> None:
    """The warning where averages hide opposite identities, and a verdict for each model."""
    table = read_table(asked.question, "overview")
    rows = rows_shown(table.rows, asked)
    if hidden := hidden_sentence(rows):
        st.warning(f"**{literal(hidden)}**", icon=":material/call_split:")
    lines = list(_lines(table.rows))
    if len(rows) <= FEW:
        st.markdown("\n".join(lines), help=HELP)
        return
    every = st.expander(
        f"What every model does ({len(rows)})",
        icon=":material/list:",
        on_change="rerun",
        key="every-verdict",
    )
    if every.open:
        with every:
            st.markdown("\n".join(lines), help=HELP)


def show_model_verdict(asked: Asked) -> None:
    """The sentence about the model looked at, where those of all models are folded away."""
    rows = read_table(asked.question, "overview").rows
    if len(rows_shown(rows, asked)) <= FEW:
        return
    lines = list(_lines(rows[rows["model"] == asked.model.label]))
    st.markdown("\n".join(lines), help=HELP)


def rows_shown(rows: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """The rows with all pairs, or those without confounded ones where these are left out."""
    if "pairs" not in rows:
        return rows
    return rows[(rows["pairs"] != ALL_PAIRS) == asked.selection.without_confounded]


def _lines(rows: pd.DataFrame) -> Iterator[str]:
    for row in rows.to_dict("records"):
        defined = not pd.isna(row["bias_w"])
        words, icon, colour = LOOKS[row["hides"]] if defined else UNDEFINED
        which = PAIRS[row["pairs"]] if "pairs" in row else ""
        yield f"- :{colour}-badge[{icon} {words}] {literal(which + row['verdict'])}"
