"""The item card: what happened to one item, in English and in another condition beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.card import (
    Row,
    card_rows,
    change_sentence,
    item_noise,
    scorer_name,
    state_sentence,
    token_table,
    two_scorers_sentence,
)
from core.analysis.items import item_table
from core.analysis.pair_card import pair_tokens
from core.analysis.pair_items import Rules
from core.figures.conditions import item_across_conditions
from core.figures.theme import signed
from core.figures.tokens import pair_bars, token_bars
from core.settings import REFERENCE_CONDITION
from core.stats.noise import RewordingNoise
from core.store.gate import Cache
from pages.shared.data import generation_of
from pages.shared.figures import literal, show_figure
from pages.shared.pair_card import choose_rule, show_pair
from pages.shared.widgets import text_block

Provenance = Mapping[str, object]
Pairs = Mapping[str, Mapping[str, Row]]  # of one item, by condition and unit

_ROLES = {
    "stereotype": ("Stereotype", "stereotype"),
    "anti_stereotype": ("Anti-stereotype", "anti"),
    "unrelated": ("Unrelated", "unrelated"),
    "unknown": ("Unknown", "unknown"),
}  # column of the text -> its name, ending of its numbers' columns
_FLAGS = {
    "boundary_merge": "a scored token also covers the end of the context",
    "spans_untrusted": "the places of the tokens in the text are not known for sure",
    "special_literal": "the text spells a special token of the model",
}
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


@dataclass(frozen=True)
class _Source:
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
    known = _pairs_of(item_id, pairs or {})
    source = _source(cache, scorer_id, dataset, origin, known, unit)
    with st.container(key=f"item-card-{scorer_id}-{dataset}-{item_id}"):
        st.html(f'<h3 dir="auto">{escape(item_id)}</h3>')
        shown = _choose_condition(rows, source, condition)
        versions = _versions(rows, shown)
        is_pair = any(row["condition"] in known for row in versions)
        if is_pair:
            choose_rule(unit, "card")
        tokens = _tokens_of(versions, source)
        for place, row in zip(st.columns(len(versions), gap="medium"), versions, strict=True):
            with place:
                _show_version(row, source, tokens)
        if len(rows) > 1 or compare or not is_pair:
            _show_conditions(rows, source, compare)
        _show_metadata(versions)
    return shown


def sensitive_css() -> str:
    """Style, for `st.html`, that blurs the texts of items until the pointer is on them."""
    return _SENSITIVE


def _source(
    cache: Cache,
    scorer_id: str,
    dataset: str,
    provenance: Provenance,
    pairs: Pairs,
    unit: str = "word",
) -> _Source:
    folder = str(cache.folder)
    number = generation_of(cache, scorer_id, dataset)
    model, noise = _model_and_noise(folder, scorer_id, dataset, number)
    return _Source(cache, scorer_id, dataset, number, model, noise, provenance, pairs, unit)


def _pairs_of(item_id: str, rules: Rules) -> Pairs:
    found: dict[str, dict[str, Row]] = {}
    for unit, table in rules.items():
        here = (table["item_id"] == item_id) & table["preferred"].notna()
        for row in table[here].to_dict("records"):
            found.setdefault(row["condition"], {})[unit] = row
    return found


def _choose_condition(rows: pd.DataFrame, source: _Source, condition: str) -> str:
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


def _show_version(row: Row, source: _Source, tokens: pd.DataFrame) -> None:
    st.markdown(f"**{literal(row['condition'])}**")
    pair = source.pairs.get(row["condition"])
    if pair:
        here = _tokens_in(row, tokens)
        show_pair(row, pair, source.unit, here, source.model, _flags(row))
        _show_tokens(row, source, tokens)
        return
    _show_numbers(row, source.noise)
    for sentence in (state_sentence(row), change_sentence(row, source.noise), _flags(row)):
        if sentence:
            st.caption(literal(sentence))
    st.caption("Context")
    text_block(row["context"], row["language"])
    for role, (label, ending) in _ROLES.items():
        if pd.isna(row[role]):
            continue
        value, n = row[f"l_{ending}"], row[f"n_{ending}"]
        measure = "" if pd.isna(value) else f": l = {signed(value, 3)} nats per token, n = {n}"
        st.caption(f"{label}{measure}")
        text_block(row[role], row["language"])
    _show_tokens(row, source, tokens)


def _show_numbers(row: Row, noise: RewordingNoise) -> None:
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "SS",
            _number(row["ss"]),
            width="content",
            help="Stereotype score: above 0.5 the stereotype is more likely",
        )
        if not pd.isna(row["change"]):
            st.metric(
                "Change from English",
                f"{row['change']:+.3f}".replace("-", "\u2212"),
                delta=_yardstick(noise),
                delta_color="off",
                delta_arrow="off",
                width="content",
            )
        st.metric(
            "Fluency",
            _number(row["fluency"]),
            width="content",
            help="Preference for the better of the two over the unrelated continuation",
        )
        counts = [row["n_stereotype"], row["n_anti"]]
        tokens = "–" if any(map(pd.isna, counts)) else " / ".join(map(str, counts))
        st.metric(
            "Tokens", tokens, width="content", help="Scored tokens: stereotype / anti-stereotype"
        )


def _yardstick(noise: RewordingNoise) -> str:
    if pd.isna(noise.item_sd):
        return "rewording alone: not known"
    return f"rewording alone: sd {noise.item_sd:.3f}, n = {noise.n_changes}"


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.3f}"


def _flags(row: Row) -> str:
    if row["state"] != "scored" or len(row["flags"]) == 0:
        return ""
    return f"Note: {'; '.join(_FLAGS.get(flag, flag) for flag in row['flags'])}."


def _show_tokens(row: Row, source: _Source, every: pd.DataFrame) -> None:
    if row["state"] != "scored":
        return
    tokens = _tokens_in(row, every)
    if tokens.empty:
        st.caption(every.attrs["note"] or "The cache holds no tokens of this condition.")
        return
    name = f"tokens-{row['item_id']}-{row['condition']}-{source.scorer_id}"
    pair = source.pairs.get(row["condition"])
    if pair:
        figure = pair_bars(
            tokens,
            source.unit,
            informative=not pd.isna(pair[source.unit]["difference"]),
            model=source.model,
            dataset=source.dataset,
        )
        name = f"{name}-{source.unit}"
    else:
        figure = token_bars(tokens, model=source.model, dataset=source.dataset)
    show_figure(figure, name, source.provenance, table=tokens)


def _tokens_in(row: Row, every: pd.DataFrame) -> pd.DataFrame:
    here: pd.DataFrame = every[every["condition"] == row["condition"]]
    return here.reset_index(drop=True)


def _show_conditions(rows: pd.DataFrame, source: _Source, compare: str | None) -> None:
    item_id = rows["item_id"].iloc[0]
    st.markdown("**The item in every condition**")
    scores = card_rows(rows, item_id, source.noise)
    other, other_model = None, ""
    if compare is not None:
        second = _source(source.cache, compare, source.dataset, source.provenance, {})
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
    if compare is not None and other is not None:
        saved = pd.concat([saved, other.assign(scorer_id=compare)], ignore_index=True)
        st.caption(literal(two_scorers_sentence(scores, other, source.model, other_model)))
    name = f"conditions-{item_id}-{source.scorer_id}"
    show_figure(figure, name, source.provenance, table=saved)


def _second_rows(second: _Source, item_id: str) -> pd.DataFrame:
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


@st.cache_data(max_entries=32, show_spinner=False)
def _model_and_noise(
    folder: str, scorer_id: str, dataset: str, number: int
) -> tuple[str, RewordingNoise]:
    cache = Cache(Path(folder))
    return scorer_name(cache, scorer_id), item_noise(cache, scorer_id, dataset)


def _tokens_of(versions: list[Row], source: _Source) -> pd.DataFrame:
    """The tokens of all versions on the card, read in one opening of the cache."""
    keys = tuple((row["item_id"], row["condition"]) for row in versions)
    folder = str(source.cache.folder)
    unit = source.unit if source.pairs else ""
    return _tokens(
        folder, source.scorer_id, source.dataset, keys, source.number, unit, _rows=versions
    )


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
