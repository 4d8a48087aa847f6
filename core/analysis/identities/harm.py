"""Harmfulness of predicates against what models do with their pairs: by row as published, and ours.

A predicate's harmfulness is the mean over its rated pairs, so that one whose identities rate it
differently gets a value in between.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.panel import Array, IdentityPanel
from core.analysis.identities.rows import IdentityRequest, pair_counts
from core.stats.harmfulness import (
    LEAST,
    PredicateCorrelation,
    centred,
    grouped_means,
    predicate_correlations,
    row_correlation,
)
from core.stats.identity_bias import FEW_PREDICATES
from core.stats.intervals import Interval
from core.words import counted

NOT_INDEPENDENT = "rows are not independent"
_METHOD = (
    "By predicate: difference of scores (stereotypical less other, nats), less the mean of its "
    "identity, counterfactual and template, averaged over the predicate's pairs; p by permuting "
    "harmfulness over predicates, 95 % interval by drawing predicates with replacement. "
    "Harmfulness itself is not centred: how it differs between identities counts as well."
)
_ROWS = "By row, as published: pairs of one predicate are no new findings, so p is far too small."
_UNRATED = "The pairs have no harmfulness; import them with their predicates' survey answers."


def is_rated(panel: IdentityPanel) -> bool:
    """Whether any pair has a harmfulness."""
    return bool(panel.facts["harmfulness"].notna().any())


def harmfulness(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Correlation of harmfulness with the difference of scores. One row per model."""
    harm = panel.facts["harmfulness"].to_numpy(np.float64)
    differences, rated = _by_predicate(panel)
    found = predicate_correlations(
        differences, rated, n_resamples=request.n_resamples, rng=request.rng("harmfulness")
    )
    rows = []
    for m, (model, ours) in enumerate(zip(panel.models, found, strict=True)):
        published = row_correlation(panel.difference[m], harm)
        rows.append(
            {
                "model": model.label,
                "kind": model.kind,
                "condition": panel.condition,
                "r_rows": published.r,
                "p_rows": published.pvalue,
                "n": published.n,
                "rows": NOT_INDEPENDENT,
                **_interval("pearson", ours.pearson),
                "pearson_p": ours.pearson_pvalue,
                **_interval("spearman", ours.spearman),
                "spearman_p": ours.spearman_pvalue,
                "n_predicates": ours.n,
                "reason": _reason(ours),
            }
        )
    notes = (_METHOD, _ROWS) if is_rated(panel) else (_UNRATED,)
    outside = int((panel.facts["rated"].notna() & panel.facts["harmfulness"].isna()).sum())
    if outside:
        were = counted(outside, "pair has", "pairs have")
        notes = (*notes, f"{were} a harmfulness outside -1 to 4: left out.")
    table = pd.DataFrame(rows)
    counts = pair_counts(panel)
    table["n_uninformative"], table["n_not_scored"] = (
        counts[name] for name in ("n_uninformative", "n_not_scored")
    )
    return AuditTable(table, notes)


def predicates(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Every predicate with its harmfulness and the mean centred difference of each model's pairs.

    n counts the pairs with a difference.
    """
    codes = panel.codes("predicate")
    differences, harm = _by_predicate(panel)
    names = pd.unique(panel.facts["predicate"])
    tier = panel.facts.groupby(codes)["tier"].first()
    parts = []
    for m, model in enumerate(panel.models):
        known = np.isfinite(panel.difference[m])
        n = np.bincount(codes, weights=known, minlength=len(names)).astype(np.int64)
        parts.append(
            pd.DataFrame(
                {
                    "model": model.label,
                    "condition": panel.condition,
                    "predicate": names,
                    "harmfulness": harm,
                    "mean_difference": differences[m],
                    "tier": tier.to_numpy(),
                    "n": n,
                    "reason": np.where(
                        n == 0,
                        "No pair of it has a choice.",
                        np.where(np.isnan(harm), "Not rated.", ""),
                    ),
                }
            )
        )
    return AuditTable(pd.concat(parts, ignore_index=True), (_METHOD,))


def _by_predicate(panel: IdentityPanel) -> tuple[Array, Array]:
    """Mean centred difference (M, C) and harmfulness (C,) of the predicates."""
    codes = panel.codes("predicate")
    by = panel.facts.groupby(["identity", "counterfactual", "template"], sort=False, observed=True)
    cell = by.ngroup()
    differences = centred(panel.difference, np.asarray(cell, dtype=np.int64))
    harm = panel.facts["harmfulness"].to_numpy(np.float64)
    # The mean of equal ratings differs from them by rounding, which would break their ties.
    rated = np.round(grouped_means(harm[None], codes)[0], 9)
    return grouped_means(differences, codes), rated


def _interval(name: str, found: Interval) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _reason(found: PredicateCorrelation) -> str:
    if found.n < LEAST:
        return f"{found.n} rated predicates with a choice; a correlation needs {LEAST}."
    if math.isnan(found.pearson.value):
        return "Harmfulness or differences do not vary over the predicates."
    if math.isnan(found.pearson.low):
        return "Too few predicates for an interval."
    if found.n < FEW_PREDICATES:
        return f"Few predicates ({found.n}): the interval may be too narrow."
    return ""
