"""The last line of an import and of a scoring job: what one does next."""

from __future__ import annotations

import os
import shlex

from core.cli.terminal import say
from core.store.gate import Cache
from core.store.items import datasets
from core.store.pairs import has_pairs
from core.store.score_line import is_usual, score_line, shell_line


def say_after_import(store: Cache, dataset: str) -> None:
    """Items are there: score them."""
    line = score_line(store, dataset)
    say(f"Next: `{line}` scores them; in the place of demo it takes any model folder or hub name.")


def say_after_scoring(store: Cache, dataset: str) -> None:
    """Scores are there: look at them in the app, or ask for what they say."""
    asks = _question(store, dataset)
    say(f"Next: `{_app(store)}` shows them in the app{asks and f'; {asks}'}.")


def say_after_audit(store: Cache) -> None:
    """Tables are there: the app draws them, and leads to the items."""
    say(f"Next: `{_app(store)}` shows this in the app, with figures and the items behind it.")


def _app(store: Cache) -> str:
    """The line that opens the app, inside make and outside."""
    folder = [] if is_usual(store) else [f"STEREOSCOPE_CACHE={shlex.quote(str(store.folder))}"]
    if os.environ.get("MAKELEVEL"):  # make runs the Python of its own folder
        return " ".join([*folder, "make", "app"])
    return " ".join([*folder, "streamlit", "run", "app.py"])


def _question(store: Cache, dataset: str) -> str:
    """The command that says what the scores mean; empty where nothing can be compared."""
    if has_pairs(store, dataset):
        name, what = "pairs", "which sentences are preferred"
    elif _n_conditions(store, dataset) > 1:
        name, what = "audit", "which gaps between languages are real"
    else:
        return ""
    return f"`{shell_line(store, name, '--dataset', dataset)}` says {what}"


def _n_conditions(store: Cache, dataset: str) -> int:
    known = datasets(store)
    return int(known.loc[known["dataset"] == dataset, "n_conditions"].iloc[0])
