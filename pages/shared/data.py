"""What pages read from the cache, remembered until the cache changes.

Nothing is keyed by a frame: Streamlit hashes only a sample of a large one. The key is a stamp of
the cache's file, which costs no opening, or the generation of a scorer's scores. Tables are shared
between reruns and browser tabs, so nobody changes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from core import settings
from core.analysis.audit.request import AuditRequest
from core.analysis.comparison import compare_tables, comparison_sentence
from core.analysis.items import english_rewording_noise, item_table
from core.analysis.overview import Overview, overview
from core.analysis.pair_items import Rules, pair_rules, summaries, with_pairs
from core.analysis.provenance import provenance
from core.selection import Selection, link_query, only_filters
from core.stats.noise import RewordingNoise
from core.store.audit import item_versions
from core.store.audit_content import AuditContent, audit_content, slice_hash
from core.store.gate import Cache
from core.store.generations import content_number, generation
from core.store.search import find_rows
from core.store.slices import slice_names

Stamp = tuple[int, ...]


def open_cache() -> Cache:
    """The cache that the app shows."""
    return Cache(settings.cache_folder())


def key_of(request: AuditRequest) -> tuple[str, Stamp, AuditRequest]:
    """By what something made from an audit is remembered: never by a frame."""
    cache = open_cache()
    return str(cache.folder), cache.stamp(), request


def read_overview() -> Overview | None:
    """What the cache holds; None when there is no cache yet."""
    cache = open_cache()
    return _overview(str(cache.folder), cache.stamp()) if cache.exists() else None


def read_items(scorer_id: str, dataset: str, unit: str = "word") -> pd.DataFrame:
    """The item table of a scorer and data set, without texts. Shared: do not change it.

    Where the data set holds pairs of sentences, with their columns under the unit.
    """
    cache = open_cache()
    number = generation_of(cache, scorer_id, dataset)
    return _pair_items(str(cache.folder), scorer_id, dataset, number, unit)


def read_rules(scorer_id: str, dataset: str) -> Rules:
    """The pairs of a data set by both rules, in the rows of its item table; empty without pairs."""
    cache = open_cache()
    number = generation_of(cache, scorer_id, dataset)
    return _rules(str(cache.folder), scorer_id, dataset, number)


def read_summaries(
    selection: Selection, positions: npt.NDArray[np.intp]
) -> dict[str, pd.DataFrame]:
    """How often the rows that pass prefer the stereotypical sentence, by both rules.

    Parameters
    ----------
    positions
        Of the rows, in the item table: what the filters of the selection leave.
    """
    cache = open_cache()
    number = generation_of(cache, selection.scorer, selection.dataset)
    filters = link_query(only_filters(selection))  # the order of the rows does not matter
    return _summaries(
        str(cache.folder), selection.scorer, selection.dataset, number, cache.stamp(), filters,
        _positions=positions,
    )  # fmt: skip


def read_content(scorer_id: str, dataset: str) -> str:
    """The content number of a scorer and data set."""
    cache = open_cache()
    number = generation_of(cache, scorer_id, dataset)
    return _content(str(cache.folder), scorer_id, dataset, number)


def read_audit_content(
    dataset: str, scorers: Mapping[str, int], number: int, part: str = ""
) -> AuditContent:
    """What an audit is of.

    Parameters
    ----------
    scorers, number
        The scorers with the generations of their scores, and the generation of the items.
    part
        Name of a slice.
    """
    cache = open_cache()
    found = _audit_content(str(cache.folder), dataset, tuple(scorers.items()), number)
    held = _slice_hash(str(cache.folder), cache.stamp(), dataset, part) if part else ""
    return found._replace(part=held)


def read_item(
    scorer_id: str, dataset: str, item_id: str, neighbours: Iterable[str] = ()
) -> pd.DataFrame:
    """One item in all its conditions, with texts.

    The neighbours are read with it, so that a step to one of them need not open the cache.
    """
    cache = open_cache()
    number = generation_of(cache, scorer_id, dataset)
    known = _known_items(str(cache.folder), scorer_id, dataset, number)
    if item_id not in known:
        wanted = list(dict.fromkeys([item_id, *neighbours]))
        rows = item_table(cache, scorer_id, dataset, item_ids=wanted)
        for name, part in rows.groupby("item_id", sort=False):
            known[str(name)] = part.reset_index(drop=True)
    return known[item_id]


def search_rows(
    cache: Cache, dataset: str, text: str, *, regex: bool = False
) -> npt.NDArray[np.int64]:
    """What `find_rows` finds, remembered while the reader goes on under the same words."""
    return _found(str(cache.folder), cache.stamp(), dataset, text, regex)


def read_facets(scorer_id: str, dataset: str, unit: str = "word") -> dict[str, list[str]]:
    """The values of every column that can be filtered by its values, in the table's order."""
    cache = open_cache()
    number = generation_of(cache, scorer_id, dataset)
    return _facets(str(cache.folder), scorer_id, dataset, number, unit)


def read_noise(scorer_id: str, dataset: str) -> RewordingNoise:
    """What rewording alone does to the English items of a data set under a scorer."""
    cache = open_cache()
    number = generation_of(cache, scorer_id, dataset)
    return _noise(str(cache.folder), scorer_id, dataset, number)


def read_comparison(scorer_id: str, other: str, dataset: str) -> tuple[pd.DataFrame, str]:
    """Another scorer against a scorer on a whole data set: the summary, and what it shows."""
    cache = open_cache()
    numbers = tuple(generation_of(cache, s, dataset) for s in (scorer_id, other))
    return _comparison(str(cache.folder), scorer_id, other, dataset, numbers)


