"""Does translation change a score by more than rewording does, item by item?

After "Lost in Translation" (arXiv 2610.20479), item-level test. D_i is the change of item i in a
language, mean over the models; R_i what rewording the English item does, mean over the models and
the rewordings that it has. T = -mean(D_i - R_i): positive where the language lies lower. Items are
the units, so what is found holds for items like these and these models. Letters: M models, L
languages, N items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.drops import SIGN_FLIP, drop_interval, language_rows, t_intervals
from core.analysis.audit.item_changes import (
    ItemChanges,
    item_changes,
    usable_versions,
)
from core.analysis.audit.metadata import judgments, of_source
from core.analysis.audit.names import (
    ALIKE,
    ALIKE_DROPS,
    FEW_ITEMS,
    NO_REWORDING,
    NOTHING_CHANGES,
    ONE_ITEM,
    POOLED,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.items.metadata import JUDGMENT
from core.stats.known import mean_of, mean_of_known, sd_of
from core.stats.levels import LEAST_ITEMS
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import bootstrap_means, sign_flip_test
from core.stats.scores import ScoreKind

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ONE_REWORDING = "There is no other rewording to set this one against."
NO_WHOLE_ITEM = "No item of this group is scored by every model in all versions that it takes."
NO_SD = "The items of a model do not vary, so nothing can be divided by their standard deviation."
FIXED_SDS = (
    "Standardised scores: the tests of the languages have the standard deviations of each "
    "resample; groups, rewordings and what is pooled have those of the whole version, held fixed, "
    "and `sd` is of items divided by these."
)
_COLUMNS = (
    *("condition", "group_kind", "group", "t", "t_low", "t_high", "t90_low", "t90_high", "sd"),
    *("test", "pvalue", "qvalue", "n_tests", "exact", "n", "n_complete", "n_left_out", "drop"),
    *("drop_low", "drop_high", "n_drop", "reworded_drop", "n_models", "n_rewordings"),
    *("n_bootstrap", "reason"),
)


@dataclass(frozen=True)
class _Group:
    """One row of the table, to be tested."""

    condition: str
    kind: str
    name: str
    change: Array  # D of the items of the group, NaN elsewhere, (N,)
    noise: Array  # R, (N,)
    n_usable: int  # items of the group with both versions, neither collapsed
    n_rewordings: int
    complete: Mask


def item_tests(panel: Panel, request: AuditRequest) -> AuditTable:
    """Test each language, group and rewording over items.

    Returns
    -------
    AuditTable
        `t` = -mean(D_i - R_i) over the `n` items that every model has scored in English, in the
        language and in a rewording; `n_left_out` others of the group have both versions.
        `n_complete` of the n have all `n_rewordings`. `t_low`, `t_high`: 95 % percentile bootstrap
        interval over items, `t90_*` the 90 % one of the same draws; `sd` of D - R (ddof 1);
        `pvalue` of the `test`, the sign flip (`exact`: of all sign vectors) or the bootstrap of
        standardised scores, `qvalue` after Benjamini and Hochberg over the `n_tests` languages of
        the same group. `drop` = -mean D with its 95 % interval and `reworded_drop` = -mean R, over
        the `n_drop` items with a D and the n items. The rows of the languages are those of
        `language_rows`, as in every other table.

        `group_kind` is all, source, dimension, judgment (`group`: what the metadata say of that
        translation) or subset; `condition` "pooled" counts each item once, by its mean over the
        languages that it has. `group_kind` "rewording": the rewordings themselves in the place of
        a language, each against the others.

    Notes
    -----
    R is of the rewordings that cover every usable English item under every model; if there is none
    such, of all that an item has.
    """
    changes = item_changes(panel, request.kind, complete=request.complete)
    groups = [*_language_groups(panel, changes), *_rewording_groups(panel, request.kind, changes)]
    rows = _tested(groups, request, len(panel.scorers), _of_languages(panel, request))
    return AuditTable(rows, _notes(panel, request, changes))


def _of_languages(panel: Panel, request: AuditRequest) -> dict[str, dict[str, Any]]:
    """The numbers of each language that all tables share."""
    rows = language_rows(panel, request, (request.kind,))
    return {row["condition"]: {k: v for k, v in row.items() if k != "kind"} for row in rows}


def _language_groups(panel: Panel, changes: ItemChanges) -> Iterator[_Group]:
    usable = usable_versions(panel)
    both = usable[[panel.at(c) for c in panel.languages]] & usable[panel.english]  # (L, N)
    for kind, name, mask in _masks(panel):
        of_group = np.where(mask, changes.translated, np.nan)
        parts = [*zip(panel.languages, of_group, both & mask, strict=True)]
        if len(parts) > 1:
            parts.append((POOLED, mean_of_known(of_group), (both & mask).any(axis=0)))
        for condition, change, counted in parts:
            yield _Group(
                condition,
                kind,
                name,
                change,
                changes.reworded,
                int(counted.sum()),
                len(changes.names),
                changes.complete,
            )


def _rewording_groups(panel: Panel, kind: ScoreKind, changes: ItemChanges) -> Iterator[_Group]:
    """Each rewording of English against the mean of the others."""
    usable = usable_versions(panel)
    for condition in panel.rewordings():
        others = [i for i, name in enumerate(changes.names) if name != condition]
        rest = changes.rewordings[others]
        yield _Group(
            condition,
            "rewording",
            "",
            panel.changes(kind)[:, panel.at(condition)].mean(axis=0),
            mean_of_known(rest),
            int((usable[panel.at(condition)] & usable[panel.english]).sum()),
            len(others),
            np.asarray(np.isfinite(rest).all(axis=0) & bool(others)),
        )


def _masks(panel: Panel) -> Iterator[tuple[str, str, Mask]]:
    """Kind, name and items of every group; the items of a judgment differ by language. (L, N)"""
    shape = (len(panel.languages), len(panel.items))
    yield "all", "", np.ones(shape, dtype=np.bool_)
    for column in ("source", "dimension"):
        values = panel.items[column].to_numpy(object)
        for value in sorted({v for v in values if v}):
            yield column, value, np.broadcast_to(values == value, shape)
    judged = judgments(panel)[[panel.at(c) for c in panel.languages]]
    for value in sorted({v for v in judged.ravel() if v}):
        yield JUDGMENT, value, judged == value
    for name, mask in _subsets(panel):
        yield "subset", name, np.broadcast_to(mask, shape)


def _subsets(panel: Panel) -> Iterator[tuple[str, Mask]]:
    bbq, written, stereoset = (of_source(panel, s) for s in ("bbq", "written", "stereoset"))
    if bbq.any() and written.any():
        yield "BBQ + written", bbq | written
    about = panel.items[["category", "dimension"]].astype(str)
    gender = about.apply(lambda column: column.str.casefold() == "gender").any(axis=1).to_numpy()
    if stereoset.any() and (stereoset & gender).any():
        yield "StereoSet without gender", stereoset & ~gender


def _tested(
    groups: list[_Group],
    request: AuditRequest,
    n_models: int,
    of_languages: dict[str, dict[str, Any]],
) -> pd.DataFrame:
    """All rows; those over all items of a language have the numbers that are given."""
    if not groups:
        return pd.DataFrame(columns=list(_COLUMNS))
    shared = [of_languages.get(g.condition) if g.kind == "all" else None for g in groups]
    others = iter(_tests([g for g, one in zip(groups, shared, strict=True) if not one], request))
    rows = [
        _described(group) | (one or next(others)) for group, one in zip(groups, shared, strict=True)
    ]
    return _in_families(pd.DataFrame(rows), n_models)


def _tests(groups: list[_Group], request: AuditRequest) -> list[dict[str, Any]]:
    """The sign-flip tests of groups, and their intervals over items."""
    if not groups:
        return []
    beyond = np.array([g.change - g.noise for g in groups])  # (C, N)
    changes = np.array([g.change for g in groups])
    found = sign_flip_test(beyond, n_resamples=request.n_resamples, rng=request.rng("signs"))
    draws = -bootstrap_means(
        np.concatenate([beyond, changes]),
        n_resamples=request.n_bootstrap,
        rng=request.rng("item_tests"),
    )  # (R, 2 C)
    n_drop = np.isfinite(changes).sum(axis=1)
    return [
        {
            **t_intervals(-float(found.mean[c]), draws[:, c], int(found.n[c])),
            **drop_interval(-mean_of(group.change), draws[:, len(groups) + c], int(n_drop[c])),
            "test": SIGN_FLIP,
            "pvalue": found.pvalue[c],
            "exact": found.exact[c],
            "n_bootstrap": request.n_bootstrap,
        }
        for c, group in enumerate(groups)
    ]


def _in_families(rows: pd.DataFrame, n_models: int) -> pd.DataFrame:
    """With q-values and reasons. What is pooled over the languages is a family of its own."""
    family = rows.groupby(
        [rows["group_kind"], rows["group"], rows["condition"] == POOLED], sort=False
    )["pvalue"]
    rows["qvalue"] = family.transform(benjamini_hochberg)
    rows["n_tests"] = family.transform("count")
    rows["n_left_out"], rows["n_models"] = rows.pop("n_usable") - rows["n"], n_models
    rows["reason"] = [_reason(row) for row in rows.to_dict("records")]
    return rows[list(_COLUMNS)]


def _described(group: _Group) -> dict[str, Any]:
    """What is known of a row without resampling."""
    known = np.isfinite(group.change - group.noise)
    return {
        "condition": group.condition,
        "group_kind": group.kind,
        "group": group.name,
        "n_complete": int((known & group.complete).sum()),
        "n_usable": group.n_usable,
        "n_rewordings": group.n_rewordings,
        "sd": sd_of(group.change - group.noise),
        "reworded_drop": -mean_of(np.where(known, group.noise, np.nan)),
    }


def _reason(row: Mapping[Any, Any]) -> str:
    if row["n_rewordings"] == 0:
        return ONE_REWORDING if row["group_kind"] == "rewording" else NO_REWORDING
    if row["n"] == 0:
        return NO_WHOLE_ITEM
    if row["n"] == 1:
        return ONE_ITEM
    if np.isnan(row["t"]):
        return NO_SD
    if row["test"] == SIGN_FLIP and np.isnan(row["pvalue"]):
        return NOTHING_CHANGES
    if np.isnan(row["t_low"]):
        return FEW_ITEMS if row["n"] < LEAST_ITEMS else ALIKE
    return ALIKE_DROPS if np.isnan(row["drop_low"]) else ""


def _notes(panel: Panel, request: AuditRequest, changes: ItemChanges) -> tuple[str, ...]:
    notes = [FIXED_SDS] if request.kind == STANDARDISED else []
    partial = [c for c in panel.rewordings() if c not in changes.names]
    if partial:
        notes.append(
            f"Rewording noise is of {', '.join(changes.names)}; what does not cover every English "
            f"item ({', '.join(partial)}) is tested on its own."
        )
    elif not changes.names:
        notes.append(NO_REWORDING)
    for column in ("source", "dimension"):
        without = int((panel.items[column] == "").sum())
        if 0 < without < len(panel.items):
            notes.append(f"{without} items name no {column} and are in none of its groups.")
    return (*notes, *panel.no_languages)
