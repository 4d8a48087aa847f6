"""What the page about identity pairs is asked: data set, models, language, and what beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

import streamlit as st

from core.analysis.identities.panel import IdentityPanel, Model
from core.analysis.overview import STAMP, Overview, is_simulated, scorer_labels
from core.languages import language_name
from core.selection import Selection
from core.store.score_line import shell_line
from pages.shared import state
from pages.shared.absent import say_absent
from pages.shared.data import open_cache, read_overview
from pages.shared.figures import literal
from pages.shared.identities.data import (
    IdentityQuestion,
    read_confounds,
    read_identity_datasets,
    read_pair_scorers,
    read_panel,
    read_panels,
    read_scorers,
)
from pages.shared.tables import SIMULATED
from pages.shared.widgets import errors_in_one_sentence, nothing_scored

STARTER = "data/identity_pairs/en"  # in the project's folder


@dataclass(frozen=True)
class Asked:
    """The question, the model that is looked at closely, and the pairs behind both."""

    question: IdentityQuestion
    model: Model
    panel: IdentityPanel
    selection: Selection
    n_confounded: int  # of the panel's pairs

    @property
    def provenance(self) -> dict[str, object]:
        """What figures are made from."""
        return {
            "dataset": self.question.dataset,
            "condition": self.question.condition,
            "scorers": [model.scorer_id for model in self.panel.models],
            "simulated": bool(st.session_state.get(SIMULATED)),
        }


@errors_in_one_sentence()
def choose_pairs(selection: Selection) -> Asked:
    """Data set, models, language and what to hold beside; ends the page where there is nothing."""
    held = read_overview()
    datasets = read_identity_datasets() if held is not None else []
    if held is None or not datasets:
        _no_identity_pairs()
    scored = [name for name in datasets if read_pair_scorers(name)]
    if not scored:
        nothing_scored(selection.dataset if selection.dataset in datasets else datasets[0])
        st.stop()
    wanted = selection
    dataset = selection.dataset if selection.dataset in scored else scored[0]
    scorers = read_pair_scorers(dataset)
    models = tuple(s for s in selection.models if s in scorers)
    conditions = [panel.condition for panel in read_panels(dataset, models)]
    condition = selection.condition if selection.condition in conditions else conditions[0]
    other = selection.other_set if selection.other_set in scored else ""
    selection = replace(
        selection,
        dataset=dataset,
        models=models,
        condition=condition,
        other_set="" if other == dataset else other,
    )
    _widgets(selection, scored, scorers, conditions, scorer_labels(held.scorers))
    _say_what_is_missing(wanted, selection)
    question = IdentityQuestion(
        dataset=dataset,
        scorers=models,
        condition=condition,
        other_set=selection.other_set,
        seed=selection.seed,
    )
    _stamp(held, question)
    return _asked(question, selection)


def _stamp(held: Overview, question: IdentityQuestion) -> None:
    """Say that no model stands behind numbers of the page, of either data set."""
    simulated = any(
        is_simulated(held.datasets, held.scorers, name, read_scorers(name, question.scorers))
        for name in (question.dataset, question.other_set)
        if name
    )
    st.session_state[SIMULATED] = simulated
    if simulated:
        st.warning(f"**{STAMP}**", icon=":material/science:")


def choose_model(asked: Asked) -> None:
    """The one model that is looked at closely."""
    names = {model.scorer_id: model.label for model in asked.panel.models}
    state.show_field("scorer", asked.model.scorer_id)
    st.selectbox(
        "Model",
        list(names),
        format_func=names.__getitem__,
        disabled=len(names) == 1,
        **state.bound("scorer"),
    )


def _asked(question: IdentityQuestion, selection: Selection) -> Asked:
    panel = read_panel(question)
    known = {model.scorer_id: model for model in panel.models}
    say_absent("scorer", known)
    say_absent("identity", panel.identities)
    model = known.get(selection.scorer, panel.models[0])
    identity = selection.identity if selection.identity in panel.identities else ""
    n_confounded = int(read_confounds(question).rows["n_confounded"].sum())
    selection = replace(
        selection,
        scorer=model.scorer_id,
        identity=identity,
        without_confounded=selection.without_confounded and 0 < n_confounded < len(panel.facts),
        only_confounded=selection.only_confounded and n_confounded > 0,
    )
    return Asked(question, model, panel, selection, n_confounded)


def _widgets(
    selection: Selection,
    datasets: list[str],
    scorers: list[str],
    conditions: list[str],
    labels: dict[str, str],
) -> None:
    left, middle, right = st.columns([2, 4, 2])
    state.show_field("dataset", selection.dataset)
    left.selectbox("Data set", datasets, **state.bound("dataset"))
    state.show_field("models", list(selection.models))
    middle.multiselect(
        "Models",
        scorers,
        format_func=labels.__getitem__,
        placeholder="the only one" if len(scorers) == 1 else f"all {len(scorers)}",
        **state.bound("models", tuple),
    )
    with right:
        if len(conditions) > 1:
            state.show_field("condition", selection.condition)
            st.selectbox(
                "Language", conditions, format_func=language_name, **state.bound("condition")
            )
        others = ["", *(name for name in datasets if name != selection.dataset)]
        if len(others) > 1:
            state.show_field("other_set", selection.other_set)
            st.selectbox(
                "Beside",
                others,
                format_func=lambda name: name or "no other data set",
                help="A data set of the same predicates in another language, held against this "
                "one under *Languages*",
                **state.bound("other_set"),
            )


def _say_what_is_missing(wanted: Selection, shown: Selection) -> None:
    """Name what a link or another page asks for and is not here."""
    sentences = list(state.link_problems())
    if wanted.dataset and wanted.dataset != shown.dataset:
        sentences.append(
            f"{wanted.dataset} has no scored pairs of identities; {shown.dataset} is shown instead."
        )
    linked = state.linked()  # other pages leave the condition of an item, which asks for nothing
    asked = (linked.dataset, linked.condition) == (shown.dataset, wanted.condition)
    if asked and wanted.condition not in ("", shown.condition):
        there, here = map(language_name, (wanted.condition, shown.condition))
        sentences.append(f"{shown.dataset} has no pairs in {there}; {here} is shown instead.")
    if gone := [s for s in wanted.models if s not in shown.models]:
        sentences.append(f"{shown.dataset} has no scores under {', '.join(gone)}.")
    if wanted.other_set not in ("", shown.other_set, shown.dataset):
        sentences.append(f"{wanted.other_set} cannot be held beside {shown.dataset}.")
    if sentences:
        lines = "\n".join(f"- {literal(sentence)}" for sentence in sentences)
        st.warning(f"Not everything is as it was asked for:\n\n{lines}", icon=":material/link_off:")


def _no_identity_pairs() -> NoReturn:
    """How to get pairs of identities; ends the page."""
    st.info(
        "No data set in the cache has pairs that name an identity and a predicate. These lines, "
        "run in the project's folder, build a small set and score it with the demo model, which "
        "takes about two minutes; your own pairs are built from five CSV files in the same way.",
        icon=":material/info:",
    )
    cache = open_cache()
    build = shell_line(cache, "build-pairs", STARTER, "--dataset", "starter-en")
    score = shell_line(cache, "score", "--dataset", "starter-en", "--model", "demo")
    st.code(f"{build}\n{score}", language="bash")
    st.stop()
