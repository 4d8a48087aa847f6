"""Sentence pairs among the items: the columns of a pair beside those of an item, and their shares.

A data set may hold pairs and other items; of the latter all columns of a pair are undefined.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.card import Row
from core.analysis.pairs import ALL, UNDECIDED, pair_summary, pair_table
from core.items.alignment import UNITS
from core.store.gate import Cache
from core.store.pair_rows import IMPORTED
from core.store.pairs import has_pairs
from core.words import counted

PAIR_COLUMNS = (
    *("direction", "score_more", "score_less", "difference"),
    *("preferred", "preferred_other_rule", "n_unmodified"),
)
_KEY = ["item_id", "condition"]
_SCORES = ["score_more", "score_less", "difference"]

Rules = Mapping[str, pd.DataFrame]  # by unit, each with the rows of one item table


def other_unit(unit: str) -> str:
    """The other one of word and token."""
    return next(name for name in UNITS if name != unit)


def pair_rules(cache: Cache, table: pd.DataFrame, scorer_id: str, dataset: str) -> Rules:
    """The pairs of a data set by the word rule and by the token rule; empty where it has none.

    Parameters
    ----------
    table
        Of `item_table`. Each table given back has its rows, in its order: those of `pair_table`,
        undefined for an item that is no pair. An uninformative pair has no scores here.
    """
    if not has_pairs(cache, dataset):
        return {}
    return {
        unit: _aligned(table, pair_table(cache, scorer_id, dataset, unit, texts=False))
        for unit in UNITS
    }


def with_pairs(table: pd.DataFrame, rules: Rules, unit: str) -> pd.DataFrame:
    """An item table with the columns of a pair by one rule; the table itself where it has none.

    Added are the columns of `pair_table` and `preferred_other_rule`, the preference by the other
    unit, empty for a pair from elsewhere, whose source has one rule. `flags` holds those of the
    pair too.
    """
    if not rules:
        return table
    elsewhere = rules[unit]["flags"].map(lambda flags: IMPORTED in flags).astype(np.bool_)
    other = rules[other_unit(unit)]["preferred"].mask(elsewhere, "")
    pairs = rules[unit].assign(preferred_other_rule=other)
    both = zip(table["flags"], pairs["flags"], strict=True)
    flags = [sorted({*own, *more}) if len(more) else own for own, more in both]
    columns = {name: pairs[name] for name in PAIR_COLUMNS}
    return table.assign(**columns, flags=pd.Series(flags, table.index, dtype=object))


def has_one_rule(table: pd.DataFrame) -> bool:
    """Whether all pairs of a table that are scored come from elsewhere, with a rule of their own.

    Parameters
    ----------
    table
        Of `with_pairs`.
    """
    scored, other = (
        table[name].fillna("").ne("").any() for name in ("preferred", "preferred_other_rule")
    )
    return bool(scored and not other)


def summaries(rules: Rules, positions: npt.NDArray[np.intp]) -> dict[str, pd.DataFrame]:
    """`pair_summary` over the pairs among some rows, one row per condition, by both rules."""
    rows = {}
    for unit, table in rules.items():
        part = table.iloc[positions]
        part = part[part["preferred"].notna()]
        # Rows are the same under both rules, so their numbers do for a key. No groups are wanted.
        rows[unit] = part.assign(item_id=np.arange(len(part)), category="", direction="")
    found = {unit: pair_summary(rows[unit], rows[other_unit(unit)]) for unit in rows}
    return {unit: table for unit, table in found.items() if len(table)}


def summary_sentences(found: Mapping[str, pd.DataFrame], unit: str) -> list[str]:
    """What the shares say, a sentence per condition, the given rule first."""
    if not found:
        return []
    others = found[other_unit(unit)].set_index("condition")
    sentences = []
    for row in found[unit].to_dict("records"):
        if row["group"] != ALL:
            continue
        if not row["n"] and not row["n_uninformative"]:
            sentences.append(
                f"{row['condition']}: not scored ({counted(row['n_not_scored'], 'pair')})."
            )
            continue
        sentence = f"{row['condition']}: the stereotypical sentence scores higher in {_share(row)}"
        if row["n_imported"]:
            sentence += " by the rule of the program that computed these scores elsewhere"
        else:
            other = others.loc[row["condition"]].to_dict()
            sentence += f" by the {unit} rule and in {_share(other)} by the {other_unit(unit)} rule"
        if row["n_both"]:
            both = counted(row["n_both"], "pair")
            sentence += f"; flips: {100 * row['share_flips']:.1f} % of {both} decided by both"
        sentence += f". Not scored: {row['n_not_scored']:,}."
        sentences.append(sentence)
    return sentences


def _share(row: Row) -> str:
    share = f"{100 * row['share']:.1f} % of {counted(row['n'], 'pair')}" if row["n"] else "no pair"
    return f"{share} (ties: {row['n_ties']:,}, uninformative: {row['n_uninformative']:,})"


def _aligned(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    rows = table[_KEY].merge(pairs, on=_KEY, how="left")
    rows[_SCORES] = rows[_SCORES].mask(rows["preferred"] == UNDECIDED)
    rows["flags"] = [() if isinstance(flags, float) else flags for flags in rows["flags"]]
    return rows.astype({"n_unmodified": "Int64"})
