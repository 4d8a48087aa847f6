"""A simulated audit: ten models, eight languages, rewordings, 360 items, around chosen shifts.

Drawn after benchmarks/simulated_plan.py, which says what is true; written as item scores of scorers
named simulated-01 ... with sums and token counts that agree with the means. Besides: rewordings of
two languages, one partial rewording, three sentences put in front (in English and Hindi), natives,
collapsed and unscored items. Nothing depends on source, category, dimension, judgment or
similarity: what a table finds there is chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.simulated import NOTE, put_scores, simulated_scorer
from benchmarks.simulated_items import NATIVES, audit_items, collapses
from benchmarks.simulated_plan import (
    GROUPS,
    LANGUAGES,
    N_MODELS,
    RESOURCES,
    VERSIONS,
    Population,
    population,
    truth,
)
from core.settings import DEFAULT_SEED
from core.store.gate import Cache
from core.store.items import put_dataset
from core.types import Item, Reason

Array = npt.NDArray[np.float64]

DATASET = "simulated-audit"
N_ITEMS = 360
SHARED_LEANING = 0.6  # share of the variance of p and t that the models have in common
SHARED_REST = 0.4  # the same of q: what makes the models' changes agree
TOKENS = {"high": 6.0, "mid": 8.0, "low": 11.0}  # mean number in a continuation, by resource level
UNSCORED = (17, 203)  # items that every second model cannot score in Hindi and Swahili


def fill_audit(
    cache: Cache, *, n_items: int = N_ITEMS, seed: int = DEFAULT_SEED
) -> dict[str, object]:
    """Write the data set and its scores; returns what is planted, ready for JSON."""
    rng = np.random.default_rng([seed, *DATASET.encode()])
    items = audit_items(n_items, rng)
    put_dataset(
        cache, DATASET, items, path="", format="simulated", sha256="", note=NOTE, replace=True
    )
    people = population(rng)
    preferences = drawn_preferences(people, n_items, rng)
    scorers = [simulated_scorer(number) for number in range(1, N_MODELS + 1)]
    for m, scorer in enumerate(scorers):
        own = {condition: u[m] for condition, u in preferences.items()}
        put_scores(cache, scorer, DATASET, _rows(items, m, own, rng))
    return {
        "dataset": DATASET,
        "note": NOTE,
        "seed": seed,
        "n_items": n_items,
        "languages": list(LANGUAGES),
        "models": [scorer.model for scorer in scorers],
        "scorers": [scorer.scorer_id for scorer in scorers],
        "model_groups": {s.model: GROUPS[i % 2] for i, s in enumerate(scorers)},
        "collapsed": {
            c: n for c in LANGUAGES if (n := sum(collapses(i, c) for i in range(n_items)))
        },
        "unscored": {c: [i for i in UNSCORED if i < n_items] for c in ("hi", "sw")},
        "natives": NATIVES,
        **truth(people),
    }


def drawn_preferences(
    people: Population, n_items: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Preferences u of every model and item in each condition, nats. (M, N) each"""
    leaning = _shared(SHARED_LEANING, n_items, rng)
    languages: dict[str, Array] = {}
    z: dict[str, Array] = {}
    for condition, version in VERSIONS.items():
        rest = _shared(SHARED_REST, n_items, rng)
        if version.follows:
            part = version.follows * z[version.original]
            z[condition] = part + np.sqrt(1 - version.follows**2) * rest
            continue
        language = condition[:2]
        if language not in languages:
            languages[language] = _shared(SHARED_LEANING, n_items, rng)
        part = version.loading * leaning + version.own * languages[language]
        z[condition] = part + np.sqrt(1 - version.loading**2 - version.own**2) * rest
    return {c: people.mean[c][:, None] + people.sd[c][:, None] * z[c] for c in VERSIONS}


def _shared(share: float, n_items: int, rng: np.random.Generator) -> Array:
    """Standard normal numbers that correlate by `share` between models. (M, N)"""
    common, own = rng.standard_normal(n_items), rng.standard_normal((N_MODELS, n_items))
    return np.asarray(np.sqrt(share) * common + np.sqrt(1 - share) * own)


def _rows(
    items: Sequence[Item], model: int, preferences: dict[str, Array], rng: np.random.Generator
) -> pa.Table:
    """The item scores of one model; a collapsed version has no row."""
    scored = [i for i in items if i.native or not collapses(_number(i), i.condition)]
    unscored = np.array([_is_unscored(item, model) for item in scored])
    u = np.array(
        [0.1 + rng.normal() if i.native else preferences[i.condition][_number(i)] for i in scored]
    )
    n = len(scored)
    l_anti = rng.normal(-3, 0.5, n)
    best = np.maximum(l_anti + u, l_anti)
    values = {
        "stereotype": l_anti + u,
        "anti": l_anti,
        "unrelated": np.where([i.unrelated is None for i in scored], np.nan, 0)
        + best
        - rng.normal(1.2, 1.0, n),
        "unknown": np.where([i.unknown is None for i in scored], np.nan, 0)
        + best
        - rng.normal(0.6, 1.0, n),
    }
    tokens = np.array([TOKENS[item.resource_level] for item in scored])
    columns: dict[str, pa.Array] = {
        "item_id": pa.array([item.item_id for item in scored]),
        "condition": pa.array([item.condition for item in scored]),
        "flags": pa.array(
            [[str(Reason.TOO_LONG)] if left_out else [] for left_out in unscored],
            pa.list_(pa.string()),
        ),
    }
    for name, l_mean in values.items():
        missing = np.isnan(l_mean) | unscored
        n_tokens = 1 + rng.poisson(tokens)
        columns |= {
            f"l_{name}": pa.array(l_mean, mask=missing),
            f"sum_{name}": pa.array(l_mean * n_tokens, mask=missing),
            f"n_{name}": pa.array(n_tokens.astype(np.int32), mask=missing),
        }
    return pa.table(columns)


def _number(item: Item) -> int:
    return int(item.item_id.rpartition("-")[2])


def _is_unscored(item: Item, model: int) -> bool:
    low = item.language in RESOURCES["low"] and item.condition == item.language
    return not item.native and low and model % 2 == 1 and _number(item) in UNSCORED
