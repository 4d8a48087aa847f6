"""Scores: which texts are missing, token scores in and out, item scores out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import duckdb
import pandas as pd

from core.items.texts import fold
from core.store.columns import read_scores, score_table, text_id_table, unscored_table
from core.store.derive import KNOWN, refresh, touch_texts, touched_datasets
from core.store.fetch import arrow, count, first_row, frame
from core.store.gate import Cache
from core.store.generations import bump
from core.store.items import check_dataset
from core.types import Text, TokenScore, Unscored

_TEXT_IDS = ("text_stereotype", "text_anti", "text_unrelated", "text_unknown")
_HEXADECIMAL = ", ".join(f"replace({n}::VARCHAR, '-', '') AS {n}" for n in _TEXT_IDS)
_WIDE = ", ".join(
    (
        *("context", "stereotype", "anti_stereotype", "unrelated", "unknown", "answer_order"),
        *("metadata", "content_hash", *_TEXT_IDS),
    )
)
# Only the items of a list, or all.
_ITEMS = "($items::VARCHAR[] IS NULL OR item_id IN (SELECT unnest($items)))"

# The rows of a registered batch whose texts have no score yet.
_NEW = (
    "SELECT $scorer AS scorer_id, * FROM (SELECT * REPLACE (text_id::UUID AS text_id) FROM {table})"
    " ANTI JOIN (FROM token_score WHERE scorer_id = $scorer) USING (text_id)"
)

_Row = TypeVar("_Row", TokenScore, Unscored)


def missing_texts(cache: Cache, scorer_id: str, dataset: str) -> list[Text]:
    """The distinct texts of a data set that have no score under a scorer, in the items' order.

    Texts that could not be scored before are among them: they are tried again. Collapsed items are
    not scored.

    Raises
    ------
    InputError
        There is no such data set.
    """
    with cache.reading() as con:
        check_dataset(con, dataset)
        rows = con.execute(
            """
            SELECT replace(text_id::VARCHAR, '-', ''), context, continuation
            FROM item_text ANTI JOIN (FROM token_score WHERE scorer_id = $scorer) USING (text_id)
            WHERE dataset = $dataset AND NOT collapsed
            ORDER BY row_order, role_order
            """,
            {"scorer": scorer_id, "dataset": dataset},
        ).fetchall()
    first: dict[str, Text] = {}
    for text_id, context, continuation in rows:
        if text_id not in first:
            first[text_id] = Text(text_id, *fold(context, continuation))
    return list(first.values())


def scored_of(cache: Cache, scorer_id: str, text_ids: Iterable[str]) -> set[str]:
    """Which of these texts have a score under a scorer, by their ids."""
    with cache.reading() as con:
        con.register("wanted", text_id_table(text_ids))
        rows = con.execute(
            """
            SELECT replace(text_id::VARCHAR, '-', '') FROM token_score
            SEMI JOIN (SELECT text_id::UUID AS text_id FROM wanted) USING (text_id)
            WHERE scorer_id = $scorer
            """,
            {"scorer": scorer_id},
        ).fetchall()
    return {text_id for (text_id,) in rows}


def put_scores(
    cache: Cache, scorer_id: str, scores: Sequence[TokenScore], unscored: Sequence[Unscored] = ()
) -> int:
    """Store a batch in one transaction and derive the items that it touches, in every data set.

    A text that has a score keeps it: the first row wins. A text is in `unscored` only while it has
    no score.

    Returns
    -------
    int
        How many texts got a score.

    Raises
    ------
    ValueError
        A score with empty lists, lists of unequal length or a log-probability that is not finite,
        or a scorer that was never put.
    """
    incoming = score_table(_first_of_each(scores))
    failed = unscored_table(_first_of_each(unscored))
    with cache.writing() as con:
        con.register("incoming", incoming)
        con.register("failed", failed)
        known = first_row(con, "SELECT 1 FROM scorer WHERE scorer_id = ?", [scorer_id])
        if known is None:
            raise ValueError(f"scorer {scorer_id} is not in the cache: put_scorer comes first")
        n_new = _insert_new(con, scorer_id)
        touch_texts(con)
        refresh(con, scorer_id)
        bump(con, [scorer_id], touched_datasets(con))
    return n_new


def token_scores(cache: Cache, scorer_id: str, text_ids: Iterable[str]) -> dict[str, TokenScore]:
    """The scores of these texts under a scorer, by text id; those without a score are left out."""
    with cache.reading() as con:
        con.register("wanted", text_id_table(text_ids))
        table = arrow(con, _score_query("SELECT text_id::UUID FROM wanted"), {"scorer": scorer_id})
    return {score.text_id: score for score in read_scores(table)}


def sample_scores(cache: Cache, scorer_id: str, n: int = 2) -> list[tuple[Text, TokenScore]]:
    """The first n scored texts by text id that an item still has, to be scored again as a check."""
    with cache.reading() as con:
        rows = con.execute(
            """
            WITH sample AS (
                SELECT DISTINCT text_id FROM item_text
                SEMI JOIN (FROM token_score WHERE scorer_id = $scorer) USING (text_id)
                ORDER BY text_id LIMIT $n
            )
            SELECT replace(text_id::VARCHAR, '-', ''), any_value(context), any_value(continuation)
            FROM item_text SEMI JOIN sample USING (text_id) GROUP BY text_id ORDER BY text_id
            """,
            {"scorer": scorer_id, "n": n},
        ).fetchall()
    texts = [Text(row[0], *fold(row[1], row[2])) for row in rows]
    scores = token_scores(cache, scorer_id, [text.text_id for text in texts])
    return [(text, scores[text.text_id]) for text in texts]


def item_scores(
    cache: Cache,
    scorer_id: str,
    dataset: str,
    *,
    item_ids: Sequence[str] | None = None,
    texts: bool = True,
) -> pd.DataFrame:
    """Every item of a data set with its scores under a scorer, in the order of the import.

    Columns: the fields of an item (`metadata` is JSON text, `answer_order` a list of roles), its
    data set, `collapsed`, `content_hash`, the text ids, `row_order`, l_*, sum_* (nats), n_*,
    order_* (of scores from elsewhere without a mean: only their order means something), flags, and
    `state`: scored, collapsed, unscored (its `reason` says why) or missing.

    Parameters
    ----------
    item_ids : sequence of str
        Only these items, in all their conditions.
    texts : bool
        Without texts, their ids and metadata a large data set comes several times faster.

    Raises
    ------
    InputError
        There is no such data set.
    """
    columns = f"REPLACE ({_HEXADECIMAL})" if texts else f"EXCLUDE ({_WIDE})"
    with cache.reading() as con:
        check_dataset(con, dataset)
        return frame(
            con,
            f"""
            SELECT i.* {columns},
                s.* EXCLUDE (scorer_id, dataset, item_id, condition, flags),
                coalesce(s.flags, []) AS flags,
                CASE WHEN i.collapsed THEN 'collapsed' WHEN s.item_id IS NULL THEN 'missing'
                     WHEN {KNOWN} IS NULL THEN 'unscored' ELSE 'scored' END AS state,
                CASE WHEN state = 'unscored' THEN array_to_string(s.flags, ', ') ELSE '' END
                    AS reason
            FROM (FROM item WHERE dataset = $dataset AND {_ITEMS}) i
                LEFT JOIN (FROM item_score WHERE scorer_id = $scorer AND dataset = $dataset
                    AND {_ITEMS}) s
                USING (dataset, item_id, condition)
            ORDER BY row_order
            """,
            {
                "scorer": scorer_id,
                "dataset": dataset,
                "items": None if item_ids is None else list(item_ids),
            },
        )


def unscored(cache: Cache, scorer_id: str, dataset: str) -> pd.DataFrame:
    """The texts of a data set that could not be scored: item_id, condition, role and why."""
    with cache.reading() as con:
        return frame(
            con,
            """
            SELECT item_id, condition, role, reason, detail
            FROM item_text JOIN (FROM unscored WHERE scorer_id = $scorer) USING (text_id)
            WHERE dataset = $dataset AND NOT collapsed ORDER BY row_order, role_order
            """,
            {"scorer": scorer_id, "dataset": dataset},
        )


def _first_of_each(rows: Sequence[_Row]) -> list[_Row]:
    first: dict[str, _Row] = {}
    for row in rows:
        first.setdefault(row.text_id, row)
    return list(first.values())


def _insert_new(con: duckdb.DuckDBPyConnection, scorer_id: str) -> int:
    """Store what is new of the registered batch; leaves its texts in the table `changed`."""
    scorer = {"scorer": scorer_id}
    con.execute(
        f"CREATE TEMP TABLE fresh AS {_NEW.format(table='incoming')}",
        scorer,
    )
    con.execute("INSERT INTO token_score BY NAME FROM fresh")
    con.execute(
        f"CREATE TEMP TABLE gave_up AS {_NEW.format(table='failed')}",
        scorer,
    )
    con.execute(
        "CREATE TEMP TABLE changed AS SELECT text_id FROM fresh UNION SELECT text_id FROM gave_up"
    )
    con.execute(
        "DELETE FROM unscored WHERE scorer_id = $scorer "
        "AND text_id IN (SELECT text_id FROM changed)",
        scorer,
    )
    con.execute("INSERT INTO unscored BY NAME FROM gave_up")
    return count(con, "FROM fresh", {})


def _score_query(text_ids: str) -> str:
    return (
        "SELECT replace(text_id::VARCHAR, '-', '') AS text_id, token_ids, logprobs, starts, ends, "
        f"words, flags FROM token_score WHERE scorer_id = $scorer AND text_id IN ({text_ids})"
    )
