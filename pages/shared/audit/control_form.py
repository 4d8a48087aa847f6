"""Making the positive control from the page: models, sentences, what it takes, and the button."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from core.analysis.audit.panel import is_plain
from core.analysis.overview import scorer_labels
from core.errors import InputError, StereoscopeError
from core.items.control import Arms, arms_from_texts, length_notes, read_arms
from core.jobs.control import (
    ControlEstimate,
    chosen_requests,
    control_spec,
    estimate_control,
    known_requests,
)
from core.jobs.follow import JobView, can_resume
from core.jobs.launch import launch
from core.jobs.spec import CONTROL
from core.languages import language_name
from core.score_request import ScoreRequest
from core.store.gate import Cache
from core.words import duration_words
from pages.shared.data import Stamp, open_cache, read_overview
from pages.shared.figures import literal
from pages.shared.items.item_card import sensitive_css
from pages.shared.jobs.jobs import read_jobs, show_jobs
from pages.shared.widgets import errors_in_one_sentence, text_block

ESTIMATED = "control-estimated"
ARMS = {
    "neutral": "Says nothing of stereotypes",
    "true": "Calls stereotypes true",
    "false": "Calls stereotypes false",
}
NOBODY = (
    "No scores were computed in this cache, so there are no weights to score a positive "
    "control with; start a job on the page Runs first."
)
RULE = (
    "The fourth arm is the item as it is. The neutral sentence is best about as long as the "
    "others: it tells how far any sentence moves a score."
)


def control_jobs(dataset: str) -> None:
    """The positive controls of a data set that run, or could go on."""

    def of_it(views: list[JobView]) -> list[JobView]:
        return [
            view
            for view in views
            if (view.command, view.dataset) == (CONTROL, dataset)
            and (view.alive or can_resume(view, views))
        ]

    show_jobs(of_it)


def control_form(dataset: str) -> None:
    """Choose, see what it takes, start."""
    cache = open_cache()
    requests = _requests(str(cache.folder), cache.stamp(), dataset)
    if not requests:
        st.info(NOBODY, icon=":material/info:")
        return
    models = _choose_models(dataset, requests)
    try:
        arms = _choose_arms(dataset)
    except InputError as error:
        st.warning(literal(str(error)), icon=":material/edit:")
        arms = {}
    ready = bool(models and arms)
    asked = (cache.stamp(), dataset, tuple(models), repr(arms))  # what is missing changes
    if st.button("Estimate", icon=":material/calculate:", disabled=not ready, key="control-ask"):
        with st.spinner("Counting what is missing …"):
            st.session_state[ESTIMATED] = (asked, *_estimated(dataset, models, arms))
    known, found, problem = st.session_state.get(ESTIMATED, (None, None, ""))
    if not ready:
        st.caption("It takes a model, a language and a sentence for each of the three arms.")
    elif known != asked:
        st.caption("Time and texts are estimated first; then the job can be started.")
    elif found is None:
        st.error(literal(problem), icon=":material/error:")
    else:
        _show_estimate(found, arms)
        _start(dataset, models, arms, found)


def _choose_models(dataset: str, requests: dict[str, ScoreRequest]) -> list[str]:
    held = read_overview()
    if held is None:
        return []
    labels = scorer_labels(held.scorers)
    of_it = (held.coverage["dataset"] == dataset) & (held.coverage["n_scored"] > 0)
    scored = held.coverage.loc[of_it, "scorer_id"].unique().tolist()
    here = [scorer_id for scorer_id in scored if scorer_id in requests]
    models = st.multiselect(
        "Models that score it",
        list(requests),
        default=here,
        format_func=labels.__getitem__,
        help="Each scores under the settings of its earlier run.",
        key=f"control-models-{dataset}",
    )
    if len(here) < len(scored):
        st.caption(
            f"{len(here)} of {len(scored)} models with scores can be chosen: those of the others "
            "were computed elsewhere, so their weights are not known here."
        )
    return models


def _choose_arms(dataset: str) -> Arms:
    """The sentences by language and arm; InputError where one is empty."""
    held, shipped = read_overview(), read_arms()
    if held is None:
        return {}
    conditions = held.coverage.loc[held.coverage["dataset"] == dataset, "condition"].unique()
    languages = [c for c in conditions if is_plain(c)]
    with_texts = [language for language in languages if language in shipped]
    chosen = st.multiselect(
        "Languages",
        languages,
        default=with_texts or languages[:1],
        format_func=language_name,
        key=f"control-languages-{dataset}",
    )
    own = st.toggle("Own sentences", value=not with_texts, key=f"control-own-{dataset}")
    st.caption(RULE)
    written = []
    for language in chosen:
        texts = shipped.get(language, {})
        st.markdown(f"**{literal(language_name(language))}**")
        for place, (arm, what) in zip(st.columns(len(ARMS)), ARMS.items(), strict=True):
            with place:
                if own or not texts:
                    text = st.text_input(
                        what, texts.get(arm, ""), max_chars=500, key=f"control-{language}-{arm}"
                    )
                else:
                    text = texts[arm]
                    st.caption(what)
                    text_block(text, language)
            written.append(f"{language}+{arm}={text}")
    return arms_from_texts(written)


def _estimated(dataset: str, models: list[str], arms: Arms) -> tuple[ControlEstimate | None, str]:
    """The estimate, or the sentence why there is none."""
    try:
        chosen_requests(open_cache(), dataset, models)
        return estimate_control(open_cache(), dataset, models, arms), ""
    except StereoscopeError as error:
        return None, str(error)


def _show_estimate(found: ControlEstimate, arms: Arms) -> None:
    versions, texts, time = st.columns(3)
    versions.metric("Items with a sentence in front", f"{found.n_versions:,}")
    texts.metric(
        "Missing texts",
        f"{sum(found.texts.values()):,}",
        help="Over the models: all texts of the data set that they have not scored yet",
    )
    known = [seconds for seconds in found.seconds.values() if seconds is not None]
    whole = len(known) == len(found.seconds)
    time.metric("Time", duration_words(sum(known)) if whole else "unknown")
    if not whole:
        n = len(found.seconds) - len(known)
        st.caption(
            f"No earlier run here tells the speed of {n} of the {len(found.seconds)} models."
        )
    elif any(known):
        st.caption("By each model's latest run: to open and check it, and to score the texts.")
    for note in length_notes(arms):
        st.info(literal(note), icon=":material/straighten:")
    if found.changed:
        st.warning(
            f"{literal(', '.join(found.changed))} are there with other sentences. They are made "
            "anew, and this page no longer shows what the old ones did.",
            icon=":material/edit:",
        )


def _start(dataset: str, models: list[str], arms: Arms, found: ControlEstimate) -> None:
    """The button; nothing new is no job, and two at once would change the same versions."""
    spec = control_spec(dataset, models, arms)
    running = any(v.alive and (v.command, v.dataset) == (CONTROL, dataset) for v in read_jobs())
    needed = bool(found.new or found.changed or sum(found.texts.values()))
    if not needed:
        st.info("These models have scored all of it; there is nothing to do.")
    if st.button(
        "Start", type="primary", icon=":material/play_arrow:", disabled=running or not needed,
        key="control-start",
    ):  # fmt: skip
        with errors_in_one_sentence():
            launch(open_cache(), spec)
        del st.session_state[ESTIMATED]
        st.rerun()


def blur_sentences() -> None:
    """Blur the texts of the page where the reader has asked for that on the page Items."""
    if st.session_state.get("blur"):
        st.html(sensitive_css())


@st.cache_resource(max_entries=10, show_spinner=False)
def _requests(folder: str, stamp: Stamp, dataset: str) -> dict[str, Any]:
    return known_requests(Cache(Path(folder)), dataset)
