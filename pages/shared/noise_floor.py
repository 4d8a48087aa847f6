"""The parts of the Noise floor page: floors, gaps, wording variance, changes of single items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.audit.audit import Audit
from core.analysis.audit.distributions import Distributions
from core.analysis.audit.floor_sentences import (
    floor_sentence,
    gap_reading,
    gap_sentence,
    rewording_sentence,
    wording_sentences,
)
from core.analysis.audit.floors import LANGUAGE, MODEL
from core.analysis.audit.request import AuditTable
from core.analysis.audit.wording import REWORDINGS
from core.figures.noise_floor import (
    distribution_figure,
    floor_figure,
    gap_figure,
    wording_figure,
)
from core.settings import REFERENCE_CONDITION
from pages.shared.audit import KIND_WORDS, show_notes, show_table
from pages.shared.figures import literal, show_figure

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
WHY_WORDING = (
    "The test over items asks whether the items agree on a change. One rewording can move all "
    "items alike, by its form and not by its meaning; then the items agree, and the test takes it "
    "for a shift, however many items there are. So could a translation, which is one more wording. "
    "Only several rewordings of the same items show how far wordings differ among themselves "
    "(tau). The prediction interval says where the mean of one more rewording would come to lie, "
    "and decides: it needs at least three rewordings, and is wide with so few."
)


@dataclass(frozen=True)
class Shown:
    """What every part of the page is told."""

    found: Audit
    names: Mapping[str, str]  # scorer id -> what its model is called, short
    score: str  # kind of score, in words
    dataset: str

    def rows(self, table: str) -> pd.DataFrame:
        """The rows of a table of the audit."""
        return self.found.tables[table].rows

    @property
    def n_models(self) -> int:
        """Models of the audit."""
        return len(self.names)

    def who(self, scorer_id: str) -> str:
        """Whose mean, as the end of a phrase."""
        if scorer_id or self.n_models == 1:
            return f"of {self.names[scorer_id or next(iter(self.names))]}"
        return f"over {self.n_models} models"

    def with_interval(self, languages: pd.DataFrame) -> pd.DataFrame:
        """The mean changes of languages with the item interval that their verdicts rest on.

        Only where both are of the same items.
        """
        known = self.rows("verdicts").set_index("condition").loc[languages["condition"]]
        same = known["n"].to_numpy() == languages["n"].to_numpy()
        low, high = -known["drop_high"].to_numpy(), -known["drop_low"].to_numpy()
        return languages.assign(
            change_low=np.where(same, low, np.nan), change_high=np.where(same, high, np.nan)
        )


def shown_of(found: Audit, names: Mapping[str, str]) -> Shown:
    """What the parts are told, from the audit."""
    request = found.request
    return Shown(found, names, f"score ({KIND_WORDS[request.kind]})", request.dataset)


def _number(label: str, help_text: str = "", digits: int = 4, sign: bool = False) -> Any:
    form = f"%{'+' if sign else ''}.{digits}f"
    return st.column_config.NumberColumn(label, help=help_text or None, format=form)


def _p(label: str, help_text: str = "") -> Any:
    return _number(label, help_text)


def _pinned(label: str) -> Any:
    """A column that stays in sight and leaves room for others on a narrow screen."""
    return st.column_config.TextColumn(label, pinned=True, width=110)


def floor_part(shown: Shown, by_model: AuditTable) -> None:
    """Per model and rewording: how far rewording moves the mean, beside pure noise."""
    st.subheader("How far rewording alone moves a mean")
    floors = shown.found.tables["floors"]
    if floors.rows.empty:
        show_notes(floors)
        return
    st.markdown(literal(floor_sentence(by_model.rows)))
    for original, rows in floors.rows.groupby("original", sort=False):
        english = original == REFERENCE_CONDITION
        place = st.container() if english else st.expander(f"Rewordings of {original}")
        with place:
            if rows["abs_mean_change"].notna().any():
                show_figure(
                    floor_figure(rows, shown.names, score=shown.score, origin=shown.dataset),
                    f"noise-floor-{original}-{shown.dataset}",
                    shown.found.provenance,
                    table=rows,
                )
    languages = [c for c in shown.rows("floor_vs_gap")["condition"] if c]
    reworded = set(floors.rows["original"])
    without = [c for c in languages if c not in reworded]
    if without:
        named = literal(", ".join(without))
        st.caption(
            f":material/info: {named}: no rewordings of their own, so how far "
            "wording alone moves scores inside these languages cannot be said; they are held "
            "against the rewordings of English."
        )
    show_table(
        by_model,
        {
            "model": _pinned("Model"),
            "floor": _number("Floor", "Mean over rewordings of full coverage of |mean change|"),
            "expected_noise": _number("Pure noise", "What the floor would be of noise alone"),
            "n_rewordings": "Rewordings",
            "n_items": "n",
            "reason": "Undefined because",
        },
        f"floors-by-model-{shown.dataset}",
    )
    with st.expander("Every model and rewording"):
        show_table(
            floors,
            {
                "model": _pinned("Model"),
                "condition": "Rewording",
                "full_coverage": st.column_config.CheckboxColumn(
                    "Full", help="Scored on every item of the original: enters the floor"
                ),
                "subset": st.column_config.TextColumn(
                    "On items of", help="A partial rewording whose items alone are taken here"
                ),
                "n": "n",
                "mean_change": _number("Mean change", sign=True),
                "abs_mean_change": _number("|Mean change|"),
                "expected_noise": _number(
                    "Pure noise", "sd · √(2 / (πn)): |mean change| of changes that are only noise"
                ),
                "sd": _number("sd", "Of the changes of single items"),
                "pvalue": _p("p", "Sign-flip test over items"),
                "qvalue": _p("q", "Over all models and rewordings of the same original"),
                "slope": _number("Slope", "Of the reworded score on the original one", 2),
                "similarity": _number("Similarity", "Mean over the items that have one", 2),
                "reason": "Undefined because",
            },
            f"floors-{shown.dataset}",
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
            "condition": _pinned("Rewording"),
            "n": "n",
            "drop": _number("Drop", "Minus the mean change from English, over all models"),
            "t": _number("Beyond others", "Drop beyond that of the other rewordings", sign=True),
            "t_low": _number("95 % from", sign=True),
            "t_high": _number("to", sign=True),
            "pvalue": _p("p", "Sign-flip test over items"),
            "qvalue": _p("q", "Over the rewordings"),
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
            gap_figure(rows, shown.names, score=shown.score, origin=shown.dataset),
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
    names = [row["model"] or row["condition"] for row in rows.to_dict("records")]
    show_table(
        AuditTable(rows.assign(name=names), table.notes),
        {
            "name": _pinned("Model or language"),
            "gap": _number("Gap", "Mean over languages, or of one, of |mean change|"),
            "floor": _number("Floor", "Mean over rewordings of |mean change|"),
            "difference": _number("Difference", sign=True),
            "difference_low": _number("95 % from", "Bias-corrected, over items", sign=True),
            "difference_high": _number("to", sign=True),
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
        drawn = shown.with_interval(languages) if of_all else languages
        show_figure(
            wording_figure(drawn, means, row, who=who, score=shown.score, origin=shown.dataset),
            f"wording-variance-{shown.dataset}-{scorer_id or 'all'}",
            shown.found.provenance,
            table=languages,
        )
    columns = {
        "model": _pinned("Model"),
        "n": "n",
        "n_rewordings": "Rewordings",
        "mean_change": _number("Mean change", sign=True),
        "tau": _number("tau", "Standard deviation of wordings, beyond the choice of items"),
        "sampling_sd": _number("Sampling sd", "Of one rewording's mean, from the choice of items"),
        "prediction_low": _number("Predicted from", "95 %, one more rewording", sign=True),
        "prediction_high": _number("to", sign=True),
        "reason": "Undefined because",
    }
    of_wordings = table.rows[table.rows["unit"] == REWORDINGS]
    if shown.n_models == 1:  # the mean over one model is that model
        of_wordings = of_wordings[of_wordings["scorer_id"] != ""]
    show_table(
        AuditTable(of_wordings.reset_index(drop=True), table.notes),
        {"original": "Rewordings of", "languages_outside": "Languages outside"} | columns,
        f"wording-variance-{shown.dataset}",
    )
    if languages.empty:
        return
    with st.expander("Every language against one more rewording"):
        show_table(
            AuditTable(table.rows[table.rows["unit"] == LANGUAGE].reset_index(drop=True)),
            {
                "condition": _pinned("Language"),
                **{k: v for k, v in columns.items() if k not in ("tau", "sampling_sd", "reason")},
                "outside": st.column_config.CheckboxColumn("Outside"),
                "pvalue_prediction": _p("p prediction", "Of being one more rewording"),
                "qvalue_prediction": _p("q prediction"),
                "pvalue_exchange": _p(
                    "p exchange", "Is the translation just another wording, item by item?"
                ),
                "qvalue_exchange": _p("q exchange"),
                "reason": "Undefined because",
            },
            f"languages-against-wording-{shown.dataset}-{scorer_id or 'all'}",
            rows=languages,
        )


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
        "A mean near zero can hide items that move far, both ways. A language whose items spread "
        "no wider than those of a rewording does to single items what rewording does."
    )
    rows = changes.table.rows
    who = _of_whom(shown, scorer_id)
    if rows["n"].sum():
        show_figure(
            distribution_figure(
                rows, changes.curves, who=who, score=shown.score, origin=shown.dataset
            ),
            f"item-changes-{shown.dataset}-{scorer_id or 'all'}",
            shown.found.provenance,
            table=rows,
        )
    show_table(
        changes.table,
        {
            "condition": _pinned("Condition"),
            "original": "From",
            "n": "n",
            "n_items": "Items",
            "n_models": "Models",
            "mean_change": _number("Mean", sign=True),
            "sd": _number("sd"),
            "q05": _number("5 %", digits=3, sign=True),
            "q25": _number("25 %", digits=3, sign=True),
            "q50": _number("Median", digits=3, sign=True),
            "q75": _number("75 %", digits=3, sign=True),
            "q95": _number("95 %", digits=3, sign=True),
            "reason": "Undefined because",
        },
        f"item-changes-{shown.dataset}-{scorer_id or 'all'}",
    )


def _of_whom(shown: Shown, scorer_id: str) -> str:
    """Whose items, as the end of a phrase: of several models they stand side by side."""
    one = scorer_id or shown.n_models == 1
    return shown.who(scorer_id) if one else f"under {shown.n_models} models, side by side"
