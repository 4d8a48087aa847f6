"""Panels with next to nothing in them: what no table of an audit may stumble over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.audit import audit as module
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.store.gate import Cache
from core.types import Item
from tests.made_panels import made_panel
from tests.store_samples import item

CONDITIONS = (
    *("es", "hi", "en~p1", "en~p2", "en~p3", "en~llm", "hi~llm", "es~a", "es~b", "es~c"),
    *("en+true", "en+neutral", "hi+false"),
)
MOST_ITEMS = 8
ON_THE_EDGES = (0.2, 0.45, 0.5, 0.55, 0.8)  # of what counts as neutral


def thin_panel(seed: int) -> Panel:
    """One to three models, one to eight items, some conditions; missing, constant or equal.

    What is said of items and versions is there or not, at random, and some of it makes no sense.
    """
    rng = np.random.default_rng(seed)
    n_items = int(rng.choice([1, 2, 3, MOST_ITEMS]))
    shape = int(rng.integers(1, 4)), n_items
    conditions = ["en", *(c for c in CONDITIONS if rng.random() < 0.5)]
    scores = {}
    for condition in conditions:
        ss = rng.uniform(0.1, 0.9, shape) if rng.random() < 0.7 else rng.choice(ON_THE_EDGES, shape)
        ss = ss if rng.random() < 0.8 else np.full(shape, 0.5)
        ss[rng.random(shape) < rng.choice([0, 0.3, 1], p=[0.5, 0.4, 0.1])] = np.nan
        scores[condition] = ss
    if rng.random() < 0.2:
        scores = dict.fromkeys(conditions, scores["en"])
    panel = made_panel(
        scores,
        judgments={c: rng.choice(["preserved", "lost", "", "odd"], n_items) for c in conditions},
        fields={"source": rng.choice(["bbq", "stereoset", ""], n_items).tolist()},
    )
    for metadata in panel.versions["metadata"]:
        if rng.random() < 0.5:
            metadata |= {"similarity": rng.random(), "unchanged": rng.choice([0.0, 0.5])}
            metadata |= {"blank_survived": bool(rng.random() < 0.5)}
    return replace(panel, scored=_scored(panel))


def texts_of(n_items: int) -> list[Item]:
    """The texts behind such panels: an item says its id and condition."""
    return [item(f"i{n}", c) for c in ("en", "es", "hi") for n in range(n_items)]


def tables_of(panel: Panel, request: AuditRequest, texts: Cache) -> dict[str, AuditTable]:
    """All tables of a panel that no cache holds; `texts` has the texts of its items."""
    found: dict[str, AuditTable] = {}

    def table(name: str) -> AuditTable:
        if name not in found:
            step = (module._STEPS | module._BETWEEN)[name]
            also = (texts,) if step.reads_cache else ()
            found[name] = step.function(panel, request, *map(table, step.needs), *also)
        return found[name]

    return {name: table(name) for name in module.TABLES}


def _scored(panel: Panel) -> pd.DataFrame:
    """A row per model and version, as the cache has them."""
    ids = dict(enumerate(panel.item_ids))
    rows = []
    for at in np.ndindex(panel.numbers["l_stereotype"].shape):
        numbers = {name: values[at] for name, values in panel.numbers.items()}
        known = np.isfinite(numbers["l_stereotype"])
        place = {"scorer_id": panel.scorers[at[0]], "condition": panel.conditions[at[1]]}
        place |= {"item_id": ids[at[2]], "reason": "" if known else "too long"}
        place["is_scored"] = bool(known)
        rows.append(place | numbers)
    return pd.DataFrame(rows)
