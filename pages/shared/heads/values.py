"""Where concepts fall on an axis: the strip, its numbers, and the heads behind them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.heads.axis_view import AxisView, dimension_of
from core.analysis.heads.chosen import Chosen, parse_choice
from core.analysis.heads.sentences import heads_words, pole_words
from core.figures.heads.strip import Strip, projection_strip
from core.words import counted
from pages.shared.figures import show_figure
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_heads_provenance
from pages.shared.heads.share import heads_stem
from pages.shared.tables import show_frame
from pages.shared.widgets import download_buttons

VALUES = {
    "concept": "Concept",
    "value": st.column_config.NumberColumn(
        "Value", format="%+.3f", help="Mean of z over the heads, in standard deviations"
    ),
    "low": st.column_config.NumberColumn(
        "from", format="%+.3f", help="95 % interval over heads only, with the same sentences"
    ),
    "high": st.column_config.NumberColumn("to", format="%+.3f"),
    "n_heads": st.column_config.NumberColumn("Heads", format="%d"),
    "model": "Model",
    "label": st.column_config.TextColumn(
        "Label", help="What groups are held to be on the axis's dimension (docs/axes.md)"
    ),
}
_TALL, _HEIGHT = 14, 520  # rows from which a table scrolls, and px that it has then
_MANY, _CHART = 40, 900  # concepts from which the strip scrolls, and px that it has then


def values_of(view: AxisView, found: Chosen) -> pd.DataFrame:
    """The value of every concept and phrase, in their order, as they are drawn.

    Returns
    -------
    DataFrame
        kind (concept or reference), concept (its text), value, low, high, label (plus or minus and
        the dimension, or nothing), n_heads.
    """
    n, dimension = len(view.concepts), dimension_of(view.axis)
    words = {1: f"+ {dimension}", -1: f"\u2212 {dimension}", None: ""}
    gap = np.full((len(view.reference), 2), np.nan)
    low, high = np.concatenate([found.interval, gap]).T
    return pd.DataFrame(
        {
            "kind": ["concept"] * n + ["reference"] * len(view.reference),
            "concept": [*(c.text for c in view.concepts), *view.reference],
            "value": found.values,
            "low": low,
            "high": high,
            "label": [*(words[label] for label in view.labels), *[""] * len(view.reference)],
            "n_heads": len(found.heads),
        }
    )


def strip_of(asked: Asked, view: AxisView, found: Chosen, said: str) -> Strip:
    """What the projection strip draws."""
    rows = values_of(view, found)
    of_concepts = rows["kind"] == "concept"
    negative, positive = pole_words(view.axis)
    labels = [label or 0 for label in view.labels]
    concepts = rows.loc[of_concepts, ["concept", "value", "low", "high"]].assign(label=labels)
    reference = rows.loc[~of_concepts, ["concept", "value"]].rename(columns={"concept": "phrase"})
    return Strip(
        negative=negative,
        positive=positive,
        concepts=concepts,
        reference=reference,
        model=asked.labels[view.question.reader_id],
        heads=heads_words(found, parse_choice(asked.heads, *view.shape)),
        of=view.question.concepts,
        against=view.question.reference,
        dimension=dimension_of(view.axis) or "",
        said=said,
    )


def show_strip(asked: Asked, view: AxisView, found: Chosen, said: str) -> None:
    """The projection strip with its downloads."""
    stem = f"strip-{heads_stem(asked, view.axis)}"
    with st.container(height=_CHART if len(view.concepts) > _MANY else "content", border=False):
        show_figure(
            projection_strip(strip_of(asked, view, found, said)),
            stem,
            read_heads_provenance(replace(asked.question, reader_id=view.question.reader_id)),
            table=values_of(view, found),
        )


def show_values(
    asked: Asked, view: AxisView, found: Chosen, beside: tuple[str, AxisView, Chosen] | None = None
) -> None:
    """The numbers of the strip; the file has the reference phrases too.

    Parameters
    ----------
    beside
        A second model's name and numbers: rows then say which model they are of.
    """
    rows = values_of(view, found)
    if beside is not None:
        name, other_view, other = beside
        both = [rows.assign(model=asked.model), values_of(other_view, other).assign(model=name)]
        rows = pd.concat(both, ignore_index=True)
    shown = rows[rows["kind"] == "concept"].sort_values("value", na_position="last")
    wanted = {"label": any(shown["label"]), "model": beside is not None}
    columns = {name: c for name, c in VALUES.items() if wanted.get(name, True)}
    show_frame(shown[list(columns)], columns, height="content" if len(shown) <= _TALL else _HEIGHT)
    n_missing = int(shown["value"].isna().sum())
    if n_missing:
        st.caption(f"{counted(n_missing, 'concept')} without a value: a number is not finite.")
    st.caption("The files hold the reference phrases too.")
    stem = f"values-{heads_stem(asked, view.axis)}"
    download_buttons(lambda: rows, list(columns), stem)
