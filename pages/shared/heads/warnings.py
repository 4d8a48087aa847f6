"""What speaks against taking a flag at its word: the phrases' length, and random directions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.audit.words import number, p_words
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.validity import length_table
from core.stats.levels import LEVEL
from core.store.gate import Cache
from pages.shared.data import Stamp, open_cache
from pages.shared.figures import literal
from pages.shared.heads.data import read_axes_table

_CHECKED = "heads-checked"  # what random directions gave, by what was asked and the axis
OF_LENGTH = ("length_r", "length_qvalue", "length_unit", "n_phrases")


def read_tests(question: HeadsQuestion) -> pd.DataFrame | None:
    """The tests of all axes by axis_id, with whether values follow the phrases' length.

    None where they are not at hand; errors as `read_axes_table`.
    """
    cache = open_cache()
    return _tests(str(cache.folder), cache.stamp(), question)


def remember_check(question: HeadsQuestion, axis_id: str, row: Mapping[str, Any]) -> bool:
    """Keep what random directions gave for an axis in this tab; whether that is new."""
    held = st.session_state.setdefault(_CHECKED, {})
    key = (open_cache().stamp(), question, axis_id)
    is_new = key not in held
    held[key] = {name: row[name] for name in ("n_directions", "share", "pvalue")}
    return is_new


def warning_badges(question: HeadsQuestion, axis_id: str, row: Mapping[str, Any]) -> str:
    """Badges in Markdown for what is known to speak against a flag; empty where nothing is."""
    said = []
    if row.get("length_qvalue", 1.0) < LEVEL:
        r, q = number(row["length_r"], 2), p_words("q", row["length_qvalue"])
        said.append(f"follows the phrases' length: r = {r}, {q}")
    key = (open_cache().stamp(), question, axis_id)
    checked = st.session_state.get(_CHECKED, {}).get(key)
    if checked and checked["n_directions"] and not checked["pvalue"] < LEVEL:
        said.append(
            f"{100 * checked['share']:.0f} % of random directions are flagged: "
            f"{p_words('p', checked['pvalue'])}"
        )
    return " ".join(f":orange-badge[:material/warning: {literal(each)}]" for each in said)


@st.cache_resource(max_entries=16, show_spinner=False)
def _tests(folder: str, stamp: Stamp, question: HeadsQuestion) -> pd.DataFrame | None:
    stored = read_axes_table(question)
    if stored is None:
        return None
    lengths = length_table(Cache(Path(folder)), stored)[list(OF_LENGTH)]
    return stored.table.set_index("axis_id").join(lengths, validate="1:1")
