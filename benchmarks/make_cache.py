"""Fill a cache with simulated scores, to see how the app behaves when it is large.

    python -m benchmarks.make_cache FOLDER [--scorers 20] [--items 4167]
    python -m benchmarks.make_cache FOLDER --audit [--items 360]
    python -m benchmarks.make_cache FOLDER --axes [2000] [--head-dim 8]
    python -m benchmarks.make_cache FOLDER --pairs [42906] [--scorers 13]

12 conditions (English, three rewordings, eight languages): the defaults give 1,000,080 item scores.
With `--audit` ten models and what the tables of an audit need, drawn around chosen shifts, which
are printed as JSON (benchmarks/simulated_audit.py). With `--axes` two models of 32 x 32 heads that
were read for so many axes and 300 phrases, with some axes planted as stereotypical; 1.7 GB at 2,000
axes of 8 numbers a head (benchmarks/simulated_heads.py). With `--pairs` identity pairs under 13
models, with chosen shares of every identity, printed as JSON (benchmarks/simulated_pairs.py). Names
and notes say that all is simulated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.simulated import NOTE, put_scores, simulated_scorer
from benchmarks.simulated_audit import N_ITEMS, fill_audit
from benchmarks.simulated_heads import N_AXES, fill_heads, heads_plan
from benchmarks.simulated_pairs import N_MODELS, N_PAIRS, fill_pairs
from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.items import put_dataset
from core.types import Item

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
        "flags": pa.array([[]] * len(items), pa.list_(pa.string())),
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
    put_dataset(
        cache, DATASET, items, path="", format="simulated", sha256="", note=NOTE, replace=True
    )
    rng = np.random.default_rng(DEFAULT_SEED)
    for number in range(1, n_scorers + 1):
        put_scores(cache, simulated_scorer(number), DATASET, simulated_scores(items, rng))
    return n_scorers * len(items)


def main() -> None:
    """Read the options and fill the cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--audit", action="store_true", help="what the tables of an audit need")
    parser.add_argument("--scorers", type=int, help="20 if not given; 13 of pairs; an audit has 10")
    parser.add_argument("--items", type=int, help="4167 if not given; 360 of an audit")
    parser.add_argument("--axes", type=int, nargs="?", const=N_AXES, help="heads, for so many axes")
    parser.add_argument("--head-dim", type=int, default=8, help="numbers of a head, with --axes")
    parser.add_argument("--pairs", type=int, nargs="?", const=N_PAIRS, help="identity pairs")
    options = parser.parse_args()
    if options.audit and options.scorers:
        parser.error("--audit has ten scorers; leave --scorers out")
    cache = Cache(options.folder)
    if options.axes:
        plan = heads_plan(n_axes=options.axes, head_dim=options.head_dim)
        print(json.dumps(fill_heads(cache, plan)))
        return
    if options.pairs:
        n_models = options.scorers or N_MODELS
        print(json.dumps(fill_pairs(cache, n_models=n_models, n_pairs=options.pairs), indent=2))
        return
    if options.audit:
        planted = fill_audit(cache, n_items=options.items or N_ITEMS)
        print(json.dumps(planted, indent=2))
        return
    n = fill(cache, options.scorers or 20, options.items or 4167)
    print(f"{n} simulated item scores in {options.folder}")


if __name__ == "__main__":
    main()
