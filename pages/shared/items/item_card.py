"""The item card: what happened to one item, in English and in another condition beside it."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.card import Row, card_rows, two_scorers_sentence
from core.analysis.items import item_table
from core.analysis.pair_items import Rules
from core.figures.conditions import item_across_conditions
from core.settings import REFERENCE_CONDITION
from core.store.gate import Cache
from core.store.pair_rows import IMPORTED
from pages.shared.figures import literal, show_figure
from pages.shared.items.card_source import (
    Pairs,
    Provenance,
    Source,
    card_source,
    pairs_of,
    version_tokens,
)
from pages.shared.items.item_version import show_version
from pages.shared.items.pair_card import choose_rule

PAIR_CONDITIONS = (
    "Drawn from SS, the means over all tokens, also those that differ: it changes with the whole "
    "sentence. The score of the pair is the difference above, over unmodified tokens."
)
_FIELDS = ("language", "source", "category", "dimension", "resource_level", "native")
# Also blurred: the tokens above the bars, which spell the text.
_SENSITIVE = """
<style>
[data-testid="stHtml"] p[lang],
[class*="st-key-figure-tokens-"] [class*="xaxislayer"] text { filter: blur(0.4em); }
[data-testid="stHtml"] p[lang]:is(:hover, :active, :focus),
[class*="st-key-figure-tokens-"]:is(:hover, :active) text { filter: none; }
</style>
"""


def item_card(
    cache: Cache,
    scorer_id: str,
    dataset: str,
    table: pd.DataFrame,
    item_id: str,
    condition: str,
    compare: str | None = None,
    *,
    provenance: Provenance | None = None,
    pairs: Rules | None = None,
    unit: str = "word",
) -> str:
    """Everything about one item: English beside the chosen condition, and all conditions.

    Parameters
    ----------
    table : DataFrame
        Of `item_table` under the scorer: this item's rows in all conditions, or more.
    condition : str
        Shown first beside English; the reader can choose another one on the card.
    compare : str
        A second scorer's id.
    provenance : mapping
        Goes into the saved figures.
    pairs, unit
        Of a pair of sentences: the rows of `pair_rules` that hold at least this item, and the rule
        that its card shows.

    Returns
    -------
    str
        The condition that the reader looks at now.
    """
    rows = table[table["item_id"] == item_id]
    if rows.empty:
        st.info("This item is not in the data set.", icon=":material/info:")
        return condition
    origin = {"scorer_id": scorer_id, "dataset": dataset, **(provenance or {})}
    known = pairs_of(item_id, pairs or {})
    source = card_source(cache, scorer_id, dataset, origin, known, unit)
    with st.container(key=f"item-card-{scorer_id}-{dataset}-{item_id}"):
        st.html(f'<h3 dir="auto">{escape(item_id)}</h3>')
        shown = _choose_condition(rows, source, condition)
        versions = _versions(rows, shown)
        is_pair = any(row["condition"] in known for row in versions)
        if is_pair and not _has_one_rule(known, unit):
            choose_rule(unit, "card")
        tokens = version_tokens(versions, source)
        for place, row in zip(st.columns(len(versions), gap="medium"), versions, strict=True):
            with place:
                show_version(row, source, tokens)
        if scorer_id and (len(rows) > 1 or compare or not is_pair):
            _show_conditions(rows, source, compare)
        _show_metadata(versions)
    return shown


def _has_one_rule(known: Pairs, unit: str) -> bool:
    """Whether all scores of a pair come from elsewhere, where one rule made them."""
    scored = [pair[unit] for pair in known.values() if pair[unit]["preferred"]]
    return bool(scored) and all(IMPORTED in pair["flags"] for pair in scored)


def sensitive_css() -> str:
    """Style, for `st.html`, that blurs the texts of items until the pointer is on them."""
    return _SENSITIVE


def _choose_condition(rows: pd.DataFrame, source: Source, condition: str) -> str:
    states = dict(zip(rows["condition"], rows["state"], strict=True))
    first = condition if condition in states else next(reversed(states))
    if len(states) == 1:
        return first
    chosen = st.segmented_control(
        "Condition",
        list(states),
        format_func=lambda c: literal(c if states[c] == "scored" else f"{c} ({states[c]})"),
        default=first,
        required=True,
        # Another condition chosen outside the card begins anew.
        key=f"card-condition-{source.dataset}-{rows['item_id'].iloc[0]}-{condition}",
    )
    return chosen or first


def _versions(rows: pd.DataFrame, shown: str) -> list[Row]:
    """The English row, where there is another one to compare with it, and the chosen row."""
    here = rows[rows["condition"] == shown]
    english = rows[(rows["condition"] == REFERENCE_CONDITION) & ~rows["native"]]
    beside = [] if shown == REFERENCE_CONDITION else [english.head(1)]
    parts = [part for part in (*beside, here.head(1)) if not part.empty]
    return [part.to_dict("records")[0] for part in parts]


def _show_conditions(rows: pd.DataFrame, source: Source, compare: str | None) -> None:
    item_id = rows["item_id"].iloc[0]
    st.markdown("**The item in every condition**")
    scores = card_rows(rows, item_id, source.noise)
    other, other_model = None, ""
    if compare is not None:
        second = card_source(source.cache, compare, source.dataset, source.provenance, {})
        other, other_model = _second_rows(second, item_id), second.model
    figure = item_across_conditions(
        scores,
        source.noise,
        other,
        model=source.model,
        other_model=other_model,
        dataset=source.dataset,
    )
    saved = scores.assign(scorer_id=source.scorer_id)
    if not source.pairs.keys().isdisjoint(rows["condition"]):
        st.caption(PAIR_CONDITIONS)
    if compare is not None and other is not None:
        saved = pd.concat([saved, other.assign(scorer_id=compare)], ignore_index=True)
        st.caption(literal(two_scorers_sentence(scores, other, source.model, other_model)))
    name = f"conditions-{item_id}-{source.scorer_id}"
    show_figure(figure, name, source.provenance, table=saved)


def _second_rows(second: Source, item_id: str) -> pd.DataFrame:
    table = item_table(second.cache, second.scorer_id, second.dataset, item_ids=[item_id])
    return card_rows(table, item_id, second.noise)


def _show_metadata(versions: list[Row]) -> None:
    values = {row["condition"]: _metadata(row) for row in versions}
    fields = list(dict.fromkeys(field for column in values.values() for field in column))
    shown = {name: [column.get(field, "") for field in fields] for name, column in values.items()}
    st.markdown("**About the item**")
    st.dataframe(pd.DataFrame({"field": fields, **shown}), hide_index=True)


def _metadata(row: Row) -> dict[str, str]:
    known: dict[str, Any] = {field: row[field] for field in _FIELDS}
    known["answer_order"] = ", ".join(row["answer_order"])
    known |= json.loads(row["metadata"] or "{}")
    return {str(field): _text(value) for field, value in known.items() if value not in ("", None)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
