"""What an audit reads: the versions of every item, and their scores under several scorers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.store.derive import KNOWN
from core.store.fetch import frame
from core.store.gate import Cache
from core.store.items import check_dataset

_POINTS = ", ".join(
    f"length({continuation}) AS points_{suffix}"
    for suffix, continuation in (("stereotype", "stereotype"), ("anti", "anti_stereotype"))
)

# White space as Python's str.rstrip knows it, with which a context is folded before it is scored.
_SPACE = (
    r"[\x09-\x0d\x1c-\x20\x85\x{a0}\x{1680}\x{2000}-\x{200a}"
    r"\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*"
)


def item_versions(cache: Cache, dataset: str) -> pd.DataFrame:
    """One row per item and condition, in the order of the import, without texts.

    Columns: item_id, condition, language, native, collapsed, source, category, dimension,
    resource_level, `answer_order` (roles of a question in the source's order), `metadata` (JSON
    text), `context_hash` (equal contexts have equal ones), `points_stereotype` and `points_anti`
    (code points of the continuations).

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
                resource_level, answer_order, metadata::VARCHAR AS metadata,
                hash(context) AS context_hash, {_POINTS}
            FROM item WHERE dataset = $dataset ORDER BY row_order
            """,
            {"dataset": dataset},
        )


def item_texts_of(cache: Cache, dataset: str) -> pd.DataFrame:
    """Continuations of every version with an English twin: item_id, condition, and the poles.

    Columns: item_id, condition, stereotype, anti_stereotype, in the order of the import.
    """
    with cache.reading() as con:
        return frame(
            con,
            """
            SELECT item_id, condition, stereotype, anti_stereotype
            FROM item WHERE dataset = $dataset AND NOT native ORDER BY row_order
            """,
            {"dataset": dataset},
        )


def scores_of(cache: Cache, dataset: str, scorer_ids: Sequence[str]) -> pd.DataFrame:
    """Scores of a data set's items under these scorers: scorer_id, item_id, condition and numbers.

    The numbers are l_*, sum_* (nats), n_* and order_* of `item_score`, NULL where they are not
    known. `is_scored` is False of an item that could not be scored; `reason` then says why. Items
    without a score have no row.
    """
    with cache.reading() as con:
        return frame(
            con,
            f"""
            SELECT * EXCLUDE (dataset, flags), {KNOWN} IS NOT NULL AS is_scored,
                CASE WHEN {KNOWN} IS NULL THEN array_to_string(flags, ', ') ELSE '' END
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
            f"""
            SELECT scorer_id FROM scorer SEMI JOIN (FROM item_score WHERE dataset = $dataset
                AND {KNOWN} IS NOT NULL) USING (scorer_id) ORDER BY created_at, scorer_id
            """,
            {"dataset": dataset},
        ).fetchall()
    return [scorer_id for (scorer_id,) in rows]


def first_tokens(cache: Cache, dataset: str, scorer_ids: Sequence[str]) -> pd.DataFrame:
    """The first scored token of both poles of every item, for scores that have token lists.

    Columns: scorer_id, item_id, condition, `pole` (stereotype or anti), `first` (its
    log-probability in nats), `merged` (it starts before the continuation does, because the
    tokenizer joins the space to it; False where spans are not trusted) and `alone` (nothing stands
    before the continuation, so that a causal model needs a token to be given; False for masked
    models, which see what comes behind).
    """
    with cache.reading() as con:
        return frame(
            con,
            r"""
            WITH pole AS (
                SELECT item_id, condition, text_stereotype AS text_id, 'stereotype' AS pole, context
                FROM item WHERE dataset = $dataset AND NOT collapsed
                UNION ALL
                SELECT item_id, condition, text_anti, 'anti', context
                FROM item WHERE dataset = $dataset AND NOT collapsed
            ), token AS (
                SELECT scorer_id, text_id, logprobs[1] AS first, starts[1] AS start
                FROM token_score WHERE scorer_id IN (SELECT unnest($scorers::VARCHAR[]))
                    AND text_id IN (SELECT text_id FROM pole)
            )
            SELECT scorer_id, item_id, condition, pole, first::DOUBLE AS first,
                length(regexp_replace(context, $space || '$', '')) AS n_context,
                n_context > 0 AND start BETWEEN 0 AND n_context AS merged,
                n_context = 0 AND method NOT LIKE 'pll:%' AS alone
            FROM pole JOIN token USING (text_id) JOIN scorer USING (scorer_id)
            """,
            {"dataset": dataset, "scorers": list(scorer_ids), "space": _SPACE},
        )


def generations(cache: Cache, dataset: str, scorer_ids: Sequence[str] = ()) -> dict[str, int]:
    """Generation of the items ("") and of the scores under these scorers, or under all there are.

    While none of them changes, neither does anything that an audit reads of the data set.
    """
    with cache.reading() as con:
        rows = con.execute(
            """
            SELECT scorer_id, generation FROM generation WHERE dataset = $dataset
                AND (len($scorers::VARCHAR[]) = 0 OR scorer_id = ''
                    OR scorer_id IN (SELECT unnest($scorers::VARCHAR[])))
            ORDER BY scorer_id
            """,
            {"dataset": dataset, "scorers": list(scorer_ids)},
        ).fetchall()
    return {scorer_id: int(number) for scorer_id, number in rows}
