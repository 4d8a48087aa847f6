"""What becomes of single preferences: same choices, fates, and how strong they are.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show.
Letters: M models, N items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.columns import neutral_score, whose
from core.analysis.audit.names import NO_ITEM, NO_ORIGINAL, NO_REWORDING, REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.agreement import SameChoice, mean_distance
from core.stats.agreement import fates as fates_of
from core.stats.agreement import same_choice as same_choice_of

Array = npt.NDArray[np.float64]

ONE_POLE = "All choices are of one pole, so kappa is undefined."
NO_BAND = "Standardised scores have no band that counts as neutral."
_ABOVE = ("n_above", "kept", "neutral", "reversed")
_BELOW = ("n_below", "kept_below", "neutral_below", "reversed_below")


def same_choice(panel: Panel, request: AuditRequest) -> AuditTable:
    """How often both versions prefer the same pole, beside the rate of independent versions.

    Returns
    -------
    AuditTable
        Per condition all rows (`group_kind` "all") and those of each "model". The numbers of
        condition "rewording" are means over the rewordings of English that cover all of it
        (all there are, if none does); its n counts their rows.
    """
    rows: list[dict[str, Any]] = []
    for condition, versions in _conditions(panel, request):
        for m in (None, *range(len(panel.models))):
            pairs = [(a, b) if m is None else (a[m], b[m]) for a, b in versions]
            found = [same_choice_of(a, b, neutral=neutral_score(request)) for a, b in pairs]
            rows.append(
                {
                    "condition": condition,
                    "group_kind": "all" if m is None else "model",
                    **whose(panel, m),
                    "n": sum(one.n for one in found),
                    "n_items": _n_items(pairs),
                    **_mean_choices([one for one in found if one.n], _unscored(panel, condition)),
                }
            )
    columns = ["condition", "group_kind", "scorer_id", "model", "n", "n_items"]
    columns += ["same_choice", "same_choice_expected", "kappa", "reason"]
    return AuditTable(pd.DataFrame(rows, columns=columns), _notes(panel))


def fates(panel: Panel, request: AuditRequest) -> AuditTable:
    """What becomes of clear preferences: kept, neutral or reversed.

    Returns
    -------
    AuditTable
        Per condition, over all models: of the `n_above` rows above 0.55 in the original how many
        stay above 0.55 (`kept`), end in [0.45, 0.55] (`neutral`) or below 0.45 (`reversed`); of
        the `n_below` below 0.45 the mirror image (`*_below`). `share_*` is of n_above or n_below,
        NaN where that is 0. Condition "rewording" counts the rewordings of English as
        `same_choice` does.
    """
    has_band = request.kind != "standardised"
    rows: list[dict[str, Any]] = []
    for condition, versions in _conditions(panel, request):
        found = [asdict(fates_of(a, b)) for a, b in versions]
        total = {name: sum(one[name] for one in found) for name in ("n", *_ABOVE, *_BELOW)}
        row: dict[str, Any] = {"condition": condition, "n": total["n"]}
        row["n_items"] = _n_items(versions)
        for of, *ends in (_ABOVE, _BELOW):
            for name in (of, *ends):
                row[name] = total[name] if has_band else np.nan
            for name in ends:
                row[f"share_{name}"] = row[name] / total[of] if total[of] else np.nan
        row["reason"] = _no_fate(total, _unscored(panel, condition)) if has_band else NO_BAND
        rows.append(row)
    columns = ["condition", "n", "n_items"]
    for of, *ends in (_ABOVE, _BELOW):
        columns += [of, *ends, *(f"share_{name}" for name in ends)]
    notes = _notes(panel) if has_band else (NO_BAND, *_notes(panel))
    return AuditTable(pd.DataFrame(rows, columns=[*columns, "reason"]), notes)


def distance(panel: Panel, request: AuditRequest) -> AuditTable:
    """How strong preferences are, whichever way: mean |SS - 0.5| per model and condition.

    Returns
    -------
    AuditTable
        `distance` in the condition and `distance_original` in its `original`, both over the `n`
        rows that are scored in both; over all models (`group_kind` "all") and for each "model".
        English is its own original.
    """
    scores, neutral = panel.scores(request.kind), neutral_score(request)
    rows: list[dict[str, Any]] = []
    for condition in panel.conditions:
        original = panel.original(condition)
        before, after = panel.before(request.kind, condition), scores[:, panel.at(condition)]
        whole = np.isfinite(before) & np.isfinite(after)
        for m in (None, *range(len(panel.models))):
            of = slice(None) if m is None else m
            n = int(whole[of].sum())
            rows.append(
                {
                    "condition": condition,
                    "original": original,
                    "group_kind": "all" if m is None else "model",
                    **whose(panel, m),
                    "n": n,
                    "n_items": int(np.atleast_2d(whole[of]).any(axis=0).sum()),
                    "distance": mean_distance(after[of][whole[of]], neutral=neutral),
                    "distance_original": mean_distance(before[of][whole[of]], neutral=neutral),
                    "reason": "" if n else _unscored(panel, condition),
                }
            )
    return AuditTable(pd.DataFrame(rows), panel.not_for_pairs)


def _conditions(
    panel: Panel, request: AuditRequest
) -> Iterator[tuple[str, list[tuple[Array, Array]]]]:
    """Each language, the noise of English together, each rewording: scores (M, N) of both."""

    def versions(condition: str) -> tuple[Array, Array]:
        after = panel.scores(request.kind)[:, panel.at(condition)]
        return panel.before(request.kind, condition), after

    for language in panel.languages:
        yield language, [versions(language)]
    if names := panel.noise_rewordings():
        yield REWORDING, [versions(c) for c in names]
    for condition in panel.conditions:
        if condition in panel.rewordings(panel.original(condition)):
            yield condition, [versions(condition)]


def _mean_choices(found: list[SameChoice], none: str) -> dict[str, Any]:
    """Means over versions; kappa over those in which it is defined. `none`: why nothing is."""
    kappas = [one.kappa for one in found if not np.isnan(one.kappa)]
    return {
        "same_choice": np.mean([one.same for one in found]) if found else np.nan,
        "same_choice_expected": np.mean([one.expected for one in found]) if found else np.nan,
        "kappa": np.mean(kappas) if kappas else np.nan,
        "reason": none if not found else "" if kappas else ONE_POLE,
    }


def _no_fate(total: dict[str, int], none: str) -> str:
    if total["n"] == 0:
        return none
    sides = [s for s, name in (("above", "n_above"), ("below", "n_below")) if not total[name]]
    return f"No preference is clearly {' or '.join(sides)} neutral before." if sides else ""


def _unscored(panel: Panel, condition: str) -> str:
    """Why a condition has no row with both scores."""
    has_original = condition == REWORDING or panel.original(condition) in panel.conditions
    return NO_ITEM if has_original else NO_ORIGINAL


def _n_items(pairs: list[tuple[Array, Array]]) -> int:
    """Items with both scores in at least one row."""
    whole = [np.atleast_2d(np.isfinite(a) & np.isfinite(b)) for a, b in pairs]
    return int(np.concatenate(whole).any(axis=0).sum())


def _notes(panel: Panel) -> tuple[str, ...]:
    reworded = () if panel.rewordings() else (NO_REWORDING,)
    return reworded + panel.no_languages