def generation_of(cache: Cache, scorer_id: str, dataset: str) -> int:
    """The generation of a scorer's scores of a data set, read only after a write."""
    return _generation(str(cache.folder), cache.stamp(), scorer_id, dataset)


def read_slices(dataset: str) -> list[str]:
    """Names of the slices of a data set."""
    cache = open_cache()
    return _slices(str(cache.folder), cache.stamp(), dataset)


def read_item_facets(dataset: str) -> dict[str, list[str]]:
    """What sources, categories and dimensions the items of a data set have."""
    cache = open_cache()
    return _item_facets(str(cache.folder), generation_of(cache, "", dataset), dataset)


def read_provenance(scorer_id: str, dataset: str) -> dict[str, str]:
    """Where the scores of a scorer and data set come from."""
    cache = open_cache()
    return _provenance(str(cache.folder), cache.stamp(), scorer_id, dataset)


@st.cache_resource(max_entries=20, show_spinner=False)
def _item_facets(folder: str, number: int, dataset: str) -> dict[str, list[str]]:
    versions = item_versions(Cache(Path(folder)), dataset)
    columns = {"sources": "source", "categories": "category", "dimensions": "dimension"}
    return {name: [v for v in versions[c].unique() if v] for name, c in columns.items()}


@st.cache_resource(max_entries=50, show_spinner=False)
def _provenance(folder: str, stamp: Stamp, scorer_id: str, dataset: str) -> dict[str, str]:
    return provenance(Cache(Path(folder)), scorer_id, dataset)


@st.cache_resource(max_entries=2, show_spinner=False)
def _overview(folder: str, stamp: Stamp) -> Overview:
    return overview(Cache(Path(folder)))


@st.cache_resource(max_entries=100, show_spinner=False)
def _generation(folder: str, stamp: Stamp, scorer_id: str, dataset: str) -> int:
    return generation(Cache(Path(folder)), scorer_id, dataset)


@st.cache_resource(max_entries=8, show_spinner="Reading the scores …")
def _items(folder: str, scorer_id: str, dataset: str, number: int) -> pd.DataFrame:
    return item_table(Cache(Path(folder)), scorer_id, dataset, texts=False)


@st.cache_resource(max_entries=8, show_spinner="Reading the pairs …")
def _rules(folder: str, scorer_id: str, dataset: str, number: int) -> Rules:
    table = _items(folder, scorer_id, dataset, number)
    return pair_rules(Cache(Path(folder)), table, scorer_id, dataset)


@st.cache_resource(max_entries=8, show_spinner=False)
def _pair_items(folder: str, scorer_id: str, dataset: str, number: int, unit: str) -> pd.DataFrame:
    table = _items(folder, scorer_id, dataset, number)
    return with_pairs(table, _rules(folder, scorer_id, dataset, number), unit)


@st.cache_resource(max_entries=100, show_spinner=False)
def _summaries(
    folder: str,
    scorer_id: str,
    dataset: str,
    number: int,
    stamp: Stamp,  # of the slices
    filters: str,
    _positions: npt.NDArray[np.intp],
) -> dict[str, pd.DataFrame]:
    return summaries(_rules(folder, scorer_id, dataset, number), _positions)


@st.cache_resource(max_entries=100, show_spinner=False)
def _content(folder: str, scorer_id: str, dataset: str, number: int) -> str:
    return content_number(Cache(Path(folder)), scorer_id, dataset)


@st.cache_resource(max_entries=20, show_spinner=False)
def _audit_content(
    folder: str, dataset: str, scorers: tuple[tuple[str, int], ...], number: int
) -> AuditContent:
    return audit_content(Cache(Path(folder)), dataset, [scorer_id for scorer_id, _ in scorers])


@st.cache_resource(max_entries=20, show_spinner=False)
def _slice_hash(folder: str, stamp: Stamp, dataset: str, part: str) -> str:
    return slice_hash(Cache(Path(folder)), dataset, part)


@st.cache_resource(max_entries=4, show_spinner=False)
def _known_items(folder: str, scorer_id: str, dataset: str, number: int) -> dict[str, pd.DataFrame]:
    """Filled by `read_item`: the items that somebody has looked at, and their neighbours."""
    return {}


@st.cache_resource(max_entries=50, show_spinner=False)
def _found(
    folder: str, stamp: Stamp, dataset: str, text: str, regex: bool
) -> npt.NDArray[np.int64]:
    return find_rows(Cache(Path(folder)), dataset, text, regex=regex)


@st.cache_resource(max_entries=100, show_spinner=False)
def _noise(folder: str, scorer_id: str, dataset: str, number: int) -> RewordingNoise:
    return english_rewording_noise(_items(folder, scorer_id, dataset, number))


@st.cache_resource(max_entries=50, show_spinner="Comparing the scorers …")
def _comparison(
    folder: str, scorer_id: str, other: str, dataset: str, numbers: Stamp
) -> tuple[pd.DataFrame, str]:
    pairs = zip((scorer_id, other), numbers, strict=True)
    found = compare_tables(*(_items(folder, s, dataset, number) for s, number in pairs))
    return found.summary, comparison_sentence(found)


@st.cache_resource(max_entries=100, show_spinner=False)
def _facets(
    folder: str, scorer_id: str, dataset: str, number: int, unit: str
) -> dict[str, list[str]]:
    table = _pair_items(folder, scorer_id, dataset, number, unit)
    columns = ("condition", "source", "category", "dimension", "state", "preferred")
    held = [name for name in columns if name in table]
    values = {name: [v for v in table[name].dropna().unique() if v] for name in held}
    return values | {"flags": sorted({flag for flags in table["flags"] for flag in flags})}


@st.cache_resource(max_entries=20, show_spinner=False)
def _slices(folder: str, stamp: Stamp, dataset: str) -> list[str]:
    return slice_names(Cache(Path(folder)), dataset)
