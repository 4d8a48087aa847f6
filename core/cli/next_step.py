"""The last line of an import and of a job: what one does next."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Sequence

from core.analysis.heads.stored import usual_k
from core.axes.templates import FAMILIES
from core.cli.terminal import say
from core.heads_request import HeadsRequest
from core.items.conditions import is_rewording, language_of, original_of, parse_condition
from core.settings import REFERENCE_CONDITION
from core.store.gate import Cache
from core.store.head_readers import filled_readers
from core.store.items import datasets
from core.store.pair_facts import identity_datasets, pair_scorers
from core.store.pairs import has_pairs
from core.store.score_line import is_usual, score_line, shell_line
from core.types import Item
from core.words import counted

ENOUGH_REWORDINGS = 3  # for a prediction interval of what one more would do


def say_after_import(store: Cache, dataset: str, items: Sequence[Item]) -> None:
    """Items are there: score them."""
    line = score_line(store, dataset)
    say(
        f"Next: `{line}` scores them; in the place of demo it takes any model folder or hub name."
        f"{_rewordings_needed(items)}"
    )


def _rewordings_needed(items: Sequence[Item]) -> str:
    """How many rewordings there are, where items are translated and these are too few."""
    ids: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if not item.native and not parse_condition(item.condition).prefix:
            ids[item.condition].add(item.item_id)
    english = ids[REFERENCE_CONDITION]
    languages = {language_of(condition) for condition in ids} - {REFERENCE_CONDITION}
    whole = [
        condition
        for condition, covered in ids.items()
        if is_rewording(condition)
        and original_of(condition) == REFERENCE_CONDITION
        and english <= covered
    ]
    if not languages or not english or len(whole) >= ENOUGH_REWORDINGS:
        return ""
    n = counted(len(whole), "rewording") if whole else "no rewording"
    return (
        f" It has {n} of every English item; {ENOUGH_REWORDINGS} are needed to say how far mere "
        "rewording moves a mean (data/README.md, How much is enough)."
    )


def say_after_scoring(store: Cache, dataset: str) -> None:
    """Scores are there: look at them in the app, or ask for what they say."""
    asks = _question(store, dataset)
    say(f"Next: `{_app(store)}` shows them in the app{asks and f'; {asks}'}.")


def say_after_audit(store: Cache) -> None:
    """Tables are there: the app draws them, and leads to the items."""
    say(f"Next: `{_app(store)}` shows this in the app, with figures and the items behind it.")


def say_after_reading(store: Cache, request: HeadsRequest, reader_id: str) -> None:
    """Heads were read: ask on which axes groups lie elsewhere than phrases, or see it."""
    words = [f"--axes={request.axes}", f"--concepts={request.concepts[0]}"]
    words += [f"--reference={name}" for name in request.reference]
    if len(filled_readers(store)) > 1:
        words.append(f"--reader={reader_id}")
    if request.families[0] != FAMILIES[0]:
        words.append(f"--family={request.families[0]}")
    if usual_k(store, reader_id) is None:
        words.append("--k=0")
    line = shell_line(store, "stereotypes", *words)
    say(
        f"Next: `{line}` says on which axes the groups lie elsewhere than the phrases; "
        f"`{_app(store)}` shows it in the app."
    )


def _app(store: Cache) -> str:
    """The line that opens the app, inside make and outside."""
    folder = [] if is_usual(store) else [f"STEREOSCOPE_CACHE={shlex.quote(str(store.folder))}"]
    if os.environ.get("MAKELEVEL"):  # make runs the Python of its own folder
        return " ".join([*folder, "make", "app"])
    return " ".join([*folder, "streamlit", "run", "app.py"])


def _question(store: Cache, dataset: str) -> str:
    """The command that says what the scores mean; empty where nothing can be compared."""
    compared = has_pairs(store, dataset) and pair_scorers(store, dataset)
    if compared and dataset in identity_datasets(store):
        name, what = "identity-pairs", "whom the bias falls on"
    elif compared:
        name, what = "pairs", "which sentences are preferred"
    elif _n_conditions(store, dataset) > 1:
        name, what = "audit", "which gaps between languages are real"
    else:
        return ""
    return f"`{shell_line(store, name, '--dataset', dataset)}` says {what}"


def _n_conditions(store: Cache, dataset: str) -> int:
    known = datasets(store)
    return int(known.loc[known["dataset"] == dataset, "n_conditions"].iloc[0])
