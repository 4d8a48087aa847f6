"""Is everything in order? A few cheap checks of the cache and of what is installed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from core.models.demo_files import DEMO_INSTALL, demo_state
from core.store.gate import Cache
from core.store.migrations import MIGRATIONS
from core.store.runs import runs
from core.store.sizes import cache_sizes, sizes_words
from core.words import size_words

LITTLE_DISK = 1_000_000_000  # bytes; a commit that finds the disk full stores nothing

Verdict = Literal["good", "attention", "unknown"]


@dataclass(frozen=True)
class Check:
    """One check and what it found."""

    name: str
    verdict: Verdict
    found: str


def health(cache: Cache) -> list[Check]:
    """Check the cache, the disk, the demo model and the latest self-checks.

    Raises
    ------
    CacheError
        When the cache cannot be read at all.
    """
    done = runs(cache)  # reading brings an older cache up to date, or refuses it
    return [
        Check("Cache file", "good", f"{cache.file}, can be read, schema version {len(MIGRATIONS)}"),
        _disk(cache),
        _demo_model(cache),
        _self_checks(done),
    ]


def _disk(cache: Cache) -> Check:
    free = shutil.disk_usage(cache.folder).free
    held = sizes_words(cache_sizes(cache))
    verdict: Verdict = "good" if free >= LITTLE_DISK else "attention"
    return Check("Disk", verdict, f"{held}; {size_words(free)} free")


def _demo_model(cache: Cache) -> Check:
    state = demo_state(cache.folder / "models")
    found = {
        "converted": "ready",
        "installed": "installed; it is converted at its first use",
        "missing": f"not installed; only the demo needs it: {DEMO_INSTALL}",
    }[state]
    return Check("Demo model", "good" if state != "missing" else "attention", found)


def _self_checks(done: pd.DataFrame) -> Check:
    """How the checks of the model came out in the latest run that made them."""
    name = "Self-checks"
    made = done[done["checks"].fillna("") != ""]
    if made.empty:
        return Check(name, "unknown", "no run has made them yet")
    latest = made.iloc[0]
    when = f"{latest['started_at']:%Y-%m-%d %H:%M} UTC, run {latest['run_id']}"
    passed = latest["checks"] == "passed"
    return Check(name, "good" if passed else "attention", f"{latest['checks']} ({when})")
