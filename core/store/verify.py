"""Whether the cache keeps its own rules; every breach is one sentence."""

from __future__ import annotations

import duckdb

from core.store.derive import DERIVED, touch_dataset
from core.store.fetch import count
from core.store.gate import Cache
from core.store.scorers import scorer_ids

UNEQUAL = (
    "len(token_ids) != len(logprobs) OR len(starts) != len(logprobs) "
    "OR len(ends) != len(logprobs) OR len(words) != len(logprobs)"
)
WRONG_COUNT = "n_scored != len(logprobs) OR n_scored = 0"
# The sum was accumulated in float64 in another order: equal to a few units of its last place.
WRONG_SUM = (
    "NOT isfinite(sum) OR NOT coalesce(list_bool_and([isfinite(x) FOR x IN logprobs]), true) "
    "OR abs(sum - coalesce(list_sum(logprobs::DOUBLE[]), 0)) > 1e-9 * greatest(1, abs(sum))"
)

_RULES = {
    "A text is scored more than once under one scorer": (
        "SELECT 1 FROM token_score GROUP BY scorer_id, text_id HAVING count(*) > 1"
    ),
    "A score has lists of unequal length": f"SELECT 1 FROM token_score WHERE {UNEQUAL}",
    "The n_scored of a score is not the length of its lists": (
        f"SELECT 1 FROM token_score WHERE {WRONG_COUNT}"
    ),
    "The sum of a score is not that of its log-probabilities": (
        f"SELECT 1 FROM token_score WHERE {WRONG_SUM}"
    ),
    "A score is of a scorer that the cache does not know": (
        "SELECT 1 FROM token_score ANTI JOIN scorer USING (scorer_id)"
    ),
    "A text is listed more than once as not scorable under one scorer": (
        "SELECT 1 FROM unscored GROUP BY scorer_id, text_id HAVING count(*) > 1"
    ),
    "A text has a score but is also listed as not scorable": (
        "SELECT 1 FROM unscored SEMI JOIN token_score USING (scorer_id, text_id)"
    ),
    "An item is there more than once in a data set and condition": (
        "SELECT 1 FROM item GROUP BY dataset, item_id, condition HAVING count(*) > 1"
    ),
    "An item score is of a scorer that the cache does not know": (
        "SELECT 1 FROM item_score ANTI JOIN scorer USING (scorer_id)"
    ),
}


def verify(cache: Cache) -> list[str]:
    """Read the whole cache and check it.

    Returns
    -------
    list of str
        One sentence per kind of breach, with its count; empty when all is well.
    """
    with cache.reading() as con:
        read_everything(con)
        return findings(con)


def findings(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The breaches that a connection sees; it may use temporary tables."""
    counts = {rule: count(con, sql, {}) for rule, sql in _RULES.items()}
    touch_dataset(con)
    for scorer_id in scorer_ids(con):
        rule = f"An item score under scorer {scorer_id} is not what its token scores give"
        counts[rule] = count(con, _DIFFERENT, {"scorer": scorer_id})
    return [f"{rule} (found {n} times)." for rule, n in counts.items() if n]


# Rows that are only stored or only derived; a changed row is both and counts once. EXCEPT ALL,
# because a row stored twice is a breach as well.
_DIFFERENT = f"""
WITH derived AS ({DERIVED}), stored AS (FROM item_score WHERE scorer_id = $scorer)
SELECT DISTINCT dataset, item_id, condition FROM (
    (FROM stored EXCEPT ALL FROM derived) UNION ALL (FROM derived EXCEPT ALL FROM stored)
)
"""


def read_everything(con: duckdb.DuckDBPyConnection) -> None:
    """Touch every block of every table: DuckDB checks a block's checksum when it reads it."""
    names = con.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
    for (name,) in names:
        con.execute(f'SELECT max(hash(t)) FROM "{name}" t').fetchall()
