"""What all simulated scores share: a scorer that says so, and the way into a cache."""

from __future__ import annotations

import pyarrow as pa

from core.store.gate import Cache
from core.store.generations import bump
from core.store.scorers import put_scorer
from core.types import Scorer

NOTE = "SIMULATED scores of no model, to try out the app"


def simulated_scorer(number: int) -> Scorer:
    """A scorer that no model stands behind."""
    return Scorer(
        model=f"simulated-{number:02d}",
        fingerprint=f"simulated:{number}",
        dtype="float32",
        device="none",
        attention="none",
        method="simulated",
        bos="none",
        batching="none",
        scoring_version=0,
    )


def put_scores(cache: Cache, scorer: Scorer, dataset: str, rows: pa.Table) -> None:
    """Store a scorer with its item scores of a data set, in the place of those it had.

    `rows` has the columns of `item_score` but for the scorer and the data set; a column that is
    left out is NULL.
    """
    put_scorer(cache, scorer)
    with cache.writing() as con:
        con.register("rows", rows)
        con.execute(
            "DELETE FROM item_score WHERE scorer_id = ? AND dataset = ?",
            [scorer.scorer_id, dataset],
        )
        con.execute(
            "INSERT INTO item_score BY NAME SELECT ? AS scorer_id, ? AS dataset, * FROM rows",
            [scorer.scorer_id, dataset],
        )
        bump(con, [scorer.scorer_id], [dataset])
