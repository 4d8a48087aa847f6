"""Would a shift be noticed? Shifts put into the scores, and the size of the test.

After "Lost in Translation" (arXiv 2610.20479), the section on sensitivity. Letters: P pairs of a
model and a rewording, N items.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.injection import DELTAS, injection_curve
from core.stats.scores import ScoreKind, log_odds
from core.stats.size import size_check

Array = npt.NDArray[np.float64]

N_RUNS = 200  # of each size; published
N_SIZE_WORLDS = 50
INJECTION_DRAWS = 2_000  # published

FIXED = (
    "The scores are the same in all runs, so the flags among the rest are what these scores give; "
    "the size check alone says how often the test rejects where there is nothing."
)
NO_PAIR = "No model has scored two items of a rewording of English in both versions."
NOT_SHIFTED = "Nothing was put in, so nothing that is found can be exaggerated."
NOT_FOUND = "No run found the shifted pair, so there is no estimate that could be exaggerated."
NO_SIZE = "The items of every pair change alike, so there is no size to check."
_INJECTION = (
    *("check", "delta", "shift", "detection", "detection_error", "flags_among_rest"),
    *("exaggeration", "n_detected", "rejection_rate", "rejection_error", "rejection_any"),
    *("rejection_any_error", "n_runs", "n_pairs", "n_items", "n_resamples", "reason"),
)


def injection(panel: Panel, request: AuditRequest, *, n_runs: int = N_RUNS) -> AuditTable:
    """Put shifts of known sizes into pairs of a model and a rewording, and count what is found.

    Returns
    -------
    AuditTable
        `check` "injection": one row per `delta` on the log-odds (nats). `shift` is what it does to
        the mean score of a pair; `detection` the share of `n_runs` that find the shifted pair at
        q < .05 among `n_pairs`; `flags_among_rest` the others found per run; `exaggeration` the
        mean |estimate| among detections over the true shift. `check` "size": `rejection_rate` is
        the share of p < .05 in worlds of resampled items without any effect, `rejection_any` that
        of worlds with a q < .05. `*_error` are Monte-Carlo errors, over the runs or worlds;
        `n_runs` and `n_resamples`, the sign vectors in each, are fixed.

    Notes
    -----
    Pairs of a model are of full coverage; if it has none such, of all rewordings of English. Scores
    are the mean, summed or per-code-point ones; for the other kinds, which have no log-odds, the
    mean.
    """
    pairs = injection_pairs(panel)
    original, reworded = pair_log_odds(panel, request.kind, pairs)
    n_items = int((np.isfinite(original) & np.isfinite(reworded)).any(axis=0).sum())
    rng = request.rng("injection")
    points = injection_curve(
        original, reworded, DELTAS, n_runs=n_runs, n_resamples=INJECTION_DRAWS, rng=rng
    )
    rows: list[dict[str, Any]] = [{"check": "injection", **asdict(point)} for point in points]
    kind = shifted_kind(request.kind)
    changes = panel.changes(kind)[[m for m, _ in pairs], [k for _, k in pairs]]
    size = size_check(changes, n_worlds=N_SIZE_WORLDS, n_resamples=INJECTION_DRAWS, rng=rng)
    rows.append(
        {
            "check": "size",
            "rejection_rate": size.rate,
            "rejection_error": size.error,
            "rejection_any": size.rate_any,
            "rejection_any_error": size.rate_any_error,
            "n_runs": size.n_worlds,
            "n_pairs": size.n_pairs,
        }
    )
    table = pd.DataFrame(rows, columns=list(_INJECTION))
    table["n_items"], table["n_resamples"] = n_items, INJECTION_DRAWS
    none = NO_SIZE if points[0].n_pairs else NO_PAIR
    table["reason"] = np.where(table["n_pairs"] > 0, _no_exaggeration(table), none)
    return AuditTable(table, (FIXED, *not_shifted(request.kind), *panel.not_for_pairs))


def shifted_kind(kind: ScoreKind) -> ScoreKind:
    """The kind of score that shifts are put into where this one is asked for."""
    return kind if kind in ("summed", "per_code_point") else "mean"


def not_shifted(kind: ScoreKind) -> tuple[str, ...]:
    """That shifts are put into another kind of score than this one, if they are."""
    if shifted_kind(kind) == kind:
        return ()
    return (f"Of mean scores: {kind} ones have no log-odds to shift.",)


def _no_exaggeration(table: pd.DataFrame) -> list[str]:
    """Why a size of shift has no exaggeration ratio; nothing for the size check."""
    reasons = []
    for row in table.to_dict("records"):
        lacks = row["check"] == "injection" and np.isnan(row["exaggeration"])
        reasons.append((NOT_FOUND if row["delta"] else NOT_SHIFTED) if lacks else "")
    return reasons


def injection_pairs(panel: Panel) -> list[tuple[int, int]]:
    """Model and condition of every pair that a shift may be put into.

    Of each model the rewordings of English with full coverage; if there is none such, all of them.
    """
    models = range(len(panel.models))
    return [(m, panel.at(c)) for m in models for c in panel.noise_rewordings(model=m)]


def pair_log_odds(
    panel: Panel, kind: ScoreKind, pairs: list[tuple[int, int]]
) -> tuple[Array, Array]:
    """Log-odds u = l+ - l- of the English items and of the reworded ones, nats. (P, N) each"""
    u = log_odds(kind, panel.numbers, panel.points)
    models, conditions = [m for m, _ in pairs], [k for _, k in pairs]
    return u[models, panel.english], u[models, conditions]
