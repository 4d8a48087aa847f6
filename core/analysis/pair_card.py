"""The card of a sentence pair: its tokens, which of them count, and what the difference says."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np
import pandas as pd

from core.analysis.card import Row, token_table
from core.analysis.pair_items import other_unit
from core.analysis.pairs import LESS, MORE, TIE, UNDECIDED
from core.items.alignment import Mask, Sentence, unmodified_tokens
from core.items.texts import fold, join
from core.stats.pairs import unmodified_sum
from core.store.gate import Cache
from core.store.pair_rows import IMPORTED
from core.types import Role
from core.words import counted

SENTENCES = {
    Role.STEREOTYPE: "Stereotypical sentence",
    Role.ANTI_STEREOTYPE: "Other sentence",
}
PREFERENCES = {MORE: "stereotype", LESS: "other", TIE: "tie", UNDECIDED: "uninformative"}
FLAGS = {
    "imported": "computed elsewhere, over what that program takes both sentences to share",
    "mostly_different": "more than half of the words differ, so little is compared",
    "identical": "both sentences have the very same tokens",
    "unequal_tokens": "a shared word is cut into other tokens in the other sentence",
}


def pair_tokens(cache: Cache, scorer_id: str, rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Every token of both sentences of the given pairs, and whether it is unmodified.

    Parameters
    ----------
    rows : DataFrame
        Rows of `item_table` that are pairs.

    Returns
    -------
    DataFrame
        As `token_table`, and `unmodified`: undefined by words where the tokens' places are not
        trusted.
    """
    table = token_table(cache, scorer_id, rows)
    kept = pd.Series(pd.NA, table.index, dtype="boolean")
    for row in rows.to_dict("records"):
        here = (table["item_id"] == row["item_id"]) & (table["condition"] == row["condition"])
        masks = _unmodified(row, table[here], unit)
        for role, mask in zip(SENTENCES, masks, strict=False):
            kept[here & (table["role"] == role)] = mask
    attrs = table.attrs
    table = table.assign(unmodified=kept)
    table.attrs = attrs
    return table


def marked(sentence: str, tokens: pd.DataFrame) -> list[tuple[str, bool | None]]:
    """A sentence in runs of characters, each with whether it is unmodified.

    A character is unmodified where every token that covers it is. White space between two runs of
    one kind belongs to them; elsewhere it has none (None), as everything has where the tokens'
    places are not known.
    """
    text = join(*fold("", sentence))
    if tokens.empty or tokens["unmodified"].isna().any() or (tokens["start"] < 0).any():
        return [(text, None)]
    kinds: list[bool | None] = [None] * len(text)
    spans = zip(tokens["start"], tokens["end"], tokens["unmodified"], strict=True)
    for start, end, unmodified in spans:
        for i in range(start, end):
            if not text[i].isspace():
                kinds[i] = bool(unmodified) and kinds[i] is not False
    for start, end in _gaps(kinds):
        if start > 0 and end < len(text) and kinds[start - 1] == kinds[end]:
            kinds[start:end] = [kinds[end]] * (end - start)
    runs = groupby(range(len(text)), key=lambda i: kinds[i])
    return [("".join(text[i] for i in places), kind) for kind, places in runs]


def sum_words(tokens: pd.DataFrame, *, informative: bool = True) -> str:
    """The summed log-probability of a sentence's unmodified tokens, in words, with its n.

    Of an uninformative pair the sum says nothing, and is left out.
    """
    if tokens["unmodified"].isna().any():
        return f"n = {len(tokens)} tokens, unmodified ones not known"
    kept = tokens["unmodified"].to_numpy(dtype=np.bool_)
    n_unmodified = f"n = {kept.sum()} unmodified of {counted(len(tokens), 'token')}"
    if not informative:
        return n_unmodified
    total = unmodified_sum(tokens["logprob"].to_numpy(), kept)
    amount = f"{total:.2f}".replace("-", "\u2212")
    return f"sum {amount} nats over {n_unmodified}"


def verdict(pair: Row, other: Row, unit: str, model: str, n_tokens: tuple[int, int]) -> str:
    """Which sentence of a scored pair the model prefers by one rule, and what the other rule says.

    Parameters
    ----------
    pair, other
        The pair's row of `pair_rules` under `unit` and under the other unit.
    n_tokens
        Unmodified tokens of the stereotypical and of the other sentence under `unit`.
    """
    decided = (MORE, LESS, TIE)
    if IMPORTED in pair["flags"]:
        subject = "" if pair["preferred"] == TIE else "The stereotypical sentence scores "
        return f"{subject}{_outcome(pair)} under {model}. One pair: no test is possible."
    beside = f"by the {other_unit(unit)} rule {_outcome(other)}"
    if pair["preferred"] == UNDECIDED:
        return f"{_why_uninformative(pair, n_tokens)} ({unit} rule); {beside}."
    if pair["preferred"] not in decided:
        return f"By the {unit} rule {_outcome(pair)}; {beside}."
    a, b = n_tokens
    shared = f"the {counted(a, 'token')} that both share" if a == b else _shared_words(a, b)
    subject = "" if pair["preferred"] == TIE else "the stereotypical sentence scores "
    sentence = f"On {shared}, {subject}{_outcome(pair)} under {model} ({unit} rule); {beside}"
    if other["preferred"] in decided:
        flips = other["preferred"] != pair["preferred"]
        sentence += f": the preference {'flips' if flips else 'is the same'}"
    return f"{sentence}. One pair: no test is possible."


def flag_words(flags: Iterable[str]) -> list[str]:
    """What the flags of a pair mean, of those that only pairs have."""
    return [FLAGS[flag] for flag in flags if flag in FLAGS]


def _outcome(pair: Row) -> str:
    match pair["preferred"]:
        case preference if preference == UNDECIDED:
            return "the pair is uninformative"
        case preference if preference == TIE:
            return "both sentences score the same"
        case preference if preference in (MORE, LESS):
            size = abs(pair["difference"])
            amount = f"{size:.2f}" if size >= 0.005 else f"{size:.1e}"
            return f"{amount} nats {'higher' if preference == MORE else 'lower'}"
    return "nothing can be said, because it is not known where the tokens lie"


def _why_uninformative(pair: Row, n_tokens: tuple[int, int]) -> str:
    if "identical" in pair["flags"]:
        return "Uninformative: both sentences have the same tokens"
    if not any(n_tokens):
        return "Uninformative: the sentences share nothing"
    return "Uninformative: nothing both sentences share comes after the first difference"


def _shared_words(a: int, b: int) -> str:
    return f"the words that both share ({counted(a, 'token')}, {b} in the other sentence)"


def _unmodified(row: Row, tokens: pd.DataFrame, unit: str) -> tuple[Mask, Mask] | tuple[()]:
    sentences = []
    for role in SENTENCES:
        part = tokens[tokens["role"] == role]
        lists = (part[name].to_numpy(np.int32) for name in ("token_id", "start", "end"))
        sentences.append(Sentence(join(*fold(row["context"], row[role.value])), *lists))
    more, less = sentences
    if tokens.empty or (unit == "word" and not (more.has_spans and less.has_spans)):
        return ()
    return unmodified_tokens(more, less, unit=unit)


def _gaps(kinds: list[bool | None]) -> list[tuple[int, int]]:
    """The runs of characters without a kind."""
    found = []
    for kind, run in groupby(range(len(kinds)), key=lambda i: kinds[i]):
        places = [*run]
        if kind is None:
            found.append((places[0], places[-1] + 1))
    return found
