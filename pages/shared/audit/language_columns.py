"""Columns of the tables on the Languages page: labels, digits, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared.tables import pvalue


def _number(label: str, digits: int = 3, *, sign: bool = False, text: str = "") -> Any:
    return st.column_config.NumberColumn(
        label, format=f"%{'+' if sign else ''}.{digits}f", help=text or None
    )


LANGUAGE = st.column_config.TextColumn("Language", pinned=True)
REASON = st.column_config.TextColumn("Why a dash", width="medium")
Q = pvalue("q", "After Benjamini and Hochberg over the family of tests")
MAIN: Mapping[str, Any] = {
    "language": LANGUAGE,
    "reads": st.column_config.TextColumn(
        "Reads", width=150, help="The verdict, as in the sentences above"
    ),
    "drop_items": _number(
        "Drop", sign=True, text="English minus language, items that every model scored"
    ),
    "over_items": st.column_config.TextColumn("95 % over items", help="Bootstrap over items"),
    "n_items": st.column_config.NumberColumn("n items"),
    "t": _number("T", sign=True, text="Drop beyond that of rewording, on which verdicts rest"),
    "t_between": st.column_config.TextColumn(
        "90 % of T", help="Equivalent where it lies inside the margin"
    ),
    "qvalue": pvalue("q", "Of T, over the languages"),
    "n_needed": _number("Items needed", 0, text="To show equivalence, if there is no difference"),
    "drop": _number(
        "Drop by model",
        sign=True,
        text="Mean over the models of each one's drop; in the last row the median noise floor",
    ),
    "over_models": st.column_config.TextColumn(
        "95 % over models", help="t interval: the spread of these models on these same items"
    ),
    "n_models": st.column_config.NumberColumn("n models"),
    "n_reliable": st.column_config.NumberColumn(
        "Reliable drops", help="Models of n that drop with q < .05 over all cells"
    ),
    "n_reliable_binary": st.column_config.NumberColumn(
        "Reliable, binary", help="The same for which pole wins"
    ),
    "score": _number("Score", text="Mean over models and items"),
    "score_binary": _number("Binary score", text="Share of items where the stereotype wins"),
    "n": st.column_config.NumberColumn("n scores"),
    "slope": _number("Slope", 2, text="Of the score in the language on that in English"),
    "same_choice": _number("Same choice", 2, text="Share of items with the same pole ahead"),
    "fluency": _number("Fluency", 2, text="How often a pole beats an unrelated continuation"),
    "n_fluency": st.column_config.NumberColumn("n fluency"),
    "reason": REASON,
}
TESTS: Mapping[str, Any] = {
    "language": LANGUAGE,
    "group": st.column_config.TextColumn("Group", width="medium"),
    "t": _number("T", sign=True, text="Drop beyond that of rewording"),
    "over_items": st.column_config.TextColumn("95 % over items"),
    "n": st.column_config.NumberColumn("n items"),
    "n_left_out": st.column_config.NumberColumn("left out", help="Not scored by every model"),
    "pvalue": pvalue("p"),
    "qvalue": Q,
    "n_tests": st.column_config.NumberColumn("tests", help="Size of the family behind q"),
    "reason": REASON,
}
KINDS: Mapping[str, Any] = {
    "language": LANGUAGE,
    "score": "Score",
    "finds": "Finds",
    "verdict": "Verdict",
    "drop": _number("Drop", sign=True, text="In the unit of this score"),
    "over_items": st.column_config.TextColumn("95 % over items"),
    "n": st.column_config.NumberColumn("n items"),
    "t": _number("T", sign=True, text="Drop beyond that of rewording"),
    "qvalue": Q,
    "n_t": st.column_config.NumberColumn("n of T"),
    "test": "Test",
    "depends_on_score": st.column_config.CheckboxColumn("Depends on the score"),
    "reason": REASON,
}
FEWEST: Mapping[str, Any] = {
    "language": LANGUAGE,
    "n_items": st.column_config.NumberColumn(
        "Fewest items", help="Without them the verdict is another one; an upper bound"
    ),
    "share_items": st.column_config.NumberColumn("Share", format="percent"),
    "n": st.column_config.NumberColumn("of n"),
    "drop": _number("T of the rest", sign=True),
    "pvalue": pvalue("p of the rest"),
    "significant": st.column_config.CheckboxColumn("Then significant"),
    "item_ids": st.column_config.TextColumn("Items", width="medium"),
    "reason": REASON,
}
LEFT_OUT: Mapping[str, Any] = {
    "choice": "Without",
    "value": st.column_config.TextColumn("which is", width="medium"),
    "n": st.column_config.NumberColumn("n left"),
    "n_items": st.column_config.NumberColumn("Items gone"),
    "drop": _number("T", sign=True),
    "pvalue": pvalue("p"),
    "significant": st.column_config.CheckboxColumn("Significant"),
    "flips": st.column_config.CheckboxColumn("Flips the verdict"),
    "reason": REASON,
}
NATIVES: Mapping[str, Any] = {
    "model": st.column_config.TextColumn("Model", pinned=True),
    "language": "Language",
    "score": _number("Natives"),
    "n": st.column_config.NumberColumn("n natives"),
    "score_translated": _number("Translations"),
    "n_translated": st.column_config.NumberColumn("n translations"),
    "score_binary": _number("Natives, binary"),
    "score_translated_binary": _number("Translations, binary"),
    "reason": REASON,
}
SHRUNK: Mapping[str, Any] = {
    "model": st.column_config.TextColumn("Model", pinned=True),
    "language": "Language",
    "drop": _number("Drop", sign=True),
    "shrunk": _number("Shrunk", sign=True, text="Toward the mean of the language"),
    "between": st.column_config.TextColumn("95 % of the shrunk"),
    "language_drop": _number("Mean of language", sign=True, text="That it is pulled toward"),
    "qvalue": Q,
    "n": st.column_config.NumberColumn("n items"),
    "n_models": st.column_config.NumberColumn("n models"),
    "reason": REASON,
}
CROSSED: Mapping[str, Any] = {
    "language": LANGUAGE,
    "drop_pooled": _number("Drop over scores", sign=True, text="Mean over all scores"),
    "over_both": st.column_config.TextColumn("95 % over items and models"),
    "n": st.column_config.NumberColumn("n items"),
    "t_pooled": _number("T over scores", sign=True, text="Drop beyond that of rewording"),
    "t_over_both": st.column_config.TextColumn("95 % of T over both"),
    "n_t": st.column_config.NumberColumn("n of T"),
    "n_models": st.column_config.NumberColumn("n models"),
    "reason": REASON,
}
FLOW: Mapping[str, Any] = {
    "condition": st.column_config.TextColumn("Version", pinned=True),
    "native": st.column_config.CheckboxColumn("Natives"),
    "model": "Model",
    "n": st.column_config.NumberColumn("Imported"),
    "n_collapsed": st.column_config.NumberColumn("Collapsed", help="Both poles are one text"),
    "n_not_scored": st.column_config.NumberColumn("Not scored"),
    "why": st.column_config.TextColumn("Why", width="medium"),
    "n_used": st.column_config.NumberColumn("Used"),
    "n_compared": st.column_config.NumberColumn("Compared", help="With a score in the original"),
    "n_models": st.column_config.NumberColumn("n models"),
}
UNKNOWN: Mapping[str, Any] = {
    "language": LANGUAGE,
    "model": "Model",
    "share": _number("Unknown", text="Share of the items whose unknown answer beats both groups'"),
    "n": st.column_config.NumberColumn("n items"),
}
OFFICIAL: Mapping[str, Any] = {
    "language": LANGUAGE,
    "model": "Model",
    "stereoset_lms": _number("LMS", text="How often a meaningful continuation beats the unrelated"),
    "stereoset_ss": _number("SS", text="How often the stereotype wins; 0.5 is no preference"),
    "stereoset_icat": _number("ICAT", text="LMS, less the further SS is from 0.5"),
    "stereoset_n_terms": st.column_config.NumberColumn("n terms"),
    "stereoset_n": st.column_config.NumberColumn("n items"),
}
CONSISTENCY: Mapping[str, Any] = {
    "quantity": st.column_config.TextColumn("Quantity", pinned=True),
    "model": "Model",
    "reference": "Reference",
    "condition": "Language",
    "value": _number("Value"),
    "n": st.column_config.NumberColumn("n"),
    "n_languages": st.column_config.NumberColumn("n languages"),
    "n_models": st.column_config.NumberColumn("n models"),
    "reason": REASON,
}
