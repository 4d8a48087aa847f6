"""Gaps of each model to a reference language, and how consistent it is over the languages.

After "Lost in Translation" (arXiv 2610.20479), cross-lingual stereotype score and consistency.
Letters: M models, K conditions, L languages, N items.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.names import NO_ITEM_OF_MODEL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.known import mean_over_items
from core.stats.paired import paired_correlation

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LEAST_RANKED = 3
NO_GAP = "No language has a gap under this model."
FEW_MODELS = "Fewer than three models have no ranking to compare."
NO_SHARED = "No language is compared with both references under every one of these models."
SAME_CLCI = "Models do not differ in CLCI."
NO_REFERENCE = "The reference {} is neither English nor a translation, so there are no gaps to it."


@dataclass(frozen=True)
class _Gaps:
    """Gaps of the models to one reference."""

    conditions: tuple[str, ...]  # the languages other than the reference, (L,)
    css: Array  # |mean d|, (M, L)
    n: npt.NDArray[np.int64]  # items of each, (M, L)
    compared: Mask  # which items these are, (M, L, N)

    def of(self, conditions: Collection[str]) -> _Gaps:
        """Those in some of the languages alone."""
        at = [k for k, condition in enumerate(self.conditions) if condition in conditions]
        names = tuple(self.conditions[k] for k in at)
        return _Gaps(names, self.css[:, at], self.n[:, at], self.compared[:, at])


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
        between the CLCI under it and under English, both of `n` items, NaN below three models. All
        ranked models are compared over the same languages: those with a gap to both references
        under each of them. `languages` names those of a row; under another reference English is in
        the place of that one.
    """
    plain = [panel.conditions[panel.english], *panel.languages]
    scores = panel.scores(request.kind)[:, [panel.at(c) for c in plain]]  # (M, K, N)
    gaps = {reference: _gaps(scores, plain, reference) for reference in plain}
    rows: list[dict[str, Any]] = []
    for reference, found in gaps.items():
        if reference == request.reference:
            rows += _css_rows(panel, reference, found)
        rows += _clci_rows(panel, reference, found)
    rows += [_stability_row(gaps[plain[0]], gaps[c], plain[0], c) for c in plain[1:]]
    notes = () if request.reference in plain else (NO_REFERENCE.format(request.reference),)
    return AuditTable(pd.DataFrame(rows), notes + panel.no_languages)


def _gaps(scores: Array, plain: list[str], reference: str) -> _Gaps:
    """The gaps of all models to a reference, in the languages other than it."""
    others = [k for k, condition in enumerate(plain) if condition != reference]
    changes = scores[:, others] - scores[:, [plain.index(reference)]]
    mean, n = mean_over_items(changes)
    return _Gaps(tuple(plain[k] for k in others), np.abs(mean), n, np.isfinite(changes))


def clci(css: Array) -> Array:
    """Cross-lingual consistency: 1 - mean |mean d| over the languages with one. (M, L) -> (M,)"""
    return np.asarray(1 - mean_over_items(css)[0])


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's correlation with mean ranks for ties; NaN below three pairs or without spread."""
    both = np.isfinite(a) & np.isfinite(b)
    ranked = (pd.Series(x[both]).rank().to_numpy(np.float64) for x in (a, b))
    return paired_correlation(*ranked)


def _css_rows(panel: Panel, reference: str, gaps: _Gaps) -> list[dict[str, Any]]:
    return [
        {
            **_row("css", reference, condition, panel.models[m], panel.scorers[m]),
            "value": gaps.css[m, k],
            "n": int(gaps.n[m, k]),
            "n_changes": int(gaps.n[m, k]),
            "n_languages": 1,
            "n_models": 1,
            "languages": condition,
            "reason": "" if gaps.n[m, k] else NO_ITEM_OF_MODEL,
        }
        for m in range(len(panel.scorers))
        for k, condition in enumerate(gaps.conditions)
    ]


def _clci_rows(panel: Panel, reference: str, gaps: _Gaps) -> list[dict[str, Any]]:
    """`n` counts the items behind the gaps of a model, `n_changes` how often they are compared."""
    values = clci(gaps.css)
    rows = []
    for m, (model, scorer_id) in enumerate(zip(panel.models, panel.scorers, strict=True)):
        names = [c for c, n in zip(gaps.conditions, gaps.n[m], strict=True) if n]
        rows.append(
            {
                **_row("clci", reference, "", model, scorer_id),
                "value": values[m],
                "n": int(gaps.compared[m].any(axis=0).sum()),
                "n_changes": int(gaps.n[m].sum()),
                "n_languages": len(names),
                "n_models": 1,
                "languages": ", ".join(names),
                "reason": "" if names else NO_GAP,
            }
        )
    return rows


def _stability_row(english: _Gaps, other: _Gaps, first: str, reference: str) -> dict[str, Any]:
    """Of the models that have a gap to both references, over the languages that all of them have.

    A language that one of them lacks would rank it by other gaps than the rest.
    """
    ranked = (english.n > 0).any(axis=1) & (other.n > 0).any(axis=1)  # (M,)
    whole = [
        {c for k, c in enumerate(gaps.conditions) if (gaps.n[ranked, k] > 0).all()}
        for gaps in (english, other)
    ]
    # What lies between the two references is a gap to both, where it is one at all.
    between = {first, reference} if reference in whole[0] else set()
    shared = (whole[0] & whole[1]) | between
    pair = [gaps.of(shared) for gaps in (english, other)]
    value = rank_correlation(*(clci(gaps.css[ranked]) for gaps in pair))
    n_models = int(ranked.sum())
    compared = np.concatenate([gaps.compared for gaps in pair], axis=1)[ranked]  # (M, 2 L, N)
    items = np.asarray(compared.any(axis=1))
    reason = "" if np.isfinite(value) else SAME_CLCI
    if n_models < LEAST_RANKED:
        reason = FEW_MODELS
    elif not shared:
        reason = NO_SHARED
    return {
        **_row("rank_stability", reference, first, "", ""),
        "value": value,
        "n": int(items.any(axis=0).sum()),
        "n_changes": int(items.sum()),
        "n_languages": len(pair[0].conditions),
        "n_models": n_models,
        "languages": ", ".join(pair[0].conditions),
        "reason": reason,
    }


def _row(quantity: str, reference: str, condition: str, model: str, scorer: str) -> dict[str, Any]:
    return {
        "quantity": quantity,
        "reference": reference,
        "condition": condition,
        "model": model,
        "scorer_id": scorer,
    }
