"""The drops of single models, beside what is left of them once chance is taken back.

Cells that passed a test were picked for being large: about 1.8-fold too large at a shift of 0.02 in
"Lost in Translation" (arXiv 2610.20479). Within a language each drop is pulled toward the mean of
the language. Letters: M models, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from core.analysis.audit.names import FEW_ITEMS, NO_ITEM_OF_MODEL, ONE_ITEM
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.known import mean_over_items, varies
from core.stats.levels import CONFIDENCE, LEAST_ITEMS
from core.stats.shrinkage import LEAST_CELLS, Shrunk, bootstrap_covariance, shrunk_estimates

Array = npt.NDArray[np.float64]

N_RESAMPLES = 2_000  # of a covariance
_Z = float(ndtri((1 + CONFIDENCE) / 2))

NO_VARIANCE = "All items of this model change alike, so nothing says how sure its drop is."
FEW_MODELS = (
    f"The mean of a language needs at least {LEAST_CELLS} models, so nothing is shrunk toward it."
)
_KEY = ["scorer_id", "condition"]
_COLUMNS = (
    *("model", "scorer_id", "condition", "n", "drop", "error", "pvalue", "qvalue", "reliable"),
    *("reliable_rise", "shrunk", "shrunk_low", "shrunk_high", "shrunk_error", "language_drop"),
    *("tau", "tau_median", "n_models", "n_bootstrap", "reason"),
)


def shrunk(panel: Panel, request: AuditRequest, cells: AuditTable) -> AuditTable:
    """Shrink the drops of the models in each language.

    Parameters
    ----------
    cells
        Of the same request.

    Returns
    -------
    AuditTable
        The rows of `cells`: `drop` with its bootstrap standard error `error`, and `shrunk`, the
        posterior mean of the true drop, with 95 % interval and `shrunk_error`. `language_drop` is
        the mean that they are pulled toward, `tau` the likeliest sd of true drops around it and
        `tau_median` the median of its posterior, over which `shrunk` is averaged, with `n_models`
        models. `n_bootstrap` draws are behind the errors. `reliable` says which cells passed the
        test and so exaggerate.
    """
    rows: list[dict[str, Any]] = []
    for condition in panel.languages:
        drops = -panel.changes(request.kind)[:, panel.at(condition)]  # (M, N)
        draws = min(request.n_bootstrap, N_RESAMPLES)
        covariance = bootstrap_covariance(drops, n_resamples=draws, rng=request.rng("shrunk"))
        covariance = _known_variances(covariance, drops)
        estimates, n = mean_over_items(drops)
        found = shrunk_estimates(estimates, covariance)
        rows += [
            {
                "model": panel.models[m],
                "scorer_id": scorer_id,
                "condition": condition,
                "n": int(n[m]),
                "drop": estimates[m],
                "error": float(np.sqrt(covariance[m, m])),
                "n_bootstrap": draws,
                **_posterior(found, m, _why(covariance[m, m], int(n[m]), found)),
            }
            for m, scorer_id in enumerate(panel.scorers)
        ]
    tested = cells.rows[[*_KEY, "pvalue", "qvalue", "reliable", "reliable_rise"]]
    table = pd.DataFrame(rows, columns=[c for c in _COLUMNS if c not in tested or c in _KEY])
    table = table.merge(tested, on=_KEY, how="left")[list(_COLUMNS)]
    return AuditTable(table, _notes(panel, table))


def _known_variances(covariance: Array, drops: Array) -> Array:
    """NaN for the models with few items, and for those whose items are alike up to rounding."""
    few = np.isfinite(drops).sum(axis=1) < LEAST_ITEMS
    unknown = few | np.array([not varies(of_model) for of_model in drops])
    known = covariance.copy()
    known[unknown], known[:, unknown] = np.nan, np.nan
    return known


def _why(variance: float, n: int, found: Shrunk) -> str:
    """Why a model's drop is not shrunk; empty where it is."""
    if n < 2:
        return ONE_ITEM if n else NO_ITEM_OF_MODEL
    if n < LEAST_ITEMS:
        return FEW_ITEMS
    if not variance > 0:
        return NO_VARIANCE
    return FEW_MODELS if found.n < LEAST_CELLS else ""


def _posterior(found: Shrunk, m: int, reason: str) -> dict[str, Any]:
    value, error = float(found.estimate[m]), float(found.sd[m])
    return {
        "shrunk": value,
        "shrunk_low": value - _Z * error,
        "shrunk_high": value + _Z * error,
        "shrunk_error": error,
        "language_drop": found.mean,
        "tau": found.tau,
        "tau_median": found.tau_median,
        "n_models": found.n,
        "reason": reason,
    }


def _notes(panel: Panel, table: pd.DataFrame) -> tuple[str, ...]:
    if table.empty:
        return panel.no_languages
    passed = table[table["reliable"].fillna(False).astype(bool) & table["shrunk"].notna()]
    if passed.empty:
        return ()
    plain, pulled = passed["drop"].mean(), passed["shrunk"].mean()
    return (
        f"The {len(passed)} reliable drops are {plain:.4f} on average, and {pulled:.4f} shrunk.",
    )
