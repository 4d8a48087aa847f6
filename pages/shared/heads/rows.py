"""The list of axes: their tests against both sets of phrases, filtered and in order."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from core.analysis.heads.beyond import dictionary
from core.analysis.heads.sentences import axis_words
from core.analysis.heads.stored import StoredAxes
from core.axes.axis import Axis
from core.errors import StereoscopeError
from core.selection import AXIS_FLAGS, AXIS_READS, AXIS_SORTS, Selection
from core.stats.levels import LEVEL
from core.stats.probes.flags import flag_of, resampled_words
from core.words import counted
from pages.shared import state
from pages.shared.data import open_cache
from pages.shared.figures import literal
from pages.shared.heads.choice import MOST_NAMED, Asked, against
from pages.shared.heads.data import read_axes, read_axes_table
from pages.shared.heads.warnings import read_tests

OTHER = "_other"  # ends the names of columns about the second set of phrases
_OF_OTHER = (
    *("statistic", "pvalue", "qvalue", "flagged", "rejection_rate", "stability"),
    *("difference", "difference_low", "difference_high", "pvalue_location"),
    *("spread_ratio", "pvalue_spread", "n_reference", "reason"),
)
_WIDTH, _WIDE = 150, 210  # px of widgets
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class AxisList:
    """Axes that pass the filters, in their order."""

    rows: pd.DataFrame  # axis_id, axis (words), dimension, facet, and the tests where at hand
    everything: pd.DataFrame  # the same of all axes
    stored: StoredAxes | None  # what the tests are of; None where a job has to compute them
    problem: str = ""  # why there are no tests

    @property
    def ids(self) -> list[str]:
        ids: list[str] = self.rows["axis_id"].tolist()
        return ids


def list_axes(asked: Asked) -> AxisList:
    """The axes of the page, filtered and sorted by the selection; without tests in their order."""
    axes = read_axes(asked.question)
    problem = ""
    stored = other = None
    try:
        stored = read_axes_table(asked.question)
        if stored is not None and asked.second:
            other = read_axes_table(against(asked.question, asked.second))
    except StereoscopeError as error:
        problem = str(error)
    cache = open_cache()
    key = (str(cache.folder), cache.stamp(), asked.question, asked.second)
    everything = _everything(key, axes, stored, other)
    rows = everything[_passing(everything, asked.selection)]
    by = asked.selection.axis_sort
    by = by if by in rows else "statistic" if "statistic" in rows else ""
    if by:
        keys = rows[by] if by == "axis" else -rows[by].astype(float).abs()
        rows = rows.assign(key=keys).sort_values(["key", "axis_id"], na_position="last")
        rows = rows.drop(columns="key")
    return AxisList(rows.reset_index(drop=True), everything, stored, problem)


def filter_axes(asked: Asked, listed: AxisList) -> None:
    """The filters of the list, folded away; they stay on the other pages about heads."""
    selection, rows = asked.selection, listed.everything
    n_set = sum(
        map(
            bool,
            (
                selection.axis_words.strip(),
                selection.axis_dimensions,
                selection.axis_flags,
                selection.axis_reads,
                selection.length_free,
                selection.beyond,
            ),
        )
    )
    if unknown := [d for d in selection.axis_dimensions if d not in set(rows["dimension"])]:
        named = literal(", ".join(unknown)[:MOST_NAMED])
        st.warning(
            f"No axis of {literal(selection.axes)} is of the dimension {named}; it was left out.",
            icon=":material/link_off:",
        )
    label = f"Axes ({counted(n_set, 'filter')} set)" if n_set else f"Axes (all {len(rows):,})"
    with st.expander(label, icon=":material/filter_list:", key="axis-filters"):
        _filters(selection, rows)
    if len(listed.rows) < len(rows):
        with st.container(horizontal=True, vertical_alignment="center"):
            said = f"Showing {len(listed.rows):,} of {counted(len(rows), 'axis', 'axes')}"
            st.caption(said, width="content")
            st.button("Show all axes", on_click=clear_filters, type="tertiary")


def _filters(selection: Selection, rows: pd.DataFrame) -> None:
    dimensions = [d for d in rows["dimension"].unique() if d]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.show_field("axis_words", selection.axis_words)
        st.text_input("Words of a pole", width=_WIDTH, **state.bound("axis_words"))
        if dimensions:
            chosen = [d for d in selection.axis_dimensions if d in dimensions]
            state.show_field("axis_dimensions", chosen)
            st.multiselect(
                "Dimension", dimensions, placeholder="all", width=_WIDTH,
                **state.bound("axis_dimensions", tuple),
            )  # fmt: skip
        if "stability" not in rows:
            return
        state.show_field("axis_flags", list(selection.axis_flags))
        st.multiselect(
            "What the tests say", AXIS_FLAGS, placeholder="anything",
            width=_WIDE, **state.bound("axis_flags", tuple),
        )  # fmt: skip
        state.show_field("axis_reads", list(selection.axis_reads))
        st.multiselect(
            "How steadily, in resamples", AXIS_READS, format_func=resampled_words,
            placeholder="anyhow", width=_WIDE, **state.bound("axis_reads", tuple),
        )  # fmt: skip
        state.show_field("axis_sort", selection.axis_sort)
        st.selectbox(
            "Order", list(AXIS_SORTS), format_func=AXIS_SORTS.__getitem__, width=_WIDE,
            **state.bound("axis_sort"),
        )  # fmt: skip
        state.show_field("beyond", selection.beyond)
        st.checkbox(
            "Only flagged axes beyond the dictionary",
            help="Flagged, and neither pole's synset is among the 92 axes of warmth and "
            "competence.",
            **state.bound("beyond"),
        )
        state.show_field("length_free", selection.length_free)
        st.checkbox(
            "Without axes that follow the phrases' length",
            help="Spearman's correlation of values with length, q < .05 over the set.",
            **state.bound("length_free"),
        )


def clear_filters() -> None:
    """Take every filter of the list off."""
    state.change(
        axis_words="",
        axis_dimensions=(),
        axis_flags=(),
        axis_reads=(),
        length_free=False,
        beyond=False,
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _everything(
    key: Hashable,
    _axes: tuple[Axis, ...],
    _stored: StoredAxes | None,
    _other: StoredAxes | None,
) -> pd.DataFrame:
    """All axes with their tests, remembered under what these were read for."""
    axes, stored, other = _axes, _stored, _other
    rows = pd.DataFrame(
        {
            "axis_id": [axis.axis_id for axis in axes],
            "axis": [axis_words(axis) for axis in axes],
            "negative": [", ".join(axis.negative.lemmas) for axis in axes],
            "positive": [", ".join(axis.positive.lemmas) for axis in axes],
            "dimension": [axis.dimension for axis in axes],
            "facet": [axis.facet for axis in axes],
            "synsets": [(axis.negative.synset, axis.positive.synset) for axis in axes],
        }
    )
    if stored is None:
        return rows
    tests = read_tests(stored.question)
    if tests is not None:
        rows = rows.join(tests[tests.columns.difference(rows.columns, sort=False)], on="axis_id")
    rows["says"] = _flags(rows, "")
    if other is not None:
        second = other.table[["axis_id", *_OF_OTHER]]
        second = second.rename(columns={c: f"{c}{OTHER}" for c in _OF_OTHER})
        rows = rows.merge(second, on="axis_id", how="left", validate="1:1")
        rows[f"says{OTHER}"] = _flags(rows, OTHER)
    return rows


def _flags(rows: pd.DataFrame, ending: str) -> list[str]:
    """What the tests against one set of phrases say, axis by axis."""
    names = ("pvalue", "qvalue", "pvalue_location", "pvalue_spread", "n_reference", "stability")
    columns = [rows["n_concepts"], *(rows[f"{name}{ending}"] for name in names)]
    return [
        str(flag_of(dict(zip(("n_concepts", *names), row, strict=True))))
        for row in zip(*columns, strict=True)
    ]


def _passing(rows: pd.DataFrame, selection: Selection) -> Mask:
    passing = np.ones(len(rows), dtype=bool)
    if words := selection.axis_words.strip().lower():
        both = rows["negative"] + " " + rows["positive"]
        passing &= both.str.lower().str.contains(words, regex=False).to_numpy(bool)
    if dimensions := set(selection.axis_dimensions) & set(rows["dimension"]):
        passing &= rows["dimension"].isin(dimensions).to_numpy(bool)
    if selection.axis_flags and "says" in rows:
        passing &= rows["says"].isin(selection.axis_flags).to_numpy(bool)
    if selection.length_free and "length_qvalue" in rows:
        passing &= ~(rows["length_qvalue"] < LEVEL).to_numpy(bool)
    if selection.axis_reads and "stability" in rows:
        passing &= rows["stability"].isin(selection.axis_reads).to_numpy(bool)
    if selection.beyond and "flagged" in rows:
        passing &= rows["flagged"].fillna(value=False).to_numpy(bool)
        known = dictionary()
        passing &= np.array([known.isdisjoint(poles) for poles in rows["synsets"]], dtype=bool)
    return passing
