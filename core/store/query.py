"""A person's own SQL over the cache: one SELECT, read-only, nothing outside the cache in reach."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from core.errors import InputError
from core.store.faults import cache_fault, first_sentence
from core.store.gate import Cache

_READS = ("SELECT", "EXPLAIN")


def query(cache: Cache, sql: str, max_rows: int | None = None) -> pa.Table:
    """The rows of one statement, at most `max_rows` of them.

    The cache is locked for writers while it runs. Files, other databases, extensions and settings
    are out of reach by the options of every connection.

    Raises
    ------
    InputError
        Not exactly one statement, not one that reads, or one that DuckDB refuses (in its words).
    """
    with cache.reading() as con:
        try:
            statement = _one_statement(con, sql)
            result = con.sql(statement)
            return (result if max_rows is None else result.limit(max_rows)).to_arrow_table()
        except duckdb.Error as error:
            if cache_fault(error, cache.file, writing=False) is not None:
                raise
            raise InputError(f"DuckDB refuses this query: {first_sentence(error)}") from error


def _one_statement(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    statements = con.extract_statements(sql)
    if len(statements) != 1:
        raise InputError(f"The query holds {len(statements)} statements; it takes exactly one.")
    if statements[0].type.name not in _READS:
        raise InputError(
            f"The query is a {statements[0].type.name} statement; "
            "only SELECT (also WITH, FROM, SHOW, DESCRIBE, EXPLAIN) is possible."
        )
    return statements[0].query
