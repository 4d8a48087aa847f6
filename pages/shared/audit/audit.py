"""What every page of the audit has: its question to the cache, verdicts, links."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.audit import Audit, audit
from core.analysis.audit.loading import one_per_model
from core.analysis.audit.request import AuditRequest
from core.analysis.overview import STAMP, scorer_labels
from core.errors import InputError
from core.jobs.follow import with_jobs
from core.selection import Selection, with_field
from core.stats.scores import KINDS, ScoreKind
from core.store.audit_content import AuditContent
from core.store.score_line import shell_line
from core.words import counted
from pages.shared import state
from pages.shared.data import (
    open_cache,
    read_audit_content,
    read_item_facets,
    read_overview,
    read_slices,
)
from pages.shared.figures import literal
from pages.shared.jobs.jobs import read_jobs
from pages.shared.sharing import say_changed
from pages.shared.tables import SIMULATED
from pages.shared.widgets import empty_cache, errors_in_one_sentence, nothing_scored

KIND_WORDS: dict[str, str] = {
    "mean": "mean per token",
    "summed": "summed over tokens",
    "per_code_point": "per character",
    "binary": "which pole wins",
    "standardised": "log-odds over their sd",
}
# Coloured by how sure a difference is, never by its sign.
VERDICT_ICONS = {
    "shift": ":material/priority_high:",
    "real but small": ":material/remove:",
    "equivalent": ":material/drag_handle:",
    "undecided": ":material/question_mark:",
    "undefined": ":material/block:",
    "depends on the score": ":material/call_split:",
}
VERDICT_COLOURS = {
    "shift": "violet",
    "real but small": "blue",
    "equivalent": "blue",
    "undecided": "gray",
    "undefined": "gray",
    "depends on the score": "orange",
}
ITEM_FIELDS = {"sources": "Source", "categories": "Category", "dimensions": "Dimension"}


@errors_in_one_sentence()
def choose_audit(selection: Selection) -> tuple[Selection, AuditRequest]:
    """Data set, models, kind of score and items; ends the page when there is nothing to audit."""
    held = read_overview()
    if held is None or held.datasets.empty:
        empty_cache()
        st.stop()
    scored = held.coverage[held.coverage["n_scored"] > 0]
    if scored.empty:
        nothing_scored(held.datasets["dataset"].iloc[0])
        st.stop()
    labels = scorer_labels(held.scorers)
    wanted = selection
    datasets = scored["dataset"].unique().tolist()
    dataset = selection.dataset if selection.dataset in datasets else datasets[0]
    scorers = scored.loc[scored["dataset"] == dataset, "scorer_id"].unique().tolist()
    selection = replace(
        selection, dataset=dataset, models=tuple(m for m in selection.models if m in scorers)
    )
    left, middle, right = st.columns([2, 4, 2])
    state.show_field("dataset", dataset)
    left.selectbox("Data set", datasets, **state.bound("dataset"))
    state.show_field("models", list(selection.models))
    n_models = len(one_per_model(held.scorers, scorers))
    middle.multiselect(
        "Models",
        scorers,
        format_func=labels.__getitem__,
        placeholder="the only one" if n_models == 1 else f"all {n_models}",
        help="A checkpoint in several settings is one model: its first scorer, unless chosen here.",
        **state.bound("models", tuple),
    )
    state.show_field("kind", selection.kind)
    right.selectbox("Score", KINDS, format_func=KIND_WORDS.__getitem__, **state.bound("kind"))
    selection = _choose_items(selection)
    _say_what_is_missing(wanted, selection)
    return selection, request_of(selection)


def _say_what_is_missing(wanted: Selection, shown: Selection) -> None:
    """Name what a link or another page asks for and this data set does not have."""
    sentences = state.link_problems()
    if wanted.dataset and wanted.dataset != shown.dataset:
        sentences = [
            *sentences,
            f"No scores of {wanted.dataset} are in this cache; {shown.dataset} is shown instead.",
        ]
    names = {"models": "scores under", "slice": "slice"}
    for field, what in (names | {n: t.lower() for n, t in ITEM_FIELDS.items()}).items():
        before, after = getattr(wanted, field), getattr(shown, field)
        asked = [before] if isinstance(before, str) else before
        kept = [after] if isinstance(after, str) else after
        gone = [value for value in asked if value and value not in kept]
        if gone:
            sentences = [*sentences, f"{shown.dataset} has no {what} {', '.join(gone)}."]
    if sentences:
        lines = "\n".join(f"- {literal(sentence)}" for sentence in sentences)
        st.warning(f"Not everything is as it was asked for:\n\n{lines}", icon=":material/link_off:")


def _choose_items(selection: Selection) -> Selection:
    """The item filters that all pages share, folded away; what the data set lacks is dropped."""
    facets = read_item_facets(selection.dataset)
    kept = {
        name: tuple(v for v in getattr(selection, name) if v in facets[name])
        for name in ITEM_FIELDS
    }
    for name, values in kept.items():
        selection = with_field(selection, name, values)
    slices = read_slices(selection.dataset)
    if selection.slice not in slices:
        selection = replace(selection, slice="")
    n_set = sum(map(bool, kept.values())) + bool(selection.slice)
    label = f"Items ({counted(n_set, 'filter')} set)" if n_set else "Items (all)"
    with st.expander(label, icon=":material/filter_list:"):
        places = st.columns(len(ITEM_FIELDS) + 1)
        for place, (name, title) in zip(places, ITEM_FIELDS.items(), strict=False):
            state.show_field(name, list(kept[name]))
            place.multiselect(title, facets[name], placeholder="all", **state.bound(name, tuple))
        state.show_field("slice", selection.slice)
        places[-1].selectbox(
            "Slice",
            ["", *slices],
            format_func=lambda name: name or "all items",
            **state.bound("slice"),
        )
        st.caption(
            "Filters choose items, in all their versions. Tests are adjusted over all models and "
            "languages chosen above, whatever the page shows."
        )
    return selection


def request_of(selection: Selection) -> AuditRequest:
    """The audit that a selection asks for. Which conditions it has is up to the data set alone."""
    kind: ScoreKind = next(k for k in KINDS if k == selection.kind)
    return AuditRequest(
        dataset=selection.dataset,
        scorers=selection.models,
        slice=selection.slice,
        sources=selection.sources,
        categories=selection.categories,
        dimensions=selection.dimensions,
        kind=kind,
        margin=selection.margin,
        seed=selection.seed,
    )


def command(request: AuditRequest) -> str:
    """The line that computes the same tables in a terminal."""
    words = ["--dataset", request.dataset]
    words += [word for scorer in request.scorers for word in ("--scorer", scorer)]
    for option, values in (
        ("--source", request.sources),
        ("--category", request.categories),
        ("--dimension", request.dimensions),
        ("--slice", (request.slice,) if request.slice else ()),
    ):
        words += [word for value in values for word in (option, value)]
    words += ["--kind", request.kind, "--margin", f"{request.margin:g}"]
    return shell_line(open_cache(), "audit", *words, "--seed", str(request.seed), "--json")


@errors_in_one_sentence()
def read_audit(
    request: AuditRequest, names: Sequence[str], *, stamp: bool = True, doing: str = ""
) -> Audit:
    """These tables of the audit, under the stamp that simulated scores have everywhere.

    More tables of the same scores are read without a second `stamp`. What takes long is told
    (`doing`) while it is done.

    What cannot be audited at all ends the page with its sentence and a way back to all items.
    """
    try:
        with st.spinner(doing) if doing else nullcontext():  # gone before the page may end
            found = audit(open_cache(), request, names)
    except InputError as error:
        st.error(literal(str(error)), icon=":material/error:")
        if request.slice or any(getattr(request, name) for name in ITEM_FIELDS):
            st.button(
                "Take all item filters off",
                on_click=lambda: state.change(**dict.fromkeys(ITEM_FIELDS, ()), slice=""),
            )
        st.stop()
    st.session_state[SIMULATED] = found.simulated
    if stamp:
        say_changed(request.dataset, request.scorers, content_of(found))
    if found.simulated and stamp:
        st.warning(f"**{STAMP}**", icon=":material/science:")
    if found.warnings and stamp:
        said = with_jobs(found.warnings, read_jobs(), request.dataset)
        st.warning("\n\n".join(map(literal, said)), icon=":material/info:")
    # Said once, at the top, and not again under every table.
    tables = {
        name: replace(table, notes=tuple(n for n in table.notes if n not in found.warnings))
        for name, table in found.tables.items()
    }
    return replace(found, tables=tables)


def content_of(found: Audit) -> AuditContent:
    """Which scores an audit is of, in the numbers that its link carries."""
    facts: dict[str, Any] = found.provenance
    generations = {s["scorer_id"]: s["generation"] for s in facts["scorers"]}
    asked = found.request
    return read_audit_content(asked.dataset, generations, facts["generation"], asked.slice)


def show_verdicts(rows: pd.DataFrame) -> None:
    """One sentence per language, coloured by the evidence. `rows` are those of `verdicts`."""
    lines = []
    for row in rows.to_dict("records"):
        reads = str(row["reads"])
        icon, colour = VERDICT_ICONS[reads], VERDICT_COLOURS[reads]
        lines.append(f"- :{colour}-badge[{icon} {reads}] {literal(str(row['sentence']))}")
    if lines:
        st.markdown("\n".join(lines))


def publish_audit(selection: Selection, request: AuditRequest, found: Audit) -> None:
    """Link, code and provenance at the foot of a page; the state goes into the address."""
    selection = replace(selection, content=str(content_of(found)))
    with st.container(horizontal=True):
        with st.popover("Link", icon=":material/link:"):
            st.caption("Shows this page as it is now to whoever has the same cache.")
            st.code(state.link(selection), language=None, wrap_lines=True)
        with st.popover("Code", icon=":material/code:"):
            st.caption("In a terminal, in the project's folder:")
            st.code(command(request), language="bash", wrap_lines=True)
    with st.expander("Where these numbers come from", icon=":material/history_edu:"):
        facts = {
            "what": list(found.provenance),
            "value": [str(v) for v in found.provenance.values()],
        }
        st.dataframe(pd.DataFrame(facts), hide_index=True, placeholder="–")
    state.put(selection)
    state.publish(selection)
