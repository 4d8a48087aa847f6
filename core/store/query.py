"""A person's own SQL over the cache: one SELECT, read-only, nothing outside the cache in reach."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from core.errors import InputError
from core.store.faults import cache_fault, first_sentence
from core.store.gate import Cache

SECONDS = 2.0  # nobody waits longer for somebody else's query, unless that was asked for
_READS = ("SELECT", "EXPLAIN")


def query(
    cache: Cache, sql: str, *, max_rows: int | None = None, seconds: float = SECONDS
) -> pa.Table:
    """The rows of one statement, at most `max_rows` of them.

    The cache is locked for writers while it runs, and behind a waiting writer for readers too.
    Files, other databases, extensions and settings are out of reach by the options of every
    connection.

    Parameters
    ----------
    seconds
        The query is stopped when it runs for longer.

    Raises
    ------
    InputError
        Not exactly one statement, not one that reads, one that DuckDB refuses (in its words), or
        one that takes too long.
    """
    if not 0 < seconds < math.inf:
        raise InputError(f"A query can run for more than 0 seconds, not {seconds:g}.")
    with cache.reading() as con:
        try:
            statement = _one_statement(con, sql)
            with _interrupted_after(con, seconds):
                result = con.sql(statement)
                return (result if max_rows is None else result.limit(max_rows)).to_arrow_table()
        except duckdb.InterruptException as error:
            raise InputError(
                f"The query ran for more than {seconds:g} s and was stopped, because nobody can "
                "write to the cache meanwhile; ask for less or allow more with --seconds."
            ) from error
        except duckdb.Error as error:
            if cache_fault(error, cache.file, writing=False) is not None:
                raise
            refused = f"DuckDB refuses this query: {first_sentence(error)}"
            raise InputError(refused + _tables_there_are(con, error)) from error


def _tables_there_are(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str:
    """The tables of the cache, where the query names one that is none of them; else nothing."""
    if not isinstance(error, duckdb.CatalogException) or "Table with name" not in str(error):
        return ""
    names = [name for (name,) in con.execute("SHOW TABLES").fetchall()]
    return f" The tables are {', '.join(names)}; `DESCRIBE {names[0]}` lists its columns."


@contextmanager
def _interrupted_after(con: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt whatever the connection does when the time is over."""
    done = threading.Event()

    def watch() -> None:
        # Again and again, because between two statements there is nothing to interrupt.
        if not done.wait(min(seconds, threading.TIMEOUT_MAX)):
            while not done.wait(0.05):
                con.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


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
