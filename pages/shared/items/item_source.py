"""What the Items page looks at: data set and scorers, and what is said above the rows."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.analysis.filtering import Matches
from core.analysis.overview import scorer_labels
from core.analysis.pair_items import summary_sentences
from core.selection import Selection
from core.stats.noise import RewordingNoise
from core.words import counted
from pages.shared import state
from pages.shared.data import read_noise, read_overview, read_rules, read_summaries
from pages.shared.figures import literal
from pages.shared.widgets import empty_cache, nothing_scored

PAIR_CAUTION = (
    "Of the pairs that pass; a tie counts one half. 50 % is neutral, and an average can hide "
    "groups that go opposite ways."
)


def choose_source(selection: Selection) -> Selection:
    """Data set and scorers to look at; ends the page when there is nothing to choose from.

    Data sets without scores come last, and open where one is asked for: their texts can be read.
    """
    held = read_overview()
    if held is None or held.datasets.empty:
        empty_cache()
        st.stop()
    pairs = held.coverage[held.coverage["scorer_id"] != ""]
    scored = pairs["dataset"].unique().tolist()
    datasets = [*scored, *(d for d in held.datasets["dataset"] if d not in scored)]
    if not scored and selection.dataset not in datasets:
        nothing_scored(datasets[0])
        st.stop()
    labels = scorer_labels(held.scorers)

    def named(scorer_id: str) -> str:
        return f"{labels[scorer_id]} ({scorer_id})" if scorer_id else "not scored yet"

    left, middle, right = st.columns([2, 3, 3])
    dataset = selection.dataset if selection.dataset in datasets else datasets[0]
    scorers = pairs.loc[pairs["dataset"] == dataset, "scorer_id"].unique().tolist() or [""]
    scorer = selection.scorer if selection.scorer in scorers else scorers[0]
    others = list(dict.fromkeys(["", *(s for s in scorers if s != scorer)]))
    compare = selection.compare if selection.compare in others else ""
    for name, value in (("dataset", dataset), ("scorer", scorer), ("compare", compare)):
        state.show_field(name, value)
    left.selectbox("Data set", datasets, **state.bound("dataset"))
    middle.selectbox(
        "Scorer",
        scorers,
        format_func=named,
        disabled=not scorer,
        **state.bound("scorer"),
    )
    right.selectbox(
        "Compare with",
        others,
        format_func=lambda s: named(s) if s else "no other scorer",
        disabled=len(others) == 1,
        **state.bound("compare"),
    )
    if not scorer:
        nothing_scored(dataset)
    return replace(selection, dataset=dataset, scorer=scorer, compare=compare)


def noise_line(noise: RewordingNoise) -> str:
    """What mere rewording does under this scorer, in a sentence."""
    if noise.n_changes < 2:
        return "No English rewording is scored, so there is no yardstick for a change."
    floor = (
        f"it moves the mean by {noise.floor:.3f} (n = {counted(noise.n_rewordings, 'rewording')})"
        if noise.n_rewordings
        else "no rewording covers all items, so what it does to the mean is unknown"
    )
    return (
        f"Rewording alone spreads the changes of single English items with a standard deviation of "
        f"{noise.item_sd:.3f} (n = {counted(noise.n_changes, 'change')}); {floor}."
    )


def summary_lines(selection: Selection, matches: Matches) -> None:
    """How often the pairs that pass prefer the stereotypical sentence, and what rewording does."""
    if not selection.scorer:
        return
    noise = read_noise(selection.scorer, selection.dataset)
    if not read_rules(selection.scorer, selection.dataset):
        st.caption(noise_line(noise))
        return
    found = read_summaries(selection, matches.positions)
    sentences = summary_sentences(found, selection.unit)
    if sentences:
        st.markdown("\n".join(f"- {literal(sentence)}" for sentence in sentences))
        st.caption(PAIR_CAUTION)
    if noise.n_changes:
        st.caption(noise_line(noise))
