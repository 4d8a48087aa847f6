"""One version of an item on its card: numbers, texts and tokens."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from core.analysis.card import Row, change_sentence, state_sentence
from core.analysis.items import POLES
from core.figures.theme import signed
from core.figures.tokens import pair_bars, token_bars
from core.stats.noise import RewordingNoise
from core.words import counted
from pages.shared.figures import literal, show_figure
from pages.shared.items.card_source import Source
from pages.shared.items.pair_card import show_pair
from pages.shared.widgets import text_block

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


def show_version(row: Row, source: Source, tokens: pd.DataFrame) -> None:
    """Everything about an item in one condition.

    Parameters
    ----------
    row
        Of `item_table`.
    tokens
        Of `version_tokens`, of all versions on the card.
    """
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
        st.caption(f"{label}{_measure(row, ending)}")
        text_block(row[role], row["language"])
    _show_tokens(row, source, tokens)


def _measure(row: Row, ending: str) -> str:
    """The number behind one continuation, with its tokens where they are known."""
    n = row[f"n_{ending}"]
    tokens: str = "" if pd.isna(n) else f", n = {counted(n, 'token')}"
    if not pd.isna(value := row[f"l_{ending}"]):
        return f": l = {signed(value, 3)} nats per token{tokens}"
    if not pd.isna(value := row[f"sum_{ending}"]):
        return f": sum {signed(value, 3)} nats{tokens}"
    if not pd.isna(value := row.get(f"order_{ending}", math.nan)):
        return f": {signed(value, 3)}, on a scale that the file does not name"
    return ""


def _show_numbers(row: Row, noise: RewordingNoise) -> None:
    with st.container(horizontal=True, gap="medium"):
        if pd.isna(row["ss"]) and not pd.isna(row["binary"]):
            st.metric(
                "Preferred",
                POLES[row["binary"]],
                width="content",
                help="The pole with the higher score",
            )
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


def _show_tokens(row: Row, source: Source, every: pd.DataFrame) -> None:
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
