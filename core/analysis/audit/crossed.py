"""How sure is a drop if the items and the models are both a sample?

Beside the intervals of "Lost in Translation" (arXiv 2610.20479), which are over models on these
items or over items under these models: the pigeonhole bootstrap (Owen 2007) draws both. Letters: M
models, K rewordings, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.item_changes import rewording_noise
from core.analysis.audit.names import ALIKE, FEW_ITEMS, HELD_SDS, NO_ITEM, NO_REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.stats.intervals import Interval, pigeonhole_interval
from core.stats.levels import LEAST_ITEMS, LEAST_MODELS

Array = npt.NDArray[np.float64]

N_RESAMPLES = 2_000  # fewer where the request asks for fewer
FEW_MODELS = (
    f"For these models only: with fewer than {LEAST_MODELS}, nothing can be said of others like "
    "them."
)
_COLUMNS = (
    *(
        "condition",
        "drop_pooled",
        "drop_pooled_low",
        "drop_pooled_high",
        "n",
        "t_pooled",
        "t_pooled_low",
        "t_pooled_high",
        "n_t",
    ),
    *("n_models", "n_undefined", "n_bootstrap", "reason"),
)


def crossed(panel: Panel, request: AuditRequest) -> AuditTable:
    """Pigeonhole intervals over items and models.

    Returns
    -------
    AuditTable
        One row per language: `drop_pooled`, the mean of -d over all scores, of `n_models` models
        and the `n` items that any of them has, and `t_pooled`, the drop beyond rewording: minus
        the mean of d - r over the `n_t` items with both, where r is the mean over the rewordings
        under that model. Where not every model has scored every item, these are not the drop and T
        of `item_tests`, which are of the items that all have. Each with a 95 % interval
        over other items and models of the kind. Of `n_bootstrap` draws, `n_undefined` gave no
        number.
    """
    changes = panel.changes(request.kind)
    names = panel.noise_rewordings()
    rewordings = changes[:, [panel.at(c) for c in names]].swapaxes(0, 1)  # (K, M, N)
    noise = rewording_noise(rewordings, complete=request.complete)
    rows: list[dict[str, Any]] = []
    for condition in panel.languages:
        d = changes[:, panel.at(condition)]
        # A stream of its own for each language, that does not depend on which others there are.
        drop = _interval(-d, request, condition)
        t = _interval(noise - d, request, condition)
        n_models = int(np.isfinite(d).any(axis=1).sum())
        rows.append(
            {
                "condition": condition,
                "drop_pooled": drop.value,
                "drop_pooled_low": drop.low,
                "drop_pooled_high": drop.high,
                "n": drop.n,
                "t_pooled": t.value,
                "t_pooled_low": t.low,
                "t_pooled_high": t.high,
                "n_t": t.n,
                "n_models": n_models,
                "n_undefined": drop.n_undefined,
                "n_bootstrap": _n_draws(request),
                "reason": _reason(drop, t, n_models, bool(names)),
            }
        )
    notes = [*panel.no_languages]
    notes += [HELD_SDS] if request.kind == STANDARDISED else []
    notes += [FEW_MODELS] if len(panel.scorers) < LEAST_MODELS else []
    return AuditTable(pd.DataFrame(rows, columns=list(_COLUMNS)), tuple(notes))


def _interval(values: Array, request: AuditRequest, condition: str) -> Interval:
    rng = request.rng(f"crossed {condition}")
    return pigeonhole_interval(values, n_resamples=_n_draws(request), rng=rng)


def _n_draws(request: AuditRequest) -> int:
    return min(request.n_bootstrap, N_RESAMPLES)


def _reason(drop: Interval, t: Interval, n_models: int, reworded: bool) -> str:
    if not drop.n:
        return NO_ITEM
    if n_models < LEAST_MODELS:
        return FEW_MODELS
    if drop.n < LEAST_ITEMS:
        return FEW_ITEMS
    if np.isnan(drop.low):
        return ALIKE
    if not reworded:
        return NO_REWORDING
    if t.n < LEAST_ITEMS:
        return FEW_ITEMS
    return ALIKE if np.isnan(t.low) else ""
