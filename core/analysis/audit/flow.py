"""From imported to compared: what became of every item.

After "Lost in Translation" (arXiv 2610.20479), appendix A.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION

ALL_MODELS = "all models"
MISSING = "not scored yet"
_COLUMNS = (
    *("scorer_id", "model", "n_models", "condition", "native", "n", "n_collapsed"),
    *("n_not_scored", "why", "n_used", "n_compared", "n_repeated_context", "reason"),
)


def item_flow(panel: Panel, request: AuditRequest) -> AuditTable:
    """Per condition: imported, collapsed, not scored and why, used.

    Returns
    -------
    AuditTable
        One row per condition where all models agree (`model` is "all models"), else one per
        model; natives have rows of their own. `n` imported = n_collapsed + n_not_scored + n_used.
        `why` counts the reasons of the unscored. `n_compared` are those used that have a change:
        their original is used too. `n_repeated_context` are items whose context in this condition
        is that of another item, though the two differ in English: translation made them alike, so
        they are no independent observations.
    """
    del request  # every table of the audit is asked in the same way
    versions = panel.versions.assign(repeated=_repeated_contexts(panel.versions))
    compared = np.isfinite(panel.changes("mean")).sum(axis=-1)  # (M, K)
    rows = []
    for native in (False, True):
        of_kind = versions[versions["native"] == native]
        conditions = _in_order(panel, of_kind["condition"].unique())
        for condition in conditions:
            part = of_kind[of_kind["condition"] == condition]
            rows += _condition_rows(panel, condition, native, part, compared)
    return AuditTable(pd.DataFrame(rows, columns=list(_COLUMNS)), _notes(rows))


def _condition_rows(
    panel: Panel, condition: str, native: bool, versions: pd.DataFrame, compared: np.ndarray
) -> list[dict[str, Any]]:
    """One row for all models where they agree, else one for each."""
    scored = panel.scored[panel.scored["condition"] == condition]
    counts = []
    for m, scorer_id in enumerate(panel.scorers):
        own = scored[scored["scorer_id"] == scorer_id]
        flow = _flow(versions, own)
        has_changes = not native and condition != REFERENCE_CONDITION
        flow["n_compared"] = int(compared[m, panel.at(condition)]) if has_changes else 0
        counts.append(flow)
    fixed = {"condition": condition, "native": native, "reason": ""}
    fixed["n_repeated_context"] = int(versions["repeated"].sum())
    if all(flow == counts[0] for flow in counts):
        whose = {"scorer_id": "", "model": ALL_MODELS, "n_models": len(counts)}
        return [whose | fixed | counts[0]]
    return [
        {"scorer_id": scorer_id, "model": model, "n_models": 1} | fixed | flow
        for scorer_id, model, flow in zip(panel.scorers, panel.models, counts, strict=True)
    ]


def _flow(versions: pd.DataFrame, scored: pd.DataFrame) -> dict[str, Any]:
    """What became of one condition's versions under one model."""
    collapsed = set(versions.loc[versions["collapsed"], "item_id"])
    there = scored[scored["item_id"].isin(set(versions["item_id"]) - collapsed)]
    used = there["l_stereotype"].notna()
    reasons = Counter(there.loc[~used, "reason"].replace("", "unknown"))
    n_missing = len(versions) - len(collapsed) - len(there)
    if n_missing:
        reasons[MISSING] = n_missing
    return {
        "n": len(versions),
        "n_collapsed": len(collapsed),
        "n_not_scored": int((~used).sum()) + n_missing,
        "why": ", ".join(f"{reason} {n}" for reason, n in reasons.most_common()),
        "n_used": int(used.sum()),
    }


def _repeated_contexts(versions: pd.DataFrame) -> pd.Series[bool]:
    """Whether another item has the same context in this condition, but another one in English."""
    twins = versions[~versions["native"]]
    english = twins[twins["condition"] == REFERENCE_CONDITION].set_index("item_id")["context_hash"]
    translated = twins[twins["item_id"].isin(english.index)]
    original = translated["item_id"].map(english)
    groups = original.groupby([translated["condition"], translated["context_hash"]])
    return (groups.transform("nunique") > 1).reindex(versions.index, fill_value=False)


def _in_order(panel: Panel, conditions: np.ndarray) -> list[str]:
    """The panel's conditions first, in their order; what only natives have behind."""
    return sorted(
        conditions,
        key=lambda c: (panel.at(c) if c in panel.conditions else len(panel.conditions), c),
    )


def _notes(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    repeated = {row["condition"]: row["n_repeated_context"] for row in rows}
    alike = [f"{condition} {n}" for condition, n in repeated.items() if n]
    if not alike:
        return ()
    return (
        "Items whose translated context equals that of another item, though the English ones "
        f"differ: {', '.join(alike)}; the tests take them for independent.",
    )
