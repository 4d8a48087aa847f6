"""What pages read from the cache: fetched once per generation, never keyed by a frame."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from core import settings
from core.analysis.items import item_table
from core.analysis.overview import Overview, overview
from core.store.gate import Cache
from core.store.generations import generation


def open_cache() -> Cache:
    """The cache that the app shows."""
    return Cache(settings.cache_folder())


def read_overview() -> Overview | None:
    """What the cache holds; None when there is no cache yet."""
    cache = open_cache()
    return overview(cache) if cache.exists() else None


def read_items(scorer_id: str, dataset: str) -> pd.DataFrame:
    """The item table of one scorer and data set, reread only after a write."""
    cache = open_cache()
    number = generation(cache, scorer_id, dataset)
    return _items(str(cache.folder), scorer_id, dataset, number)


@st.cache_data(max_entries=8, show_spinner="Reading the scores …")
def _items(folder: str, scorer_id: str, dataset: str, number: int) -> pd.DataFrame:
    return item_table(Cache(Path(folder)), scorer_id, dataset)
