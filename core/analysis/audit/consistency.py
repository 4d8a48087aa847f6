"""Gaps of each model to a reference language, and how consistent it is over the languages.

After "Lost in Translation" (arXiv 2610.20479), cross-lingual stereotype score and consistency.
Letters: M models, K conditions, L languages, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.cells import mean_over_items
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.paired import paired_correlation

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NO_REFERENCE = "The reference {} is neither English nor a translation, so there are no gaps to it."


def css_clci(panel: Panel, request: AuditRequest) -> AuditTable:
    """Gap to a reference language, and how consistent a model is over the languages.

    CSS = |mean d| of the items scored in both the language and the reference; CLCI = 1 - mean of
    CSS over the languages other than the reference.

    Returns
    -------
    AuditTable
        `quantity` "css" per model and language against `request.reference`, of n items; "clci" per
        model and reference, of `n_languages`, `n` items and `n_changes` of them, each item once per
        language; and "rank_stability" per reference: Spearman's rank correlation over `n_models`
        between the CLCI under it and under English, both of `n` items, NaN below three models.
    """
    plain = [panel.conditions[panel.english], *panel.languages]
    at = [panel.at(c) for c in plain]
    scores = panel.scores(request.kind)[:, at]  # (M, K, N)
    rows: list[dict[str, Any]] = []
    consistency: dict[str, Array] = {}
    compared: dict[str, Mask] = {}  # the items behind these
    for reference in plain:
        r = plain.index(reference)
        mean, n = mean_over_items(scores - scores[:, [r]])
        others = [k for k in range(len(plain)) if k != r]
        in_both = np.isfinite(scores[:, others]) & np.isfinite(scores[:, [r]])
        compared[reference] = np.asarray(in_both.any(axis=1))  # (M, N)
        if reference == request.reference:
            rows += _css_rows(
                panel, reference, [plain[k] for k in others], mean[:, others], n[:, others]
            )
        consistency[reference] = clci(mean[:, others])
        rows += _clci_rows(
            panel, reference, consistency[reference], n[:, others], compared[reference]
        )
    rows += [_stability_row(reference, consistency, compared, plain[0]) for reference in plain[1:]]
    notes = [] if request.reference in plain else [NO_REFERENCE.format(request.reference)]
    notes += [] if panel.languages else [panel.no_translation]
    return AuditTable(pd.DataFrame(rows), tuple(notes))


def clci(mean_changes: Array) -> Array:
    """Cross-lingual consistency: 1 - mean |mean d| over the languages with one. (M, L) -> (M,)"""
    return np.asarray(1 - mean_over_items(np.abs(mean_changes))[0])


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's correlation with mean ranks for ties; NaN below three pairs or without spread."""
    both = np.isfinite(a) & np.isfinite(b)
    ranked = (pd.Series(x[both]).rank().to_numpy(np.float64) for x in (a, b))
    return paired_correlation(*ranked)


def _css_rows(
    panel: Panel, reference: str, conditions: list[str], mean: Array, n: npt.NDArray[np.int64]
) -> list[dict[str, Any]]:
    return [
        {
            **_row("css", reference, condition, panel.models[m], panel.scorers[m]),
            "value": abs(mean[m, k]),
            "n": int(n[m, k]),
            "n_changes": int(n[m, k]),
            "n_languages": 1,
            "n_models": 1,
            "reason": "" if n[m, k] else "No item has a score of this model in both languages.",
        }
        for m in range(len(panel.scorers))
        for k, condition in enumerate(conditions)
    ]


def _clci_rows(
    panel: Panel, reference: str, values: Array, n: npt.NDArray[np.int64], compared: Mask
) -> list[dict[str, Any]]:
    """`n` counts the items behind the gaps of a model, `n_changes` how often they are compared."""
    n_languages = (n > 0).sum(axis=1)
    return [
        {
            **_row("clci", reference, "", panel.models[m], panel.scorers[m]),
            "value": values[m],
            "n": int(compared[m].sum()),
            "n_changes": int(n[m].sum()),
            "n_languages": int(n_languages[m]),
            "n_models": 1,
            "reason": "" if n_languages[m] else "No language has a gap under this model.",
        }
        for m in range(len(panel.scorers))
    ]


def _stability_row(
    reference: str, consistency: dict[str, Array], compared: dict[str, Mask], english: str
) -> dict[str, Any]:
    """Of the models that have a CLCI under both."""
    a, b = consistency[english], consistency[reference]
    both = np.isfinite(a) & np.isfinite(b)
    n_models = int(both.sum())
    items = (compared[english] | compared[reference])[both]  # (M, N)
    value = rank_correlation(a, b)
    reason = "" if np.isfinite(value) else "Models do not differ in CLCI."
    return {
        **_row("rank_stability", reference, english, "", ""),
        "value": value,
        "n": int(items.any(axis=0).sum()),
        "n_changes": int(items.sum()),
        "n_languages": len(consistency) - 1,
        "n_models": n_models,
        "reason": reason
        if n_models >= 3
        else "Fewer than three models have no ranking to compare.",
    }


def _row(quantity: str, reference: str, condition: str, model: str, scorer: str) -> dict[str, Any]:
    return {
        "quantity": quantity,
        "reference": reference,
        "condition": condition,
        "model": model,
        "scorer_id": scorer,
    }
