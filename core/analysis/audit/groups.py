"""Do scores differ between resource levels, groups of models, categories of items?

After "Lost in Translation" (arXiv 2610.20479): least squares on the item scores with errors
clustered by item, and Kruskal-Wallis on per-model means. Models are few, so the exact permutation
of their labels stands beside it. Letters: M models, L languages, N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION
from core.stats.groups import Factor, clustered_ols
from core.stats.known import mean_of_known
from core.stats.ranks import RankTest, rank_test

Array = npt.NDArray[np.float64]

RESOURCE, GROUP, CATEGORY = "resource level", "model group", "category"
BASELINES = {RESOURCE: "high", GROUP: "English-focused", CATEGORY: ""}

NO_GROUPS = "No model is in a group; name groups of models to compare them."
ONE_GROUP = "The models are in one group, so there is no other to compare it with."
NO_SPREAD = "The means of the models do not differ."
_COLUMNS = (
    *("kind", "outcome", "factor", "level", "baseline", "estimate", "error", "low", "high"),
    *("statistic", "pvalue", "n", "n_items", "n_models", "n_groups", "n_labelings", "exact"),
    "reason",
)


def groups(panel: Panel, request: AuditRequest) -> AuditTable:
    """Compare resource levels, groups of models and categories.

    Returns
    -------
    AuditTable
        kind ols: the intercept and each level of a factor in the fit of the `score` of every model
        and item in English and every language: `estimate` against the `baseline`, standard `error`
        clustered by item, 95 % interval `low`, `high`, p of t; `n` scores of `n_items` items and
        `n_models` models have the level.

        kind kruskal_wallis: H (`statistic`) of the models' mean scores over the languages, and of
        their mean drops, over groups of models (`level` says how many each has), p of chi-square;
        kind label_permutation: the same H against other labels, `exact` if against all
        `n_labelings` of them. `n` counts models.
    """
    grouped = _groups_of_models(panel, request)
    rows = [*_ols_rows(panel, request, grouped), *_rank_rows(panel, request, grouped)]
    kinds = {"exact": "boolean", "n_labelings": "Int64", "n_groups": "Int64"}
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(kinds)
    return AuditTable(table, _notes(panel, grouped) + panel.not_for_pairs)


def _groups_of_models(panel: Panel, request: AuditRequest) -> list[str]:
    """The group of each model, by its scorer id, its label or the beginning that is its name. (M,)

    A label reads "name, precision, device"; a request names the model alone.
    """
    named = dict(request.model_groups)
    found = []
    for scorer_id, label in zip(panel.scorers, panel.models, strict=True):
        keys = (scorer_id, label, label.partition(", ")[0])
        found.append(next((named[key] for key in keys if key in named), ""))
    return found


def _ols_rows(panel: Panel, request: AuditRequest, grouped: list[str]) -> list[dict[str, Any]]:
    conditions = [REFERENCE_CONDITION, *panel.languages]
    scores = panel.scores(request.kind)[:, [panel.at(c) for c in conditions]]  # (M, 1 + L, N)
    m, k, i = (axis.ravel() for axis in np.indices(scores.shape))
    levels = _resource_levels(panel, conditions)
    categories = panel.items["category"].astype(str).to_numpy(object)
    of_rows = {
        RESOURCE: levels[k, i],
        GROUP: np.array(grouped, dtype=object)[m],
        CATEGORY: categories[i],
    }
    factors = [Factor(name, of_rows[name].tolist(), BASELINES[name]) for name in of_rows]
    found = clustered_ols(scores.ravel(), i, factors)
    used = np.isfinite(scores.ravel())
    for name in {term.factor for term in found.terms if term.baseline}:
        used &= of_rows[name] != ""
    return [
        {
            "kind": "ols",
            "outcome": "score",
            "factor": term.factor,
            "level": term.level,
            "baseline": term.baseline,
            "estimate": term.estimate,
            "error": term.error,
            "low": term.confidence_interval[0],
            "high": term.confidence_interval[1],
            "statistic": term.estimate / term.error,
            "pvalue": term.pvalue,
            "n": term.n,
            "n_items": term.n_clusters,
            "n_models": _n_models(of_rows, term.factor, term.level, m, used),
            "reason": term.reason,
        }
        for term in found.terms
    ]


def _n_models(
    of_rows: dict[str, Any],
    factor: str,
    level: str,
    m: npt.NDArray[np.intp],
    used: npt.NDArray[np.bool_],
) -> int:
    inside = used & (of_rows[factor] == level) if factor in of_rows else used
    return len(np.unique(m[inside]))


def _resource_levels(panel: Panel, conditions: list[str]) -> npt.NDArray[np.object_]:
    """The resource level of each version, empty where it names none. (conditions, N)"""
    levels = np.full((len(panel.conditions), len(panel.items)), "", dtype=object)
    twins = panel.versions[~panel.versions["native"]]
    at, known = panel.place(twins)
    levels[at] = twins["resource_level"].astype(str).to_numpy(object)[known]
    return levels[[panel.at(c) for c in conditions]]


def _rank_rows(panel: Panel, request: AuditRequest, grouped: list[str]) -> list[dict[str, Any]]:
    at = [panel.at(c) for c in panel.languages]
    rows = []
    for outcome, values in (
        ("score", panel.scores(request.kind)[:, at]),
        ("drop", -panel.changes(request.kind)[:, at]),
    ):
        by_language = mean_of_known(np.moveaxis(values, -1, 0))  # (M, L)
        means = mean_of_known(by_language.T)  # (M,)
        found = rank_test(
            means, grouped, n_resamples=request.n_resamples, rng=request.rng("groups")
        )
        row = {
            "outcome": outcome,
            "factor": GROUP,
            "level": ", ".join(f"{name} ({n})" for name, n in found.sizes.items()),
            "statistic": found.statistic,
            "n": found.n,
            "n_items": int(np.isfinite(values).any(axis=(0, 1)).sum()),
            "n_models": found.n,
            "n_groups": len(found.sizes),
            "reason": _reason(found),
        }
        rows.append(row | {"kind": "kruskal_wallis", "pvalue": found.pvalue})
        rows.append(
            row
            | {
                "kind": "label_permutation",
                "pvalue": found.pvalue_permutation,
                "n_labelings": found.n_labelings,
                "exact": found.exact if found.n_labelings else None,
            }
        )
    return sorted(rows, key=lambda row: str(row["kind"]))


def _reason(found: RankTest) -> str:
    if not found.sizes:
        return NO_GROUPS
    if len(found.sizes) == 1:
        return ONE_GROUP
    return NO_SPREAD if np.isnan(found.statistic) else ""


def _notes(panel: Panel, grouped: list[str]) -> tuple[str, ...]:
    notes = ["Errors are over items: they say nothing of other models or languages than these."]
    sizes = {name: grouped.count(name) for name in sorted(set(grouped)) if name}
    if left := [m for m, name in zip(panel.models, grouped, strict=True) if not name]:
        notes.append(
            f"In no group, and so left out where groups are compared: {'; '.join(left)}."
            if sizes
            else NO_GROUPS
        )
    if alone := [name for name, n in sizes.items() if n == 1]:
        notes.append(f"A group of one model has no spread of its own: {', '.join(alone)}.")
    if sizes and min(sizes.values()) < 5:
        notes.append(
            "The p of chi-square is an approximation for groups of five or more models; the "
            "permutation of labels needs none."
        )
    return tuple(notes)
