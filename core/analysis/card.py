"""The tables behind the item card: the tokens of one item, and its scores in every condition."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import pandas as pd

from core.analysis.items import english_rewording_noise, item_table
from core.items.alignment import common_beginning
from core.items.texts import fold, join, visible
from core.settings import REFERENCE_CONDITION
from core.stats.noise import RewordingNoise
from core.store.gate import Cache
from core.store.scorers import scorers
from core.store.scores import token_scores
from core.types import Reason, Role, TokenScore
from core.words import method_words, precision_words

NO_MEAN = (
    "The scores were imported without a mean per token, so SS is undefined; which pole is "
    "preferred is known."
)

Row: TypeAlias = Mapping[Any, Any]  # of a table, by column

TEXT_IDS = {
    Role.STEREOTYPE: "text_stereotype",
    Role.ANTI_STEREOTYPE: "text_anti",
    Role.UNRELATED: "text_unrelated",
    Role.UNKNOWN: "text_unknown",
}
_TOKEN_TYPES = {
    "item_id": "str",
    "condition": "str",
    "role": "str",
    "position": "int64",
    "n": "int64",
    "token": "str",
    "text": "str",
    "piece": "int64",
    "pieces": "int64",
    "token_id": "int64",
    "logprob": "float32",
    "start": "int64",
    "end": "int64",
    "word": "int64",
    "differs": "boolean",
    "first_difference": "boolean",
}
_CARD_COLUMNS = (
    *("item_id", "condition", "language", "native", "state", "reason", "flags"),
    *("ss", "ss_en", "change", "fluency", "l_stereotype", "l_anti", "n_stereotype", "n_anti"),
)
_REASONS: dict[str, str] = {
    Reason.TOO_LONG: "a text is longer than the model can read",
    Reason.EMPTY_CONTINUATION: "a continuation is empty",
    Reason.NO_PREFIX: "nothing stands before the first token, and the tokenizer has nothing to put",
    Reason.NO_SCORED_TOKEN: "no token belongs to a continuation",
    Reason.NO_EMBEDDING: "a text holds a token that the model does not know",
    Reason.NOT_FINITE: "the model gave a value that is not a number",
    Reason.OUT_OF_MEMORY: "the memory was not enough",
}


def token_table(cache: Cache, scorer_id: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Every scored token of the continuations of the given item rows.

    Parameters
    ----------
    rows : DataFrame
        Rows of `item_table`: one item in one condition, or several.

    Returns
    -------
    DataFrame
        One row per token in reading order. `position` (from 1) of `n`; `text` is what the token
        covers in the joined text and `token` the same made legible: tokens that are bytes of one
        character count themselves (`é 1/2`, also as `piece` of `pieces`), a token whose place is
        not trusted shows its id.
        `logprob` in nats; `start`, `end` and `word` in the joined text, -1 where not trusted.
        `differs` is True from the first token on in which stereotype and anti-stereotype differ,
        `first_difference` on that token alone; both are undefined for other roles. Without any
        token the table is empty and `attrs["note"]` says why.
    """
    scored = rows[rows["state"] == "scored"].to_dict("records")
    wanted = {row[column] for row in scored for column in TEXT_IDS.values()}
    found = token_scores(cache, scorer_id, (t for t in wanted if isinstance(t, str)))
    tokens = [token for row in scored for token in _item_tokens(row, found)]
    table = pd.DataFrame(tokens, columns=list(_TOKEN_TYPES)).astype(_TOKEN_TYPES)
    table.attrs["note"] = "" if tokens else _why_no_tokens(rows)
    return table


def token_labels(
    joined: str, starts: Sequence[int], ends: Sequence[int], token_ids: Sequence[int]
) -> list[tuple[str, int, int]]:
    """For each token of a joined text a legible label, and which piece of how many it is.

    Byte tokens overlap, but those that end at the same character are the pieces of it: the first
    may bring the space before it along, so their starts can differ.
    """
    labels = [(f"#{token_id}", 1, 1) for token_id in token_ids]
    for _, run in groupby(range(len(labels)), key=lambda i: ends[i]):
        pieces = [i for i in run if 0 <= starts[i] < ends[i]]
        for number, i in enumerate(pieces, start=1):
            shown = _legible(joined[starts[i] : ends[i]])
            label = f"{shown} {number}/{len(pieces)}" if len(pieces) > 1 else shown
            labels[i] = (label, number, len(pieces))
    return labels


def card_rows(table: pd.DataFrame, item_id: str, noise: RewordingNoise) -> pd.DataFrame:
    """The scores of one item in every condition, the model's rewording noise beside each change.

    Parameters
    ----------
    table : DataFrame
        Rows of `item_table` that hold at least this item.
    noise : RewordingNoise
        Of the whole data set under the same scorer; one item says nothing about it.

    Returns
    -------
    DataFrame
        `rewording_sd` is the standard deviation of the changes of single English items when only
        their wording changes, `rewording_n` the number of those changes.
    """
    rows = table.loc[table["item_id"] == item_id, list(_CARD_COLUMNS)].reset_index(drop=True)
    return rows.assign(rewording_sd=noise.item_sd, rewording_n=noise.n_changes)


def item_noise(cache: Cache, scorer_id: str, dataset: str) -> RewordingNoise:
    """What rewording English items does to a scorer's scores of a whole data set."""
    return english_rewording_noise(item_table(cache, scorer_id, dataset, texts=False))


