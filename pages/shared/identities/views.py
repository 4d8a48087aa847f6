"""What the page shows of one model: a figure, its table and its notes, under each view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.request import AuditTable
from core.analysis.identities.harm import is_rated
from core.errors import InputError
from core.figures.identities.harm import harm_scatter
from core.figures.identities.intervals import share_intervals
from core.figures.identities.languages import language_plot
from core.figures.identities.parts import part_plot
from core.figures.identities.rows import Beside, beside_of, larger_floor
from core.figures.theme import Figure, file_stem
from core.selection import IDENTITY_PARTS
from pages.shared import state
from pages.shared.figures import literal, selected_points, show_figure
from pages.shared.identities import columns
from pages.shared.identities.browser import show_pairs
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import read_confounds, read_table
from pages.shared.identities.verdicts import rows_shown
from pages.shared.tables import show_notes, show_table

VIEWS = {
    "intervals": "Identities",
    "parts": "Parts",
    "harmfulness": "Harmfulness",
    "languages": "Languages",
    "rules": "Rules and kinds",
    "confounds": "Confounds",
    "pairs": "Pairs",
}
PARTS = {
    "counterfactuals": "whom they are held against",
    "templates": "templates",
    "tiers": "tiers of predicates",
    "names": "groups of names",
}
HARM = "identity-harm"


def choose_view(asked: Asked) -> None:
    """Which of the views is open."""
    state.show_field("identity_view", asked.selection.identity_view)
    st.segmented_control(
        "Look at",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        required=True,
        label_visibility="collapsed",
        **state.bound("identity_view"),
    )


def show_view(asked: Asked) -> Asked:
    """The open view."""
    shown: Mapping[str, Callable[[Asked], None]] = {
        "intervals": show_identities,
        "parts": show_parts,
        "harmfulness": show_harm,
        "languages": show_languages,
        "rules": show_rules,
        "confounds": show_confounds,
    }
    if asked.selection.identity_view == "pairs":
        return replace(asked, selection=show_pairs(asked))
    shown[asked.selection.identity_view](asked)
    return asked


def show_identities(asked: Asked) -> None:
    """Every identity under the model, with its interval."""
    table, overview = (read_table(asked.question, name) for name in ("identities", "overview"))
    rows = of_model(table, asked)
    figure = share_intervals(rows, of_model(overview, asked), beside=beside(asked))
    _show(asked, figure, "identities", rows)
    _table(asked, table, columns.IDENTITIES, "identities-table", rows)
    every = st.expander(
        "Every model, and how many pairs there are",
        icon=":material/table:",
        on_change="rerun",
        key="every-model",
    )
    if every.open:
        with every:
            _table(asked, overview, columns.OVERVIEW, "overview", overview.rows)
            counts = read_table(asked.question, "counts")
            _table(asked, counts, columns.COUNTS, "counts", counts.rows)


def show_parts(asked: Asked) -> None:
    """Bias in parts of the pairs: tiers, templates, groups of names."""
    state.show_field("identity_part", asked.selection.identity_part)
    st.radio(
        "By",
        IDENTITY_PARTS,
        format_func=PARTS.__getitem__,
        horizontal=True,
        **state.bound("identity_part"),
    )
    name = asked.selection.identity_part
    table = read_table(asked.question, name)
    label = asked.model.label
    figure = part_plot(table.rows, label, beside=beside(asked), title=PARTS[name])
    _show(asked, figure, name, table.rows)
    _table(asked, table, columns.PARTS, f"{name}-table", of_model(table, asked))


def show_harm(asked: Asked) -> None:
    """Whether models prefer the stereotypical sentence more where people find it more harmful."""
    table, correlations = (
        read_table(asked.question, name) for name in ("predicates", "harmfulness")
    )
    if not is_rated(asked.panel):
        st.info(
            "These pairs have no harmfulness. Survey answers come with the predicates that pairs "
            "are built from, or are joined at import with `--predicates`.",
            icon=":material/info:",
        )
        show_notes(correlations)
        return
    rows = rows_shown(of_model(table, asked), asked)
    correlation = rows_shown(of_model(correlations, asked), asked).iloc[0]
    figure = harm_scatter(rows, correlation.to_dict())
    _show(asked, figure, HARM, rows, on_select=open_predicate)
    st.caption("A click on a predicate opens its pairs.")
    _table(asked, correlations, columns.HARM, "harmfulness", correlations.rows, percent=False)


def open_predicate() -> None:
    """Open the pairs of the predicate whose point was clicked."""
    points, _ = selected_points(HARM)
    for point in points:
        if point.get("customdata"):
            predicate = unescape(str(point["customdata"][0]))  # written for a hover box
            state.change(
                identity_view="pairs",
                predicate=predicate,
                identity="",
                counterfactual="",
                pair_template="",
                preferences=(),
                only_confounded=False,
            )


def show_languages(asked: Asked) -> None:
    """One language less another one, on the predicates and identities that both have."""
    try:
        table = read_table(asked.question, "languages")
    except InputError as error:
        st.info(literal(str(error)), icon=":material/info:")
        st.caption(
            "*Beside* stands at the top as soon as two data sets of identity pairs are scored."
        )
        return
    rows = of_model(table, asked)
    rows = rows.assign(points=100 * rows["difference"])
    if rows.empty:
        st.info(
            literal(f"{asked.model.label} has not scored both languages; choose another model."),
            icon=":material/info:",
        )
        show_notes(table)
        return
    for (dataset, condition), part in rows.groupby(["other_dataset", "other"], sort=False):
        figure = language_plot(part, beside=larger_floor(rows_shown(part, asked)))
        _show(asked, figure, f"languages-{dataset}-{condition}", part)
    _table(asked, table, columns.LANGUAGES, "languages-table", rows)


def show_rules(asked: Asked) -> None:
    """By words beside the published rule, and masked beside causal models."""
    rules, kinds = (read_table(asked.question, name) for name in ("rules", "kinds"))
    st.markdown("**By words, and as published**")
    _table(asked, rules, columns.RULES, "rules", rules.rows)
    st.markdown("**Masked, causal and imported models side by side: not to be compared**")
    _table(asked, kinds, columns.KINDS, "kinds", kinds.rows)


def show_confounds(asked: Asked) -> None:
    """Pairs that differ in more than the identity, by identity and template."""
    table = read_confounds(asked.question)
    bad = table.rows[table.rows["n_confounded"] > 0]
    if bad.empty:
        told = bool((table.rows["counterfactual"] != "").any())
        note, icon = (st.success, ":material/check:") if told else (st.info, ":material/info:")
        note(literal(table.notes[0]), icon=icon)
        return
    left = asked.n_confounded < len(asked.panel.facts)
    both = "Every table of this page has its rows with these pairs and without them."
    st.caption(
        "What a model prefers there may have another cause than the identity. "
        + (both if left else "No pair is left without them.")
    )
    _table(asked, table, columns.CONFOUNDS, "confounds", bad)


def of_model(table: AuditTable, asked: Asked) -> pd.DataFrame:
    """The rows of the model that is looked at."""
    return table.rows[table.rows["model"] == asked.model.label]


def beside(asked: Asked) -> Beside:
    """The template floor of the model that is looked at."""
    return beside_of(rows_shown(of_model(read_table(asked.question, "overview"), asked), asked))


def stem(asked: Asked, name: str) -> str:
    """Beginning of the names of files."""
    return file_stem(f"{name}-{asked.question.dataset}-{asked.model.label}")


def _show(
    asked: Asked,
    figure: Figure,
    name: str,
    rows: pd.DataFrame,
    on_select: Callable[[], None] | None = None,
) -> None:
    show_figure(figure, name, asked.provenance, table=rows, on_select=on_select)


def _table(
    asked: Asked,
    table: AuditTable,
    wanted: Mapping[str, Any],
    name: str,
    rows: pd.DataFrame,
    *,
    percent: bool = True,
) -> None:
    named = columns.with_intervals(rows, percent=percent)
    show_table(table, columns.held(wanted, named), stem(asked, name), rows=named)
