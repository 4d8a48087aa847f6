"""`pair_score` from `token_score`: sums over the unmodified tokens of both sentences of a pair.

A pair is an item with an empty context and exactly the two continuations stereotype and
anti_stereotype (the view `pair`); `more` is the stereotypical sentence. It gets one row per unit
and alignment as soon as both sentences are scored, and none while one is not: both leave together.
Collapsed pairs get none. Words and tokens are aligned as longest common subsequences always, and by
difflib in the data sets that ask for it (the table `pair_alignment`).

Like the derivation of item scores, the functions work on the connection's temporary table
`touched(dataset, item_id, condition)`. Token lists are read in batches, so memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from core.items.alignment import UNITS, Mask, Sentence, mostly_different, unmodified_tokens
from core.items.texts import fold
from core.stats.pairs import is_informative, unmodified_sum
from core.store.fetch import arrow, count, first_row

AT_A_TIME = 4_000  # pairs whose token lists are in memory together
ALWAYS = "lcs"
ELSEWHERE = "elsewhere"  # unit and alignment of scores that another program has computed

UNINFORMATIVE = "uninformative"  # the structure alone decides the scores: counted and left out
MOSTLY_DIFFERENT = "mostly_different"  # more than half of the words differ
IMPORTED = "imported"  # computed elsewhere, on what that program takes the sentences to share
IDENTICAL = "identical"  # both sentences have the very same tokens
UNEQUAL_TOKENS = "unequal_tokens"  # the shared words have other tokens in the other sentence

_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("scorer_id", "dataset", "item_id", "condition")),
        *((name, pa.string()) for name in ("unit", "align")),
        *((name, pa.float64()) for name in ("score_more", "score_less")),
        ("n_unmodified", pa.int32()),
        ("flags", pa.list_(pa.string())),
    ]
)
_LISTS = ("token_ids", "logprobs", "starts", "ends")

# The touched pairs whose sentences are both scored, numbered.
_READY = """
CREATE OR REPLACE TEMP TABLE ready AS
WITH scored AS MATERIALIZED (
    SELECT text_id FROM token_score WHERE scorer_id = $scorer AND text_id IN (
        SELECT unnest([text_more, text_less]) FROM pair SEMI JOIN touched
            USING (dataset, item_id, condition))
)
SELECT row_number() OVER () - 1 AS number, pair.*
FROM pair SEMI JOIN touched USING (dataset, item_id, condition)
WHERE NOT collapsed AND text_more IN (FROM scored) AND text_less IN (FROM scored)
"""

_BATCH = f"""
WITH batch AS MATERIALIZED (FROM ready WHERE number >= $first AND number < $first + $n),
score AS MATERIALIZED (
    SELECT text_id, {", ".join(_LISTS)}, flags FROM token_score
    WHERE scorer_id = $scorer
        AND text_id IN (SELECT unnest([text_more, text_less]) FROM batch)
        AND len(token_ids) = len(logprobs) AND len(starts) = len(logprobs)
        AND len(ends) = len(logprobs)
)
SELECT dataset, item_id, condition, context, more, less,
    coalesce(metadata->>'stereo_antistereo' = 'antistereo', false) AS antistereo,
    {", ".join(f"m.{name} AS {name}_more, l.{name} AS {name}_less" for name in (*_LISTS, "flags"))}
FROM batch JOIN score m ON m.text_id = text_more JOIN score l ON l.text_id = text_less
ORDER BY number
"""


def refresh_pairs(con: duckdb.DuckDBPyConnection, scorer_id: str) -> None:
    """Derive the touched pairs again under one scorer."""
    if not _any_touched(con):
        return
    con.execute(
        "DELETE FROM pair_score WHERE scorer_id = $scorer AND EXISTS (SELECT 1 FROM touched t "
        "WHERE t.dataset = pair_score.dataset AND t.item_id = pair_score.item_id "
        "AND t.condition = pair_score.condition)",
        {"scorer": scorer_id},
    )
    for rows in derived_pairs(con, scorer_id):
        con.register("derived_pair", rows)
        con.execute("INSERT INTO pair_score BY NAME FROM derived_pair")
        con.unregister("derived_pair")


def different_pairs(
    con: duckdb.DuckDBPyConnection, scorer_id: str, dataset: str, first: int, n: int
) -> int:
    """How many pairs have other rows than their token scores give, of n rows of a data set."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE touched AS SELECT DISTINCT dataset, item_id, condition "
        "FROM pair WHERE dataset = $dataset AND row_order >= $first AND row_order < $first + $n",
        {"dataset": dataset, "first": first, "n": n},
    )
    if not _any_touched(con):
        return 0
    derived = pa.concat_tables([_SCHEMA.empty_table(), *derived_pairs(con, scorer_id)])
    con.register("derived_pair", derived)
    found = count(con, _DIFFERENT, {"scorer": scorer_id})
    con.unregister("derived_pair")
    return found


