"""What the page about identity pairs reads from the cache, remembered until these pairs change.

Keyed by the generations of the scores, so that a job that scores something else costs nothing. What
is remembered is shared between reruns and browser tabs, so nobody changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from core.analysis.audit.request import AuditTable
from core.analysis.identities.browse import Places, facts_of_rows, pair_places
from core.analysis.identities.confounds import confounded_pairs, confounds
from core.analysis.identities.panel import IdentityPanel, PairKey, identity_panels
from core.analysis.identities.rows import IdentityRequest
from core.analysis.identities.tables import LANGUAGES, identity_table
from core.store.audit import generations
from core.store.gate import Cache
from core.store.pair_facts import identity_datasets, pair_scorers, scorers_with_pairs
from pages.shared.data import Stamp, open_cache, read_items

ITEMS = ""  # stands for the items of a data set among the generations of its scorers


@dataclass(frozen=True, kw_only=True)
class IdentityQuestion:
    """Which pairs under which models the page is about."""

    dataset: str
    scorers: tuple[str, ...]  # those chosen; all where none is
    condition: str
    other_set: str = ""  # of another language
    seed: int


def read_identity_datasets() -> list[str]:
    """Names of the data sets of identity pairs; none where there is no cache yet."""
    cache = open_cache()
    return _datasets(str(cache.folder), cache.stamp()) if cache.exists() else []


def read_pair_scorers(dataset: str) -> list[str]:
    """Ids of the scorers with scores of pairs of a data set."""
    return read_scorers(dataset, ())


def read_scorers(dataset: str, wanted: Sequence[str]) -> list[str]:
    """As `scorers_with_pairs`."""
    cache = open_cache()
    return _scorers_of(str(cache.folder), cache.stamp(), dataset, tuple(wanted))


def read_generations(dataset: str, scorer_ids: Sequence[str]) -> dict[str, int]:
    """Generations of the items of a data set (under "") and of its scores under some scorers."""
    cache = open_cache()
    held = _generations(str(cache.folder), cache.stamp(), dataset)
    return {scorer_id: held.get(scorer_id, 0) for scorer_id in (ITEMS, *scorer_ids)}


def read_panels(dataset: str, scorer_ids: Sequence[str]) -> list[IdentityPanel]:
    """The pairs of every condition of a data set under those of the scorers that have scored it.

    Under all that have where none of them has (`read_scorers`); errors as `identity_panels`.
    """
    return _panels(*_key(dataset, scorer_ids))


def question_key(question: IdentityQuestion) -> Key:
    """By what something made from the pairs of a question is remembered, beside the question."""
    return _key(question.dataset, question.scorers)


def read_panel(question: IdentityQuestion) -> IdentityPanel:
    """The pairs of the question's condition."""
    panels = read_panels(question.dataset, question.scorers)
    return next(panel for panel in panels if panel.condition == question.condition)


def read_confounded(dataset: str) -> dict[PairKey, str]:
    """The pairs of a data set that differ in more than the identity, and in which words."""
    number = read_generations(dataset, ())[ITEMS]
    return _confounded(str(open_cache().folder), dataset, number)


def read_table(question: IdentityQuestion, name: str) -> AuditTable:
    """A table of `identity_table`; of `languages`, the first condition against all others.

    Raises
    ------
    InputError
        There is one language only, or nothing in common.
    """
    other = question.other_set if name == LANGUAGES else ""
    keys = question_key(question), _key(other, question.scorers) if other else ()
    return _table(keys, question, name, other)


def read_places(question: IdentityQuestion, scorer_id: str) -> Places:
    """Place of each pair in the item table of a scorer, as `read_items` gives it."""
    return _places(question_key(question), question, scorer_id)


def read_facts(question: IdentityQuestion, scorer_id: str) -> pd.DataFrame:
    """What each pair is about, in the rows of that item table; empty where it is no such pair."""
    return _facts(question_key(question), question, scorer_id)


def read_confounds(question: IdentityQuestion) -> AuditTable:
    """How many pairs differ in more than the identity, by identity and template."""
    return _confounds(question_key(question), question)


Numbers = tuple[tuple[str, int], ...]  # scorers with generations; the items' under ""
Key = tuple[str, str, Numbers]  # folder, data set, and what is read of it


def _key(dataset: str, wanted: Sequence[str]) -> Key:
    numbers = read_generations(dataset, read_scorers(dataset, wanted))
    return str(open_cache().folder), dataset, tuple(numbers.items())


@st.cache_resource(max_entries=20, show_spinner=False)
def _generations(folder: str, stamp: Stamp, dataset: str) -> dict[str, int]:
    cache = Cache(Path(folder))
    return generations(cache, dataset, pair_scorers(cache, dataset))


@st.cache_resource(max_entries=4, show_spinner=False)
def _datasets(folder: str, stamp: Stamp) -> list[str]:
    return identity_datasets(Cache(Path(folder)))


@st.cache_resource(max_entries=50, show_spinner=False)
def _scorers_of(folder: str, stamp: Stamp, dataset: str, wanted: tuple[str, ...]) -> list[str]:
    return scorers_with_pairs(Cache(Path(folder)), dataset, wanted)


@st.cache_resource(max_entries=8, show_spinner="Reading the pairs …")
def _panels(folder: str, dataset: str, numbers: Numbers) -> list[IdentityPanel]:
    scorer_ids = [scorer_id for scorer_id, _ in numbers if scorer_id != ITEMS]
    return identity_panels(Cache(Path(folder)), dataset, scorer_ids)


@st.cache_resource(max_entries=8, show_spinner="Checking that only the identity differs …")
def _confounded(folder: str, dataset: str, number: int) -> dict[PairKey, str]:
    return confounded_pairs(Cache(Path(folder)), dataset)


@st.cache_resource(max_entries=200, show_spinner="Counting …")
def _table(
    keys: tuple[Key, Key | tuple[()]], question: IdentityQuestion, name: str, other: str
) -> AuditTable:
    panels = [read_panel(question)]
    if name == LANGUAGES:
        rest = read_panels(question.dataset, question.scorers)
        panels += [panel for panel in rest if panel.condition != question.condition]
        panels += read_panels(other, question.scorers) if other else []
    parts = {(panel.dataset, panel.condition) for panel in panels}
    keys_of = [read_confounded(dataset) for dataset, _ in parts]
    confounded = frozenset(key for keys in keys_of for key in keys if key[:2] in parts)
    return identity_table(panels, name, IdentityRequest(confounded=confounded, seed=question.seed))


@st.cache_resource(max_entries=20, show_spinner=False)
def _places(key: Key, question: IdentityQuestion, scorer_id: str) -> Places:
    return pair_places(read_panel(question), read_items(scorer_id, question.dataset))


@st.cache_resource(max_entries=20, show_spinner=False)
def _facts(key: Key, question: IdentityQuestion, scorer_id: str) -> pd.DataFrame:
    table = read_items(scorer_id, question.dataset)
    return facts_of_rows(read_panel(question), table, read_places(question, scorer_id))


@st.cache_resource(max_entries=20, show_spinner=False)
def _confounds(key: Key, question: IdentityQuestion) -> AuditTable:
    return confounds([read_panel(question)], read_confounded(question.dataset))
