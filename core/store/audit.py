"""What an audit reads: the versions of every item, and their scores under several scorers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.store.fetch import frame
from core.store.gate import Cache
from core.store.items import check_dataset

_POINTS = ", ".join(
    f"length({continuation}) AS points_{suffix}"
    for suffix, continuation in (("stereotype", "stereotype"), ("anti", "anti_stereotype"))
)


def item_versions(cache: Cache, dataset: str) -> pd.DataFrame:
    """One row per item and condition, in the order of the import, without texts.

    Columns: item_id, condition, language, native, collapsed, source, category, dimension,
    resource_level, `answer_order` (roles of a question in the source's order), `metadata` (JSON
    text), `points_stereotype` and `points_anti` (code points of the continuations).

    Raises
    ------
    InputError
        There is no such data set.
    """
    with cache.reading() as con:
        check_dataset(con, dataset)
        return frame(
            con,
            f"""
            SELECT item_id, condition, language, native, collapsed, source, category, dimension,
                resource_level, answer_order, metadata::VARCHAR AS metadata, {_POINTS}
            FROM item WHERE dataset = $dataset ORDER BY row_order
            """,
            {"dataset": dataset},
        )


def scores_of(cache: Cache, dataset: str, scorer_ids: Sequence[str]) -> pd.DataFrame:
    """Scores of a data set's items under these scorers: scorer_id, item_id, condition and numbers.

    The numbers are l_*, sum_* (nats) and n_* of `item_score`, NULL where an item could not be
    scored; `reason` then says why. Items without a score have no row.
    """
    with cache.reading() as con:
        return frame(
            con,
            """
            SELECT * EXCLUDE (dataset, flags),
                CASE WHEN l_stereotype IS NULL THEN array_to_string(flags, ', ') ELSE '' END
                    AS reason
            FROM item_score
            WHERE dataset = $dataset AND scorer_id IN (SELECT unnest($scorers::VARCHAR[]))
            """,
            {"dataset": dataset, "scorers": list(scorer_ids)},
        )


def scored_with(cache: Cache, dataset: str) -> list[str]:
    """Ids of the scorers with at least one score of the data set, in the order of their arrival."""
    with cache.reading() as con:
        rows = con.execute(
            """
            SELECT scorer_id FROM scorer SEMI JOIN (FROM item_score WHERE dataset = $dataset
                AND l_stereotype IS NOT NULL) USING (scorer_id) ORDER BY created_at, scorer_id
            """,
            {"dataset": dataset},
        ).fetchall()
    return [scorer_id for (scorer_id,) in rows]