# A pair counts once, however many of its rows are stored only or derived only.
_DIFFERENT = """
WITH stored AS (
    FROM pair_score SEMI JOIN touched USING (dataset, item_id, condition)
    WHERE scorer_id = $scorer
)
SELECT DISTINCT dataset, item_id, condition FROM (
    (FROM stored EXCEPT ALL FROM derived_pair) UNION ALL
    (FROM derived_pair EXCEPT ALL FROM stored)
)
"""


def _any_touched(con: duckdb.DuckDBPyConnection) -> bool:
    sql = "SELECT 1 FROM pair SEMI JOIN touched USING (dataset, item_id, condition) LIMIT 1"
    return first_row(con, sql) is not None


def derived_pairs(con: duckdb.DuckDBPyConnection, scorer_id: str) -> Iterator[pa.Table]:
    """The rows that pair_score should hold for the touched pairs under one scorer, in batches."""
    con.execute(_READY, {"scorer": scorer_id})
    (n_ready,) = first_row(con, "SELECT count(*) FROM ready") or (0,)
    method = first_row(con, "SELECT method FROM scorer WHERE scorer_id = ?", [scorer_id])
    asked: dict[str, list[str]] = {}
    for dataset, align in con.execute("FROM pair_alignment ORDER BY ALL").fetchall():
        asked.setdefault(dataset, []).append(align)
    for first in range(0, n_ready, AT_A_TIME):
        batch = arrow(con, _BATCH, {"scorer": scorer_id, "first": first, "n": AT_A_TIME})
        causal = method is None or method[0].startswith("causal")
        rows = [
            {"scorer_id": scorer_id, **row}
            for pair in _read_pairs(batch)
            for row in _rows_of(pair, asked.get(pair["dataset"], []), causal=causal)
        ]
        yield pa.Table.from_pylist(rows, _SCHEMA)


def _read_pairs(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch, token lists as arrays."""
    batch = batch.combine_chunks()
    lists = [f"{name}_{side}" for name in _LISTS for side in ("more", "less")]
    columns = {
        name: _arrays(batch.column(name)) if name in lists else batch.column(name).to_pylist()
        for name in batch.column_names
    }
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _arrays(column: Any) -> list[Any]:
    if column.num_chunks == 0:
        return []
    offsets, values = column.chunk(0).offsets.to_numpy(), column.chunk(0).values.to_numpy()
    return [values[a:b] for a, b in pairwise(offsets)]


def _rows_of(
    pair: Mapping[str, Any], others: list[str], *, causal: bool
) -> Iterator[dict[str, Any]]:
    """The rows of one pair: by words and by tokens, in every alignment."""
    more, less = (_sentence(pair, side) for side in ("more", "less"))
    common = {*pair["flags_more"], *pair["flags_less"]}
    if np.array_equal(more.token_ids, less.token_ids):
        common.add(IDENTICAL)
    if mostly_different(more.words, less.words):
        common.add(MOSTLY_DIFFERENT)
    key = {name: pair[name] for name in ("dataset", "item_id", "condition")}
    for align in (ALWAYS, *others):
        for unit in UNITS:
            yield {
                **key,
                "unit": unit,
                "align": align,
                **_scores(more, less, pair, common, unit, align, causal=causal),
            }


def _sentence(pair: Mapping[str, Any], side: str) -> Sentence:
    _, text = fold(pair["context"], pair[side])
    return Sentence(text, *(pair[f"{name}_{side}"] for name in ("token_ids", "starts", "ends")))


def _scores(
    more: Sentence,
    less: Sentence,
    pair: Mapping[str, Any],
    common: set[str],
    unit: str,
    align: str,
    *,
    causal: bool,
) -> dict[str, Any]:
    if unit == "word" and not (more.has_spans and less.has_spans):
        # Which words the tokens are of is unknown: undefined, and the flags say why.
        return {"score_more": None, "score_less": None, "n_unmodified": 0, "flags": sorted(common)}
    kept_more, kept_less = _unmodified(more, less, unit, align, pair["antistereo"], causal=causal)
    flags = set(common)
    ids = (more.token_ids, less.token_ids)
    if not is_informative(*ids, kept_more, kept_less, causal=causal):
        flags.add(UNINFORMATIVE)
    n_more, n_less = int(kept_more.sum()), int(kept_less.sum())
    if n_more != n_less:
        flags.add(UNEQUAL_TOKENS)
    return {
        "score_more": unmodified_sum(pair["logprobs_more"], kept_more),
        "score_less": unmodified_sum(pair["logprobs_less"], kept_less),
        "n_unmodified": n_more,
        "flags": sorted(flags),
    }


def _unmodified(
    more: Sentence, less: Sentence, unit: str, align: str, antistereo: bool, *, causal: bool
) -> tuple[Mask, Mask]:
    if align == ALWAYS:
        return unmodified_tokens(more, less, unit=unit, align=align)
    # As published: special tokens are aligned too (the causal code has none behind), and the
    # sentence about the disadvantaged group comes first. It matters to difflib now and then.
    special = (True, not causal)
    if not antistereo:
        return unmodified_tokens(more, less, unit=unit, align=align, special=special)
    of_less, of_more = unmodified_tokens(less, more, unit=unit, align=align, special=special)
    return of_more, of_less
