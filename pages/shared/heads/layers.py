"""Which heads: the best of an axis, and in which layers they lie under either pooling."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.heads.axis_view import AxisView
from core.analysis.heads.chosen import Chosen
from core.analysis.heads.profile import heads_table, layer_profiles
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.sentences import axis_words
from core.figures.heads.profile import profile_bars
from core.store.gate import Cache
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import show_figure
from pages.shared.heads.choice import Asked
from pages.shared.heads.data import read_heads_provenance
from pages.shared.heads.share import axis_stem, heads_stem
from pages.shared.tables import show_frame
from pages.shared.widgets import download_buttons, errors_in_one_sentence

_N = st.column_config.NumberColumn
HEADS = {
    "rank": _N("Rank", format="%d"),
    "layer": _N("Layer", format="%d"),
    "head": _N("Head", format="%d"),
    "separability": _N("R", format="%.4f", help="Separability"),
    "chance": _N("Swapped labels", format="%.4f", help="Mean R with poles traded in templates"),
    "above_chance": st.column_config.CheckboxColumn("Above chance"),
    "chosen": st.column_config.CheckboxColumn("Averaged"),
}
_HEIGHT = 420


def show_heads(asked: Asked, view: AxisView, found: Chosen) -> None:
    """Every head from the most separable down, and the layers of the best."""
    rows = heads_table(view, found.heads)
    left, right = st.columns([3, 2])
    with left:
        _show_layers(asked, view)
    with right:
        show_frame(rows[list(HEADS)], HEADS, height=_HEIGHT)
        if n_none := view.separability.size - len(rows):
            st.caption(f"{n_none:,} heads without a separability are left out.")
        st.caption(f"R of n = {view.question.n_templates} sentences of either pole.")
        download_buttons(lambda: rows, list(HEADS), f"heads-{heads_stem(asked, view.axis)}")


def _show_layers(asked: Asked, view: AxisView) -> None:
    """The layers of the k best heads under both poolings."""
    cache = open_cache()
    with errors_in_one_sentence():
        rows = _layers(str(cache.folder), cache.stamp(), asked.question, view.axis.axis_id)
    n_best = int(rows["n_best"].iloc[0])
    what = f"{axis_words(view.axis)}, {asked.model}, the {n_best:,} of highest R"
    show_figure(
        profile_bars(rows, expected=float(rows["expected"].iloc[0]), what=what),
        f"layers-{axis_stem(view.axis, asked.model)}",
        read_heads_provenance(asked.question),
        table=rows,
    )


@st.cache_resource(max_entries=100, show_spinner=False)
def _layers(folder: str, stamp: Stamp, question: HeadsQuestion, axis_id: str) -> pd.DataFrame:
    return layer_profiles(Cache(Path(folder)), question, axis_id)
