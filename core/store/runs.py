"""The runs: what was computed when, with which library versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.store.clock import utc_now
from core.store.fetch import first_row, frame
from core.store.gate import Cache

RUNNING = "running"


def start_run(
    cache: Cache,
    run_id: str,
    *,
    command: str,
    scorer_id: str = "",
    dataset: str = "",
    versions: Mapping[str, str] | None = None,
    spec: Mapping[str, Any] | None = None,
    checks: str = "",
) -> None:
    """Note that a run has begun; `versions` and `spec` are kept as JSON.

    `checks` says how the model's self-checks came out: "passed", "slow path: ..." or
    "refused: ...".

    Raises
    ------
    ValueError
        A run of that id is there already.
    """
    packed = [json.dumps(dict(part or {}), ensure_ascii=False) for part in (versions, spec)]
    with cache.writing() as con:
        if first_row(con, "SELECT 1 FROM run WHERE run_id = ?", [run_id]):
            raise ValueError(f"run {run_id} is there already")
        con.execute(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, NULL, 0, 0, ?, ?, ?, ?)",
            [run_id, command, scorer_id, dataset, utc_now(), *packed, RUNNING, checks],
        )


def end_run(cache: Cache, run_id: str, *, status: str, computed: int = 0, failed: int = 0) -> None:
    """Note how a run ended, how many texts it computed and how many failed.

    Raises
    ------
    ValueError
        There is no such run.
    """
    with cache.writing() as con:
        ended = first_row(
            con,
            "UPDATE run SET ended_at = ?, status = ?, computed = ?, failed = ? WHERE run_id = ? "
            "RETURNING run_id",
            [utc_now(), status, computed, failed, run_id],
        )
        if ended is None:
            raise ValueError(f"there is no run {run_id}")


def runs(cache: Cache) -> pd.DataFrame:
    """Every run, the latest first; one without `ended_at` is running or died."""
    with cache.reading() as con:
        return frame(con, "FROM run ORDER BY started_at DESC, run_id")
