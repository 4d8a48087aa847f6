"""Columns that many tables of an audit share, and the scale they are on."""

from __future__ import annotations

from core.analysis.audit.names import ALL_MODELS
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.association import NEUTRAL
from core.stats.intervals import Interval


def neutral_score(request: AuditRequest) -> float:
    """The score of no preference on the scale that is asked for."""
    return 0.0 if request.kind == "standardised" else NEUTRAL


def whose(panel: Panel, model: int | None) -> dict[str, str]:
    """The columns that name one model, or all of them."""
    if model is None:
        return {"scorer_id": "", "model": ALL_MODELS}
    return {"scorer_id": panel.scorers[model], "model": panel.models[model]}


def ends(name: str, interval: Interval) -> dict[str, float]:
    """The three columns of an estimate with its interval."""
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
