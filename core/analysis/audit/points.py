"""The points of a scatter of items: the score in English against that of another version.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show. The
lines through them are those of the table `association`; nothing is fitted here. Letters: M models,
K conditions, N items.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.names import ALL_MODELS, REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.quality_filters import PRESERVED, filter_masks
from core.analysis.audit.request import AuditRequest
from core.items.conditions import is_rewording, original_of, parse_condition
from core.items.metadata import JUDGMENTS
from core.settings import REFERENCE_CONDITION
from core.stats.known import mean_of_known

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MEAN = "mean"  # a point per item: the mean over the models that have both scores
MOST = 2_000  # points that a browser draws and selects without a pause
COLUMNS = (
    *("item_id", "scorer_id", "model", "n_models", "source", "category"),
    *("before", "after", "change"),
)


@dataclass(frozen=True)
class Points:
    """Scores of the same items in the original and in another version."""

    condition: str
    original: str  # English, or of `hi~llm` the `hi`
    rows: pd.DataFrame  # COLUMNS; at most as many as were asked for
    n: int  # points there are
    n_items: int  # items in these
    n_failed: int  # points besides that the quality filter leaves out
    # sd of such points' changes by rewording the original, over all its items, whatever `items` and
    # `passing` leave of these points; NaN without any
    noise: float
    n_noise: int  # changes behind it


@dataclass(frozen=True)
class FittedLine:
    """A line of the table `association`, and what it is of."""

    condition: str
    model: str  # "all models", or which
    group: str  # "" for all items
    slope: float
    low: float
    high: float
    at_neutral: float  # where an item without a preference before ends up
    n_rows: int
    n_items: int


def versions(conditions: Sequence[str]) -> list[str]:
    """Those that can be held against their original: translations first, then rewordings."""
    whole = [c for c in conditions if not parse_condition(c).prefix and c != REFERENCE_CONDITION]
    return sorted(
        (c for c in whole if not is_rewording(c) or original_of(c) in conditions), key=is_rewording
    )


def points(
    panel: Panel,
    request: AuditRequest,
    condition: str,
    *,
    of: str = "",
    passing: str = "",
    items: Collection[str] | None = None,
    most: int = MOST,
) -> Points:
    """Points of one condition against its original.

    Parameters
    ----------
    of
        "" for one point per model and item, "mean" for one per item, else the id of a scorer.
    passing
        Name of a filter of the table `quality`; "" for every version.
    items
        Ids of the items wanted; all without.
    most
        Above that many, a sample with the request's seed is taken.
    """
    k = panel.at(condition)
    original = panel.original(condition)
    changes = panel.changes(request.kind)
    whole = np.isfinite(changes[:, k])  # (M, N)
    if of not in ("", MEAN):
        whole &= np.array([scorer == of for scorer in panel.scorers])[:, None]
    if items is not None:
        whole &= panel.items["item_id"].isin(list(items)).to_numpy(np.bool_)
    kept = whole & filter_masks(panel)[passing][0][:, k] if passing else whole
    before, after = panel.before(request.kind, condition), panel.scores(request.kind)[:, k]
    if of == MEAN:
        found = _means(panel, before, after, kept)
        n_failed = int((whole.any(axis=0) & ~kept.any(axis=0)).sum())
    else:
        found = _single(panel, before, after, kept)
        n_failed = int((whole & ~kept).sum())
    n = len(found)
    if n > most:
        chosen = np.sort(request.rng("points").choice(n, most, replace=False))
        found = found.iloc[chosen]
    noise, n_noise = _noise(panel, changes, original, of)
    return Points(
        condition,
        original,
        found.reset_index(drop=True),
        n,
        int(kept.any(axis=0).sum()),
        n_failed,
        noise,
        n_noise,
    )


def fitted_line(
    association: pd.DataFrame, condition: str, *, of: str = "", passing: str = ""
) -> FittedLine | None:
    """The line of a condition: of one model or of the passing versions where the table has it.

    Otherwise that of all models and versions, which `model` and `group` say; None without any.
    """
    if passing == PRESERVED and not (of and of != MEAN):
        found = _where(association, condition, "judgment", JUDGMENTS[0])
        if found is not None:
            return found
    return _line_of(association, condition, of)


def ceiling_line(association: pd.DataFrame, condition: str, *, of: str = "") -> FittedLine | None:
    """What rewording keeps: of English, or for `hi~llm` that of English on the same items."""
    rows = association[association["condition"] == condition]
    twin = rows[rows["same_items_in_english"].astype(bool)]
    if len(twin):
        return _line(twin.iloc[0])
    return _line_of(association, REWORDING, of)


def _single(panel: Panel, before: Array, after: Array, kept: Mask) -> pd.DataFrame:
    """One point per model and item."""
    m, n = np.nonzero(kept)
    names = {
        "scorer_id": np.array(panel.scorers, dtype=object)[m],
        "model": np.array(panel.models, dtype=object)[m],
        "n_models": np.ones(len(m), dtype=np.int64),
    }
    return _table(panel, n, names, before[m, n], after[m, n])


def _means(panel: Panel, before: Array, after: Array, kept: Mask) -> pd.DataFrame:
    """One point per item: means over the models that have both scores."""
    n = np.flatnonzero(kept.any(axis=0))
    x, y = (mean_of_known(np.where(kept, values, np.nan))[n] for values in (before, after))
    n_models = kept.sum(axis=0)[n]
    models = [f"mean over {k} model{'' if k == 1 else 's'}" for k in n_models]
    return _table(panel, n, {"scorer_id": "", "model": models, "n_models": n_models}, x, y)


def _table(
    panel: Panel, n: npt.NDArray[np.intp], names: dict[str, Any], before: Array, after: Array
) -> pd.DataFrame:
    items = panel.items.iloc[n].reset_index(drop=True)
    scores = {"before": before, "after": after, "change": after - before}
    return items.assign(**names, **scores)[list(COLUMNS)]


def _noise(panel: Panel, changes: Array, original: str, of: str) -> tuple[float, int]:
    """Standard deviation (ddof 1) of what rewording the original does, over all its items."""
    own = changes[:, [panel.at(c) for c in panel.rewordings(original)]]  # (M, rewordings, N)
    if of == MEAN:
        own = mean_of_known(own)
    elif of:
        own = own[[scorer == of for scorer in panel.scorers]]
    known = own[np.isfinite(own)]
    return (float(known.std(ddof=1)) if len(known) > 1 else math.nan), len(known)


def _line_of(association: pd.DataFrame, condition: str, of: str) -> FittedLine | None:
    if of and of != MEAN:
        rows = association[
            (association["condition"] == condition)
            & (association["group_kind"] == "model")
            & (association["scorer_id"] == of)
        ]
        if len(rows):
            return _line(rows.iloc[0])
    kinds = ("all", REWORDING)
    found = (_where(association, condition, kind, "") for kind in kinds)
    return next((one for one in found if one is not None), None)


def _where(
    association: pd.DataFrame, condition: str, group_kind: str, group: str
) -> FittedLine | None:
    rows = association[
        (association["condition"] == condition)
        & (association["group_kind"] == group_kind)
        & (association["group"] == group)
    ]
    return _line(rows.iloc[0]) if len(rows) else None


def _line(row: pd.Series[Any]) -> FittedLine:
    own = row["group"] if row["group_kind"] != "model" else ""
    return FittedLine(
        condition=str(row["condition"]),
        model=str(row["model"]) or ALL_MODELS,
        group=str(own),
        slope=float(row["slope"]),
        low=float(row["slope_low"]),
        high=float(row["slope_high"]),
        at_neutral=float(row["intercept_at_half"]),
        n_rows=int(row["n_rows"]),
        n_items=int(row["n_items"]),
    )
