"""Caches with next to nothing in them, filled as a person fills one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.store.gate import Cache
from core.types import Item
from tests.analysis.test_comparison import put_preferences
from tests.store_samples import OTHER, SCORER, item, put

DATASET = "d"
ALL = ("en", "en~p1", "en~p2", "en~p3", "hi", "es")


def _texts(conditions: tuple[str, ...], n: int, **fields: object) -> list[Item]:
    return [item(str(i), c, **fields) for c in conditions for i in range(n)]


def _of_items(one: Item) -> float:
    """A preference that an item keeps in all its conditions."""
    return 0.1 * int(one.item_id)


def _filled(
    folder: Path,
    rows: list[Item],
    preference: Callable[[Item, int], float | None] | None = None,
    n_models: int = 1,
) -> Cache:
    """A cache of these items under one or two models; without a preference they are drawn."""
    cache = Cache(folder)
    put(cache, rows, DATASET)
    rng = np.random.default_rng(len(rows))
    for m, scorer in enumerate((SCORER, OTHER)[:n_models]):
        values = [rng.normal() if preference is None else preference(one, m) for one in rows]
        put_preferences(cache, scorer, list(zip(rows, values, strict=True)))
    return cache


def thin_caches(folder: Path) -> dict[str, Cache]:
    """Every kind of them, by what they lack."""
    rng = np.random.default_rng(1)

    def drawn(one: Item, model: int) -> float | None:
        """A score of all versions but those that a model cannot score: other ones for each."""
        lacks = one.item_id == str(model) or (model == 1 and one.condition == "es")
        return None if lacks else float(rng.normal())

    made = {
        "one model": (_texts(ALL, 8), None, 1),
        "one language": (_texts(("en", "en~p1", "en~p2", "en~p3", "hi"), 8), None, 2),
        "one of each": (_texts(("en", "en~p1", "hi"), 6), None, 1),
        "no rewording": (_texts(("en", "hi", "es"), 8), None, 2),
        "no translation": (_texts(("en", "en~p1", "en~p2"), 8), None, 2),
        "only English": (_texts(("en",), 6), None, 1),
        "rewordings of a translation alone": (_texts(("en", "hi", "hi~p1"), 7), None, 1),
        "a prefix alone": (_texts(("en", "en+true"), 7), None, 1),
        "no English twin": (
            [*_texts(ALL, 6), item("n1", "hi", native=True), item("n2", "sw", native=True)],
            None,
            1,
        ),
        "one item": (_texts(ALL, 1), None, 2),
        "two items": (_texts(ALL, 2), None, 2),
        "no change": (_texts(ALL, 7), lambda one, _: _of_items(one), 2),
        "no preference": (_texts(ALL, 7), lambda *_: 0.0, 2),
        "no score but in English": (
            _texts(ALL, 6),
            lambda one, _: _of_items(one) if one.condition == "en" else None,
            2,
        ),
        "other items in each model": (_texts(ALL, 6), drawn, 2),
        "only sentence pairs": (_texts(("en",), 6, context=""), None, 1),
    }
    return {
        name: _filled(folder / str(at), rows, preference, n_models)
        for at, (name, (rows, preference, n_models)) in enumerate(made.items())
    }
