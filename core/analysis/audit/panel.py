"""The scores of an audit as arrays: models x conditions x items, NaN where there is none.

After "Lost in Translation" (arXiv 2610.20479): an item is compared with its own English version, so
items without an English twin (natives) are kept apart, and collapsed versions have no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.names import NO_TRANSLATION, NOT_CHOSEN, ONLY_PAIRS
from core.items.conditions import (
    is_rewording,
    original_of,
    parse_condition,
    without_prefix,
)
from core.settings import REFERENCE_CONDITION
from core.stats.scores import ScoreKind, log_odds, score_of

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Places = tuple[npt.NDArray[np.intp], ...]

NUMBERS = tuple(
    f"{name}_{suffix}"
    for name in ("l", "sum", "n", "order")
    for suffix in ("stereotype", "anti", "unrelated", "unknown")
)


@dataclass(frozen=True)
class Panel:
    """M models, K conditions, N items.

    `conditions` are those of items with an English twin, English first, each followed by its
    rewordings; where no item has one, all but those of natives. `versions` and `scored` keep every
    row of the data set that the request leaves, natives included, for the tables that need more
    than numbers.
    """

    dataset: str
    scorers: tuple[str, ...]  # ids, (M,)
    models: tuple[str, ...]  # what tells each from the others for a person, (M,)
    conditions: tuple[str, ...]  # (K,)
    items: pd.DataFrame  # (N,) rows: item_id, source, category, dimension, of the English version
    numbers: dict[str, Array]  # NUMBERS -> (M, K, N), nats, token counts, unknown scale
    points: dict[str, Array]  # "stereotype", "anti" -> (K, N), code points of the continuation
    versions: pd.DataFrame  # of `item_versions`; metadata decoded
    scored: pd.DataFrame  # of `scores_of`
    left_out: tuple[str, ...] = ()  # translations of the data set that were not asked for
    only_pairs: bool = False  # sentence pairs in a single language
    notes: tuple[str, ...] = ()  # what all the numbers rest on, where it is less than all

    @property
    def item_ids(self) -> list[str]:
        """Ids of the items. (N,)"""
        return self.items["item_id"].tolist()

    @property
    def has_english(self) -> bool:
        """Whether the items have an English version; without, `items` are as in their first one."""
        return REFERENCE_CONDITION in self.conditions

    @property
    def english(self) -> int:
        """Where English is among the conditions."""
        return self.conditions.index(REFERENCE_CONDITION)

    @property
    def languages(self) -> list[str]:
        """The translations: conditions that are neither English, reworded nor prefixed."""
        return [c for c in self.conditions if c != REFERENCE_CONDITION and is_plain(c)]

    @property
    def no_translation(self) -> str:
        """Why there is no language to speak of, where there is none."""
        if self.only_pairs:
            return ONLY_PAIRS.format(self.dataset)
        if self.left_out:
            return NOT_CHOSEN.format(", ".join(self.left_out))
        return NO_TRANSLATION

    @property
    def no_languages(self) -> tuple[str, ...]:
        """The note of a table of languages: that there is none, and why; empty otherwise."""
        return () if self.languages else (self.no_translation,)

    @property
    def not_for_pairs(self) -> tuple[str, ...]:
        """The note of any other table: that sentence pairs have no audit; empty otherwise."""
        return (self.no_translation,) if self.only_pairs else ()

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

    @property
    def is_scored(self) -> Mask:
        """Where there is a choice between the poles, on whatever scale. Shape (M, K, N)"""
        return np.asarray(np.isfinite(self.scores("binary")))

    def scores(self, kind: ScoreKind) -> Array:
        """Scores of one kind. Shape (M, K, N)

        All but `standardised` lie in [0, 1] with 0.5 for no preference; that one is the preference
        u = l+ - l- over its standard deviation among the items of the same model and condition.
        """
        if kind not in self._scores:
            self._scores[kind] = score_of(kind, log_odds(kind, self.numbers, self.points))
        return self._scores[kind]

    def changes(self, kind: ScoreKind) -> Array:
        """Score minus the score of the condition's original: English, or of `hi~llm` the `hi`.

        Shape (M, K, N); NaN of English itself and where the original is not among the conditions.
        The column `change` of the items page is another number there: minus English throughout.
        """
        if kind not in self._changes:
            before = [self.before(kind, c) for c in self.conditions]
            changes = self.scores(kind) - np.stack(before, axis=1)
            changes[:, self.english] = np.nan
            self._changes[kind] = changes
        return self._changes[kind]

    def before(self, kind: ScoreKind, condition: str) -> Array:
        """Scores of a condition's original, all NaN where that is not there. Shape (M, N)"""
        original = self.original(condition)
        if original not in self.conditions:
            return np.full((len(self.scorers), len(self.items)), np.nan)
        return self.scores(kind)[:, self.at(original)]

    def original(self, condition: str) -> str:
        """What a condition is compared with: a rewording with its original, the rest with English.

        A prefixed version is compared with the same version without the prefix. It need not be
        among the conditions.
        """
        parts = parse_condition(condition)
        if parts.prefix:
            return without_prefix(condition)
        return original_of(condition) if parts.rewording else REFERENCE_CONDITION

    def noise_rewordings(
        self, of: str = REFERENCE_CONDITION, model: int | None = None
    ) -> list[str]:
        """The rewordings of a condition whose changes are its noise.

        Those of full coverage under the model, or, without one, under every model that has scored
        the original; all that there are if none is such.
        """
        names = self.rewordings(of)
        if of not in self.conditions:
            return names
        scored = self.is_scored[:, self.at(of)].any(axis=-1)  # (M,)
        models = np.flatnonzero(scored).tolist() if model is None else [model]
        covered = [set(self.full_coverage(m, of)) for m in models]
        return [c for c in names if covered and all(c in full for full in covered)] or names

    def place(self, rows: pd.DataFrame) -> tuple[Places, Mask]:
        """Where rows stand in arrays of the shape (K, N), or (M, K, N) if they have a `scorer_id`.

        Parameters
        ----------
        rows
            `item_id` and `condition`; no natives.

        Returns
        -------
        places, known
            An index for each axis, of the rows that are of an item, condition and model here;
            and which rows those are.
        """
        axes = {"condition": self.conditions, "item_id": self.item_ids}
        if "scorer_id" in rows:
            axes = {"scorer_id": self.scorers, **axes}
        return places(rows, axes)

    def full_coverage(self, model: int, of: str = REFERENCE_CONDITION) -> list[str]:
        """The rewordings that a model has scored on every item that it has scored in the original.

        Only these enter a noise floor: the mean of another one is over other items.
        """
        if of not in self.conditions:
            return []
        scored = self.is_scored[model]
        usable = scored[self.at(of)]
        return [c for c in self.rewordings(of) if usable.any() and scored[self.at(c)][usable].all()]

    @cached_property
    def _scores(self) -> dict[ScoreKind, Array]:
        return {}

    @cached_property
    def _changes(self) -> dict[ScoreKind, Array]:
        return {}


def places(rows: pd.DataFrame, axes: Mapping[str, Sequence[str]]) -> tuple[Places, Mask]:
    """Index of the known rows along each axis, by the column of its name; which rows are known."""
    at = [
        pd.Index(list(names), dtype=object).get_indexer(pd.Index(rows[column]))
        for column, names in axes.items()
    ]
    known = np.all([places >= 0 for places in at], axis=0)
    return tuple(places[known] for places in at), known


def is_plain(condition: str) -> bool:
    """Neither reworded nor prefixed: a language."""
    parts = parse_condition(condition)
    return not parts.rewording and not parts.prefix
