"""Verdicts about identity pairs on the page: coloured by evidence, never by direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.identities.extremes import BOTH_SIDES, ONE_SIDE, OPPOSITE
from core.analysis.identities.summary import hidden_sentence
from core.analysis.identities.tables import ALL_PAIRS, WITHOUT
from core.store.score_line import score_line
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import read_table

FEW = 3  # verdicts that are shown at once
LOOKS = {  # icon and colour, by evidence, never by direction
    OPPOSITE: (":material/call_split:", "orange"),
    BOTH_SIDES: (":material/question_mark:", "gray"),
    ONE_SIDE: (":material/remove:", "gray"),
}
WORDS = {OPPOSITE: "opposite identities", BOTH_SIDES: "on both sides"}
PAIRS = {ALL_PAIRS: "all pairs: ", WITHOUT: "without confounded pairs: "}
UNDEFINED = "undefined", (":material/block:", "gray")
HELP = (
    "**opposite identities**: some lie clearly above 50 % and some clearly below, all taken "
    "together; **on both sides**: only their shares do; **on one side**: no share lies on the "
    "other side, and some clearly on theirs; **none clear**: no identity lies clearly off 50 %. "
    "None of them says that a model treats people alike."
)


def show_overview(asked: Asked) -> None:
    """The warning where averages hide opposite identities, and a verdict for each model."""
    table = read_table(asked.question, "overview")
    rows = rows_shown(table.rows, asked)
    if hidden := hidden_sentence(rows):
        st.warning(f"**{literal(hidden)}**", icon=":material/call_split:")
    _say_unscored(asked, rows)
    if len(table.rows) <= FEW:
        st.markdown("\n".join(_lines(table.rows)), help=HELP)
        return
    every = st.expander(
        f"What every model does ({len(rows)})",
        icon=":material/list:",
        on_change="rerun",
        key="every-verdict",
    )
    if every.open:
        with every:
            st.markdown("\n".join(_lines(table.rows)), help=HELP)


def _say_unscored(asked: Asked, rows: pd.DataFrame) -> None:
    """The models that have not scored all pairs, with the line that scores the rest."""
    missing = rows[rows["n_not_scored"] > 0].to_dict("records")
    if not missing:
        return
    ids = {model.label: model.scorer_id for model in asked.panel.models}
    said = [f"{row['model']} ({_coverage(row)})" for row in missing]
    st.warning(
        f"Not all pairs are scored under {literal(', '.join(said[:FEW]))}"
        + (f" and {len(said) - FEW:,} more" if len(said) > FEW else "")
        + "; numbers are of those that are. This line scores the rest under the first:",
        icon=":material/hourglass_empty:",
    )
    line = score_line(open_cache(), asked.question.dataset, ids[missing[0]["model"]])
    st.code(line, language="bash", wrap_lines=True)


def _coverage(row: Mapping[Any, Any]) -> str:
    scored = row["n"] + row["n_uninformative"]
    return f"{scored:,} of {scored + row['n_not_scored']:,}"


def show_model_verdict(asked: Asked) -> None:
    """The sentence about the model looked at, where those of all models are folded away."""
    rows = read_table(asked.question, "overview").rows
    if len(rows) <= FEW:
        return
    lines = list(_lines(rows[rows["model"] == asked.model.label]))
    st.markdown("\n".join(lines), help=HELP)


def rows_shown(rows: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """The rows with all pairs, or those without confounded ones where these are left out."""
    if "pairs" not in rows:
        return rows
    return rows[(rows["pairs"] != ALL_PAIRS) == asked.selection.without_confounded]


def _words(row: Mapping[Any, Any]) -> str:
    """What the badge of a model says."""
    if row["hides"] in WORDS:
        return WORDS[row["hides"]]
    if row["n_identities"] == 1:
        return "one identity"
    return "on one side" if row["n_below"] + row["n_above"] else "none clear"


def _lines(rows: pd.DataFrame) -> Iterator[str]:
    for row in rows.to_dict("records"):
        defined = not pd.isna(row["bias_w"])
        words, (icon, colour) = (_words(row), LOOKS[row["hides"]]) if defined else UNDEFINED
        which = PAIRS[row["pairs"]] if "pairs" in row else ""
        yield f"- :{colour}-badge[{icon} {words}] {literal(which + row['verdict'])}"
