"""Tables of the audit's pages: names a person reads, one way to write numbers, notes, downloads."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
from pandas.api import types
from pandas.io.formats.style import Styler

from core.analysis.audit.names import ALL_MODELS, POOLED
from core.analysis.audit.request import AuditTable
from core.analysis.audit.words import number, p_number, signed
from core.languages import language_name
from core.words import short_labels
from pages.shared.figures import literal
from pages.shared.widgets import download_buttons

SIMULATED = "audit-is-simulated"  # what the session remembers of the audit on the page
MISSING = "–"
P_FORMAT = "p"  # of a column: the format of p-values and q-values
_MODELS = {"model": None, "group": "group_kind", "value": "choice"}  # and what says that they are
_CONDITIONS = ("condition", "original", "against", "reference")
_TALL, _HEIGHT = 14, 520  # rows from which a table scrolls, and px that it has then


def pvalue(label: str, help_text: str = "") -> Any:
    """A column of p-values or q-values."""
    return st.column_config.NumberColumn(label, format=P_FORMAT, help=help_text or None)


def show_table(
    table: AuditTable, columns: Mapping[str, Any], stem: str, *, rows: pd.DataFrame | None = None
) -> None:
    """A table with its notes and downloads; what is downloaded has every column.

    Simulated scores are marked in every file, by what `read_audit` has found.

    Parameters
    ----------
    columns
        Columns to show, with their labels or column configuration. Reasons are left out where
        nothing is undefined.
    stem
        File name without ending.
    rows
        Part of the table's rows, where not all are shown.
    """
    shown = table.rows if rows is None else rows
    needed = {c: v for c, v in columns.items() if c != "reason" or (shown["reason"] != "").any()}
    labels = short_models(table.rows)
    show_frame(
        with_names(shown[list(needed)], labels),
        needed,
        height="content" if len(shown) <= _TALL else _HEIGHT,
    )
    if len(shown) < len(table.rows):
        st.caption(f"Showing {len(shown):,} of {len(table.rows):,} rows")
    show_notes(table)
    simulated = bool(st.session_state.get(SIMULATED))
    download_buttons(lambda: shown, list(needed), stem, simulated=simulated)


def show_frame(
    frame: pd.DataFrame, columns: Mapping[str, Any], height: int | Literal["content"]
) -> None:
    """A frame with its numbers as everywhere in sentences: a true minus, thousands apart."""
    # Equal frames may differ in these bytes, which costs time; other frames always do.
    content = hashlib.blake2b(pickle.dumps((frame, dict(columns)))).hexdigest()
    _shown(content, height, _frame=frame, _columns=columns)


# Writing the numbers takes several times as long as showing them; what was shown is replayed.
@st.cache_data(max_entries=500, show_spinner=False)
def _shown(
    content: str,
    height: int | Literal["content"],
    _frame: pd.DataFrame,
    _columns: Mapping[str, Any],
) -> None:
    styled, config = written(_frame, _columns)
    st.dataframe(styled, column_config=config, hide_index=True, placeholder=MISSING, height=height)


def show_notes(*tables: AuditTable) -> None:
    """What tables cannot say, and why."""
    for note in dict.fromkeys(note for table in tables for note in table.notes):
        st.caption(f":material/info: {literal(note)}")


def short_models(rows: pd.DataFrame) -> dict[str, str]:
    """What to call the models of a table, as figures do."""
    found: list[str] = []
    for column, kind in _MODELS.items():
        if column in rows and (kind is None or kind in rows):
            named = rows[column] if kind is None else rows.loc[rows[kind] == "model", column]
            found += [str(model) for model in named.unique()]
    labels = [label for label in dict.fromkeys(found) if label and label != ALL_MODELS]
    return dict(zip(labels, short_labels(labels), strict=True))


def with_names(frame: pd.DataFrame, models: Mapping[str, str]) -> pd.DataFrame:
    """Conditions and models by their names; codes of versions that are no language stay."""
    named = {c: frame[c].map(condition_name) for c in _CONDITIONS if c in frame}
    for column in _MODELS:
        if models and column in frame:
            named[column] = frame[column].map(lambda label: models.get(label, label))
    return frame.assign(**named)


def condition_name(condition: str) -> str:
    """What tables call a condition: Hindi, all languages, en~p1."""
    if condition == POOLED:
        return "all languages"
    return condition if set(condition) & {"~", "+"} else language_name(condition)


def written(frame: pd.DataFrame, columns: Mapping[str, Any]) -> tuple[Styler, dict[str, Any]]:
    """The frame with its numbers in words, and the columns without their formats.

    The browser would write a hyphen for a minus, and numbers without a format as they come. The
    values stay numbers, so that a click on a header sorts them.
    """
    config, by_form = dict(columns), dict[str, list[Hashable]]()
    for name, column in columns.items():
        if not types.is_numeric_dtype(frame[name]) or types.is_bool_dtype(frame[name]):
            continue
        kind = column.get("type_config", {}) if isinstance(column, dict) else {}
        by_form.setdefault(kind.get("format") or "%d", []).append(name)
        if kind:
            config[name] = {**column, "type_config": {**kind, "format": None}}
    styled = frame.style.format(na_rep=MISSING)
    for form, names in by_form.items():  # one call for a format: each takes a millisecond
        styled = styled.format(_writer(form), subset=names, na_rep=MISSING)
    return styled, config


def _writer(form: str) -> Callable[[Any], str]:
    if form == P_FORMAT:
        return p_number
    if form == "percent":
        return lambda share: f"{100 * share:.1f} %"
    digits = int(form.partition(".")[2].rstrip("f") or 0)
    return partial(signed if "+" in form else number, digits=digits)
