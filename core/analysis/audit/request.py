"""What an audit is asked: one hashable value, by which its results are remembered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.settings import DEFAULT_SEED, REFERENCE_CONDITION
from core.stats.scores import ScoreKind

STANDARDISED: ScoreKind = "standardised"  # the one kind in a unit of its own


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """Which scores of which items are compared, and how.

    The family of tests is fixed by data set, scorers and conditions; an empty tuple or text stands
    for all there are.
    """

    dataset: str
    scorers: tuple[str, ...] = ()  # ids
    conditions: tuple[str, ...] = ()  # besides English and its rewordings, which are always there
    slice: str = ""  # a named slice of the cache: its items, in all their conditions
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    kind: ScoreKind = "mean"
    reference: str = REFERENCE_CONDITION  # of CSS and CLCI only
    margin: float = 0.02  # of equivalence, in the unit of the score; fixed before looking
    complete: bool = False  # rewording noise only of items that have all the rewordings
    model_groups: tuple[tuple[str, str], ...] = ()  # model name or scorer id -> its group
    n_resamples: int = 20_000  # draws of a sign-flip test
    n_bootstrap: int = 5_000
    seed: int = DEFAULT_SEED

    def rng(self, table: str) -> np.random.Generator:
        """A stream of its own for each table, so that none depends on which others are made."""
        return np.random.default_rng([self.seed, *table.encode()])


def margin_of(request: AuditRequest, kind: ScoreKind | None = None) -> float:
    """The margin of equivalence of a kind of score, that of the request if none is named.

    NaN for a standardised one: a margin is in the unit of a score from 0 to 1, which standard
    deviations are not, so that standardised scores are never called equivalent.
    """
    return float("nan") if (kind or request.kind) == STANDARDISED else request.margin


@dataclass(frozen=True)
class AuditTable:
    """A table of the audit; every row has its n."""

    rows: pd.DataFrame
    notes: tuple[str, ...] = ()  # what cannot be said, and why: one sentence each
