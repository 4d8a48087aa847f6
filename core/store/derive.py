"""`item_score` from `token_score`: l = sum / n_scored by role, refreshed for the touched items.

An item gets a row when each of its texts is either scored or known not to be scorable. With one of
the latter all its numbers are NULL and `flags` names the reason: the continuations of an item leave
together. Collapsed items compare nothing and get no row.

Pairs of sentences have scores of their own besides (core/store/pair_rows.py), refreshed with them.

The functions work on a temporary table `touched(dataset, item_id, condition)` of the connection.
"""

from __future__ import annotations

import duckdb

from core.store.pair_rows import refresh_pairs
from core.types import ROLE_SUFFIXES

ROLES = {suffix: str(role) for role, suffix in ROLE_SUFFIXES.items()}


def _by_role(name: str, value: str) -> str:
    return ", ".join(
        f"if(whole, max({value}) FILTER (role = '{role}'), NULL) AS {name}_{suffix}"
        for suffix, role in ROLES.items()
    )


# A number of an item, NULL where it could not be scored. From elsewhere there may be no mean, but
# only numbers that order the continuations.
KNOWN = "coalesce(l_stereotype, order_stereotype)"

# The rows that item_score should hold for the touched items under one scorer.
DERIVED = f"""
WITH needed AS MATERIALIZED (
    SELECT dataset, item_id, condition, role, text_id
    FROM item_text SEMI JOIN touched USING (dataset, item_id, condition)
    WHERE NOT collapsed
), known AS (
    SELECT text_id, sum, n_scored, flags, NULL AS reason
    FROM token_score WHERE scorer_id = $scorer AND text_id IN (SELECT text_id FROM needed)
    UNION ALL
    SELECT text_id, NULL, NULL, [], reason
    FROM unscored WHERE scorer_id = $scorer AND text_id IN (SELECT text_id FROM needed)
), part AS (
    SELECT needed.*, sum, n_scored, flags, reason,
        bool_and(coalesce(n_scored > 0, false))
            OVER (PARTITION BY dataset, item_id, condition) AS whole
    FROM needed LEFT JOIN known USING (text_id)
)
SELECT $scorer AS scorer_id, dataset, item_id, condition,
    {_by_role("l", "sum / n_scored")},
    {_by_role("sum", "sum")},
    {_by_role("n", "n_scored")},
    CASE WHEN whole THEN list_sort(list_distinct(flatten(list(flags))))
         ELSE list_sort(list_distinct(list(reason) FILTER (reason IS NOT NULL))) END AS flags,
    {", ".join(f"NULL::DOUBLE AS order_{suffix}" for suffix in ROLES)}
FROM part
GROUP BY dataset, item_id, condition, whole
HAVING bool_and(n_scored IS NOT NULL OR reason IS NOT NULL)
"""


def touch_dataset(con: duckdb.DuckDBPyConnection, dataset: str | None = None) -> None:
    """Touch every item of a data set, or of all."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE touched AS SELECT dataset, item_id, condition FROM item "
        "WHERE $dataset::VARCHAR IS NULL OR dataset = $dataset",
        {"dataset": dataset},
    )


def touch_texts(con: duckdb.DuckDBPyConnection) -> None:
    """Touch every item, of any data set, that has a text of the temporary table `changed`."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE touched AS SELECT DISTINCT dataset, item_id, condition "
        "FROM item_text WHERE text_id IN (SELECT text_id FROM changed)"
    )


def refresh(con: duckdb.DuckDBPyConnection, scorer_id: str) -> None:
    """Derive the touched items again under one scorer."""
    con.execute(
        "DELETE FROM item_score WHERE scorer_id = $scorer AND EXISTS (SELECT 1 FROM touched t "
        "WHERE t.dataset = item_score.dataset AND t.item_id = item_score.item_id "
        "AND t.condition = item_score.condition)",
        {"scorer": scorer_id},
    )
    con.execute(f"INSERT INTO item_score BY NAME {DERIVED}", {"scorer": scorer_id})
    refresh_pairs(con, scorer_id)


def touched_datasets(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The names of the data sets that have touched items."""
    rows = con.execute("SELECT DISTINCT dataset FROM touched ORDER BY dataset").fetchall()
    return [name for (name,) in rows]
