"""The items of a simulated audit: texts that say what they are, and metadata as an audit reads it.

Two fifths are fill-in items after StereoSet, two fifths questions after BBQ with an unknown answer
and their answers' order, one fifth written ones. Natives of two languages have no English twin. In
every 40th item the poles of one translation collapse.
"""

from __future__ import annotations

import numpy as np

from benchmarks.simulated_plan import RESOURCES, VERSIONS
from core.items.conditions import language_of
from core.types import Item, Role

SOURCES = ("stereoset", "bbq", "written", "stereoset", "stereoset")
CATEGORIES = {
    "stereoset": ("gender", "profession", "race", "religion"),
    "bbq": ("Age", "Religion", "Nationality"),
    "written": ("region", "class"),
}
DIMENSIONS = ("warmth", "ability", "habits")
NATIVES = {"hi": 24, "sw": 24}
COLLAPSED_EVERY = 40
N_PREDICATES, N_TARGETS = 24, 48
JUDGMENTS = ("preserved", "partly", "lost")
JUDGED = {"high": (0.92, 0.06, 0.02), "mid": (0.84, 0.11, 0.05), "low": (0.74, 0.17, 0.09)}
ORDERS = (
    (Role.UNKNOWN, Role.STEREOTYPE, Role.ANTI_STEREOTYPE),
    (Role.ANTI_STEREOTYPE, Role.UNKNOWN, Role.STEREOTYPE),
    (Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNKNOWN),
    (Role.ANTI_STEREOTYPE, Role.STEREOTYPE, Role.UNKNOWN),
)


def audit_items(n_items: int, rng: np.random.Generator) -> list[Item]:
    """The versions of all items, then the natives."""
    items = [
        _item(f"item-{i:04d}", i, condition, rng)
        for condition, version in VERSIONS.items()
        for i in range(n_items)
        if has_version(i, version.share)
    ]
    return items + [
        _item(f"native-{language}-{i:03d}", i, language, rng, native=True)
        for language, n in NATIVES.items()
        for i in range(n)
    ]


def has_version(i: int, share: float) -> bool:
    """Whether an item belongs to the share of them that has a condition; spread over the sources.

    Item i is left out where i * share passes no whole number.
    """
    return int((i + 1) * share + 1e-9) > int(i * share + 1e-9)


def collapses(i: int, condition: str) -> bool:
    """Whether the two poles of a version say the same: now and then in a translation."""
    translations = [c for c in VERSIONS if c.isalpha() and c != "en"]
    if condition not in translations:
        return False
    return i % COLLAPSED_EVERY == 3 * translations.index(condition) + 1


def _item(
    item_id: str, i: int, condition: str, rng: np.random.Generator, *, native: bool = False
) -> Item:
    source = SOURCES[i % len(SOURCES)]
    categories = CATEGORIES[source]
    language = language_of(condition)
    level = next(level for level, languages in RESOURCES.items() if language in languages)
    name = f"{item_id} in {condition}"
    less = not (collapses(i, condition) and not native)
    poles = [f"person {i} is as expected", f"person {i} is {'not ' if less else ''}as expected"]
    context = f"SIMULATED: person {i} came in, as written of {name}."
    if source == "stereoset":
        context = f"SIMULATED: of {name} they said: BLANK."
    question = source == "bbq"
    return Item(
        item_id=item_id,
        condition=condition,
        language=language,
        context=f"{context} Who was it?" if question else context,
        stereotype=poles[0],
        anti_stereotype=poles[1],
        unrelated=None if question else f"granite {i} is harder than chalk",
        unknown="It cannot be known" if question else None,
        source=source,
        category=categories[(i // len(SOURCES)) % len(categories)],
        dimension=DIMENSIONS[(i // 2) % len(DIMENSIONS)],
        resource_level=level,
        native=native,
        answer_order=ORDERS[i // len(SOURCES) % len(ORDERS)] if question else (),
        metadata={
            **_of_the_item(source, i),
            **({} if native else _of_the_version(source, condition, level, rng)),
        },
    )


def _of_the_item(source: str, i: int) -> dict[str, object]:
    """What is the same in all versions."""
    found: dict[str, object] = {"predicate": f"predicate {i % N_PREDICATES}"}
    if source == "stereoset":
        found |= {"form": "fill_in", "target": f"person {i % N_TARGETS}"}
    return found


def _of_the_version(
    source: str, condition: str, level: str, rng: np.random.Generator
) -> dict[str, object]:
    """How good a translation or rewording is said to be."""
    if condition == "en" or "+" in condition:
        return {}
    if "~" in condition:
        return {
            "similarity": round(float(1 - rng.beta(2, 20)), 4),
            "unchanged": round(float(rng.choice([0.0, 0.25, 0.5, 1.0], p=[0.4, 0.3, 0.2, 0.1])), 2),
        }
    a = {"high": 30, "mid": 16, "low": 9}[level]
    judged: dict[str, object] = {
        "judgment": str(rng.choice(JUDGMENTS, p=JUDGED[level])),
        "similarity": round(float(rng.beta(a, 2)), 4),
    }
    if source == "stereoset":
        judged["blank_survived"] = bool(rng.random() < 0.85)
    return judged
