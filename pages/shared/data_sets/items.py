"""Items to be read with the roles that were derived, and the examples of checks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import streamlit as st

from core.analysis.data_sets import few_items
from core.analysis.role_evidence import BEHIND, evidence, rules_of
from core.settings import DEFAULT_SEED
from core.types import Item
from pages.shared.figures import literal

FEW = 10
ABOUT = ("what", "blanks", "role", "n", BEHIND)  # columns of examples that are no texts
ROLE_NAMES = {
    "context": "Context",
    "stereotype": "Stereotype",
    "anti_stereotype": "Anti-stereotype",
    "unrelated": "Unrelated",
    "unknown": "Unknown",
    "stereotype in English": "Stereotype in English",
    "anti_stereotype in English": "Anti-stereotype in English",
    "not scored": "Not scored",
    "marks dropped": "Marks dropped",
    "tokens": "Scored tokens",
}


def read_few(items: Sequence[Item], formats: str, key: str) -> None:
    """Ten items, spread over conditions and categories, with what stands behind their roles."""
    again = f"{key}-again"
    st.session_state.setdefault(again, 0)
    for name, rule in rules_of(formats, items).items():
        st.caption(literal(f"{name}: {rule.sentence}."))
    seed = DEFAULT_SEED + st.session_state[again]
    drawn = few_items(items, FEW, seed)
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.caption(
        f"Showing {len(drawn)} of {len(items):,} rows, drawn with seed {seed} and spread over "
        "conditions and categories."
    )

    def others() -> None:
        st.session_state[again] += 1

    right.button("Others", icon=":material/casino:", on_click=others, key=f"{key}-others")
    for item in drawn:
        show_item(item, formats)


def show_item(item: Item, formats: str) -> None:
    """One item: context, every continuation under its role, and what stands behind the roles."""
    head = [item.item_id, item.condition, item.category, item.source]
    texts = [("context", item.context)] if item.context.strip() else []
    texts += [(role.value, text) for role, text in item.continuations().items()]
    with st.container(border=True):
        st.markdown(" · ".join(literal(part) for part in head if part))
        st.html("".join(labelled(ROLE_NAMES[name], text, item.language) for name, text in texts))
        if behind := evidence(item, formats):
            st.caption(literal(f"{BEHIND}: {behind}"))


def labelled(label: str, text: str, language: str) -> str:
    """A text of any script under its label, right to left where it is."""
    return (
        f"<small>{escape(label)}</small>"
        f'<p dir="auto" lang="{escape(language, quote=True)}">{escape(text)}</p>'
    )


def show_examples(examples: pd.DataFrame, language_of: dict[str, str]) -> None:
    """Rows of a check: numbers as a table, texts to be read.

    Parameters
    ----------
    language_of
        The language of each condition.
    """
    if "item_id" not in examples:
        st.dataframe(examples, hide_index=True, placeholder="–", height="content")
        return
    for row in examples.to_dict("records"):
        language = language_of.get(str(row["condition"]), "")
        head = [str(row.pop("item_id")), str(row.pop("condition"))]
        given = {str(name): value for name, value in row.items() if not _is_missing(value)}
        about = [f"{name}: {given.pop(name)}" for name in ABOUT if name in given]
        texts = [
            labelled(
                ROLE_NAMES.get(name, name),
                str(value),
                "en" if name.endswith("in English") else language,
            )
            for name, value in given.items()
        ]
        with st.container(border=True):
            st.markdown(" · ".join(map(literal, head)))
            st.html("".join(texts))
            if about:
                st.caption(literal("; ".join(about)))


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and value != value)
