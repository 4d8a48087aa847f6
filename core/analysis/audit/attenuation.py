"""The correlation with English as a share of what the wording leaves of any correlation.

After "Lost in Translation" (arXiv 2610.20479), which sets the two side by side, and Spearman (1904)
for the correction. Letters: M models, V versions, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.columns import ends
from core.analysis.audit.names import NO_REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.conditions import parse_condition
from core.settings import REFERENCE_CONDITION
from core.stats.association import LEAST
from core.stats.attenuation import AgainstRewording, Attenuation, against_rewording
from core.stats.attenuation import attenuation as attenuation_of
from core.stats.resampling import bootstrap_weights

Array = npt.NDArray[np.float64]

_ENDS = ("", "_low", "_high")
_MOST = 16_000_000  # numbers of the weights that are kept for all languages, 128 MB


def attenuation(panel: Panel, request: AuditRequest) -> AuditTable:
    """How much of the correlation that wording allows remains across languages.

    Returns
    -------
    AuditTable
        Per language, correlations over items in each model, averaged over models, with 95 %
        percentile intervals over items. `r_ratio` is r_cross / r_reworded, on the `n_items` that
        have the translation and all `rewordings` of English, which are those of full coverage if
        there are any, in some model; the model with the fewest of them has `n_items_least`.

        Languages reworded by `methods` of English (labels that both have) also have `r_corrected`
        = r / sqrt(reliability_english x reliability_language), not clipped, on the
        `n_items_corrected` that have all these versions in both languages; `r_cross_corrected` is
        the uncorrected r there. `n_undefined*` counts draws, and `n_models_undefined*` models,
        without a number.
    """
    names, weights = panel.noise_rewordings(), _weights(panel, request)
    rows: list[dict[str, Any]] = []
    for language in panel.languages:
        labels = _shared_labels(panel, language)
        row: dict[str, Any] = {"condition": language}
        row |= {"rewordings": ", ".join(names), "methods": ", ".join(labels)}
        primary = _primary(panel, request, language, names, weights) if names else None
        corrected = _corrected(panel, request, language, labels, weights) if labels else None
        row |= _primary_columns(primary) | _corrected_columns(corrected)
        row["n_items_least"] = _fewest(panel, request, [language, *names]) if names else 0
        row["n_bootstrap"] = request.n_bootstrap
        rows.append(row | {"reason": _reason(language, primary, corrected)})
    columns = ["condition", "rewordings", "methods", *_primary_columns(None), "n_items_least"]
    columns += [*_corrected_columns(None), "n_bootstrap", "reason"]
    notes = () if names else (NO_REWORDING,)
    return AuditTable(pd.DataFrame(rows, columns=columns), notes + panel.no_languages)


def _weights(panel: Panel, request: AuditRequest) -> Array | None:
    """The draws of all languages; None where each should draw them again to save memory."""
    n_items = len(panel.items)
    if n_items * request.n_bootstrap > _MOST:
        return None
    return bootstrap_weights(n_items, request.n_bootstrap, rng=request.rng("attenuation"))


def _primary(
    panel: Panel, request: AuditRequest, language: str, names: list[str], weights: Array | None
) -> AgainstRewording:
    return against_rewording(
        _versions(panel, request, [REFERENCE_CONDITION, *names]),
        _versions(panel, request, [language])[:, 0],
        n_resamples=request.n_bootstrap,
        rng=request.rng("attenuation"),
        weights=weights,
    )


def _fewest(panel: Panel, request: AuditRequest, conditions: list[str]) -> int:
    """Items with English and all these versions in the model that has the fewest, of those used."""
    known = np.isfinite(_versions(panel, request, [REFERENCE_CONDITION, *conditions]))
    n = known.all(axis=1).sum(axis=-1)  # (M,)
    return int(n[n >= LEAST].min(initial=len(panel.items))) if (n >= LEAST).any() else 0


def _corrected(
    panel: Panel, request: AuditRequest, language: str, labels: list[str], weights: Array | None
) -> Attenuation:
    before, after = (
        _versions(panel, request, [original, *(f"{original}~{label}" for label in labels)])
        for original in (REFERENCE_CONDITION, language)
    )
    return attenuation_of(
        before,
        after,
        n_resamples=request.n_bootstrap,
        rng=request.rng("attenuation"),
        weights=weights,
    )


def _versions(panel: Panel, request: AuditRequest, conditions: list[str]) -> Array:
    """Scores of these conditions. (M, V, N)"""
    return panel.scores(request.kind)[:, [panel.at(c) for c in conditions]]


def _shared_labels(panel: Panel, language: str) -> list[str]:
    """Labels of the rewordings that English and a language both have."""
    own, english = (
        [parse_condition(c).rewording for c in panel.rewordings(of)]
        for of in (language, REFERENCE_CONDITION)
    )
    return [label for label in own if label in english]


def _primary_columns(found: AgainstRewording | None) -> dict[str, Any]:
    if found is None:
        names = [f"{name}{end}" for name in ("r_cross", "r_reworded", "r_ratio") for end in _ENDS]
        counts = dict.fromkeys(("n_items", "n_models", "n_models_undefined", "n_undefined"), 0)
        return counts | dict.fromkeys(names, np.nan)
    return {
        "n_items": found.n_items,
        "n_models": found.n_models,
        "n_models_undefined": found.n_models_undefined,
        "n_undefined": found.ratio.n_undefined,
        **ends("r_cross", found.r_cross),
        **ends("r_reworded", found.r_reworded),
        **ends("r_ratio", found.ratio),
    }


def _corrected_columns(found: Attenuation | None) -> dict[str, Any]:
    if found is None:
        of = ("r_cross_corrected", "reliability_english", "reliability_language", "r_corrected")
        counts = ("n_items", "n_models", "n_models_undefined", "n_undefined")
        return dict.fromkeys((f"{name}_corrected" for name in counts), 0) | dict.fromkeys(
            (f"{name}{end}" for name in of for end in _ENDS), np.nan
        )
    return {
        "n_items_corrected": found.n_items,
        "n_models_corrected": found.n_models,
        "n_models_undefined_corrected": found.n_models_undefined,
        "n_undefined_corrected": found.corrected.n_undefined,
        **ends("r_cross_corrected", found.r_cross),
        **ends("reliability_english", found.reliability_before),
        **ends("reliability_language", found.reliability_after),
        **ends("r_corrected", found.corrected),
    }


def _reason(language: str, primary: AgainstRewording | None, corrected: Attenuation | None) -> str:
    """Why a number of the row is NaN."""
    reasons = []
    if primary is None:
        reasons.append(NO_REWORDING)
    elif np.isnan(primary.ratio.value):
        reasons.append(_undefined("ratio", primary.n_models, "English rewordings"))
    if corrected is None:
        reasons.append(f"No rewording of {language} is made by a method that English has too.")
    elif np.isnan(corrected.corrected.value):
        reasons.append(_undefined("corrected value", corrected.n_models, "wordings"))
    return " ".join(reasons)


def _undefined(what: str, n_models: int, of: str) -> str:
    if n_models == 0:
        return (
            f"No {what}: no model has {LEAST} items with all these versions and scores that vary."
        )
    return f"No {what}: in no model do the {of} correlate above 0."
