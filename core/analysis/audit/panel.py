"""The scores of an audit as arrays: models x conditions x items, NaN where there is none.

After "Lost in Translation" (arXiv 2610.20479): an item is compared with its own English version, so
items without an English twin (natives) are kept apart, and collapsed versions have no score.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.request import KINDS, AuditRequest, ScoreKind
from core.analysis.filtering import matching
from core.analysis.items import item_table
from core.analysis.overview import scorer_labels
from core.errors import InputError
from core.items.conditions import condition_rank, is_rewording, original_of, parse_condition
from core.selection import Selection
from core.settings import REFERENCE_CONDITION
from core.stats.scores import binary_choice, stereotype_score
from core.store.audit import item_versions, scored_with, scores_of
from core.store.gate import Cache
from core.store.scorers import scorers
from core.store.slices import get_slice

Array = npt.NDArray[np.float64]

NO_TRANSLATION = "No item has a translation, so there is no language to say it of."

NUMBERS = tuple(
    f"{name}_{suffix}"
    for name in ("l", "sum", "n")
    for suffix in ("stereotype", "anti", "unrelated", "unknown")
)


@dataclass(frozen=True)
class Panel:
    """M models, K conditions, N items.

    `conditions` are those of items with an English twin, English first, each followed by its
    rewordings. `versions` and `scored` keep every row of the data set that the request leaves,
    natives included, for the tables that need more than numbers.
    """

    dataset: str
    scorers: tuple[str, ...]  # ids, (M,)
    models: tuple[str, ...]  # what tells each from the others for a person, (M,)
    conditions: tuple[str, ...]  # (K,)
    items: pd.DataFrame  # (N,) rows: item_id, source, category, dimension, of the English version
    numbers: dict[str, Array]  # NUMBERS -> (M, K, N), nats and token counts
    points: dict[str, Array]  # "stereotype", "anti" -> (K, N), code points of the continuation
    versions: pd.DataFrame  # of `item_versions`; metadata decoded
    scored: pd.DataFrame  # of `scores_of`

    @property
    def item_ids(self) -> list[str]:
        """Ids of the items. (N,)"""
        return self.items["item_id"].tolist()

    @property
    def english(self) -> int:
        """Where English is among the conditions."""
        return self.conditions.index(REFERENCE_CONDITION)

    @property
    def languages(self) -> list[str]:
        """The translations: conditions that are neither English, reworded nor prefixed."""
        return [c for c in self.conditions if c != REFERENCE_CONDITION and _is_plain(c)]

    def rewordings(self, of: str = REFERENCE_CONDITION) -> list[str]:
        """The rewordings of a condition, whatever they cover."""
        return [
            c
            for c in self.conditions
            if is_rewording(c) and original_of(c) == of and not parse_condition(c).prefix
        ]

    def at(self, condition: str) -> int:
        """Where a condition is."""
        return self.conditions.index(condition)

    def scores(self, kind: ScoreKind) -> Array:
        """Scores of one kind. Shape (M, K, N)

        All but `standardised` lie in [0, 1] with 0.5 for no preference; that one is the preference
        u = l+ - l- over its standard deviation among the items of the same model and condition.
        """
        if kind not in self._scores:
            self._scores[kind] = _scores(self, kind)
        return self._scores[kind]

    def changes(self, kind: ScoreKind) -> Array:
        """Score minus the score of the condition's original: English, or of `hi~llm` the `hi`.

        Shape (M, K, N); of English itself NaN.
        """
        if kind not in self._changes:
            scores = self.scores(kind)
            originals = [self.at(self.original(c)) for c in self.conditions]
            changes = scores - scores[:, originals]
            changes[:, self.english] = np.nan
            self._changes[kind] = changes
        return self._changes[kind]

    def original(self, condition: str) -> str:
        """What a condition is compared with: a rewording with its original, the rest with English.

        A prefixed version is compared with the same version without the prefix.
        """
        parts = parse_condition(condition)
        if parts.prefix:
            wanted = condition.partition("+")[0]
        elif parts.rewording:
            wanted = original_of(condition)
        else:
            wanted = REFERENCE_CONDITION
        return wanted if wanted in self.conditions else REFERENCE_CONDITION

    def full_coverage(self, model: int, of: str = REFERENCE_CONDITION) -> list[str]:
        """The rewordings that a model has scored on every item that it has scored in the original.

        Only these enter a noise floor: the mean of another one is over other items.
        """
        usable = np.isfinite(self.scores("mean")[model, self.at(of)])
        scores = self.scores("mean")[model]
        return [
            c
            for c in self.rewordings(of)
            if usable.any() and np.isfinite(scores[self.at(c)][usable]).all()
        ]

    @cached_property
    def _scores(self) -> dict[ScoreKind, Array]:
        return {}

    @cached_property
    def _changes(self) -> dict[ScoreKind, Array]:
        return {}


def load_panel(cache: Cache, request: AuditRequest) -> Panel:
    """Read what a request asks for.

    Raises
    ------
    InputError
        There is no such data set or slice; nothing of it is scored, a scorer, a value or the
        reference that is asked for is not there, or no item has an English version.
    """
    versions = item_versions(cache, request.dataset)
    held = scored_with(cache, request.dataset)
    if not held:
        raise InputError(
            f"No item of {request.dataset} is scored yet; run `python -m core score` first."
        )
    chosen = tuple(dict.fromkeys(request.scorers or held))
    if missing := [s for s in chosen if s not in held]:
        raise InputError(f"{request.dataset} has no scores under {', '.join(missing)}.")
    versions = _wanted(cache, versions, request, chosen[0])
    versions["metadata"] = versions["metadata"].map(
        {text: _decoded(text) for text in versions["metadata"].unique()}
    )
    scored = scores_of(cache, request.dataset, chosen)
    keys = pd.MultiIndex.from_frame(versions[["item_id", "condition"]])
    scored = scored[pd.MultiIndex.from_frame(scored[["item_id", "condition"]]).isin(keys)]
    labels = scorer_labels(scorers(cache))
    return _arranged(request, versions, scored, chosen, tuple(labels[s] for s in chosen))


def _arranged(
    request: AuditRequest,
    versions: pd.DataFrame,
    scored: pd.DataFrame,
    chosen: tuple[str, ...],
    models: tuple[str, ...],
) -> Panel:
    twins = versions[~versions["native"]]
    english = twins[twins["condition"] == REFERENCE_CONDITION]
    if english.empty:
        raise InputError(
            f"No item of {request.dataset} that was asked for has an English version (condition "
            f"{REFERENCE_CONDITION}), so there is nothing to compare with."
        )
    conditions = tuple(sorted(twins["condition"].unique(), key=condition_rank))
    if request.reference not in conditions:
        raise InputError(
            f"The reference {request.reference} is not among the conditions asked for: "
            f"{', '.join(conditions)}."
        )
    items = english[["item_id", "source", "category", "dimension"]].reset_index(drop=True)
    item_at = pd.Index(items["item_id"])
    condition_at, scorer_at = pd.Index(conditions), pd.Index(chosen)
    k, n = (
        condition_at.get_indexer(pd.Index(twins["condition"])),
        item_at.get_indexer(pd.Index(twins["item_id"])),
    )
    points = {}
    for suffix in ("stereotype", "anti"):
        points[suffix] = np.full((len(conditions), len(items)), np.nan)
        points[suffix][k[n >= 0], n[n >= 0]] = twins[f"points_{suffix}"].to_numpy()[n >= 0]
    pairs = scored.merge(twins[["item_id", "condition"]], on=["item_id", "condition"])
    at = (
        scorer_at.get_indexer(pd.Index(pairs["scorer_id"])),
        condition_at.get_indexer(pd.Index(pairs["condition"])),
        item_at.get_indexer(pd.Index(pairs["item_id"])),
    )
    known = at[2] >= 0
    numbers = {}
    for name in NUMBERS:
        numbers[name] = np.full((len(chosen), len(conditions), len(items)), np.nan)
        numbers[name][tuple(a[known] for a in at)] = pairs[name].to_numpy(np.float64)[known]
    return Panel(
        request.dataset, chosen, models, conditions, items, numbers, points, versions, scored
    )


def _scores(panel: Panel, kind: ScoreKind) -> Array:
    n = panel.numbers
    if kind == "mean":
        return stereotype_score(n["l_stereotype"], n["l_anti"])
    if kind == "binary":
        return binary_choice(n["l_stereotype"], n["l_anti"])
    if kind == "summed":
        return stereotype_score(n["sum_stereotype"], n["sum_anti"])
    if kind == "per_code_point":
        plus, minus = (n[f"sum_{s}"] / panel.points[s] for s in ("stereotype", "anti"))
        return stereotype_score(plus, minus)
    if kind == "standardised":
        return _standardised(n["l_stereotype"] - n["l_anti"])
    raise InputError(f"{kind!r} is no kind of score; choose from: {', '.join(KINDS)}.")


def _standardised(u: Array) -> Array:
    """Preference over its sd (ddof 1) among the items; NaN where they do not vary."""
    n = np.isfinite(u).sum(axis=-1, keepdims=True)
    mean = np.nansum(u, axis=-1, keepdims=True) / np.maximum(n, 1)
    sd = np.sqrt(np.nansum((u - mean) ** 2, axis=-1, keepdims=True) / np.maximum(n - 1, 1))
    return np.asarray(np.divide(u, sd, out=np.full_like(u, np.nan), where=(n > 1) & (sd > 0)))


def _wanted(
    cache: Cache, versions: pd.DataFrame, request: AuditRequest, scorer_id: str
) -> pd.DataFrame:
    """The rows of the items and conditions that were asked for."""
    if request.conditions:
        if unknown := set(request.conditions) - set(versions["condition"]):
            raise InputError(
                f"{request.dataset} has no condition {', '.join(sorted(unknown))}; it has "
                f"{', '.join(versions['condition'].unique())}."
            )
        wanted = {REFERENCE_CONDITION, *request.conditions}
        versions = versions[versions["condition"].isin(wanted)]
    for field, column in (
        ("sources", "source"),
        ("categories", "category"),
        ("dimensions", "dimension"),
    ):
        if values := getattr(request, field):
            if unknown := set(values) - set(versions[column]):
                raise InputError(
                    f"{request.dataset} has no {column} {', '.join(sorted(unknown))}; it has "
                    f"{', '.join(v for v in versions[column].unique() if v) or 'none at all'}."
                )
            versions = versions[_of_item(versions, column).isin(values)]
    if request.slice:
        ids = _slice_items(cache, request.dataset, request.slice, scorer_id)
        versions = versions[versions["item_id"].isin(ids)]
        if versions.empty:
            raise InputError(f"No item of {request.dataset} is in the slice {request.slice!r}.")
    return versions.reset_index(drop=True)


def _of_item(versions: pd.DataFrame, column: str) -> pd.Series[Any]:
    """A value of each row's item: that of its English version, for natives and the rest its own."""
    twins = versions[~versions["native"]]
    english = twins[twins["condition"] == REFERENCE_CONDITION].set_index("item_id")[column]
    of_english = versions["item_id"].map(english).mask(versions["native"])
    return of_english.fillna(versions[column])


def _slice_items(cache: Cache, dataset: str, name: str, scorer_id: str) -> set[str]:
    """Ids of a slice's items: its list, or those of which its filter leaves a row.

    A filter on scores looks at those of the first scorer.
    """
    if listed := get_slice(cache, dataset, name).item_ids:
        return set(listed)
    table = item_table(cache, scorer_id, dataset, texts=False)
    selection = Selection(dataset=dataset, scorer=scorer_id, slice=name)
    return set(table["item_id"].iloc[matching(cache, table, selection).positions])


def _is_plain(condition: str) -> bool:
    parts = parse_condition(condition)
    return not parts.rewording and not parts.prefix


def _decoded(metadata: str) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(metadata)
    return decoded
