"""Where phrases fall on axes, as it was computed: values, top heads and tests of every axis.

A result stands under an id that its maker hashes from all that can change it, so a result under
another id is of something else. Of the same question (the names and numbers in `ResultFacts`) only
the latest one is kept. NaN is stored as NaN: undefined, with its reason in the row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from core.store.clock import utc_now
from core.store.fetch import arrow, count, first_row, insert_once
from core.store.gate import Cache
from core.store.generations import bump

Array = npt.NDArray[np.float64]
Heads = npt.NDArray[np.int64]
GENERATION = "axis results"  # what stands for a data set in a reader's generation

# The columns of a row beside its axis, values and heads. Undefined numbers are NaN.
TESTS = (
    "separability", "separability_chance", "separability_held_out", "held_out_chance", "statistic",
    "pvalue", "qvalue", "flagged", "rejection_rate", "rejection_error", "stability", "difference",
    "superiority", "pvalue_location", "spread_ratio", "pvalue_spread", "n_concepts", "n_reference",
    "n_negative", "n_positive", "method", "reason",
)  # fmt: skip
OF_RESULTS = ("axis_row", "atlas", "axis_result")  # tables whose rows belong to a result

_SAME = """
reader_id = $reader_id AND family = $family AND axis_set = $axis_set
AND concept_set = $concept_set AND reference_set = $reference_set AND pooling = $pooling
AND n_templates = $n_templates AND k IS NOT DISTINCT FROM $k AND seed = $seed
"""


_IS_LAYOUT = """
result_id = $result_id AND points_of = $points_of AND n_neighbors = $n_neighbors
AND min_dist = $min_dist AND seed = $seed
"""


@dataclass(frozen=True, kw_only=True)
class ResultFacts:
    """Which question a result answers, in the cache's own names."""

    reader_id: str
    family: str
    axis_set: str
    concept_set: str
    reference_set: str  # "" where there is none
    pooling: str
    n_templates: int
    k: int | None
    seed: int


@dataclass(frozen=True, eq=False)
class AxisRows:
    """What is stored of a result, one row per axis in the order of the set."""

    axis_ids: tuple[str, ...]
    values: Array  # (A, C + reference), concepts first
    heads: tuple[Heads, ...]  # flat indices, the most separable first
    n_skipped: npt.NDArray[np.int64]  # (A,)
    tests: pd.DataFrame  # the columns TESTS, (A,)


@dataclass(frozen=True, eq=False)
class Layout:
    """Points of a map, as they were computed."""

    names: tuple[str, ...]
    points: Array  # (n, 2)
    left_out: tuple[str, ...]  # without a point
    n_duplicates: int  # points at the place of an earlier one, whose row is the same
    versions: Mapping[str, str]
    created_at: datetime  # UTC


@dataclass(frozen=True, kw_only=True)
class LayoutKey:
    """Which map of a result."""

    result_id: str
    points_of: str
    n_neighbors: int
    min_dist: float
    seed: int


def put_axis_rows(cache: Cache, result_id: str, facts: ResultFacts, rows: AxisRows) -> datetime:
    """Store a result in one transaction, in the place of an earlier one of the same question.

    Returns
    -------
    datetime
        When it was stored, UTC.
    """
    now = utc_now()
    row = {"result_id": result_id, **asdict(facts), "n_axes": len(rows.axis_ids)}
    with cache.writing() as con:
        earlier = con.execute(
            f"SELECT result_id FROM axis_result WHERE {_SAME} OR result_id = $result_id",
            {**asdict(facts), "result_id": result_id},
        ).fetchall()
        drop_results(con, [name for (name,) in earlier])
        insert_once(con, "axis_result", "result_id", {**row, "created_at": now})
        con.register("incoming", _table(rows))
        con.execute(
            "INSERT INTO axis_row BY NAME SELECT $id AS result_id, * FROM incoming",
            {"id": result_id},
        )
        bump(con, [facts.reader_id], [GENERATION])
    return now


def is_answered(cache: Cache, facts: ResultFacts) -> bool:
    """Whether some result of this question is stored, if perhaps of sets that were other then."""
    with cache.reading() as con:
        return count(con, f"SELECT 1 FROM axis_result WHERE {_SAME}", asdict(facts)) > 0


def get_axis_rows(cache: Cache, result_id: str) -> tuple[AxisRows, datetime] | None:
    """A result and when it was stored, UTC; None where there is none."""
    with cache.reading() as con:
        stored = first_row(
            con, "SELECT created_at FROM axis_result WHERE result_id = ?", [result_id]
        )
        if stored is None:
            return None
        table = arrow(
            con,
            "SELECT * EXCLUDE (result_id, position) FROM axis_row WHERE result_id = $id "
            "ORDER BY position",
            {"id": result_id},
        )
    return _rows(table), stored[0]


