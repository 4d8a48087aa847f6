"""Whether models agree about items: on their scores, on what translation changes, on what is left.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.names import NO_AGREEMENT, NO_ORIGINAL
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.agreement import (
    change_correlation_if_unrelated,
    pairwise_correlation,
    residuals,
)
from core.stats.association import LEAST


def agreement(panel: Panel, request: AuditRequest) -> AuditTable:
    """Mean over pairs of models of Pearson's r over items, per condition.

    Returns
    -------
    AuditTable
        `r_scores` in the condition itself; of the changes from its `original` `r_changes`, beside
        `r_changes_if_unrelated`, what they would agree by construction, on the same items, if the
        scores in the condition shared nothing with anything; `r_residuals` of what each model's
        regression on the original leaves. Each is over the items that both models of a pair have:
        `n_pairs` pairs with an r of their scores and the `n_items` in them; `n_pairs_changes` and
        `n_items_changes` of their changes; `n_pairs_undefined` pairs have no r of their scores.
        English has no changes.
    """
    scores, changes = panel.scores(request.kind), panel.changes(request.kind)
    rows: list[dict[str, Any]] = []
    for k, condition in enumerate(panel.conditions):
        after, before = scores[:, k], panel.before(request.kind, condition)
        of_scores, of_changes = pairwise_correlation(after), pairwise_correlation(changes[:, k])
        row: dict[str, Any] = {"condition": condition, "original": panel.original(condition)}
        row |= {"n_models": len(panel.models), "n_pairs": of_scores.n_pairs}
        row |= {"n_pairs_undefined": of_scores.n_undefined, "n_items": of_scores.n_items}
        row |= {"n_pairs_changes": of_changes.n_pairs, "n_items_changes": of_changes.n_items}
        row |= {"r_scores": of_scores.r, "r_changes": of_changes.r}
        row |= {"r_changes_if_unrelated": np.nan, "r_residuals": np.nan}
        if k != panel.english:
            row["r_changes_if_unrelated"] = change_correlation_if_unrelated(before, after)
            row["r_residuals"] = pairwise_correlation(residuals(before, after)).r
        has_original = row["original"] in panel.conditions
        reason = _reason(row, is_english=k == panel.english, has_original=has_original)
        rows.append(row | {"reason": reason})
    notes = (NO_AGREEMENT,) if len(panel.models) == 1 else ()
    return AuditTable(pd.DataFrame(rows), notes + panel.not_for_pairs)


def _reason(row: dict[str, Any], *, is_english: bool, has_original: bool) -> str:
    if row["n_models"] == 1:
        return NO_AGREEMENT
    if row["n_pairs"] == 0:
        return f"No two models have {LEAST} scored items in common on which both vary."
    if is_english:
        return "English is what the others are compared with, so it has no changes."
    if not has_original:
        return NO_ORIGINAL
    if row["n_pairs_changes"] == 0:
        return f"No two models have {LEAST} changes in common on which both vary."
    if np.isnan(row["r_residuals"]):
        return "No two models have residuals in common that vary."
    return ""
