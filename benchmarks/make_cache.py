"""Fill a cache with simulated scores, to see how the app behaves when it is large.

    python -m benchmarks.make_cache FOLDER [--scorers 20] [--items 4167]

12 conditions (English, three rewordings, eight languages): the defaults give 1,000,080 item scores.
The model names and the data set's note say that the scores are simulated.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.generations import bump
from core.store.items import put_dataset
from core.store.scorers import put_scorer
from core.types import Item, Scorer

LANGUAGES = ("es", "fr", "zh", "ko", "ar", "hi", "sw", "nl")
CONDITIONS = ("en", "en~p1", "en~p2", "en~p3", *LANGUAGES)
CATEGORIES = ("gender", "profession", "age", "nationality", "religion", "region_or_class")
DATASET = "simulated"


def simulated_items(n: int) -> list[Item]:
    """N items in twelve conditions, with texts that can be searched."""
    return [
        Item(
            item_id=f"item-{i:06d}",
            condition=condition,
            language=condition.split("~")[0],
            context=f"Person {i} came into the room, as somebody wrote in {condition}.",
            stereotype=f"They said what number {i} is expected to say.",
            anti_stereotype=f"They said what number {i} is not expected to say.",
            unrelated=f"Granite {i} is harder than chalk.",
            source=f"simulated-{i % 3}",
            category=CATEGORIES[i % len(CATEGORIES)],
            dimension=("warmth", "ability", "habits")[i % 3],
        )
        for condition in CONDITIONS
        for i in range(n)
    ]


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


def simulated_scores(items: Sequence[Item], rng: np.random.Generator) -> pa.Table:
    """One row of item_score per item: preferences that carry over between conditions."""
    names = sorted({item.item_id for item in items})
    leaning = dict(zip(names, rng.normal(0.1, 0.6, len(names)), strict=True))
    preference = np.array([leaning[item.item_id] for item in items])
    preference += rng.normal(0, 0.4, len(items))
    l_anti = rng.normal(-3, 0.5, len(items))
    values = {
        "stereotype": l_anti + preference,
        "anti": l_anti,
        "unrelated": l_anti - rng.gamma(2, 1, len(items)),
    }
    columns: dict[str, pa.Array] = {
        "item_id": pa.array([item.item_id for item in items]),
        "condition": pa.array([item.condition for item in items]),
    }
    for name, l_mean in values.items():
        n_tokens = rng.integers(4, 20, len(items))
        columns |= {
            f"l_{name}": pa.array(l_mean),
            f"sum_{name}": pa.array(l_mean * n_tokens),
            f"n_{name}": pa.array(n_tokens.astype(np.int32)),
        }
    return pa.table(columns)


def fill(cache: Cache, n_scorers: int, n_items: int) -> int:
    """Write the simulated data set and scores; returns the number of item scores."""
    items = simulated_items(n_items)
    note = "SIMULATED scores of no model, to try out the app"
    put_dataset(
        cache, DATASET, items, path="", format="simulated", sha256="", note=note, replace=True
    )
    rng = np.random.default_rng(DEFAULT_SEED)
    for number in range(1, n_scorers + 1):
        scorer = simulated_scorer(number)
        put_scorer(cache, scorer)
        rows = simulated_scores(items, rng)
        with cache.writing() as con:
            con.register("rows", rows)
            con.execute("DELETE FROM item_score WHERE scorer_id = ?", [scorer.scorer_id])
            con.execute(
                "INSERT INTO item_score BY NAME SELECT ? AS scorer_id, ? AS dataset, *, "
                "[]::VARCHAR[] AS flags FROM rows",
                [scorer.scorer_id, DATASET],
            )
            bump(con, [scorer.scorer_id], [DATASET])
    return n_scorers * len(items)


def main() -> None:
    """Read the options and fill the cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scorers", type=int, default=20)
    parser.add_argument("--items", type=int, default=4167)
    options = parser.parse_args()
    n = fill(Cache(options.folder), options.scorers, options.items)
    print(f"{n} simulated item scores in {options.folder}")


if __name__ == "__main__":
    main()