def put_layout(cache: Cache, key: LayoutKey, reader_id: str, layout: Layout) -> None:
    """Store a map in the place of one with the same parameters."""
    x, y = layout.points.T.tolist()
    row = {
        **asdict(key),
        "names": list(layout.names),
        "x": x,
        "y": y,
        "left_out": list(layout.left_out),
        "n_duplicates": layout.n_duplicates,
        "versions": json.dumps(dict(layout.versions)),
        "created_at": layout.created_at,
    }
    with cache.writing() as con:
        con.execute(f"DELETE FROM atlas WHERE {_IS_LAYOUT}", asdict(key))
        columns = ", ".join(f"${name} AS {name}" for name in row)
        con.execute(f"INSERT INTO atlas BY NAME SELECT {columns}", row)
        bump(con, [reader_id], [GENERATION])


def get_layout(cache: Cache, key: LayoutKey) -> Layout | None:
    """A map; None where there is none with these parameters."""
    with cache.reading() as con:
        row = first_row(
            con,
            "SELECT names, x, y, left_out, n_duplicates, versions::VARCHAR, created_at FROM atlas "
            f"WHERE {_IS_LAYOUT}",
            asdict(key),
        )
    if row is None:
        return None
    names, x, y, left_out, n_duplicates, versions, created_at = row
    return Layout(
        names=tuple(names),
        points=np.array([x, y], dtype=np.float64).T.reshape(-1, 2),
        left_out=tuple(left_out),
        n_duplicates=n_duplicates,
        versions=json.loads(versions),
        created_at=created_at,
    )


def forget_results(
    con: duckdb.DuckDBPyConnection, reader_id: str, family: str | None = None
) -> None:
    """Drop what was computed from a reader's arrays, or from those of one family of templates."""
    rows = con.execute(
        "SELECT result_id FROM axis_result WHERE reader_id = $reader "
        "AND ($family IS NULL OR family = $family)",
        {"reader": reader_id, "family": family},
    ).fetchall()
    drop_results(con, [name for (name,) in rows])
    bump(con, [reader_id], [GENERATION])


def drop_results(con: duckdb.DuckDBPyConnection, result_ids: Sequence[str]) -> None:
    """Drop results with all that belongs to them, inside the caller's transaction."""
    for table in OF_RESULTS:
        con.execute(
            f"DELETE FROM {table} WHERE list_contains($ids, result_id)", {"ids": list(result_ids)}
        )


def _table(rows: AxisRows) -> pa.Table:
    n_axes, n_phrases = rows.values.shape
    lengths = np.cumsum([0, *map(len, rows.heads)], dtype=np.int32)
    flat = np.concatenate([np.empty(0, np.int64), *rows.heads]).astype(np.int32)
    offsets = np.arange(n_axes + 1, dtype=np.int32) * n_phrases
    columns: dict[str, Any] = {
        "position": pa.array(np.arange(n_axes, dtype=np.int32)),
        "axis_id": pa.array(rows.axis_ids, pa.string()),
        "phrase_values": pa.ListArray.from_arrays(pa.array(offsets), pa.array(rows.values.ravel())),
        "heads": pa.ListArray.from_arrays(pa.array(lengths), pa.array(flat)),
        "n_skipped": pa.array(rows.n_skipped),
    }
    for name in TESTS:
        column = rows.tests[name]
        # Straight from the numbers: by way of pandas, NaN would become NULL.
        columns[name] = pa.array(column.to_numpy() if column.dtype == np.float64 else column)
    return pa.table(columns)


def _rows(table: pa.Table) -> AxisRows:
    table = table.combine_chunks()
    values, heads = (_lists(table.column(name)) for name in ("phrase_values", "heads"))
    tests = table.select(list(TESTS)).to_pandas()
    tests["flagged"] = tests["flagged"].astype("boolean")
    return AxisRows(
        axis_ids=tuple(table.column("axis_id").to_pylist()),
        values=np.array(values, dtype=np.float64).reshape(table.num_rows, -1),
        heads=tuple(each.astype(np.int64) for each in heads),
        n_skipped=table.column("n_skipped").to_numpy().astype(np.int64),
        tests=tests,
    )


def _lists(column: Any) -> list[npt.NDArray[Any]]:
    """A list column of one chunk as one array per row."""
    array = column.chunk(0)
    ends = array.offsets.to_numpy()
    return np.split(array.values.to_numpy()[ends[0] : ends[-1]], ends[1:-1] - ends[0])
