"""What the pages about heads read from the cache, remembered until the cache changes.

As in pages/shared/data.py: keyed by a stamp of the cache's file and by what was asked for, never by
an array. What is remembered is shared between reruns and browser tabs, so nobody changes it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.heads.arrays import axes_of
from core.analysis.heads.axis_view import AxisView, axis_view
from core.analysis.heads.chosen import Chosen, choose, parse_choice
from core.analysis.heads.provenance import heads_content, heads_provenance
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes, axes_at_hand
from core.axes.axis import Axis
from core.store.axes import get_axes, set_size
from core.store.gate import Cache
from core.store.head_readers import filled_readers
from core.store.read_sets import held_against, read_sets
from pages.shared.data import Stamp, open_cache


def read_readers() -> pd.DataFrame | None:
    """Every reader; None when there is no cache yet."""
    cache = open_cache()
    return _readers(str(cache.folder), cache.stamp()) if cache.exists() else None


def read_sets_of(reader_id: str) -> pd.DataFrame:
    """The sets of which a reader has read something, as `read_sets` gives them."""
    cache = open_cache()
    return _sets(str(cache.folder), cache.stamp(), reader_id)


def read_held_against(reader_id: str) -> list[tuple[str, str]]:
    """Which sets of concepts a reader's results hold against which sets of phrases."""
    cache = open_cache()
    return _held_against(str(cache.folder), cache.stamp(), reader_id)


def read_axes(question: HeadsQuestion) -> tuple[Axis, ...]:
    """The axes of a question's set that were read, in their order; all where none was."""
    cache = open_cache()
    # Without what the axes do not depend on: else each other number of heads reads them anew.
    whose = HeadsQuestion(
        reader_id=question.reader_id,
        axes=question.axes,
        concepts="",
        reference="",
        family=question.family,
    )
    return _axes(str(cache.folder), cache.stamp(), whose)


def read_whole_set(name: str) -> tuple[Axis, ...]:
    """All axes of a set, read or not; none where there is no such set."""
    cache = open_cache()
    return _whole_set(str(cache.folder), cache.stamp(), name)


def read_view(question: HeadsQuestion, axis_id: str) -> AxisView:
    """One axis head by head; errors as `axis_view`."""
    cache = open_cache()
    return _view_of(str(cache.folder), cache.stamp(), question, axis_id)


def read_chosen(question: HeadsQuestion, axis_id: str, heads: str) -> Chosen:
    """What is found in some heads of an axis; errors as `axis_view` and `parse_choice`."""
    cache = open_cache()
    return _chosen(str(cache.folder), cache.stamp(), question, axis_id, heads)


def read_axes_table(question: HeadsQuestion) -> StoredAxes | None:
    """All axes of a question where they are at hand, else None: a job computes them."""
    cache = open_cache()
    return _table(str(cache.folder), cache.stamp(), question)


def read_heads_content(question: HeadsQuestion) -> str:
    """The content number of a question's sets, which is the same for every model and setting."""
    cache = open_cache()
    sets = HeadsQuestion(
        reader_id="",
        axes=question.axes,
        concepts=question.concepts,
        reference=question.reference,
        family=question.family,
    )
    return _content(str(cache.folder), cache.stamp(), sets)


def read_heads_provenance(question: HeadsQuestion) -> dict[str, str]:
    """Where the numbers of a question come from."""
    cache = open_cache()
    return _provenance(str(cache.folder), cache.stamp(), question)


@st.cache_resource(max_entries=2, show_spinner=False)
def _readers(folder: str, stamp: Stamp) -> pd.DataFrame:
    return filled_readers(Cache(Path(folder)))


@st.cache_resource(max_entries=20, show_spinner=False)
def _sets(folder: str, stamp: Stamp, reader_id: str) -> pd.DataFrame:
    return read_sets(Cache(Path(folder)), reader_id)


@st.cache_resource(max_entries=20, show_spinner=False)
def _held_against(folder: str, stamp: Stamp, reader_id: str) -> list[tuple[str, str]]:
    return held_against(Cache(Path(folder)), reader_id)


@st.cache_resource(max_entries=10, show_spinner=False)
def _axes(folder: str, stamp: Stamp, question: HeadsQuestion) -> tuple[Axis, ...]:
    return axes_of(Cache(Path(folder)), question)


@st.cache_resource(max_entries=10, show_spinner=False)
def _whole_set(folder: str, stamp: Stamp, name: str) -> tuple[Axis, ...]:
    cache = Cache(Path(folder))
    return get_axes(cache, name) if set_size(cache, "axis", name) else ()


def _view_of(folder: str, stamp: Stamp, question: HeadsQuestion, axis_id: str) -> AxisView:
    """A view read once, whatever number of heads the question has: it does not enter."""
    view = _view(folder, stamp, replace(question, k=None), axis_id)
    return replace(view, question=question)


@st.cache_resource(max_entries=64, show_spinner=False)
def _view(folder: str, stamp: Stamp, question: HeadsQuestion, axis_id: str) -> AxisView:
    return axis_view(Cache(Path(folder)), question, axis_id)


@st.cache_resource(max_entries=200, show_spinner=False)
def _chosen(folder: str, stamp: Stamp, question: HeadsQuestion, axis_id: str, heads: str) -> Chosen:
    view = _view_of(folder, stamp, question, axis_id)
    return choose(view, parse_choice(heads, *view.shape), seed=question.seed)


@st.cache_resource(max_entries=16, show_spinner="Looking at the axes …")
def _table(folder: str, stamp: Stamp, question: HeadsQuestion) -> StoredAxes | None:
    return axes_at_hand(Cache(Path(folder)), question)


@st.cache_resource(max_entries=50, show_spinner=False)
def _content(folder: str, stamp: Stamp, question: HeadsQuestion) -> str:
    return heads_content(Cache(Path(folder)), question)


@st.cache_resource(max_entries=50, show_spinner=False)
def _provenance(folder: str, stamp: Stamp, question: HeadsQuestion) -> dict[str, str]:
    return heads_provenance(Cache(Path(folder)), question)
