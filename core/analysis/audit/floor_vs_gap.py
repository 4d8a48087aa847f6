"""Does a language move the scores further than rewording alone does?

After "Lost in Translation" (arXiv 2610.20479), the section on the noise floor. d = score of a
version - score of its original, and D its mean over all models. Letters: M models, L languages, K
rewordings, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.floors import NO_FULL
from core.analysis.audit.item_changes import item_changes
from core.analysis.audit.names import ALIKE, FEW_ITEMS, HELD_SDS, LANGUAGE, MODEL, NO_REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.stats.levels import LEAST_ITEMS
from core.stats.noise import FloorAgainstGap, floor_against_gap, floor_against_gap_on_complete
from core.stats.resampling import bootstrap_weights

Array = npt.NDArray[np.float64]

FLOOR, FLOOR_OF_MEAN = "floor", "floor_of_mean"  # F_m; that of the mean over models
LANGUAGE_DRAWS = 2_000  # published; fewer where the request asks for fewer

NO_TRANSLATED_ITEM = "No item of a translation is scored."
NO_COMPLETE = "No item is scored by every model in this language and in every rewording."
SOME_LANGUAGES = "Over {} alone; this model has no score that could be compared in {}."


def floor_vs_gap(panel: Panel, request: AuditRequest) -> AuditTable:
    """Absolute gap against absolute floor, per model and per language.

    Returns
    -------
    AuditTable
        `unit` "model": the gap is the mean over `n_languages` of |mean d|, `floor` that over
        `n_rewordings` of full coverage: F_m. `unit` "language" (`condition`): |mean D| against
        `floor_of_mean`, the floor of the mean over models: the mean over rewordings of
        |mean D_rewording|, D being means over all models, on the `n_items` that have all of them.
        It is smaller than the models' own floors where they do not move alike.

        `difference` = `gap` minus the floor of the row, with a bias-corrected 95 % interval over
        items; `above` says whether it lies above 0. A mean of absolute values has no honest
        interval of its own. `n_undefined` of the `n_bootstrap` draws gave no number.
    """
    rng = request.rng("floor_vs_gap")
    weights = bootstrap_weights(len(panel.items), request.n_bootstrap, rng=rng)
    changes = panel.changes(request.kind)
    languages = [panel.at(c) for c in panel.languages]
    rows = []
    for m, model in enumerate(panel.models):
        reworded = changes[m, [panel.at(c) for c in panel.full_coverage(m)]]
        found = floor_against_gap(changes[m, languages], reworded, weights=weights)
        place = {"unit": MODEL, "condition": "", "model": model, "scorer_id": panel.scorers[m]}
        rows.append(
            {**place, **_compared(found, len(weights), FLOOR), "n_models": 1}
            | {"reason": " ".join(r for r in (_missing(found), _of_some(panel, changes[m])) if r)}
        )
    means = item_changes(panel, request.kind)
    fewer = weights[:LANGUAGE_DRAWS]
    for condition, d in zip(panel.languages, means.translated, strict=True):
        found = floor_against_gap_on_complete(d, means.rewordings, weights=fewer)
        place = {"unit": LANGUAGE, "condition": condition, "model": "", "scorer_id": ""}
        reason = _missing(found, complete=bool(means.names))
        n_models = len(panel.models)
        rows.append(
            {
                **place,
                **_compared(found, len(fewer), FLOOR_OF_MEAN),
                "n_models": n_models,
                "reason": reason,
            }
        )
    notes = [] if panel.rewordings() else [NO_REWORDING]
    if request.kind == STANDARDISED:
        notes.append(HELD_SDS)
    notes += panel.no_languages
    table = pd.DataFrame(rows)
    return AuditTable(table.assign(above=table["above"].astype("boolean")), tuple(notes))


def _compared(found: FloorAgainstGap, n_bootstrap: int, floor: str) -> dict[str, Any]:
    """The numbers of a row; `floor` names the column of its floor, the other one is NaN."""
    d = found.difference
    undefined = np.isnan(d.low)
    return {
        "gap": found.gap,
        **{name: found.floor if name == floor else np.nan for name in (FLOOR, FLOOR_OF_MEAN)},
        "difference": d.value,
        "difference_low": d.low,
        "difference_high": d.high,
        "above": None if undefined else bool(d.low > 0),
        "n_items": d.n,
        "n_languages": found.n_translations,
        "n_rewordings": found.n_rewordings,
        "n_undefined": d.n_undefined,
        "n_bootstrap": n_bootstrap,
    }


def _of_some(panel: Panel, changes: Array) -> str:
    """Which languages a model's gap is of, where it lacks some. `changes`: (K, N)"""
    has = {c: bool(np.isfinite(changes[panel.at(c)]).any()) for c in panel.languages}
    there, lacking = ([c for c, known in has.items() if known is k] for k in (True, False))
    if not there or not lacking:
        return ""
    return SOME_LANGUAGES.format(", ".join(there), ", ".join(lacking))


def _missing(found: FloorAgainstGap, *, complete: bool = False) -> str:
    """Why a row of `floor_vs_gap` has no interval; `complete`: only complete items count."""
    if complete and found.difference.n == 0:
        return NO_COMPLETE
    reasons = [NO_TRANSLATED_ITEM] if found.n_translations == 0 else []
    reasons += [NO_FULL] if found.n_rewordings == 0 else []
    if not reasons and np.isnan(found.difference.low):
        reasons = [FEW_ITEMS if found.difference.n < LEAST_ITEMS else ALIKE]
    return " ".join(reasons)
