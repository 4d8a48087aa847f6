"""Whether the cache keeps its own rules; every breach is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, TypeVar

import duckdb

from core.store.derive import DERIVED, touch_dataset
from core.store.fetch import count
from core.store.gate import Cache
from core.store.pair_rows import AT_A_TIME, different_pairs
from core.store.scorers import deriving_scorers
from core.store.verify_heads import BEYOND, HEAD_RULES, rows_beyond

_Answer = TypeVar("_Answer")
_Question: TypeAlias = Callable[[duckdb.DuckDBPyConnection], Any]

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
RESULT_WITHOUT_READER = "SELECT result_id FROM axis_result ANTI JOIN head_reader USING (reader_id)"
RESULT_OF_OTHER_LENGTH = """
    SELECT result_id FROM axis_result LEFT JOIN axis_row USING (result_id)
    GROUP BY result_id, n_axes HAVING count(position) != n_axes
        OR count(DISTINCT len(phrase_values)) > 1
"""

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
    "An import of scores is of a scorer that the cache does not know": (
        "SELECT 1 FROM score_import ANTI JOIN scorer USING (scorer_id)"
    ),
    "A pair score is of a scorer that the cache does not know": (
        "SELECT 1 FROM pair_score ANTI JOIN scorer USING (scorer_id)"
    ),
    "A pair score is of no pair that the cache holds": (
        "SELECT 1 FROM pair_score ANTI JOIN pair USING (dataset, item_id, condition)"
    ),
    "A result on axes is of a reader that the cache does not know": RESULT_WITHOUT_READER,
    "A result on axes has not the rows that it was stored with": RESULT_OF_OTHER_LENGTH,
    "A row of axes or an atlas belongs to no result": (
        "SELECT 1 FROM (SELECT result_id FROM axis_row UNION ALL SELECT result_id FROM atlas) "
        "ANTI JOIN axis_result USING (result_id)"
    ),
    **HEAD_RULES,
}


def verify(cache: Cache) -> list[str]:
    """Read the whole cache and check it.

    Every table and every rule has an opening of its own, so that others get in between.

    Returns
    -------
    list of str
        One sentence per kind of breach, with its count; empty when all is well.
    """
    for name in _ask(cache, _tables):
        _ask(cache, partial(_read, name=name))
    return _sentences(_counts(partial(_ask, cache)) | {BEYOND: rows_beyond(cache)})


def findings(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The breaches that one connection sees; it may use temporary tables."""
    return _sentences(_counts(lambda question: question(con)))


def _counts(ask: Callable[[_Question], Any]) -> dict[str, int]:
    """How often each rule is broken, one question after the other."""
    counts = {rule: ask(partial(_broken, sql=sql)) for rule, sql in _RULES.items()}
    for scorer_id in ask(deriving_scorers):
        counts[_derived("item", scorer_id)] = ask(partial(_different, scorer_id=scorer_id))
        counts[_derived("pair", scorer_id)] = sum(
            ask(partial(_different_pairs, scorer_id=scorer_id, dataset=dataset, first=first))
            for dataset, n_rows in ask(_sizes)
            for first in range(0, n_rows, AT_A_TIME)
        )
    return counts


def read_everything(con: duckdb.DuckDBPyConnection) -> None:
    """Touch every block of every table: DuckDB checks a block's checksum when it reads it."""
    for name in _tables(con):
        _read(con, name)


def _ask(cache: Cache, question: Callable[[duckdb.DuckDBPyConnection], _Answer]) -> _Answer:
    with cache.reading() as con:
        return question(con)


def _tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    rows = con.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
    return [name for (name,) in rows]


def _read(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(f'SELECT max(hash(t)) FROM "{name}" t').fetchall()


def _broken(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    return count(con, sql, {})


def _derived(kind: str, scorer_id: str) -> str:
    article = "An" if kind == "item" else "A"
    return f"{article} {kind} score under scorer {scorer_id} is not what its token scores give"


def _different(con: duckdb.DuckDBPyConnection, scorer_id: str) -> int:
    touch_dataset(con)
    return count(con, _DIFFERENT, {"scorer": scorer_id})


def _sizes(con: duckdb.DuckDBPyConnection) -> list[tuple[str, int]]:
    """The data sets with pairs, and where their last one stands."""
    return con.execute("SELECT dataset, max(row_order) + 1 FROM pair GROUP BY ALL").fetchall()


def _different_pairs(
    con: duckdb.DuckDBPyConnection, scorer_id: str, dataset: str, first: int
) -> int:
    return different_pairs(con, scorer_id, dataset, first, AT_A_TIME)


def _sentences(counts: dict[str, int]) -> list[str]:
    return [f"{rule} (found {n} times)." for rule, n in counts.items() if n]


# Rows that are only stored or only derived; a changed row is both and counts once. EXCEPT ALL,
# because a row stored twice is a breach as well.
_DIFFERENT = f"""
WITH derived AS ({DERIVED}), stored AS (FROM item_score WHERE scorer_id = $scorer)
SELECT DISTINCT dataset, item_id, condition FROM (
    (FROM stored EXCEPT ALL FROM derived) UNION ALL (FROM derived EXCEPT ALL FROM stored)
)
"""
