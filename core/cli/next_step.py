"""The last line of an import and of a scoring job: what one does next."""

from __future__ import annotations

import shlex

from core import settings
from core.cli.terminal import say
from core.store.gate import Cache
from core.store.items import datasets
from core.store.pairs import has_pairs


def say_after_import(store: Cache, dataset: str) -> None:
    """Items are there: score them."""
    line = _command(store, "score", "--model", "demo", "--dataset", dataset)
    say(f"Next: `{line}` scores them; in the place of demo it takes any model folder or hub name.")


def say_after_scoring(store: Cache, dataset: str) -> None:
    """Scores are there: look at them in the app, or ask for what they say."""
    folder = [] if _is_usual(store) else [f"STEREOSCOPE_CACHE={shlex.quote(str(store.folder))}"]
    app = " ".join([*folder, "streamlit", "run", "app.py"])
    asks = _question(store, dataset)
    say(f"Next: `{app}` shows them in the app{asks and f'; {asks}'}.")


def _question(store: Cache, dataset: str) -> str:
    """The command that says what the scores mean; empty where nothing can be compared."""
    if has_pairs(store, dataset):
        name, what = "pairs", "which sentences are preferred"
    elif _n_conditions(store, dataset) > 1:
        name, what = "audit", "which gaps between languages are real"
    else:
        return ""
    return f"`{_command(store, name, '--dataset', dataset)}` says {what}"


def _n_conditions(store: Cache, dataset: str) -> int:
    known = datasets(store)
    return int(known.loc[known["dataset"] == dataset, "n_conditions"].iloc[0])


def _command(store: Cache, *words: str) -> str:
    folder = [] if _is_usual(store) else ["--cache", str(store.folder)]
    return shlex.join(["python", "-m", "core", *words, *folder])


def _is_usual(store: Cache) -> bool:
    return store.folder.resolve() == settings.cache_folder().resolve()
