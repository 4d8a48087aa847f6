"""The number that tells whether a page's remembered results are still the cache's."""

from __future__ import annotations

from core.store.fetch import first_row
from core.store.gate import Cache


def generation(cache: Cache, scorer_id: str, dataset: str) -> int:
    """How often the scores of a data set under a scorer changed; 0 before the first time.

    It rises by one with every write transaction that touches the pair. The scorer id "" stands for
    the items alone: it rises when the data set is imported.
    """
    with cache.reading() as con:
        row = first_row(
            con,
            "SELECT generation FROM generation WHERE scorer_id = ? AND dataset = ?",
            [scorer_id, dataset],
        )
    return int(row[0]) if row else 0
