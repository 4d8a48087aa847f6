"""Rows of the tables of identity pairs: bias of each model in a part of the pairs, with intervals.

Every row has n, the pairs that its share is of, and beside it those that are not among them. The
intervals come from drawing predicates with all their pairs (core/stats/identity_bias.py); beside
them stands the binomial interval, which takes every pair for a new finding and is too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.identities.panel import IdentityPanel, PairKey
from core.settings import DEFAULT_SEED
from core.stats.identity_bias import (
    FEW_PREDICATES,
    Tally,
    interval_of_share,
    predicate_tallies,
    tally,
    with_choices,
)
from core.stats.identity_spread import spread_interval
from core.stats.intervals import Interval
from core.stats.levels import LEAST_ITEMS
from core.stats.shares import wilson_interval

Array = npt.NDArray[np.float64]

UNNAMED = "(none)"


@dataclass(frozen=True, kw_only=True)
class IdentityRequest:
    """How the tables are made: one hashable value, by which they are remembered."""

    confounded: frozenset[PairKey] = frozenset()  # pairs that differ in more than the identity
    n_resamples: int = 1_000
    seed: int = DEFAULT_SEED

    def rng(self, table: str) -> np.random.Generator:
        """A stream of its own for each table, so that none depends on which others are made."""
        return np.random.default_rng([self.seed, *table.encode()])


@dataclass(frozen=True)
class Estimates:
    """Choices of the data and of resamples, and how many predicates stand behind them."""

    data: Tally  # (M, I)
    drawn: Tally  # (R, M, I)
    n_predicates: npt.NDArray[np.int64]  # with a choice, (M,)
    n_predicates_of: npt.NDArray[np.int64]  # by identity, (M, I)


def estimates(
    panel: IdentityPanel, choices: Array, n_resamples: int, rng: np.random.Generator
) -> Estimates:
    """Choices by model and identity, and resamples of the predicates.

    Parameters
    ----------
    choices : array, shape (M, P)
        `word` or another one of the panel's arrays.
    """
    of = (choices, panel.identity, panel.codes("predicate"), len(panel.identities))
    there = with_choices(*of)
    return Estimates(
        tally(choices, panel.identity, len(panel.identities)),
        predicate_tallies(*of, n_resamples=n_resamples, rng=rng),
        there.any(axis=2).sum(axis=1),
        there.sum(axis=1),
    )


def bias_rows(
    panel: IdentityPanel, request: IdentityRequest, rng: np.random.Generator
) -> pd.DataFrame:
    """Bias (W), bias (M) and the spread of each model, with intervals. One row per model."""
    found = estimates(panel, panel.word, request.n_resamples, rng)
    n = found.n_predicates
    columns: dict[str, object] = {
        "model": [model.label for model in panel.models],
        "kind": [model.kind for model in panel.models],
        "condition": panel.condition,
        **interval_columns("bias_w", found.data.weighted, found.drawn.weighted, n),
        **_binomial(found.data),
        **interval_columns("bias_m", found.data.mean, found.drawn.mean, n),
        **_spread_columns(found),
        **pair_counts(panel),
        "n_identities": (found.data.counts > 0).sum(axis=1),
        "n_predicates": n,
    }
    rows = pd.DataFrame(columns)
    most = int(n.max(initial=0))
    fewest = np.where(found.data.counts > 0, found.n_predicates_of, most).min(axis=1, initial=most)
    rows["reason"] = [
        " ".join(filter(None, (_reason_of(row), _no_spread(row, few))))
        for row, few in zip(rows.to_dict("records"), fewest < LEAST_ITEMS, strict=True)
    ]
    return rows


def interval_columns(
    name: str,
    values: Array,
    draws: Array,
    n: npt.NDArray[np.int64],
    interval: Callable[[float, Array, int], Interval] = interval_of_share,
) -> dict[str, list[float]]:
    """A number of each model and the ends of its interval; NaN below five predicates.

    Parameters
    ----------
    values : array, shape (M,)
    draws : array, shape (R, M)
    n : array, shape (M,)
        Predicates behind each value.
    interval
        Of one model; for what is no share, `interval_over_predicates`.
    """
    found = zip(values, draws.T, n, strict=True)
    return _columns(name, [interval(float(value), of, int(k)) for value, of, k in found])


def pair_counts(panel: IdentityPanel) -> dict[str, Array]:
    """How many pairs are decided, tied, uninformative and not scored, by words. Shape (M,) each"""
    n = np.isfinite(panel.word).sum(axis=1)
    n_uninformative = panel.uninformative.sum(axis=1)
    return {
        "n": n,
        "n_ties": (panel.word == 0.5).sum(axis=1),
        "n_uninformative": n_uninformative,
        "n_not_scored": len(panel.facts) - n - n_uninformative,
    }


def reason(n: int, n_predicates: int, low: float) -> str:
    """Why a row has no share or no interval, or how far its interval can be relied on.

    Parameters
    ----------
    low
        Lower end of its interval.
    """
    if not n:
        return "No pair here has a choice, so nothing is defined."
    if n_predicates < LEAST_ITEMS:
        return f"Fewer than {LEAST_ITEMS} predicates: no interval over them."
    if math.isnan(low):
        return "Every resample of the predicates gives the same number: no interval."
    if n_predicates < FEW_PREDICATES:
        return f"Few predicates ({n_predicates}): the interval may be too narrow."
    return ""


def _spread_columns(found: Estimates) -> dict[str, list[float]]:
    """How far the identities of each model lie apart, with its interval."""
    models = zip(
        found.data.shares, found.drawn.shares.swapaxes(0, 1), found.n_predicates_of, strict=True
    )
    return _columns("spread", [spread_interval(*of) for of in models])


def _reason_of(row: Mapping[Any, Any]) -> str:
    return reason(row["n"], row["n_predicates"], row["bias_w_low"])


def _no_spread(row: Mapping[Any, Any], few: bool) -> str:
    """Why the spread, or its interval, is undefined though bias (W) has one."""
    if math.isnan(row["bias_w_low"]) or not math.isnan(row["spread_low"]):
        return ""
    if row["n_identities"] == 1:
        return "One identity: no spread."
    if few:
        return f"No interval of the spread: an identity has fewer than {LEAST_ITEMS} predicates."
    return "No interval of the spread: every resample gives the same shares."


def _columns(name: str, found: Sequence[Interval]) -> dict[str, list[float]]:
    return {
        name: [one.value for one in found],
        f"{name}_low": [one.low for one in found],
        f"{name}_high": [one.high for one in found],
    }


def _binomial(data: Tally) -> dict[str, list[float]]:
    """The interval of a share of independent pairs, which these are not."""
    totals = zip(data.sums.sum(axis=1), data.counts.sum(axis=1), strict=True)
    found = [wilson_interval(float(more), int(n)) for more, n in totals]
    return {
        "bias_w_binomial_low": [one.low for one in found],
        "bias_w_binomial_high": [one.high for one in found],
    }
