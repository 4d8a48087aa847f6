"""From imported to compared: what became of every item.

After "Lost in Translation" (arXiv 2610.20479), appendix A.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.names import ALL_MODELS
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION

MISSING = "not scored yet"
_GROUP = ["native", "condition"]
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
    imported = versions.groupby(_GROUP).agg(
        n=("item_id", "size"), n_collapsed=("collapsed", "sum"), repeated=("repeated", "sum")
    )
    outcomes = _outcomes(panel)
    compared = np.isfinite(panel.changes("binary")).sum(axis=-1)  # (M, K)
    rows = []
    for native, condition in sorted(imported.index, key=lambda at: (at[0], _rank(panel, at[1]))):
        n, n_collapsed, n_repeated = map(int, imported.loc[(native, condition)])
        fixed = {"condition": condition, "native": native, "n_repeated_context": n_repeated}
        counts = []
        for m, scorer_id in enumerate(panel.scorers):
            found = outcomes.get((scorer_id, native, condition), Counter())
            flow = _flow(n, n_collapsed, found)
            has_changes = not native and condition != REFERENCE_CONDITION
            flow["n_compared"] = int(compared[m, panel.at(condition)]) if has_changes else 0
            counts.append(flow)
        rows += [fixed | row | {"reason": ""} for row in _by_model(panel, counts)]
    return AuditTable(
        pd.DataFrame(rows, columns=list(_COLUMNS)), _notes(rows) + panel.not_for_pairs
    )


def _outcomes(panel: Panel) -> dict[tuple[str, bool, str], Counter[str]]:
    """How many of the versions that did not collapse are used (""), or why they are not."""
    there = panel.versions.loc[~panel.versions["collapsed"], ["item_id", *_GROUP]]
    scored = panel.scored.merge(there, on=["item_id", "condition"])
    scored["reason"] = scored["reason"].replace("", "unknown")
    scored["reason"] = scored["reason"].mask(scored["is_scored"], "")
    sizes = scored.groupby(["scorer_id", *_GROUP, "reason"]).size().rename("size").reset_index()
    found: dict[tuple[str, bool, str], Counter[str]] = {}
    for row in sizes.to_dict("records"):
        group = (row["scorer_id"], row["native"], row["condition"])
        found.setdefault(group, Counter())[row["reason"]] = row["size"]
    return found


def _flow(n: int, n_collapsed: int, outcomes: Counter[str]) -> dict[str, Any]:
    """What became of one condition's versions under one model."""
    reasons = Counter({reason: count for reason, count in outcomes.items() if reason})
    n_missing = n - n_collapsed - outcomes.total()
    if n_missing:
        reasons[MISSING] = n_missing
    return {
        "n": n,
        "n_collapsed": n_collapsed,
        "n_not_scored": reasons.total(),
        "why": ", ".join(f"{reason} {count}" for reason, count in reasons.most_common()),
        "n_used": outcomes[""],
    }


def _by_model(panel: Panel, counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for all models where they agree, else one for each."""
    if all(flow == counts[0] for flow in counts):
        return [{"scorer_id": "", "model": ALL_MODELS, "n_models": len(counts)} | counts[0]]
    return [
        {"scorer_id": scorer_id, "model": model, "n_models": 1} | flow
        for scorer_id, model, flow in zip(panel.scorers, panel.models, counts, strict=True)
    ]


def _repeated_contexts(versions: pd.DataFrame) -> pd.Series[bool]:
    """Whether another item has the same context in this condition, but another one in English."""
    twins = versions[~versions["native"]]
    english = twins[twins["condition"] == REFERENCE_CONDITION].set_index("item_id")["context_hash"]
    translated = twins[twins["item_id"].isin(english.index)]
    original = translated["item_id"].map(english)
    groups = original.groupby([translated["condition"], translated["context_hash"]])
    return (groups.transform("nunique") > 1).reindex(versions.index, fill_value=False)


def _rank(panel: Panel, condition: str) -> tuple[int, str]:
    """The panel's conditions first, in their order; what only natives have behind."""
    known = condition in panel.conditions
    return (panel.at(condition) if known else len(panel.conditions), condition)


def _notes(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    repeated = {row["condition"]: row["n_repeated_context"] for row in rows}
    alike = [f"{condition} {n}" for condition, n in repeated.items() if n]
    if not alike:
        return ()
    return (
        "Items whose translated context equals that of another item, though the English ones "
        f"differ: {', '.join(alike)}; the tests take them for independent.",
    )
