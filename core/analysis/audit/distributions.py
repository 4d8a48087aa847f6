"""How single items' scores change under each rewording and in each language, on one scale.

A mean change near zero can hide items that move far in both directions; so the changes themselves
are shown. A rewording is set against what it rewords, a translation against English.

Letters: K conditions, P changes of one condition, G places on the common scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.columns import whose
from core.analysis.audit.names import NO_ITEM, REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION
from core.stats.known import varies

Array = npt.NDArray[np.float64]

TRANSLATION = "translation"  # what a row is of, or REWORDING

QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.50, "q75": 0.75, "q95": 0.95}
N_PLACES = 121  # of the common scale; odd, so that one lies at 0
_BEYOND = 1.1  # the scale goes on a little beyond the largest change, where curves run out
_N_BINS = 600  # as fine as the eye; a curve of thousands of changes is made of these

ONE_CHANGE = "One change has no standard deviation."
NO_CONDITION = "The data set has neither a rewording nor a translation, so no item changes."
_COLUMNS = (
    *("change_of", "condition", "original", "model", "scorer_id", "n", "n_items", "n_models"),
    *("mean_change", "sd", "lowest", *QUANTILES, "highest", "reason"),
)
_CURVES = ("condition", "change", "density")


@dataclass(frozen=True)
class Distributions:
    """What each condition does to single items."""

    table: AuditTable
    curves: pd.DataFrame  # condition, change, density: K x G rows; none where nothing varies


def distributions(panel: Panel, request: AuditRequest, scorer_id: str = "") -> Distributions:
    """Changes of single items, of one model or of all.

    Parameters
    ----------
    scorer_id
        Whose changes; empty for those of every model side by side, not averaged: then one item
        counts as often as models have scored it.

    Returns
    -------
    Distributions
        `table`: one row per rewording (of English, then of translations) and per translation, with
        `n` changes of `n_items` items under `n_models` models; mean, sd (ddof 1), quantiles and
        extremes. `curves`: their densities, smoothed by a Gaussian kernel of Scott's width,
        sd n^(-1/5), at the same places for all.

    Raises
    ------
    ValueError
        There is no such scorer in the panel.
    """
    model = panel.scorers.index(scorer_id) if scorer_id else None
    changes = panel.changes(request.kind)  # (M, K, N)
    chosen = changes if model is None else changes[[model]]
    rows, values = [], {}
    for change_of, condition in _conditions(panel):
        known = np.isfinite(chosen[:, panel.at(condition)])  # (M, N)
        values[condition] = chosen[:, panel.at(condition)][known]
        rows.append(
            {
                "change_of": change_of,
                "condition": condition,
                "original": panel.original(condition),
                **whose(panel, model),
                "n_items": int(known.any(axis=0).sum()),
                "n_models": int(known.any(axis=1).sum()),
                **_summary(values[condition]),
            }
        )
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    notes = _notes(panel, model) if rows else (NO_CONDITION,)
    return Distributions(AuditTable(table, notes), _curves(values))


def _conditions(panel: Panel) -> list[tuple[str, str]]:
    """Rewordings of English, then of translations, then the translations."""
    originals = (REFERENCE_CONDITION, *panel.languages)
    reworded = [(REWORDING, c) for original in originals for c in panel.rewordings(original)]
    return reworded + [(TRANSLATION, c) for c in panel.languages]


def _summary(values: Array) -> dict[str, Any]:
    n, nothing = len(values), float("nan")
    if not n:
        names = ("mean_change", "sd", "lowest", *QUANTILES, "highest")
        return {"n": 0, **dict.fromkeys(names, nothing), "reason": NO_ITEM}
    at = np.quantile(values, list(QUANTILES.values())).tolist()
    return {
        "n": n,
        "mean_change": float(values.mean()),
        "sd": float(values.std(ddof=1)) if n > 1 else nothing,
        "lowest": float(values.min()),
        **dict(zip(QUANTILES, at, strict=True)),
        "highest": float(values.max()),
        "reason": ONE_CHANGE if n == 1 else "",
    }


def _curves(values: dict[str, Array]) -> pd.DataFrame:
    varying = {c: v for c, v in values.items() if varies(v)}
    if not varying:
        return pd.DataFrame(columns=list(_CURVES))
    limit = _BEYOND * max(float(np.abs(v).max()) for v in varying.values())
    places = np.linspace(-limit, limit, N_PLACES)  # (G,)
    parts = [
        pd.DataFrame({"condition": condition, "change": places, "density": density(v, places)})
        for condition, v in varying.items()
    ]
    return pd.concat(parts, ignore_index=True)


def density(values: Array, places: Array) -> Array:
    """Smoothed density of changes that differ, at these places. (G,)

    The changes are counted in bins much finer than the kernel first, so that many cost no more
    than a few.
    """
    width = float(values.std(ddof=1)) * len(values) ** -0.2
    counts, edges = np.histogram(values, bins=_N_BINS)
    z = (places[:, None] - (edges[:-1] + edges[1:]) / 2) / width  # (G, bins)
    kernels = np.exp(-0.5 * z**2) / (width * np.sqrt(2 * np.pi))
    return np.asarray(kernels @ counts / len(values))


def _notes(panel: Panel, model: int | None) -> tuple[str, ...]:
    notes = []
    if not panel.rewordings():
        notes.append("English has no rewording, so there is nothing to hold the languages against.")
    if not panel.languages:
        notes.append("The data set has no translation, so there are rewordings alone.")
    without = [c for c in panel.languages if not panel.rewordings(c)]
    if without and panel.rewordings():
        notes.append(
            f"{', '.join(without)}: without rewordings of their own, so how far wording moves an "
            "item inside these languages is not known."
        )
    if model is None and len(panel.models) > 1:
        notes.append("All models side by side: an item counts once under each model.")
    return tuple(notes)
