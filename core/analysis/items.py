"""The table behind the Items page, its card and its downloads: one row per item and condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.items.conditions import condition_rank, is_rewording, original_of
from core.settings import REFERENCE_CONDITION
from core.stats.noise import RewordingNoise, rewording_noise
from core.stats.scores import binary_choice, fluency, ranking, stereotype_score
from core.store.gate import Cache
from core.store.scores import item_scores

POLES = {1.0: "stereotype", 0.0: "anti-stereotype", 0.5: "tie"}  # what `binary` says
COUNTS = ("n_stereotype", "n_anti", "n_unrelated", "n_unknown")


def item_table(
    cache: Cache,
    scorer_id: str,
    dataset: str,
    *,
    item_ids: Sequence[str] | None = None,
    texts: bool = True,
) -> pd.DataFrame:
    """Scores of every item in every condition under one scorer.

    Parameters
    ----------
    item_ids
        Only these items, in all their conditions.
    texts
        With the texts, their ids and metadata, which a large data set loads several times slower.

    Returns
    -------
    DataFrame
        The stored item columns and log-probabilities, and computed from them: `ss` (stereotype
        score), `ss_en` (the same item's in English; undefined for native items, which have no
        English twin), `change` (ss - ss_en, of a rewording of another language too, which an
        audit compares with that language instead; undefined for English itself), `binary`,
        `fluency`. `order_*`, numbers from elsewhere of an unknown scale, are there where there are
        any. Undefined is NaN; the counts `n_*` are integers or missing. Items without scores are
        rows too: `state` says why. English comes first, then its rewordings, then the languages;
        within a condition the order of the import.
    """
    table = item_scores(cache, scorer_id, dataset, item_ids=item_ids, texts=texts)
    l_plus, l_minus = table["l_stereotype"], table["l_anti"]
    table["ss"] = stereotype_score(l_plus, l_minus)
    # Scores from elsewhere may have no mean, but a choice.
    numbers = {str(name): column for name, column in table.items()}
    table["binary"] = binary_choice(ranking(numbers, "stereotype"), ranking(numbers, "anti"))
    table["fluency"] = fluency(l_plus, l_minus, table["l_unrelated"])
    in_english = (table["condition"] == REFERENCE_CONDITION) & ~table["native"]
    english = table.loc[in_english].set_index("item_id")["ss"]
    ss_en = table["item_id"].map(english).astype(np.float64)
    table["ss_en"] = ss_en.mask(table["native"])
    table["change"] = (table["ss"] - table["ss_en"]).mask(in_english)
    orders = [name for name in table if str(name).startswith("order_")]
    if table[orders].isna().all(axis=None):
        table = table.drop(columns=orders)
    # One missing count would turn a column of integers into floats, also in every export.
    table = table.astype(dict.fromkeys(COUNTS, "Int64"))
    ranks = {c: condition_rank(c) for c in table["condition"].unique()}
    place = {c: n for n, c in enumerate(sorted(ranks, key=ranks.__getitem__))}
    order = table["condition"].map(place).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def has_choices_alone(table: pd.DataFrame) -> bool:
    """Whether some row of an item table has a preferred pole, and yet no stereotype score."""
    return bool((table["ss"].isna() & table["binary"].notna()).any())


def english_rewording_noise(table: pd.DataFrame) -> RewordingNoise:
    """What rewording the English items does to this model's scores: the yardstick of a change."""
    rewordings = [
        condition
        for condition in table["condition"].unique()
        if is_rewording(condition) and original_of(condition) == REFERENCE_CONDITION
    ]
    changes = {c: table.loc[table["condition"] == c, "change"].to_numpy() for c in rewordings}
    usable = table.loc[(table["condition"] == REFERENCE_CONDITION) & ~table["native"], "ss"]
    return rewording_noise(changes, n_usable=int(usable.notna().sum()))
