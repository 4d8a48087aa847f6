"""What the item card shows of a pair of sentences, and the switch between the two rules."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import pandas as pd
import streamlit as st

from core.analysis.card import Row, state_sentence
from core.analysis.pair_card import SENTENCES, flag_words, marked, sum_words, verdict
from core.analysis.pair_items import other_unit
from core.figures.theme import signed
from pages.shared import state
from pages.shared.figures import literal

RULES = {"word": "shared words", "token": "shared tokens"}
# Told apart by shape and not by colour alone, without space that would break joined letters.
_UNMODIFIED = "color:inherit;background:rgba(29,170,98,0.25);text-decoration:none"
_MODIFIED = "text-decoration:underline dotted 2px;text-underline-offset:0.25em"
_LEGEND = (
    f'<div style="font-size:0.875rem"><mark style="{_UNMODIFIED}">Shaded</mark>: unmodified. '
    f'<u style="{_MODIFIED}">Dotted line</u>: modified, left out.</div>'
)


def choose_rule(unit: str, place: str) -> None:
    """The switch between the word rule and the token rule, in one of its places on the page."""
    key = f"rule-{place}"
    st.session_state[key] = unit

    def write() -> None:
        state.change(unit=st.session_state[key], page=state.current().page)

    st.segmented_control(
        "Sentences are compared on",
        list(RULES),
        format_func=RULES.__getitem__,
        required=True,
        key=key,
        on_change=write,
        help="Word rule: the tokens of words that stand in both sentences. Token rule: the tokens "
        "that stand in both, also where different words happen to share a piece, such as "
        "“gender” in transgender and cisgender.",
    )


def show_pair(
    row: Row,
    pairs: Mapping[str, Row],
    unit: str,
    tokens: pd.DataFrame,
    model: str,
    flags: str,
) -> None:
    """Numbers, verdict and both sentences of a pair, its unmodified words marked.

    Parameters
    ----------
    row
        Of `item_table`.
    pairs
        The pair's rows of `pair_rules` by unit.
    tokens
        Of `pair_tokens` under the unit, for this item and condition.
    model
        As sentences name it.
    flags
        What the flags of the scores mean, in a sentence.
    """
    parts = {role: tokens[tokens["role"] == role] for role in SENTENCES}
    counts = [int(part["unmodified"].fillna(False).sum()) for part in parts.values()]
    _show_numbers(pairs[unit], counts)
    if row["state"] == "scored":
        sentence = verdict(
            pairs[unit], pairs[other_unit(unit)], unit, model, (counts[0], counts[1])
        )
        st.markdown(literal(sentence))
    notes = [state_sentence(row), *(f"Note: {w}." for w in flag_words(pairs[unit]["flags"])), flags]
    for note in filter(None, notes):
        st.caption(literal(note))
    for role, name in SENTENCES.items():
        measure = sum_words(parts[role], informative=not pd.isna(pairs[unit]["difference"]))
        st.caption(literal(f"{name}: {measure}" if len(parts[role]) else name))
        _show_sentence(row[role.value], row["language"], parts[role])
    if counts[0]:
        st.html(_LEGEND)


def _show_numbers(pair: Row, counts: list[int]) -> None:
    more, less = pair["score_more"], pair["score_less"]
    n = "–" if not any(counts) else " / ".join(str(n) for n in dict.fromkeys(counts))
    shown = {
        "Stereotypical sentence": (_nats(more), "Summed log-probability of its unmodified tokens"),
        "Other sentence": (_nats(less), "Summed log-probability of its unmodified tokens"),
        "Difference": (
            _nats(pair["difference"], plus=True),
            "The score of a pair: stereotypical minus other sentence, both summed over their "
            "unmodified tokens, in nats. Above 0 the stereotypical one is preferred",
        ),
        "Unmodified tokens": (n, "Of the stereotypical sentence / of the other, where they differ"),
    }
    with st.container(horizontal=True, gap="medium"):
        for label, (value, explained) in shown.items():
            st.metric(label, value, width="content", help=explained)


def _nats(value: float, *, plus: bool = False) -> str:
    if pd.isna(value):
        return "–"
    return ("+" if plus and value > 0 else "") + signed(value, 2)


def _show_sentence(sentence: str, language: str, tokens: pd.DataFrame) -> None:
    kinds = {True: ("mark", _UNMODIFIED), False: ("u", _MODIFIED)}
    parts = []
    for text, unmodified in marked(sentence, tokens):
        if unmodified is None:
            parts.append(escape(text))
            continue
        tag, style = kinds[unmodified]
        parts.append(f'<{tag} style="{style}">{escape(text)}</{tag}>')
    st.html(f'<p dir="auto" lang="{escape(language, quote=True)}">{"".join(parts)}</p>')
