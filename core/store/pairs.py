"""Pairs of sentences in the cache: their scores out, other alignments in."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pandas as pd

from core.errors import InputError
from core.items.alignment import ALIGNMENTS, UNITS
from core.store.derive import KNOWN, touch_dataset
from core.store.fetch import first_row, frame
from core.store.gate import Cache
from core.store.generations import bump
from core.store.items import check_dataset
from core.store.migrations import IS_PAIR
from core.store.pair_rows import ALWAYS, ELSEWHERE, UNINFORMATIVE, refresh_pairs
from core.store.scorers import deriving_scorers

_WIDE = (
    "i.stereotype AS sentence_more, i.anti_stereotype AS sentence_less, "
    "i.metadata::VARCHAR AS metadata,"
)
# Only the items of a list, or all.
_ITEMS = "($items::VARCHAR[] IS NULL OR item_id IN (SELECT unnest($items)))"


def pair_scores(
    cache: Cache,
    scorer_id: str,
    dataset: str,
    *,
    unit: str = "word",
    align: str = ALWAYS,
    item_ids: Sequence[str] | None = None,
    texts: bool = True,
) -> pd.DataFrame:
    """Every pair of a data set with its scores under a scorer, in the order of the import.

    Columns: item_id, condition, language, category, `direction` (what the data set says in
    stereo_antistereo, else empty), `sentence_more` (the stereotypical one), `sentence_less`,
    `metadata` (JSON text), `row_order`, `score_more`, `score_less` (summed log-probabilities of the
    unmodified tokens in nats), `n_unmodified` (tokens of the stereotypical sentence; missing
    without scores, and of scores from elsewhere, whose rule is that of their source under any unit
    and alignment), `flags`, `uninformative` (whether that is among them), and `state`: scored,
    collapsed, unscored (its `reason` says why) or missing.

    Parameters
    ----------
    unit, align
        By which words or tokens the sentences are compared: core/items/alignment.py.
    item_ids
        Only these items, in all their conditions: fast in a data set of any size.
    texts
        Without sentences and metadata a large data set comes several times faster.

    Raises
    ------
    InputError
        There is no such data set, unit or alignment, or the alignment was not asked for before.
    """
    check_rule(unit, align)
    wide = _WIDE if texts else ""
    with cache.reading() as con:
        check_dataset(con, dataset)
        if not _is_asked(con, dataset, align):
            raise InputError(
                f"The pairs of {dataset} are not aligned by {align} yet; run `python -m core "
                f"pairs --dataset {dataset} --align {align}` once."
            )
        return frame(
            con,
            f"""
            SELECT i.item_id, i.condition, i.language, i.category,
                coalesce(i.metadata->>'stereo_antistereo', '') AS direction, {wide}
                i.row_order, p.score_more, p.score_less, p.n_unmodified,
                coalesce(p.flags, []) AS flags,
                coalesce(list_contains(p.flags, '{UNINFORMATIVE}'), false) AS uninformative,
                CASE WHEN i.collapsed THEN 'collapsed' WHEN p.item_id IS NOT NULL THEN 'scored'
                     WHEN s.item_id IS NOT NULL THEN 'unscored' ELSE 'missing' END AS state,
                CASE WHEN state = 'unscored' THEN array_to_string(s.flags, ', ') ELSE '' END
                    AS reason
            FROM (FROM item WHERE dataset = $dataset AND {_ITEMS} AND {IS_PAIR}) i
                LEFT JOIN (FROM pair_score WHERE scorer_id = $scorer AND dataset = $dataset
                    AND (unit, align) IN (($unit, $align), ('{ELSEWHERE}', '{ELSEWHERE}'))
                    AND {_ITEMS}) p
                USING (dataset, item_id, condition)
                LEFT JOIN (SELECT dataset, item_id, condition, flags FROM item_score
                    WHERE scorer_id = $scorer AND dataset = $dataset AND {KNOWN} IS NULL
                    AND {_ITEMS}) s
                USING (dataset, item_id, condition)
            ORDER BY i.row_order
            """,
            {
                "scorer": scorer_id,
                "dataset": dataset,
                "unit": unit,
                "align": align,
                "items": None if item_ids is None else list(item_ids),
            },
        )


def has_pairs(cache: Cache, dataset: str) -> bool:
    """Whether a data set holds pairs of sentences.

    Raises
    ------
    InputError
        There is no such data set.
    """
    with cache.reading() as con:
        check_dataset(con, dataset)
        return first_row(con, "SELECT 1 FROM pair WHERE dataset = ? LIMIT 1", [dataset]) is not None


def ask_alignment(cache: Cache, dataset: str, align: str) -> bool:
    """Have the pairs of a data set aligned in another way too, from now on.

    What is scored already is aligned from the stored token lists, in one transaction.

    Returns
    -------
    bool
        Whether that was new.

    Raises
    ------
    InputError
        There is no such data set or alignment.
    """
    check_rule(UNITS[0], align)
    with cache.reading() as con:
        check_dataset(con, dataset)
        if _is_asked(con, dataset, align):
            return False
    with cache.writing() as con:
        check_dataset(con, dataset)
        if _is_asked(con, dataset, align):  # somebody else has, in between
            return False
        con.execute("INSERT INTO pair_alignment VALUES (?, ?)", [dataset, align])
        touch_dataset(con, dataset)
        scorers = deriving_scorers(con)
        for scorer_id in scorers:
            refresh_pairs(con, scorer_id)
        bump(con, scorers, [dataset])
    return True


def check_rule(unit: str, align: str) -> None:
    """InputError where there is no such unit or alignment."""
    if unit not in UNITS:
        raise InputError(f"{unit!r} is not a unit; choose from: {', '.join(UNITS)}.")
    if align not in ALIGNMENTS:
        raise InputError(f"{align!r} is not an alignment; choose from: {', '.join(ALIGNMENTS)}.")


def _is_asked(con: duckdb.DuckDBPyConnection, dataset: str, align: str) -> bool:
    if align == ALWAYS:
        return True
    sql = "SELECT 1 FROM pair_alignment WHERE dataset = ? AND align = ?"
    return first_row(con, sql, [dataset, align]) is not None
