"""What of an item's score carries over to its translation, beside what a rewording keeps.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show: a
drop of the mean can be bias that went, or preferences that were scattered. What a rewording of
English keeps is the ceiling of what a translation can. Letters: M models, N items, R resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.columns import ends, neutral_score, whose
from core.analysis.audit.metadata import judgments, metadata_numbers
from core.analysis.audit.names import NO_REWORDING, REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.conditions import parse_condition
from core.items.metadata import UNCHANGED
from core.settings import REFERENCE_CONDITION
from core.stats.association import (
    LEAST,
    Association,
    association_of,
    n_items_of,
    resampled_sums,
    row_sums,
)

Array = npt.NDArray[np.float64]

SAME_ITEMS = "same items in English"
ALL_CHANGED = "all fields changed"
_COLUMNS = (
    *("condition", "group_kind", "group", "same_items_in_english", "scorer_id", "model"),
    *("n_rows", "n_items", "r", "r_low", "r_high", "sd_ratio", "slope", "slope_low", "slope_high"),
    *("intercept_at_half", "intercept_at_half_low", "intercept_at_half_high"),
    *("r_within", "slope_within", "n_undefined", "n_undefined_intercept", "n_bootstrap", "reason"),
)


@dataclass(frozen=True)
class _Cell:
    """What one row of the table is of."""

    condition: str
    group_kind: str
    group: str
    sums: Array  # of `row_sums`, added up over items, (6, M)
    by_item: Array  # the same by item, (6, M, N); (6, 1, N) without rows of single models


def association(panel: Panel, request: AuditRequest) -> AuditTable:
    """Correlation, ratio of spreads and slope between the scores before and after a change.

    Returns
    -------
    AuditTable
        `group_kind` says what a row is of: "all" rows of a condition (`condition` "rewording" is
        the rewordings of English together, those that cover all of it if there are any), one
        "model", "source", "dimension" or "judgment", or one "rewording". The latter has rows of
        the items whose fields all changed too, and in another language the rewordings of English
        on the same items (`same_items_in_english`).
        Intervals are 95 % percentiles of `n_bootstrap` draws of items with all their rows;
        `n_undefined` draws gave no r. `*_within` is after centring each model's scores, and
        `intercept_at_half` where the line puts an item without a preference before.
    """
    cells = [*_whole_cells(panel, request), *_group_cells(panel, request)]
    rows: list[dict[str, Any]] = []
    for cell, draws in zip(cells, _draws(cells, request), strict=True):
        rows.append(_row(cell, draws, panel, None, request))
        if cell.group_kind == "all":
            rows += [_row(cell, draws, panel, m, request) for m in range(len(panel.models))]
    notes = () if panel.rewordings() else (NO_REWORDING,)
    return AuditTable(pd.DataFrame(rows, columns=list(_COLUMNS)), notes + panel.no_languages)


def intercept(panel: Panel, request: AuditRequest) -> AuditTable:
    """Where items without an English preference end up: the fitted score at SS_en = 0.5.

    Returns
    -------
    AuditTable
        One row per language and one for the rewordings of English, as in `association`;
        `n_undefined_intercept` of the draws gave no line.
    """
    whole = _languages_and_rewording(panel, request)
    cells = [_cell(condition, "all", "", sums) for condition, sums in whole.items()]
    rows = [
        _row(cell, draws, panel, None, request)
        for cell, draws in zip(cells, _draws(cells, request), strict=True)
    ]
    names = [c for c in _COLUMNS if c.startswith("intercept")]
    columns = ["condition", "n_rows", "n_items", *names, "n_undefined_intercept", "n_bootstrap"]
    columns += ["reason"]
    return AuditTable(pd.DataFrame(rows, columns=columns), panel.no_languages)


def _cell(condition: str, group_kind: str, group: str, rows: Array) -> _Cell:
    """What a row needs of the sums of its rows, (6, M, N)."""
    by_item = rows if group_kind == "all" else rows.sum(axis=1, keepdims=True)
    return _Cell(condition, group_kind, group, rows.sum(axis=-1), by_item)


def _sums(panel: Panel, request: AuditRequest, condition: str) -> Array:
    """Sums of the rows of one condition against its original. (6, M, N)"""
    before = panel.before(request.kind, condition)
    after = panel.scores(request.kind)[:, panel.at(condition)]
    return row_sums(before, after, origin=neutral_score(request))


def _languages_and_rewording(panel: Panel, request: AuditRequest) -> dict[str, Array]:
    """By condition, and last by REWORDING, where the sums of the noise rewordings add up."""
    found = {c: _sums(panel, request, c) for c in panel.languages}
    if names := panel.noise_rewordings():
        found[REWORDING] = np.sum([_sums(panel, request, c) for c in names], axis=0)
    return found


def _whole_cells(panel: Panel, request: AuditRequest) -> Iterator[_Cell]:
    """Conditions with all their rows, and single rewordings."""
    for condition, sums in _languages_and_rewording(panel, request).items():
        yield _cell(condition, "all", "", sums)
    unchanged = metadata_numbers(panel, UNCHANGED)  # (K, N)
    all_changed: list[Array] = []
    for original in (REFERENCE_CONDITION, *panel.languages):
        for condition in panel.rewordings(original):
            sums = _sums(panel, request, condition)
            yield _cell(condition, REWORDING, "", sums)
            known = unchanged[panel.at(condition)]
            if np.isfinite(known).any():
                sums_changed = sums * (known == 0)
                yield _cell(condition, REWORDING, ALL_CHANGED, sums_changed)
                if condition in panel.noise_rewordings():
                    all_changed.append(sums_changed)
            if original != REFERENCE_CONDITION and panel.rewordings():
                of_items = sums[0].any(axis=0)
                english = np.sum(
                    [_sums(panel, request, c) for c in _twins(panel, condition)], axis=0
                )
                yield _cell(condition, REWORDING, SAME_ITEMS, english * of_items)
    if all_changed:
        yield _cell(REWORDING, REWORDING, ALL_CHANGED, np.sum(all_changed, axis=0))


def _twins(panel: Panel, condition: str) -> list[str]:
    """The rewording of English made by the same method, else all there are."""
    english = panel.rewordings()
    same = f"{REFERENCE_CONDITION}~{parse_condition(condition).rewording}"
    return [same] if same in english else english


def _group_cells(panel: Panel, request: AuditRequest) -> Iterator[_Cell]:
    """Items of one source, dimension or judgment."""
    judged_as = judgments(panel)
    for condition, sums in _languages_and_rewording(panel, request).items():
        for field in ("source", "dimension"):
            of_item = panel.items[field].to_numpy()
            for value in pd.unique(panel.items[field]):
                if value:
                    yield _cell(condition, field, value, sums * (of_item == value))
        if condition in panel.conditions:
            judged = judged_as[panel.at(condition)]
            for value in dict.fromkeys(j for j in judged if j):
                yield _cell(condition, "judgment", value, sums * (judged == value))


def _draws(cells: list[_Cell], request: AuditRequest) -> list[Array]:
    """Sums over drawn items, (6, M or 1, R) each.

    The draws are the same for all cells and in both tables.
    """
    if not cells:
        return []
    drawn = resampled_sums(
        np.concatenate([cell.by_item for cell in cells], axis=1),
        n_resamples=request.n_bootstrap,
        rng=request.rng("association"),
    )
    return np.split(drawn, np.cumsum([cell.by_item.shape[1] for cell in cells])[:-1], axis=1)


def _row(
    cell: _Cell, draws: Array, panel: Panel, model: int | None, request: AuditRequest
) -> dict[str, Any]:
    """The line of all rows of a cell, or of those of one model."""
    of = slice(None) if model is None else slice(model, model + 1)
    found = association_of(
        cell.sums[:, of],
        draws[:, of].sum(axis=1),
        n_items_of(cell.by_item[:, of]),
        neutral=neutral_score(request),
    )
    return {
        "condition": cell.condition,
        "group_kind": cell.group_kind if model is None else "model",
        "group": cell.group if model is None else panel.models[model],
        "same_items_in_english": cell.group == SAME_ITEMS,
        **whose(panel, model),
        "n_rows": found.n_rows,
        "n_items": found.n_items,
        **ends("r", found.r),
        "sd_ratio": found.sd_ratio,
        **ends("slope", found.slope),
        **ends("intercept_at_half", found.at_neutral),
        "r_within": found.r_within,
        "slope_within": found.slope_within,
        "n_undefined": found.r.n_undefined,
        "n_undefined_intercept": found.at_neutral.n_undefined,
        "n_bootstrap": request.n_bootstrap,
        "reason": _reason(found),
    }


def _reason(found: Association) -> str:
    if found.n_items < LEAST:
        return f"{LEAST} items with both scores are needed, and there are {found.n_items}."
    if np.isnan([found.r.value, found.r_within]).any():
        return "The scores before or after the change do not vary."
    if np.isnan(found.r.low):
        return "All draws of items give the same number, so there is no interval."
    if np.isnan(found.at_neutral.low):
        return "The draws of items put an item without a preference nowhere, or all in one place."
    return ""
