"""Whose scores the item card shows, and what is read for it: noise, pairs and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.card import Row, item_noise, scorer_name, token_table
from core.analysis.pair_card import pair_tokens
from core.analysis.pair_items import Rules
from core.stats.noise import RewordingNoise
from core.store.gate import Cache
from pages.shared.data import generation_of

Provenance = Mapping[str, object]
Pairs = Mapping[str, Mapping[str, Row]]  # of one item, by condition and unit


@dataclass(frozen=True)
class Source:
    """Whose scores the card shows, by which rule of pairs, and what rewording does to them."""

    cache: Cache
    scorer_id: str
    dataset: str
    number: int  # generation
    model: str
    noise: RewordingNoise
    provenance: Provenance
    pairs: Pairs
    unit: str


def card_source(
    cache: Cache,
    scorer_id: str,
    dataset: str,
    provenance: Provenance,
    pairs: Pairs,
    unit: str = "word",
) -> Source:
    """The source of a card, with the model's name and noise read from the cache."""
    folder = str(cache.folder)
    number = generation_of(cache, scorer_id, dataset)
    model, noise = _model_and_noise(folder, scorer_id, dataset, number)
    return Source(cache, scorer_id, dataset, number, model, noise, provenance, pairs, unit)


def pairs_of(item_id: str, rules: Rules) -> Pairs:
    """One item in the rows of `pair_rules`, where it is a pair."""
    found: dict[str, dict[str, Row]] = {}
    for unit, table in rules.items():
        here = (table["item_id"] == item_id) & table["preferred"].notna()
        for row in table[here].to_dict("records"):
            found.setdefault(row["condition"], {})[unit] = row
    return found


def version_tokens(versions: list[Row], source: Source) -> pd.DataFrame:
    """The tokens of all versions on the card, read in one opening of the cache."""
    keys = tuple((row["item_id"], row["condition"]) for row in versions)
    folder = str(source.cache.folder)
    unit = source.unit if source.pairs else ""
    return _tokens(
        folder, source.scorer_id, source.dataset, keys, source.number, unit, _rows=versions
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _model_and_noise(
    folder: str, scorer_id: str, dataset: str, number: int
) -> tuple[str, RewordingNoise]:
    cache = Cache(Path(folder))
    return scorer_name(cache, scorer_id), item_noise(cache, scorer_id, dataset)


@st.cache_data(max_entries=64, show_spinner=False)
def _tokens(
    folder: str,
    scorer_id: str,
    dataset: str,
    keys: tuple[tuple[str, str], ...],
    number: int,
    unit: str,  # of pairs; empty without
    _rows: list[Row],
) -> pd.DataFrame:
    cache, rows = Cache(Path(folder)), pd.DataFrame(_rows)
    return (
        pair_tokens(cache, scorer_id, rows, unit) if unit else token_table(cache, scorer_id, rows)
    )
