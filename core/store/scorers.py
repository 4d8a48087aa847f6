"""Scorers: under which conditions a score was computed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import duckdb
import pandas as pd

from core.store.clock import utc_now
from core.store.fetch import frame, insert_once
from core.store.gate import Cache
from core.types import Scorer
from core.words import IMPORTED

SCORERS = "FROM scorer ORDER BY created_at, scorer_id"


def put_scorer(cache: Cache, scorer: Scorer) -> None:
    """Store a scorer; one that is there already stays as it was."""
    with cache.writing() as con:
        insert_once(con, "scorer", "scorer_id", scorer_row(scorer))


def scorer_row(scorer: Scorer) -> dict[str, Any]:
    """A scorer as a row that arrives now."""
    return {"scorer_id": scorer.scorer_id, **asdict(scorer), "created_at": utc_now()}


def imported_scorer(model: str, sha256: str, scale: str) -> Scorer:
    """The scorer of a model whose scores were computed elsewhere.

    Nothing is known of how, so that the file stands for it: the same one twice is one scorer. It
    may have scores of several models, so their names belong to the identity.
    """
    return Scorer(
        model=model,
        fingerprint=f"{sha256}:{model}",
        quantization="none",
        method=f"{IMPORTED}{scale}",
        scoring_version=0,
        **dict.fromkeys(("dtype", "device", "attention", "bos", "batching"), ""),
    )


def scorers(cache: Cache) -> pd.DataFrame:
    """Every scorer, in the order of their arrival."""
    with cache.reading() as con:
        return frame(con, SCORERS)


def scorer_ids(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Their ids in the same order, for work inside a transaction."""
    rows = con.execute(f"SELECT scorer_id {SCORERS}").fetchall()
    return [scorer_id for (scorer_id,) in rows]


def deriving_scorers(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Those whose item scores are derived from texts, in the same order.

    Scores that were computed elsewhere, and simulated ones, have no texts behind them: there is
    nothing to derive them from.
    """
    rows = con.execute(
        "SELECT scorer_id FROM scorer WHERE scorer_id IN (SELECT scorer_id FROM token_score) "
        "OR scorer_id IN (SELECT scorer_id FROM unscored) ORDER BY created_at, scorer_id"
    ).fetchall()
    return [scorer_id for (scorer_id,) in rows]
