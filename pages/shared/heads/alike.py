"""Axes whose directions are like the open one's, by their cosine in the heads that hold them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.heads.alike import alike_table, axis_cosines
from core.analysis.heads.nearest import nearest_axes
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.sentences import axis_words
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.store.gate import Cache
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import literal
from pages.shared.heads.choice import Asked
from pages.shared.heads.rows import AxisList
from pages.shared.tables import show_frame
from pages.shared.widgets import download_buttons, errors_end_this_part

_N = st.column_config.NumberColumn
COLUMNS = {
    "axis": "Axis",
    "r": _N("r of values", format="%+.2f", help="Pearson's, over the concepts"),
    "n_concepts": _N("n", format="%d", help="Concepts"),
    "cosine": _N("Cosine", format="%+.3f", help="Of the directions, mean over heads"),
    "own": _N(
        "With itself", format="%.3f", help="Cosine of its two halves of templates, each of 15"
    ),
    "random_sd": _N(
        "By chance", format="%.3f", help="sd of that mean if both directions were random, around 0"
    ),
    "shared": "Shared pole",
    "n_heads": _N(
        "Heads", format="%d", help="That the cosine is the mean of: the best k of either axis"
    ),
}


@errors_end_this_part()
def show_alike(asked: Asked, axis: Axis, listed: AxisList) -> None:
    """A table of the axes whose values follow the open one's, with the cosine of directions."""
    stored = listed.stored
    if stored is None or len(stored.held.axes) < 2:
        return
    st.subheader(f"Like {literal(axis_words(axis))}", divider="gray")
    near = _nearest(stored.result_id, axis.axis_id, stored)
    pairs = _cosines(asked.question, (axis.axis_id, *near["axis_id"]))
    own = dict(zip(pairs["second"], pairs["own_second"], strict=True))
    of_open = pairs[pairs["first"] == axis.axis_id].rename(columns={"second": "axis_id"})
    beside = of_open[["axis_id", "cosine", "n_heads", "random_sd"]]
    rows = near.merge(beside, on="axis_id")  # in the order of the size of r
    rows["own"] = rows["axis_id"].map(own)
    show_frame(rows[list(COLUMNS)], COLUMNS, height="content")
    st.caption(
        f"The {len(rows):,} of {len(stored.held.axes) - 1:,} other axes whose values follow this "
        "one's most closely, or run against it, by the size of r. The sign of a cosine says "
        "whether the second poles point the same way in these heads; near 0 it says little, and r "
        "can have the other sign, since phrases have more in common than these directions. With "
        "itself: an axis's "
        "direction from half of the templates beside that from the other half. Cosines between "
        "axes are of all templates asked for, so that this is no ceiling. Axes that share a pole "
        "are alike by having its sentences in common."
    )
    download_buttons(lambda: rows, list(COLUMNS), f"alike-{asked.question.axes}")


@st.cache_resource(max_entries=50, show_spinner=False)
def _nearest(result_id: str, axis_id: str, _stored: StoredAxes) -> pd.DataFrame:
    return nearest_axes(_stored, axis_id)


def _cosines(question: HeadsQuestion, axis_ids: tuple[str, ...]) -> pd.DataFrame:
    cache = open_cache()
    return _pairs(str(cache.folder), cache.stamp(), question, axis_ids)


@st.cache_resource(max_entries=50, show_spinner="Comparing directions …")
def _pairs(
    folder: str, stamp: Stamp, question: HeadsQuestion, axis_ids: tuple[str, ...]
) -> pd.DataFrame:
    return alike_table(axis_cosines(Cache(Path(folder)), question, axis_ids))
