"""Wording variance and changes of single items on the Noise floor page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.distributions import Distributions
from core.analysis.audit.floor_sentences import wording_sentences
from core.analysis.audit.names import LANGUAGE
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.wording_variance import REWORDINGS
from core.figures.item_changes import distribution_figure
from core.figures.theme import Figure
from core.figures.wording import wording_figure
from core.settings import REFERENCE_CONDITION
from pages.shared.audit.floor_columns import Shown, number, pinned
from pages.shared.data import Stamp, key_of
from pages.shared.figures import literal, show_figure
from pages.shared.tables import condition_name, pvalue, show_notes, show_table

_OF_WORDINGS = ("tau", "tau_says", "sampling_sd", "reason")  # columns that languages lack
ABOUT_TAU = st.column_config.TextColumn(
    "Is tau 0?", width=120, help="With few rewordings a tau of 0 is not known to be 0"
)
OUTSIDE = st.column_config.TextColumn("Languages outside", width="medium")
WHY_WORDING = (
    "The test over items asks whether the items agree on a change. One rewording can move all "
    "items alike, by its form and not by its meaning; then the items agree, and the test takes it "
    "for a shift, however many items there are. So could a translation, which is one more wording. "
    "Only several rewordings of the same items show how far wordings differ among themselves "
    "(tau). The prediction interval says where the mean of one more rewording would come to lie, "
    "and decides: it needs at least three rewordings, and is wide with so few."
)


def wording_part(shown: Shown, scorer_id: str) -> None:
    """How far wordings differ, and which languages lie beyond one more of them."""
    st.subheader("Would one more rewording do as much?")
    st.markdown(WHY_WORDING)
    table = shown.found.tables["wording_variance"]
    # The mean over one model is that model; its rows also have the exchange test.
    mine = table.rows[table.rows["scorer_id"] == scorer_id]
    languages = mine[mine["unit"] == LANGUAGE]
    reworded = mine[mine["unit"] == REWORDINGS]
    english = reworded[reworded["original"] == REFERENCE_CONDITION]
    if english.empty:
        show_notes(table)
        return
    row = english.to_dict("records")[0]
    who = shown.who(scorer_id)
    gaps = shown.rows("floor_vs_gap")
    of_all = not scorer_id or shown.n_models == 1
    above = gaps.loc[gaps["above"].fillna(False), "condition"].tolist() if of_all else []
    lines = wording_sentences(row, languages, who, above)
    st.markdown("\n".join(f"- {literal(line)}" for line in lines))
    if languages["mean_change"].notna().any() and pd.notna(row["prediction_low"]):
        means = reworded_means(shown, scorer_id)
        languages = shown.with_interval(languages) if of_all else languages
        show_figure(
            wording_figure(languages, means, row, who=who, score=shown.score, origin=shown.dataset),
            f"wording-variance-{shown.dataset}-{scorer_id or 'all'}",
            shown.found.provenance,
            table=languages,
        )
    _show_tables(shown, table, languages, scorer_id)


def _show_tables(shown: Shown, table: AuditTable, languages: pd.DataFrame, scorer_id: str) -> None:
    """The numbers of all models, and those of the languages of the one looked at."""
    of_wordings = table.rows[table.rows["unit"] == REWORDINGS]
    if shown.n_models == 1:  # the mean over one model is that model
        of_wordings = of_wordings[of_wordings["scorer_id"] != ""]
    of_wordings = of_wordings.assign(
        tau_says=of_wordings["tau2_raw"].map(_tau_words),
        languages_outside=of_wordings["languages_outside"].map(_named),
    )
    columns = {
        "model": pinned("Model"),
        "n": "n",
        "n_rewordings": "Rewordings",
        "mean_change": number("Mean change", sign=True),
        "tau": number("tau", "Standard deviation of wordings, beyond the choice of items"),
        **({"tau_says": ABOUT_TAU} if (of_wordings["tau2_raw"] <= 0).any() else {}),
        "sampling_sd": number("Sampling sd", "Of one rewording's mean, from the choice of items"),
        "prediction_low": number("Predicted from", "95 %, one more rewording", sign=True),
        "prediction_high": number("to", sign=True),
        "reason": "Undefined because",
    }
    show_table(
        AuditTable(of_wordings.reset_index(drop=True), table.notes),
        {"original": "Rewordings of", "languages_outside": OUTSIDE} | columns,
        f"wording-variance-{shown.dataset}",
    )
    if not languages.empty:
        _show_languages(shown, table, languages, scorer_id, columns)


def _show_languages(
    shown: Shown,
    table: AuditTable,
    languages: pd.DataFrame,
    scorer_id: str,
    columns: Mapping[str, Any],
) -> None:
    """The languages of one model, or of all; `columns` are those of the wordings."""
    with st.expander("Every language against one more rewording"):
        show_table(
            AuditTable(table.rows[table.rows["unit"] == LANGUAGE].reset_index(drop=True)),
            {
                "condition": pinned("Language"),
                **{k: v for k, v in columns.items() if k not in _OF_WORDINGS},
                "outside": st.column_config.CheckboxColumn("Outside"),
                "pvalue_prediction": pvalue("p prediction", "Of being one more rewording"),
                "qvalue_prediction": pvalue("q prediction"),
                "pvalue_exchange": pvalue(
                    "p exchange", "Is the translation just another wording, item by item?"
                ),
                "qvalue_exchange": pvalue("q exchange"),
                "reason": "Undefined because",
            },
            f"languages-against-wording-{shown.dataset}-{scorer_id or 'all'}",
            rows=languages,
        )


def _named(languages: str) -> str:
    return ", ".join(map(condition_name, languages.split(", ")))


def _tau_words(tau2_raw: float) -> str:
    """That a tau cut at 0 is not known to be 0."""
    return "too few to tell" if tau2_raw <= 0 else ""


def reworded_means(shown: Shown, scorer_id: str) -> pd.DataFrame:
    """Mean change of each rewording of English behind the prediction interval."""
    floors = shown.rows("floors")
    english = floors[(floors["original"] == REFERENCE_CONDITION) & (floors["subset"] == "")]
    if scorer_id or shown.n_models == 1:
        chosen = english[english["scorer_id"] == (scorer_id or next(iter(shown.names)))]
        full = chosen[chosen["full_coverage"]]
        means = chosen if full.empty else full
        return means[["condition", "mean_change", "n"]]
    tests = shown.rows("item_tests")
    means = tests[tests["group_kind"] == "rewording"]
    everywhere = english.groupby("condition")["full_coverage"].all()
    if everywhere.any():
        means = means[means["condition"].map(everywhere)]
    # The drop is minus the mean change.
    return means.assign(mean_change=-means["drop"], n=means["n_drop"])[
        ["condition", "mean_change", "n"]
    ]


def distribution_part(shown: Shown, scorer_id: str, changes: Distributions) -> None:
    """Changes of single items, rewordings and languages on one scale."""
    st.subheader("How single items change")
    st.markdown(
        "A mean near zero can hide items that move far, both ways. Where the items of a language "
        "spread no wider than those of a rewording, the change of a single item is no sign of the "
        "language."
    )
    rows = changes.table.rows
    if rows["n"].sum():
        show_figure(
            _distribution_figure(
                *key_of(shown.found.request), scorer_id, _changes=changes, _shown=shown
            ),
            f"item-changes-{shown.dataset}-{scorer_id or 'all'}",
            shown.found.provenance,
            table=rows,
        )
    show_table(
        changes.table,
        {
            "condition": pinned("Condition"),
            "original": "From",
            "n": "n",
            "n_items": "Items",
            "n_models": "Models",
            "mean_change": number("Mean", sign=True),
            "sd": number("sd"),
            "q05": number("5 %", digits=3, sign=True),
            "q25": number("25 %", digits=3, sign=True),
            "q50": number("Median", digits=3, sign=True),
            "q75": number("75 %", digits=3, sign=True),
            "q95": number("95 %", digits=3, sign=True),
            "reason": "Undefined because",
        },
        f"item-changes-{shown.dataset}-{scorer_id or 'all'}",
    )


# The curves take longer to make than to show, and few of the choices above change them.
@st.cache_resource(max_entries=50, show_spinner=False)
def _distribution_figure(
    folder: str,
    stamp: Stamp,
    request: AuditRequest,
    scorer_id: str,
    _changes: Distributions,
    _shown: Shown,
) -> Figure:
    rows, curves, who = _changes.table.rows, _changes.curves, _of_whom(_shown, scorer_id)
    return distribution_figure(rows, curves, who=who, score=_shown.score, origin=_shown.dataset)


def _of_whom(shown: Shown, scorer_id: str) -> str:
    """Whose items, as the end of a phrase: of several models they stand side by side."""
    one = scorer_id or shown.n_models == 1
    return shown.who(scorer_id) if one else f"under {shown.n_models} models, side by side"
