"""What the cache holds about heads: which models were read, for what, and the room it takes."""

from __future__ import annotations

import pandas as pd

from core.store.gate import Cache
from core.store.head_readers import filled_readers
from core.store.heads import AXIS, CONCEPT
from core.store.prune import array_sizes
from core.store.read_sets import read_sets
from core.words import precision_words

COLUMNS = ["reader_id", "model", "precision", "device", "axes", "concepts", "n_bytes"]


def heads_held(cache: Cache) -> pd.DataFrame:
    """One row for each reader of which something is held.

    Returns
    -------
    DataFrame
        reader_id, model, precision, device, axes and concepts (sets in words, reference phrases
        among the concepts: members that were read of all), n_bytes of the arrays.
    """
    with cache.kept_open() as opened:
        sizes = array_sizes(opened).groupby("reader_id")["n_bytes"].sum()
        rows = [
            {
                "reader_id": row["reader_id"],
                "model": row["model"],
                "precision": precision_words(row["dtype"], row["quantization"]),
                "device": row["device"],
                **_sets(read_sets(opened, str(row["reader_id"]))),
                "n_bytes": int(sizes.get(row["reader_id"], 0)),
            }
            for row in filled_readers(opened).to_dict("records")
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _sets(found: pd.DataFrame) -> dict[str, str]:
    """Sets with how much of them was read: demo 24 of 24 (simple)."""
    said: dict[str, list[str]] = {AXIS: [], CONCEPT: []}
    for row in found.to_dict("records"):
        family = f" ({row['family']})" if row["family"] else ""
        said[row["kind"]].append(f"{row['name']} {row['n_read']:,} of {row['n']:,}{family}")
    return {"axes": ", ".join(said[AXIS]), "concepts": ", ".join(said[CONCEPT])}
