"""Items written directly in a language, beside those translated into it.

After "Lost in Translation" (arXiv 2610.20479). Natives have no English twin, so nothing is compared
with them: the means stand side by side, of different items.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.known import mean_over_items
from core.stats.scores import ScoreKind, log_odds, score_of

Array = npt.NDArray[np.float64]

NONE = "The data set has no item that was written directly in a language."
UNDEFINED = "The natives of this language have no score of this kind."
NOT_SCORED = "No native item of this language is scored under this model."
OTHERS = "Natives and translations are different items; their difference is no comparison."
_COLUMNS = (
    *("model", "scorer_id", "condition", "score", "score_binary", "n", "score_translated"),
    *("score_translated_binary", "n_translated", "reason"),
)


def natives(panel: Panel, request: AuditRequest) -> AuditTable:
    """Mean score of native items per model and language.

    Returns
    -------
    AuditTable
        `score` and `score_binary` of `n` natives that did not collapse; beside them the means of
        the `n_translated` items that were translated into the language, which are other items.
    """
    versions = panel.versions
    own = versions[versions["native"] & ~versions["collapsed"].astype(bool)]
    conditions = sorted(own["condition"].unique())
    points = ["points_stereotype", "points_anti"]
    known = panel.scored.merge(own[["item_id", "condition", *points]], on=["item_id", "condition"])
    rows = []
    for scorer_id, model in zip(panel.scorers, panel.models, strict=True):
        for condition in conditions:
            of = known[(known["scorer_id"] == scorer_id) & (known["condition"] == condition)]
            score, _ = mean_over_items(_scores(of, request.kind))
            binary, n = mean_over_items(_scores(of, "binary"))
            rows.append(
                {
                    "model": model,
                    "scorer_id": scorer_id,
                    "condition": condition,
                    "score": float(score),
                    "score_binary": float(binary),
                    "n": int(n),
                    **_translated(panel, request, scorer_id, condition),
                    "reason": _reason(float(score), int(n)),
                }
            )
    notes = (OTHERS,) if rows else (NONE,)
    return AuditTable(pd.DataFrame(rows, columns=list(_COLUMNS)), notes + panel.not_for_pairs)


def _translated(
    panel: Panel, request: AuditRequest, scorer_id: str, condition: str
) -> dict[str, float | int]:
    """The same model's means over the translated items of the language."""
    if condition not in panel.conditions:
        nothing = {"score_translated": np.nan, "score_translated_binary": np.nan}
        return nothing | {"n_translated": 0}
    m, k = panel.scorers.index(scorer_id), panel.at(condition)
    score, _ = mean_over_items(panel.scores(request.kind)[m, k])
    binary, n = mean_over_items(panel.scores("binary")[m, k])
    return {
        "score_translated": float(score),
        "score_translated_binary": float(binary),
        "n_translated": int(n),
    }


def _reason(score: float, n: int) -> str:
    if not n:
        return NOT_SCORED
    return UNDEFINED if np.isnan(score) else ""


def _scores(rows: pd.DataFrame, kind: ScoreKind) -> Array:
    """Scores of one kind, as of `Panel.scores`. (N,)"""
    names = [f"{u}_{s}" for u in ("l", "sum", "order") for s in ("stereotype", "anti")]
    numbers = {name: rows[name] for name in names}
    points = {s: rows[f"points_{s}"] for s in ("stereotype", "anti")}
    return score_of(kind, log_odds(kind, numbers, points))
