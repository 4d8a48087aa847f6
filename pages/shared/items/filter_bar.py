"""The filter bar: one widget per filter of the selection, and what to do when nothing is left."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.analysis.filtering import Matches, sorts_of, unknown_values
from core.analysis.pair_card import PREFERENCES
from core.analysis.pair_items import has_one_rule
from core.selection import SORTS, Selection, active_filters, with_field, without
from core.words import counted
from pages.shared import state
from pages.shared.data import read_facets, read_slices
from pages.shared.items.pair_card import choose_rule

LABELS = {
    "slice": "Slice",
    "conditions": "Condition",
    "sources": "Source",
    "categories": "Category",
    "dimensions": "Dimension",
    "states": "State",
    "flags": "Flag",
    "preferences": "Preferred",
    "ss_min": "SS from",
    "ss_max": "SS to",
    "change_min": "Change from",
    "change_max": "Change to",
    "text": "Text",
}
_COLUMNS = {
    "conditions": "condition",
    "sources": "source",
    "categories": "category",
    "dimensions": "dimension",
    "states": "state",
    "preferences": "preferred",
}


def known_part(table: pd.DataFrame, selection: Selection) -> tuple[Selection, list[str]]:
    """The selection without values that no row has, and a sentence for each that was left out."""
    sentences = []
    for name, values in unknown_values(table, selection).items():
        kept = tuple(v for v in getattr(selection, name) if v not in values)
        selection = with_field(selection, name, kept)
        sentences.append(
            f"{LABELS[name]} {', '.join(values)} is not in this data set; it was left out."
        )
    if selection.slice and selection.slice not in read_slices(selection.dataset):
        sentences.append(f"The slice {selection.slice} is not in this cache; all items are shown.")
        selection = replace(selection, slice="")
    if selection.sort not in sorts_of(table):
        sentences.append(
            f"There are no pairs of sentences here to be sorted by {SORTS[selection.sort]}."
        )
        selection = replace(selection, sort=Selection().sort)
    return selection, sentences


def filter_bar(table: pd.DataFrame, selection: Selection) -> None:
    """Draw the filters; what the reader changes goes into the selection."""
    facets = read_facets(selection.scorer, selection.dataset, selection.unit)
    conditions, categories, text = st.columns([2, 2, 3])
    with conditions:
        _multiselect("conditions", facets["condition"], selection)
    with categories:
        _multiselect("categories", facets["category"], selection)
    with text:
        state.show_field("text", selection.text)
        st.text_input(
            "Text or item contains",
            placeholder="words, or a regular expression",
            max_chars=500,
            **state.bound("text", str.strip),
        )
    n_more = len([n for n in active_filters(selection) if n not in ("conditions", "text")])
    label = f"More filters ({n_more} set)" if n_more else "More filters"
    with st.expander(label, icon=":material/filter_list:"):
        _more(facets, selection)
    sort, direction, rule = st.columns([2, 2, 3], vertical_alignment="bottom")
    with sort:
        state.show_field("sort", selection.sort)
        sorts = sorts_of(table)
        st.selectbox("Sort by", sorts, format_func=SORTS.__getitem__, **state.bound("sort"))
    with direction:
        state.show_field("descending", selection.descending)
        st.toggle("Largest first", **state.bound("descending"))
    if "preferred" in facets and not has_one_rule(table):
        with rule:
            choose_rule(selection.unit, "table")


def nothing_left(selection: Selection, matches: Matches) -> None:
    """Say which filter took the rows, and offer to take it off."""
    st.info("No row passes all filters. Take one off:", icon=":material/filter_alt_off:")
    for name in active_filters(selection):
        remaining = matches.without[name]
        st.button(
            f"Without {LABELS[name]}: {remaining:,} of {counted(matches.n_all, 'row')}",
            key=f"without-{name}",
            on_click=lambda name=name: state.put(without(state.current(), name)),
        )


def _more(facets: dict[str, list[str]], selection: Selection) -> None:
    names = [n for n in ("sources", "dimensions", "states", "preferences") if _COLUMNS[n] in facets]
    for place, name in zip(st.columns(len(names)), names, strict=True):
        with place:
            _multiselect(name, facets[_COLUMNS[name]], selection)
    flags, slices, regex = st.columns(3, vertical_alignment="bottom")
    with flags:
        _multiselect("flags", facets["flags"], selection)
    with slices:
        state.show_field("slice", selection.slice)
        st.selectbox(
            "Slice",
            ["", *read_slices(selection.dataset)],
            format_func=lambda name: name or "all items",
            **state.bound("slice"),
        )
    with regex:
        state.show_field("regex", selection.regex)
        st.toggle("Text is a regular expression", **state.bound("regex"))
    bounds = ("ss_min", "ss_max", "change_min", "change_max")
    for place, name in zip(st.columns(4), bounds, strict=True):
        with place:
            state.show_field(name, getattr(selection, name))
            st.number_input(
                LABELS[name],
                min_value=0.0 if name.startswith("ss") else -1.0,
                max_value=1.0,
                step=0.05,
                format="%.3f",
                placeholder="any",
                **state.bound(name),
            )


def _multiselect(name: str, options: list[str], selection: Selection) -> None:
    state.show_field(name, [v for v in getattr(selection, name) if v in options])
    st.multiselect(
        LABELS[name],
        options,
        format_func=lambda value: PREFERENCES[value] if name == "preferences" else value,
        placeholder="all",
        **state.bound(name, tuple),
    )
