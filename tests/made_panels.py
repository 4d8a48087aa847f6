"""Panels made from scores, without a cache: what an audit's tables are computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import logit

from core.analysis.audit.panel import Panel
from core.items.conditions import condition_rank, language_of

Array = npt.NDArray[np.float64]

ROLES = ("stereotype", "anti", "unrelated", "unknown")


def drawn_scores(
    seed: int = 0, models: int = 2, items: int = 60, **shifts: float
) -> dict[str, Array]:
    """Scores around 0.5 per condition, moved by so much: `en__true` is en+true."""
    rng = np.random.default_rng(seed)
    item = rng.uniform(0.3, 0.7, items)
    return {
        c.replace("__", "+").replace("_", "~"): np.clip(
            item + x + rng.normal(0, 0.04, (models, items)), 0.01, 0.99
        )
        for c, x in {"en": 0.0, **shifts}.items()
    }


def made_panel(
    scores: Mapping[str, npt.ArrayLike],
    *,
    fields: Mapping[str, Sequence[str]] | None = None,
    collapsed: Mapping[str, Sequence[int]] | None = None,
    judgments: Mapping[str, Sequence[str]] | None = None,
    natives: Mapping[str, npt.ArrayLike] | None = None,
    l_unrelated: float = -3.0,
) -> Panel:
    """A panel whose mean scores are these.

    `scores`: per condition SS of shape (M, N), NaN where not scored. `fields`: source, category or
    dimension of each item. `collapsed`: per condition the numbers of collapsed items, which have no
    score. `natives`: per language SS of its natives, (M, n). Anti-stereotypes have l = -2 in five
    tokens.
    """
    conditions = tuple(sorted(scores, key=condition_rank))
    ss = np.array([np.asarray(scores[c], dtype=np.float64) for c in conditions]).swapaxes(0, 1)
    for condition, numbers in (collapsed or {}).items():
        ss[:, conditions.index(condition), list(numbers)] = np.nan
    n_models, n_items = ss.shape[0], ss.shape[2]
    models = tuple(f"model-{m}" for m in range(n_models))
    items = pd.DataFrame({"item_id": [f"i{n}" for n in range(n_items)]})
    for column in ("source", "category", "dimension"):
        items[column] = list((fields or {}).get(column, [""] * n_items))
    versions = [
        _version(
            items.loc[n].to_dict(),
            condition,
            collapsed=n in (collapsed or {}).get(condition, ()),
            metadata={"judgment": judgments[condition][n]}
            if condition in (judgments or {})
            else {},
        )
        for condition in conditions
        for n in range(n_items)
    ]
    own = {language: np.asarray(values) for language, values in (natives or {}).items()}
    for language, values in own.items():
        versions += [
            _version({"item_id": f"native-{language}-{n}"}, language, native=True)
            for n in range(values.shape[1])
        ]
    scored = [
        {"scorer_id": f"s{m}", "item_id": f"native-{language}-{n}", "condition": language}
        | {name: float(number) for name, number in _numbers(value, l_unrelated).items()}
        | {"is_scored": bool(np.isfinite(value))}
        for language, values in own.items()
        for (m, n), value in np.ndenumerate(values)
    ]
    return Panel(
        "made",
        tuple(f"s{m}" for m in range(n_models)),
        models,
        conditions,
        items,
        _numbers(ss, l_unrelated),
        {
            pole: np.full(ss.shape[1:], points)
            for pole, points in (("stereotype", 8.0), ("anti", 4.0))
        },
        pd.DataFrame(versions),
        pd.DataFrame(scored, columns=[*SCORED, *_numbers(0.5, 0.0)]),
    )


SCORED = ("scorer_id", "item_id", "condition", "is_scored")


def _numbers(ss: npt.ArrayLike, l_unrelated: float) -> dict[str, Array]:
    known = np.isfinite(ss)
    of = {
        "stereotype": np.where(known, -2 + logit(ss), np.nan),
        "anti": np.where(known, -2.0, np.nan),
        "unrelated": np.where(known, l_unrelated, np.nan),
        "unknown": np.full(np.shape(ss), np.nan),
    }
    numbers = {f"l_{role}": of[role] for role in ROLES}
    numbers |= {f"sum_{role}": 5 * of[role] for role in ROLES}
    numbers |= {f"order_{role}": np.full_like(of[role], np.nan) for role in ROLES}
    return numbers | {f"n_{role}": np.where(np.isfinite(of[role]), 5.0, np.nan) for role in ROLES}


def _version(
    item: dict[str, Any],
    condition: str,
    *,
    native: bool = False,
    collapsed: bool = False,
    metadata: dict[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "item_id": item["item_id"],
        "condition": condition,
        "language": language_of(condition),
        "native": native,
        "collapsed": collapsed,
        "source": item.get("source", ""),
        "category": item.get("category", ""),
        "dimension": item.get("dimension", ""),
        "resource_level": "",
        "answer_order": [],
        "metadata": metadata or {},
        "context_hash": 0,
        "points_stereotype": 8,
        "points_anti": 4,
    }
