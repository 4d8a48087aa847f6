"""Models against identities: the map at the top of the page, whose cells open what is below."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.figures.identities.heatmap import identity_map
from core.figures.identities.rows import Beside, beside_of
from core.figures.theme import Figure
from pages.shared import state
from pages.shared.figures import selected_points, show_figure
from pages.shared.identities.choice import Asked
from pages.shared.identities.data import IdentityQuestion, Key, question_key, read_table
from pages.shared.identities.verdicts import rows_shown

MAP = "identity-map"


def show_map(asked: Asked) -> None:
    """Every identity under every model; a click looks at a model and opens an identity's pairs."""
    if asked.n_confounded:
        state.show_field("without_confounded", asked.selection.without_confounded)
        st.toggle(
            f"Leave out the {asked.n_confounded:,} pairs that differ in more than the identity",
            disabled=asked.n_confounded == len(asked.panel.facts),
            **state.bound("without_confounded"),
        )
    rows = rows_shown(read_table(asked.question, "identities").rows, asked)
    floors = beside_of(rows_shown(read_table(asked.question, "overview").rows, asked))
    chosen = asked.selection.identity
    without = asked.selection.without_confounded
    figure = _drawn(question_key(asked.question), asked.question, without, chosen, rows, floors)
    labels = {model.label: model.scorer_id for model in asked.panel.models}

    def open_cell() -> None:
        for point in selected_points(MAP)[0]:
            if point.get("customdata"):
                model, identity = point["customdata"][:2]
                scorer = labels.get(model, asked.model.scorer_id)
                state.change(identity=identity, scorer=scorer, identity_view="pairs")

    show_figure(figure, MAP, asked.provenance, table=rows, on_select=open_cell)
    st.caption("A click on a cell looks at its model and opens the pairs of its identity.")


@st.cache_resource(max_entries=50, show_spinner=False)
def _drawn(
    key: Key,
    question: IdentityQuestion,
    without_confounded: bool,
    chosen: str,
    _rows: pd.DataFrame,
    _floors: Beside,
) -> Figure:
    """The map, remembered: it stands above every view, and most runs change nothing in it."""
    return identity_map(_rows, chosen=chosen, beside=_floors)
