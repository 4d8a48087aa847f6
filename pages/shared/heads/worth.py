"""What a flag is worth: directions without meaning, held-out sentences, other models, settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.words import number, p_words
from core.analysis.heads.ablation import ablation_grid
from core.analysis.heads.agreement import model_agreement
from core.analysis.heads.positions import usual_centre
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.random_directions import random_table
from core.analysis.heads.sentences import centre_words, length_sentence
from core.analysis.heads.stored import StoredAxes
from core.analysis.heads.uncertainty import HalvesDifference, halves_differences, halves_table
from core.analysis.heads.validity import validity
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.store.gate import Cache
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked, other_question
from pages.shared.heads.data import read_axes_table
from pages.shared.heads.share import axis_stem
from pages.shared.heads.warnings import remember_check
from pages.shared.tables import pvalue, show_frame
from pages.shared.widgets import download_buttons, errors_end_this_part

_N = st.column_config.NumberColumn
AGREEMENT = {
    "what": "What",
    "dimension": "Of",
    "n": _N("n", format="%d", help="Groups on axes, or axes"),
    "agreement": _N("Agree", format="percent"),
    "expected": _N("By chance", format="percent", help="If the two were independent"),
    "kappa": _N("kappa", format="%.2f"),
    "r": _N("r", format="%.2f", help="Pearson's over groups, mean over axes"),
    "n_axes": _N("Axes", format="%d"),
    "reason": "Why undefined",
}
SETTINGS = {
    "dimension": "Dimension",
    "family": "Templates",
    "pooling": "Pooling",
    "n_templates": _N("Sentences", format="%d"),
    "k": _N("k", format="%d"),
    "accuracy": _N("Accuracy", format="percent"),
    "accuracy_sd": _N("sd of axes", format="%.3f"),
    "majority": _N("Guessing", format="percent"),
    "balanced_accuracy": _N("Balanced", format="percent"),
    "auc": _N("AUC", format="%.3f"),
    "pvalue": pvalue("p"),
    "n_axes": _N("Axes", format="%d"),
    "n_groups": _N("Labels", format="%d"),
    "reason": "Why undefined",
}
_HEIGHT = 420


@errors_end_this_part()
def show_worth(asked: Asked, axis: Axis, stored: StoredAxes | None) -> None:
    """Checks of the open axis, computed when asked for; they take a moment for each axis."""
    st.caption(
        "Where concepts and phrases differ in many directions, one without any meaning is flagged "
        "too, and a flag that such directions reach is worth little. One that they do not reach "
        "can still be of something else: their signs differ from head to head by chance, and what "
        "all heads share reaches further than they do."
    )
    if stored is None or not _asked_for("Check the open axis", "worth"):
        return
    cache = open_cache()
    found = _checks(str(cache.folder), cache.stamp(), asked.question, axis.axis_id)
    halves = _halves(str(cache.folder), cache.stamp(), asked.question, axis.axis_id, stored)
    sentences = [*_sentences(found), _halves_words(halves)]
    st.markdown("\n".join(f"- {literal(sentence)}" for sentence in sentences))
    rows, stem = pd.DataFrame([found]), axis_stem(axis, asked.model)
    download_buttons(lambda: rows, [str(c) for c in rows], f"checks-{stem}")
    st.caption("Each concept's values from either half of the sentences:")
    both = halves_table(halves)
    download_buttons(lambda: both, [str(c) for c in both], f"halves-{stem}")
    if remember_check(asked.question, axis.axis_id, found):
        st.rerun()  # the verdict above says it too


def show_models(asked: Asked, stored: StoredAxes | None) -> None:
    """How far the second model says the same of groups and axes."""
    other = asked.selection.reader_compare
    if not other:
        st.caption("Choose a second model under *Beside* on the head map to hold it against this.")
        return
    try:
        second = read_axes_table(other_question(asked, other))
        if stored is None or second is None:
            st.info("The tests of both models have to be computed first.", icon=":material/info:")
            return
        rows = model_agreement(stored, second)
    except StereoscopeError as error:
        st.warning(literal(str(error)), icon=":material/info:")
        return
    st.markdown(f"{literal(asked.model)} and {literal(asked.labels[other])}")
    _show(rows, AGREEMENT, "content", f"models-{asked.question.axes}")


@errors_end_this_part()
def show_settings(asked: Asked) -> None:
    """Position accuracy in every setting: templates, pooling, sentences, heads."""
    if _asked_for("Compare all settings (a few seconds)", "settings"):
        cache = open_cache()
        rows = _grid(str(cache.folder), cache.stamp(), asked.question)
        centre = centre_words(asked.question.concepts, asked.question.reference)
        st.caption(f"Centre: {literal(centre)}. p is not adjusted over settings and k.")
        _show(rows, SETTINGS, _HEIGHT, f"settings-{asked.question.axes}-{asked.question.concepts}")


def _sentences(row: dict[str, Any]) -> list[str]:
    found = []
    if row["n_directions"]:
        found.append(
            f"Of {int(row['n_directions']):,} random directions in the same "
            f"{int(row['n_heads']):,} heads, {_percent(row['share'])} are flagged; their D has "
            f"the median {number(row['median'], 2)}, this axis has {number(row['statistic'], 2)} "
            f"({p_words('p', row['pvalue'])} among them)."
        )
    found += [
        f"Directions from either half of the sentences have a cosine of "
        f"{number(row['halves_cosine'], 2)}, and {_percent(row['halves_overlap'])} of the best "
        f"heads in common ({_percent(row['halves_overlap_expected'])} by chance). R of the best "
        f"heads is {number(row['separability_first'])}, in held-out sentences "
        f"{number(row['separability_held_out'])} (chance {number(row['held_out_chance'])}).",
        f"{_percent(row['above_swapped'])} of {int(row['n_heads_swapped']):,} heads separate the "
        "poles better than under every swap of labels "
        f"({_percent(row['above_swapped_expected'])} by chance).",
        length_sentence(row),
    ]
    if not pd.isna(row["floor_statistic"]):
        floor = number(row["floor_statistic"], 2)
        found.append(f"Reference phrases against reference phrases have a mean D of {floor}.")
    if row["reason"]:
        found.append(f"Undefined: {row['reason']}.")
    return found


def _percent(share: float) -> str:
    return "an undefined share" if pd.isna(share) else f"{100 * share:.0f} %"


def _halves_words(halves: HalvesDifference) -> str:
    """What other sentences would change, as far as it is known."""
    if not halves.n_concepts:
        return f"From either half of the sentences: undefined ({halves.reason})."
    r = f"undefined ({halves.reason})" if halves.reason else number(halves.r, 2)
    return (
        "Concepts' values from either half of the sentences, in the same heads, have the "
        f"correlation r = {r} and differ by {number(halves.mean_difference, 2)} sd on average "
        f"(n = {halves.n_concepts:,} concepts, {halves.n_heads:,} heads)."
    )


def _asked_for(label: str, key: str) -> bool:
    return bool(st.toggle(label, key=f"{key}-shown", persist_state="session"))


def _show(rows: pd.DataFrame, columns: dict[str, Any], height: Any, stem: str) -> None:
    shown = {n: c for n, c in columns.items() if n != "reason" or (rows["reason"] != "").any()}
    show_frame(rows[list(shown)], shown, height=height)
    download_buttons(lambda: rows, list(shown), stem)


@st.cache_resource(max_entries=100, show_spinner="Checking the axis …")
def _checks(folder: str, stamp: Stamp, question: HeadsQuestion, axis_id: str) -> dict[str, Any]:
    cache, stored = Cache(Path(folder)), read_axes_table(question)
    if stored is None:
        return {}
    checks = validity(cache, stored, [axis_id]).axes
    beside = random_table(cache, stored, [axis_id])
    row = checks.iloc[0].to_dict() | beside.drop(columns="reason").iloc[0].to_dict()
    return {str(name): value for name, value in row.items()}


@st.cache_resource(max_entries=20, show_spinner="Comparing settings …")
def _grid(folder: str, stamp: Stamp, question: HeadsQuestion) -> pd.DataFrame:
    return ablation_grid(Cache(Path(folder)), question, centre=usual_centre(question))


@st.cache_resource(max_entries=100, show_spinner="Comparing sentences …")
def _halves(
    folder: str, stamp: Stamp, question: HeadsQuestion, axis_id: str, _stored: StoredAxes
) -> HalvesDifference:
    """The open axis in the heads that the question's table has for it."""
    held = _stored.held
    i = [axis.axis_id for axis in held.axes].index(axis_id)
    cache = Cache(Path(folder))
    return next(halves_differences(cache, question, [held.axes[i]], [held.heads[i]]))
