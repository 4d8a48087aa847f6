"""A result leaves DuckDB whole: an unfinished one keeps the connection busy and the file open.

And the one insert that several tables share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd


def arrow(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any]) -> Any:
    """The whole result as an Arrow table; nothing of the connection stays in it."""
    return con.sql(sql, params=dict(parameters)).to_arrow_table()


def frame(
    con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """The whole result as a DataFrame, by way of Arrow: twice as fast as DuckDB's own for text."""
    table: pd.DataFrame = arrow(con, sql, parameters or {}).to_pandas()
    return table


def first_row(
    con: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> tuple[Any, ...] | None:
    """The first row of a short result, None where it is empty."""
    rows = con.execute(sql, parameters).fetchall()
    return rows[0] if rows else None


def count(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any]) -> int:
    """How many rows a query gives."""
    row = first_row(con, f"SELECT count(*) FROM ({sql})", parameters)
    return int(row[0]) if row else 0


def insert_once(
    con: duckdb.DuckDBPyConnection, table: str, key: str, row: Mapping[str, Any]
) -> None:
    """Insert a row by its columns' names; one whose key is there already stays as it was."""
    columns = ", ".join(f"${name} AS {name}" for name in row)
    con.execute(
        f"INSERT INTO {table} BY NAME SELECT {columns} "
        f"WHERE ${key} NOT IN (SELECT {key} FROM {table})",
        dict(row),
    )
