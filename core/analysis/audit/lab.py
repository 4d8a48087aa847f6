"""The pairs of the Shift lab as they are, before anything is put in.

After "Lost in Translation" (arXiv 2610.20479), section on sensitivity. A pair is a model and one
rewording of its English items: there is nothing to find in it but noise. The sign vectors come from
one seed, so pairs that are not shifted keep the p they had.

Letters: P pairs, N items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from core.analysis.audit.audit import State, audit_panel, state_of
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.injection import (
    NO_PAIR,
    injection_pairs,
    not_shifted,
    pair_log_odds,
    shifted_kind,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.intervals import percentile_interval
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import bootstrap_means, sign_flip_test
from core.store.gate import Cache
from core.words import short_labels

Array = npt.NDArray[np.float64]

N_DRAWS = 5_000  # sign vectors of one interaction
_PAIR = ("pair", "model", "short", "scorer_id", "condition", "floor")


@dataclass(frozen=True, eq=False)  # a lab is equal to itself alone: what it finds is remembered
class Lab:
    """The family of pairs as it is, and what every shift is compared with."""

    request: AuditRequest
    # pair, model, short (its name), scorer_id, condition, floor (of the model), (P,)
    pairs: pd.DataFrame
    items: pd.DataFrame  # item_id and category, (N,)
    original: Array  # log-odds, nats, (P, N)
    reworded: Array
    base: pd.DataFrame  # what `tested` says of the unshifted pairs, (P,)
    order: npt.NDArray[np.intp]  # in which items are shifted: a larger share holds the smaller
    notes: tuple[str, ...]

    @property
    def changes(self) -> Array:
        """Change of every item of the unshifted pairs. (P, N)"""
        return np.asarray(expit(self.reworded) - expit(self.original))


def open_lab(cache: Cache, request: AuditRequest) -> Lab:
    """The pairs of an audit, tested as they are; remembered until their scores change.

    They are the same under every margin of equivalence.

    Raises
    ------
    InputError
        As `load_panel`.
    """
    request = replace(request, margin=AuditRequest.margin)
    return _lab(cache, state_of(cache, request), request)


@lru_cache(maxsize=4)
def _lab(cache: Cache, state: State, request: AuditRequest) -> Lab:
    del state  # part of the key alone
    return make_lab(audit_panel(cache, request), request)


def make_lab(panel: Panel, request: AuditRequest) -> Lab:
    """The same from a panel."""
    at = injection_pairs(panel)
    of_kind = replace(request, kind=shifted_kind(request.kind))
    floors = floors_by_model(panel, of_kind).rows["floor"].to_numpy(np.float64)
    names = short_labels(panel.models)
    rows = [
        {
            "pair": f"{panel.scorers[m]}|{panel.conditions[k]}",
            "model": panel.models[m],
            "short": names[m],
            "scorer_id": panel.scorers[m],
            "condition": panel.conditions[k],
            "floor": floors[m],
        }
        for m, k in at
    ]
    pairs = pd.DataFrame(rows, columns=list(_PAIR))
    original, reworded = pair_log_odds(panel, request.kind, at)
    order = request.rng("lab items").permutation(len(panel.items))
    changes = expit(reworded) - expit(original)
    notes = (*(() if at else (NO_PAIR,)), *not_shifted(request.kind))
    base = tested(changes, request)
    base["qvalue"] = benjamini_hochberg(base["pvalue"])
    items = panel.items[["item_id", "category"]]
    return Lab(request, pairs, items, original, reworded, base, order, notes)


def tested(changes: Array, request: AuditRequest) -> pd.DataFrame:
    """Mean, intervals and p of every row of changes, always from the same draws."""
    found = sign_flip_test(changes, n_resamples=N_DRAWS, rng=request.rng("lab signs"))
    draws = bootstrap_means(changes, n_resamples=request.n_bootstrap, rng=request.rng("lab draws"))
    rows = []
    for c, (mean, n) in enumerate(zip(found.mean, found.n, strict=True)):
        wide, narrow = (
            percentile_interval(float(mean), draws[:, c], int(n), level=level)
            for level in (1 - LEVEL, 1 - 2 * LEVEL)
        )
        rows.append((wide.low, wide.high, narrow.low, narrow.high))
    table = pd.DataFrame(rows, columns=["low", "high", "low90", "high90"], dtype=np.float64)
    return table.assign(n=found.n, mean=found.mean, sd=found.sd, pvalue=found.pvalue)
