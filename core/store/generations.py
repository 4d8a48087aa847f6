"""Two numbers about the scores of a data set: whether they changed, and which ones they are."""

from __future__ import annotations

import time
from collections.abc import Iterable

import duckdb

from core.store.derive import KNOWN
from core.store.fetch import first_row
from core.store.gate import Cache


def generation(cache: Cache, scorer_id: str, dataset: str) -> int:
    """How often the scores of a data set under a scorer changed; 0 before the first time.

    It rises with every write transaction that touches the pair. The scorer id "" stands for
    the items alone: it rises when the data set is imported.
    """
    with cache.reading() as con:
        row = first_row(
            con,
            "SELECT generation FROM generation WHERE scorer_id = ? AND dataset = ?",
            [scorer_id, dataset],
        )
    return int(row[0]) if row else 0


def bump(
    con: duckdb.DuckDBPyConnection, scorer_ids: Iterable[str], datasets: Iterable[str]
) -> None:
    """Raise the generation of every pair, to the time in microseconds or by one at least.

    A number never comes back, not even in a cache that was rebuilt or restored from a copy: whoever
    remembers results by generation would show those of the other cache.
    """
    datasets = list(datasets)
    for scorer_id in scorer_ids:
        pair = {"scorer": scorer_id, "datasets": datasets, "now": time.time_ns() // 1000}
        con.execute(
            "UPDATE generation SET generation = greatest(generation + 1, $now) "
            "WHERE scorer_id = $scorer AND dataset IN (SELECT unnest($datasets::VARCHAR[]))",
            pair,
        )
        con.execute(
            "INSERT INTO generation SELECT $scorer, dataset, $now "
            "FROM (SELECT unnest($datasets::VARCHAR[]) AS dataset) "
            "ANTI JOIN (FROM generation WHERE scorer_id = $scorer) USING (dataset)",
            pair,
        )


def content_number(cache: Cache, scorer_id: str, dataset: str) -> str:
    """Which items of a data set have scores under a scorer, in one short text.

    How many there are, and a hash of them all that does not depend on their order: two caches in
    which the same texts are scored give the same number, whenever and however they were filled.
    """
    with cache.reading() as con:
        row = first_row(
            con,
            f"""
            SELECT count(*), bit_xor(md5_number_lower(concat_ws('|', item_id, condition,
                content_hash)))
            FROM (FROM item WHERE dataset = $dataset)
                SEMI JOIN (FROM item_score WHERE scorer_id = $scorer AND dataset = $dataset
                    AND {KNOWN} IS NOT NULL) USING (item_id, condition)
            """,
            {"scorer": scorer_id, "dataset": dataset},
        )
    n_scored, mixed = row or (0, None)
    return f"{n_scored}-{mixed or 0:016x}"
