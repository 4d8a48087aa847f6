"""Identity pairs of one language under several models, arranged for counting.

Letters: M models, P pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.overview import scorer_labels
from core.errors import InputError
from core.items.alignment import UNITS
from core.items.conditions import condition_rank
from core.items.identities import IDENTITIES
from core.stats.identity_bias import Codes
from core.stats.pairs import preferred, published_preferred
from core.store.gate import Cache
from core.store.pair_facts import pair_facts, pair_scorers, scores_of_pairs
from core.store.pair_rows import ELSEWHERE
from core.store.score_line import score_line
from core.store.scorers import scorers
from core.words import IMPORTED, listed_or, short_labels

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
PairKey = tuple[str, str, str]  # data set, condition and item id

MASKED, CAUSAL, FROM_ELSEWHERE = "masked", "causal", "imported"
_FEW_VALUES = ("identity", "counterfactual", "predicate", "template", "name", "name_group")
_BY_MODEL = ("word", "token", "published", "difference", "uninformative")


@dataclass(frozen=True)
class Model:
    """A scorer, and what kind of scores it gives."""

    scorer_id: str
    label: str  # among the others of its panel
    key: str  # the same in every data set
    kind: str  # masked, causal, or imported: its rule is that of the program it comes from


@dataclass(frozen=True, eq=False)
class IdentityPanel:
    """The pairs of one condition of a data set, and every model's choices between their sentences.

    Choices are 1, 1/2 or 0 (core/stats/pairs.py), NaN without scores and for an uninformative pair.
    All arrays of choices have the shape (M, P).
    """

    dataset: str
    condition: str
    models: tuple[Model, ...]
    facts: pd.DataFrame  # of `pair_facts`, P rows
    word: Array  # compared on unmodified words; of imported scores by their own rule
    token: Array  # compared on unmodified tokens
    published: Array  # tokens, rounded to three decimals, a tie against
    difference: Array  # score_more - score_less by words, nats; NaN where a choice is
    uninformative: Mask  # by words
    n_left_out: int = 0  # pairs that name no identity or no predicate

    @cached_property
    def identities(self) -> tuple[str, ...]:
        """The identities that a pair is about: those of WinoQueer first, in their order."""
        held = dict.fromkeys(self.facts["identity"].tolist())
        return (*(i for i in IDENTITIES if i in held), *(i for i in held if i not in IDENTITIES))

    @cached_property
    def identity(self) -> Codes:
        """Which identity each pair is about, as a number of `identities`. Shape (P,)"""
        order = {name: at for at, name in enumerate(self.identities)}
        return np.asarray(self.facts["identity"].map(order), dtype=np.int64)

    def codes(self, column: str) -> Codes:
        """A column as numbers from 0 on without a gap; -1 where it is empty. Shape (P,)"""
        values = self.facts[column]
        return np.asarray(pd.factorize(values.mask(values == ""))[0], dtype=np.int64)

    def part(self, keep: Mask) -> IdentityPanel:
        """The panel of some of its pairs."""
        facts = self.facts[keep].reset_index(drop=True)
        return replace(
            self, facts=facts, **{name: getattr(self, name)[:, keep] for name in _BY_MODEL}
        )

    @property
    def keys(self) -> list[PairKey]:
        """What tells each pair from those of other data sets and conditions. Length P"""
        return [(self.dataset, self.condition, item) for item in self.facts["item_id"].tolist()]

    def among(self, keys: Collection[PairKey]) -> Mask:
        """Which pairs are among these: a set, or a mapping by key. Shape (P,)"""
        return np.array([key in keys for key in self.keys], dtype=np.bool_)

    def without(self, keys: Collection[PairKey]) -> IdentityPanel:
        """The panel without these pairs."""
        return self.part(~self.among(keys))

    def of_models(self, keys: Sequence[str]) -> IdentityPanel:
        """The panel of the models with these keys, in this order."""
        at = [[m.key for m in self.models].index(key) for key in keys]
        models = tuple(self.models[i] for i in at)
        return replace(self, models=models, **{name: getattr(self, name)[at] for name in _BY_MODEL})


def identity_panels(
    cache: Cache, dataset: str, scorer_ids: Sequence[str] = ()
) -> list[IdentityPanel]:
    """A panel for every condition of a data set, English first.

    Parameters
    ----------
    scorer_ids
        All that have scores of its pairs, if none is named.

    Raises
    ------
    InputError
        There is no such data set, no pair of it names an identity and a predicate, or none is
        scored under one of the scorers.
    """
    facts = pair_facts(cache, dataset)
    usable = (facts["identity"] != "") & (facts["predicate"] != "")
    if not usable.any():
        raise InputError(_why_none(dataset, facts))
    held = pair_scorers(cache, dataset)
    if missing := [s for s in scorer_ids if s not in held]:
        raise InputError(f"No pair of {dataset} is scored under {', '.join(missing)}.")
    if not held:
        raise InputError(
            f"No pair of {dataset} is scored yet; run `{score_line(cache, dataset)}` first."
        )
    models = _models(cache, list(scorer_ids) or held)
    scores = scores_of_pairs(cache, dataset, [m.scorer_id for m in models])
    # Few values many times over: parts are cut out of these columns in a fraction of the time.
    whole = _panel(dataset, models, facts.astype(dict.fromkeys(_FEW_VALUES, "category")), scores)
    panels = []
    for condition in sorted(facts.loc[usable, "condition"].unique(), key=condition_rank):
        of = facts["condition"] == condition
        part = whole.part((of & usable).to_numpy())
        panels.append(replace(part, condition=condition, n_left_out=int((of & ~usable).sum())))
    return panels


def _why_none(dataset: str, facts: pd.DataFrame) -> str:
    """Why a data set has no pair of identities, and what to do."""
    if facts.empty:
        return (
            f"{dataset} has no pair of sentences that differ; build pairs (`build-pairs`) or"
            " import some."
        )
    lacking = [name for name in ("identity", "predicate") if (facts[name] == "").all()]
    what = (
        f"names {listed_or([f'its {name}' for name in lacking])}"
        if lacking
        else "names identity and predicate"
    )
    return (
        f"No pair of {dataset} {what} in its metadata; tables need identity and predicate, over"
        " which intervals are. Add what is missing (data/README.md), or build pairs"
        " (`build-pairs`)."
    )


def _models(cache: Cache, scorer_ids: Sequence[str]) -> tuple[Model, ...]:
    known = scorers(cache)
    method = dict(zip(known["scorer_id"], known["method"], strict=True))
    labels = scorer_labels(known[known["scorer_id"].isin(list(scorer_ids))])
    short = dict(zip(labels, short_labels(list(labels.values())), strict=True))
    times = Counter(short.values())
    named = {s: label if times[label] == 1 else f"{label} ({s[:8]})" for s, label in short.items()}
    return tuple(
        # The same model's imported scores of another data set are another scorer.
        Model(s, named[s], labels[s] if _kind(method[s]) == FROM_ELSEWHERE else s, _kind(method[s]))
        for s in scorer_ids
    )


def _kind(method: str) -> str:
    if method.startswith(IMPORTED):
        return FROM_ELSEWHERE
    return MASKED if method.startswith("pll") else CAUSAL


def _panel(
    dataset: str, models: Sequence[Model], facts: pd.DataFrame, scores: pd.DataFrame
) -> IdentityPanel:
    """Scores of all units spread over models and pairs; of those from elsewhere under both."""
    shape = (len(UNITS), len(models), len(facts))
    more, less = np.full(shape, np.nan), np.full(shape, np.nan)
    uninformative = np.zeros(shape, dtype=np.bool_)
    of_model = {model.scorer_id: at for at, model in enumerate(models)}
    m = scores["scorer_id"].map(of_model).to_numpy(np.int64)
    p = np.searchsorted(facts["row_order"].to_numpy(), scores["row_order"].to_numpy())
    for u, unit in enumerate(UNITS):
        rows = scores["unit"].isin((unit, ELSEWHERE)).to_numpy()
        at = (u, m[rows], p[rows])
        more[at] = scores["score_more"].to_numpy()[rows]
        less[at] = scores["score_less"].to_numpy()[rows]
        uninformative[at] = scores["uninformative"].to_numpy()[rows]
    more[uninformative] = np.nan
    word, token = UNITS.index("word"), UNITS.index("token")
    return IdentityPanel(
        dataset=dataset,
        condition="",
        models=tuple(models),
        facts=facts,
        word=preferred(more[word], less[word]),
        token=preferred(more[token], less[token]),
        published=published_preferred(more[token], less[token]),
        difference=more[word] - less[word],
        uninformative=uninformative[word],
    )
