"""Floors and gaps on the Noise floor page."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.floor_sentences import (
    floor_sentence,
    gap_reading,
    gap_sentence,
    rewording_sentence,
)
from core.analysis.audit.names import LANGUAGE, MODEL
from core.analysis.audit.request import AuditRequest, AuditTable
from core.figures.noise_floor import floor_figure, gap_figure
from core.figures.theme import Figure
from core.settings import REFERENCE_CONDITION
from pages.shared.audit.floor_columns import Shown, number, pinned
from pages.shared.data import Stamp, key_of
from pages.shared.figures import literal, show_figure
from pages.shared.tables import condition_name, pvalue, show_notes, show_table

BADGES = {
    "above the floor": (":material/priority_high:", "violet"),
    "not shown above": (":material/question_mark:", "gray"),
    "below the floor": (":material/drag_handle:", "blue"),
    "undefined": (":material/block:", "gray"),
}
NOT_FAIR = (
    "A gap above the floor is more than these rewordings make of the same items; it does not say "
    "why. A gap that is not shown above is not shown to be none. Neither says that a model, or a "
    "language, is fair."
)
OF_MODELS: dict[str, Any] = {
    "model": pinned("Model"),
    "floor": number("Floor", "Mean over rewordings of full coverage of |mean change|"),
    "expected_noise": number("Pure noise", "What the floor would be of noise alone"),
    "n_rewordings": "Rewordings",
    "n_items": "n",
    "reason": "Undefined because",
}
OF_REWORDINGS: dict[str, Any] = {
    "model": pinned("Model"),
    "condition": "Rewording",
    "full_coverage": st.column_config.CheckboxColumn(
        "Full", help="Scored on every item of the original: enters the floor"
    ),
    "subset": st.column_config.TextColumn(
        "On items of", help="A partial rewording whose items alone are taken here"
    ),
    "n": "n",
    "mean_change": number("Mean change", sign=True),
    "abs_mean_change": number("|Mean change|"),
    "expected_noise": number(
        "Pure noise", "sd · √(2 / (πn)): |mean change| of changes that are only noise"
    ),
    "sd": number("sd", "Of the changes of single items"),
    "pvalue": pvalue("p", "Sign-flip test over items"),
    "qvalue": pvalue("q", "Over all models and rewordings of the same original"),
    "slope": number("Slope", "Of the reworded score on the original one", 2),
    "similarity": number("Similarity", "Mean over the items that have one", 2),
    "reason": "Undefined because",
}


def floor_part(shown: Shown, by_model: AuditTable) -> None:
    """Per model and rewording: how far rewording moves the mean, beside pure noise."""
    st.subheader("How far rewording alone moves a mean")
    floors = shown.found.tables["floors"]
    if floors.rows.empty:
        show_notes(floors)
        return
    st.markdown(literal(floor_sentence(by_model.rows)))
    _show_figures(shown, floors.rows)
    _say_without_own(shown, floors.rows)
    show_table(by_model, OF_MODELS, f"floors-by-model-{shown.dataset}")
    with st.expander("Every model and rewording"):
        show_table(floors, OF_REWORDINGS, f"floors-{shown.dataset}")


def _show_figures(shown: Shown, floors: pd.DataFrame) -> None:
    """The rewordings of English, and folded away those of each translation."""
    for original, rows in floors.groupby("original", sort=False):
        english = original == REFERENCE_CONDITION
        place = (
            st.container()
            if english
            else st.expander(f"Rewordings of {condition_name(str(original))}")
        )
        with place:
            if rows["abs_mean_change"].notna().any():
                show_figure(
                    _floor_figure(*key_of(shown.found.request), str(original), rows, shown),
                    f"noise-floor-{original}-{shown.dataset}",
                    shown.found.provenance,
                    table=rows,
                )


def _say_without_own(shown: Shown, floors: pd.DataFrame) -> None:
    """Which languages have no rewording of their own."""
    languages = [c for c in shown.rows("floor_vs_gap")["condition"] if c]
    reworded = set(floors["original"])
    without = [c for c in languages if c not in reworded]
    if without:
        named = ", ".join(map(condition_name, without))
        st.caption(
            f":material/info: {named}: no rewordings of their own, so how far "
            "wording alone moves scores inside these languages cannot be said; they are held "
            "against the rewordings of English."
        )


def tested_part(shown: Shown) -> None:
    """Each rewording under the item test of the languages."""
    tested = shown.found.tables["item_tests"]
    rows = tested.rows[tested.rows["group_kind"] == "rewording"]
    if rows.empty:
        return
    st.subheader("Rewordings held to the test of the languages")
    st.markdown(literal(rewording_sentence(rows)))
    show_table(
        AuditTable(rows.reset_index(drop=True)),
        {
            "condition": pinned("Rewording"),
            "n": "n",
            "drop": number(
                "Drop", "Minus the mean change from English, over all models", sign=True
            ),
            "t": number("Beyond others", "Drop beyond that of the other rewordings", sign=True),
            "t_low": number("95 % from", sign=True),
            "t_high": number("to", sign=True),
            "pvalue": pvalue("p", "Sign-flip test over items"),
            "qvalue": pvalue("q", "Over the rewordings"),
            "n_models": "Models",
            "reason": "Undefined because",
        },
        f"rewordings-tested-{shown.dataset}",
    )


def gap_part(shown: Shown) -> None:
    """Gap against floor, per model and per language."""
    st.subheader("Is a gap larger than the floor?")
    table = shown.found.tables["floor_vs_gap"]
    rows = table.rows
    if rows["gap"].notna().any():
        show_figure(
            _gap_figure(*key_of(shown.found.request), rows, shown),
            f"gap-against-floor-{shown.dataset}",
            shown.found.provenance,
            table=rows,
        )
    of_models = rows[rows["unit"] == MODEL]
    st.markdown(_gap_lines(shown, rows[rows["unit"] == LANGUAGE]))
    if len(of_models) == 1:
        st.markdown(_gap_lines(shown, of_models))
    else:
        n_above = int(of_models["above"].fillna(False).sum())
        label = f"Every model in a sentence ({n_above} of {len(of_models)} above its floor)"
        with st.expander(label):
            st.markdown(_gap_lines(shown, of_models))
    st.caption(NOT_FAIR)
    names = [
        shown.names.get(row["scorer_id"], row["model"]) or condition_name(row["condition"])
        for row in rows.to_dict("records")
    ]
    show_table(
        AuditTable(rows.assign(name=names), table.notes),
        {
            "name": pinned("Of"),
            "gap": number("Gap", "Mean over languages, or of one, of |mean change|"),
            "floor": number("Floor", "Of the model: mean over rewordings of |mean change|"),
            "floor_of_mean": number(
                "Floor of the mean over models",
                "Mean over rewordings of |mean change|, each change a mean over models",
            ),
            "difference": number("Difference", sign=True),
            "difference_low": number("95 % from", "Bias-corrected, over items", sign=True),
            "difference_high": number("to", sign=True),
            "above": st.column_config.CheckboxColumn("Above"),
            "n_items": "n",
            "n_languages": "Languages",
            "n_rewordings": "Rewordings",
            "n_models": "Models",
            "reason": "Undefined because",
        },
        f"gap-against-floor-{shown.dataset}",
    )


def _gap_lines(shown: Shown, rows: pd.DataFrame) -> str:
    """A sentence for each row of `floor_vs_gap`, coloured by the evidence."""
    lines = []
    for row in rows.to_dict("records"):
        reads = gap_reading(row)
        icon, colour = BADGES[reads]
        sentence = literal(gap_sentence(row, shown.names.get(str(row["scorer_id"]), "")))
        lines.append(f"- :{colour}-badge[{icon} {reads}] {sentence}")
    return "\n".join(lines)


# Figures take longer to make than to show, and do not change with the model looked at below them.
@st.cache_resource(max_entries=50, show_spinner=False)
def _floor_figure(
    folder: str,
    stamp: Stamp,
    request: AuditRequest,
    original: str,
    _rows: pd.DataFrame,
    _shown: Shown,
) -> Figure:
    return floor_figure(_rows, _shown.names, score=_shown.score, origin=_shown.dataset)


@st.cache_resource(max_entries=50, show_spinner=False)
def _gap_figure(
    folder: str, stamp: Stamp, request: AuditRequest, _rows: pd.DataFrame, _shown: Shown
) -> Figure:
    return gap_figure(_rows, _shown.names, score=_shown.score, origin=_shown.dataset)