def state_sentence(row: Row) -> str:
    """Why an item has no score in a condition, in a sentence; empty where it has one."""
    match row["state"]:
        case "scored":
            return NO_MEAN if math.isnan(row["ss"]) else ""
        case "collapsed":
            return "Both poles say the same in this condition, so it compares nothing."
        case "missing":
            return "This condition is not scored under this model yet."
    reasons = [_REASONS.get(name, name) for name in str(row["reason"]).split(", ")]
    return f"Not scored: {'; '.join(reasons)}."


def change_sentence(row: Row, noise: RewordingNoise) -> str:
    """What the change of one item from English does and does not show."""
    if row["native"]:
        return "Written in this language: there is no English version to compare it with."
    if row["condition"] == REFERENCE_CONDITION or math.isnan(row["change"]):
        return ""
    side = "above" if row["change"] > 0 else "below"
    change = f"{abs(row['change']):.3f} {side} that of the English version"
    if not noise.n_changes or math.isnan(noise.item_sd):
        beside = "no English rewording is scored, so there is no yardstick for the change"
    else:
        beside = (
            f"rewording alone moves items of this model by {noise.item_sd:.3f} "
            f"(sd, n = {noise.n_changes})"
        )
    return f"SS is {change}. One item: no test is possible; {beside}."


def two_scorers_sentence(rows: pd.DataFrame, others: pd.DataFrame, name: str, other: str) -> str:
    """The scores of one item under two scorers, by condition, and what they cannot show."""
    both = rows.merge(others, on=["item_id", "condition"], suffixes=("", "_other"))
    both = both[both["ss"].notna() & both["ss_other"].notna()]
    if both.empty:
        return f"No condition of this item is scored under both {name} and {other}."
    parts = [
        f"{row['condition']} {row['ss']:.3f} and {row['ss_other']:.3f} "
        f"({row['ss_other'] - row['ss']:+.3f})".replace("-", "\u2212")
        for row in both.to_dict("records")
    ]
    return (
        f"SS under {name} and under {other} (difference): {'; '.join(parts)}. "
        "A difference between two scorers on one item has no interval: "
        "it shows neither that they differ nor that they agree."
    )


def scorer_name(cache: Cache, scorer_id: str) -> str:
    """A scorer as captions call it: model, precision, variant of a masked model, and id."""
    for row in scorers(cache).to_dict("records"):
        if row["scorer_id"] == scorer_id:
            precision = precision_words(row["dtype"], row["quantization"])
            parts = (precision, method_words(row["method"]), scorer_id)
            return f"{row['model']} ({', '.join(part for part in parts if part)})"
    return scorer_id


def _item_tokens(row: Row, found: Mapping[str, TokenScore]) -> list[dict[str, Any]]:
    scores = {role: found[row[name]] for role, name in TEXT_IDS.items() if row[name] in found}
    poles = [scores[r].token_ids for r in (Role.STEREOTYPE, Role.ANTI_STEREOTYPE) if r in scores]
    split = common_beginning(*(pole.tolist() for pole in poles)) if len(poles) == 2 else None
    tokens: list[dict[str, Any]] = []
    for role, score in scores.items():
        is_pole = role in (Role.STEREOTYPE, Role.ANTI_STEREOTYPE)
        joined = join(*fold(row["context"], row[role.value]))
        for token in _tokens(joined, score, split if is_pole else None):
            identity = {"item_id": row["item_id"], "condition": row["condition"]}
            tokens.append({**identity, "role": str(role), **token})
    return tokens


def _tokens(joined: str, score: TokenScore, split: int | None) -> Iterator[dict[str, Any]]:
    starts, ends = score.starts.tolist(), score.ends.tolist()
    labels = token_labels(joined, starts, ends, score.token_ids.tolist())
    for i, (label, piece, pieces) in enumerate(labels):
        yield {
            "position": i + 1,
            "n": score.n_scored,
            "token": label,
            "text": joined[starts[i] : ends[i]] if starts[i] >= 0 else "",
            "piece": piece,
            "pieces": pieces,
            "token_id": score.token_ids[i],
            "logprob": score.logprobs[i],
            "start": starts[i],
            "end": ends[i],
            "word": score.words[i],
            "differs": None if split is None else i >= split,
            "first_difference": None if split is None else i == split,
        }


def _legible(piece: str) -> str:
    """A piece of text that can be read on its own: spaces, marks and control characters shown."""
    shown = " ".join(piece.split())
    if not shown:
        return "".join("⏎" if character == "\n" else "␣" for character in piece)
    if not visible(shown) or any(unicodedata.category(c) == "Cc" for c in shown):
        return " ".join(f"U+{ord(character):04X}" for character in shown)
    # A vowel sign without its consonant needs something to stand on.
    return f"◌{shown}" if unicodedata.category(shown[0]).startswith("M") else shown


def _why_no_tokens(rows: pd.DataFrame) -> str:
    if rows.empty:
        return "There is no such item."
    scored = rows["state"] == "scored"
    sentences = {state_sentence(row) for row in rows[~scored].to_dict("records")}
    if len(sentences) == 1 and not scored.any():
        return sentences.pop()
    return "The scores were imported without their tokens, so there are no bars to show."
