"""Panels with next to nothing in them: what no table of an audit may stumble over."""

from __future__ import annotations

import numpy as np

from core.analysis.audit.panel import Panel
from tests.made_panels import made_panel

CONDITIONS = (
    *("es", "hi", "en~p1", "en~p2", "en~p3", "en~llm", "hi~llm", "es~a", "es~b", "es~c"),
    *("en+true", "en+neutral", "hi+false"),
)


def thin_panel(seed: int) -> Panel:
    """One to three models, one to eight items, some conditions; missing, constant or equal."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 4)), int(rng.choice([1, 2, 3, 8]))
    conditions = ["en", *(c for c in CONDITIONS if rng.random() < 0.5)]
    scores = {}
    for condition in conditions:
        ss = rng.uniform(0.1, 0.9, shape) if rng.random() < 0.8 else np.full(shape, 0.5)
        ss[rng.random(shape) < rng.choice([0, 0.3, 1], p=[0.5, 0.4, 0.1])] = np.nan
        scores[condition] = ss
    if rng.random() < 0.2:
        scores = dict.fromkeys(conditions, scores["en"])
    return made_panel(scores)
