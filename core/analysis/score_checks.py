"""The pipeline checks that need scores: label direction and scored tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.card import token_labels
from core.analysis.data_sets import few_items
from core.analysis.pipeline_checks import EXAMPLES, PipelineCheck, State
from core.items.conditions import is_rewording
from core.items.texts import continuation_start, is_invisible, item_texts, join
from core.settings import REFERENCE_CONDITION
from core.stats.known import mean_of
from core.stats.scores import binary_choice, stereotype_score
from core.stats.shares import wilson_interval
from core.store.gate import Cache
from core.store.scores import item_scores, token_scores
from core.types import Item, Role, Text, TokenScore
from core.words import counted

Array = npt.NDArray[np.float64]

POLES = (Role.STEREOTYPE, Role.ANTI_STEREOTYPE)
SAMPLE = 200  # items whose tokens are looked at
NOT_SCORED = "This scorer has no score of the data set."
NO_LISTS = "No text of the sample has a token list: scored elsewhere, or not yet."


def score_checks(
    cache: Cache, scorer_id: str, dataset: str, items: Sequence[Item]
) -> list[PipelineCheck]:
    """Label direction and scored tokens of a scorer on the items of a data set."""
    return [
        label_direction(item_scores(cache, scorer_id, dataset, texts=False), scorer_id),
        scored_tokens(cache, scorer_id, items),
    ]


def label_direction(table: pd.DataFrame, scorer_id: str = "") -> PipelineCheck:
    """Whether the scores would look right only with the roles exchanged.

    Published models prefer the stereotype in data sets of this kind, and nearly always either pole
    over an unrelated text. Where one prefers the other pole, or the unrelated text, labels are the
    first thing to look at; roles exchanged turn the share p into 1 - p, and SS into 1 - SS.

    Parameters
    ----------
    table
        Of `item_scores`.
    """
    name, title = "label_direction", "Label direction"
    originals = ~table["condition"].map(is_rewording).astype(bool) & (table["state"] == "scored")
    in_english = originals & (table["condition"] == REFERENCE_CONDITION)
    here = table[in_english if in_english.any() else originals]
    sources = here.groupby("source", sort=False)
    rows = [_direction(str(source), part) for source, part in sources]
    by_source = pd.DataFrame(rows)
    if by_source.empty:
        return PipelineCheck(name, title, "undefined", NOT_SCORED, 0, 0, by_source, scorer_id)
    states = list(by_source["state"])
    state: State = "red" if "red" in states else "undefined" if "undefined" in states else "green"
    return PipelineCheck(
        name,
        title,
        state,
        " ".join(by_source["found"]),
        int(by_source["n"].sum()),
        int(by_source.loc[by_source["state"] == "red", "n"].sum()),
        by_source.drop(columns="found"),
        scorer_id,
    )


def _numbers(table: pd.DataFrame) -> tuple[Array, Array, Array]:
    """What orders an item's stereotype, anti-stereotype and unrelated text: all of one kind. (N,)

    The means per token; of scores from elsewhere that have none, sums or other numbers.
    """
    found = np.full((3, len(table)), np.nan)
    for kind in ("l", "sum", "order"):
        columns = [f"{kind}_{pole}" for pole in ("stereotype", "anti", "unrelated")]
        if set(columns) <= set(table.columns):
            values = table[columns].to_numpy(np.float64).T
            new = np.isnan(found[:2]).any(axis=0) & np.isfinite(values[:2]).all(axis=0)
            found[:, new] = values[:, new]
    return found[0], found[1], found[2]


def _direction(source: str, rows: pd.DataFrame) -> dict[str, object]:
    """What the scores of one source say about its labels; exact ties say nothing."""
    plus, minus, unrelated = _numbers(rows)
    choice = binary_choice(plus, minus)
    known = np.isfinite(choice) & (choice != 0.5)
    n, n_stereotype = int(known.sum()), int((choice == 1).sum())
    share = wilson_interval(n_stereotype, n)
    three = np.isfinite(unrelated) & known
    n_three = int(three.sum())
    n_unrelated = int((unrelated > np.fmax(plus, minus))[three].sum())
    worse = wilson_interval(n_unrelated, n_three)
    ss = mean_of(stereotype_score(rows["l_stereotype"], rows["l_anti"]))
    called = source or "Items without a source"
    prefers = f"{called}: the stereotype is preferred in {n_stereotype:,} of {counted(n, 'item')}"
    if not n:
        state, why = "undefined", "its scores do not compare the two poles"
    elif worse.low > 0.5:
        state, why = "red", f"the unrelated text is preferred in {n_unrelated:,} of {n_three:,}"
    elif share.high < 0.5:
        state, why = "red", f"with the roles exchanged it would be {n - n_stereotype:,}"
    elif share.low > 0.5:
        state, why = "green", "more than half"
    else:
        state, why = "undefined", "so close to half that the scores do not tell the direction"
    return {
        "source": source,
        "state": state,
        "n": n,
        "stereotype preferred": share.value,
        "low": share.low,
        "high": share.high,
        "SS": ss,
        "SS with roles exchanged": 1 - ss,
        "n with unrelated": n_three,
        "unrelated preferred": worse.value,
        "found": f"{prefers}; {why}.",
    }


def scored_tokens(cache: Cache, scorer_id: str, items: Sequence[Item]) -> PipelineCheck:
    """Whether every continuation lies wholly in scored tokens, from its first letter on.

    Looked at are both poles of a sample of the items; white space and invisible characters need
    not be covered. Marks (accents, vowel signs) that a tokenizer drops are counted apart: there the
    scores are whole, but of another word. The examples spell the tokens.
    """
    name, title = "scored_tokens", "Scored tokens"
    sample = few_items(items, SAMPLE)
    texts = [(item, role, item_texts(item)[role]) for item in sample for role in POLES]
    scores = token_scores(cache, scorer_id, [text.text_id for _, _, text in texts])
    seen = [
        (i, role, text, scores[text.text_id]) for i, role, text in texts if text.text_id in scores
    ]
    placed = [one for one in seen if one[3].starts.min(initial=0) >= 0]
    rows = [
        {
            "item_id": item.item_id,
            "condition": item.condition,
            "role": role.value,
            **uncovered(text, score),
            "tokens": spelt(text, score),
            "n": score.n_scored,
        }
        for item, role, text, score in placed
    ]
    table = pd.DataFrame(rows)
    if table.empty:
        why = "The places of the tokens in the texts are not known for sure." if seen else NO_LISTS
        return PipelineCheck(name, title, "undefined", why, 0, 0, table, scorer_id)
    bad = table[table["not scored"] != ""]
    n, n_bad = len(table), len(bad)
    if n_bad:
        found = f"In {n_bad:,} of {counted(n, 'text')} a part of the continuation is not scored."
    else:
        found = f"In {counted(n, 'text')} every letter is scored, the first one too."
    if n_marks := int((table["marks dropped"] != "").sum()):
        found += f" In {n_marks:,} the tokenizer drops marks, so that the model reads other words."
    # Of what is right, some from all over the sample.
    spread = np.linspace(0, n - 1, min(n, EXAMPLES)).astype(int)
    shown = (bad.head(EXAMPLES) if n_bad else table.iloc[spread]).reset_index(drop=True)
    return PipelineCheck(
        name, title, "red" if n_bad else "green", found, n, n_bad, shown, scorer_id
    )


def uncovered(text: Text, score: TokenScore) -> dict[str, str]:
    """What of a continuation no scored token covers: from its first to its last letter, and marks.

    Returns
    -------
    dict
        "not scored" and "marks dropped", empty where nothing is missing.
    """
    joined = join(text.context, text.continuation)
    covered = np.zeros(len(joined), dtype=bool)
    for start, end in zip(score.starts, score.ends, strict=True):
        covered[start:end] = True
    missing = [
        at
        for at in range(continuation_start(text.context), len(joined))
        if not (covered[at] or joined[at].isspace() or is_invisible(joined[at]))
    ]
    letters = [at for at in missing if not unicodedata.category(joined[at]).startswith("M")]
    marks = dict.fromkeys(joined[at] for at in missing if at not in letters)
    return {
        "not scored": joined[letters[0] : letters[-1] + 1] if letters else "",
        "marks dropped": " ".join(f"\u25cc{mark}" for mark in marks),
    }


def spelt(text: Text, score: TokenScore) -> str:
    """The scored tokens of a text, legible and set apart."""
    joined = join(text.context, text.continuation)
    labels = token_labels(
        joined, score.starts.tolist(), score.ends.tolist(), score.token_ids.tolist()
    )
    return " | ".join(label for label, _, _ in labels)
