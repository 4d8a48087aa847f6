"""What the verdict on each language hangs on: groups of items, single items, models, choices.

The item test of "Lost in Translation" (arXiv 2610.20479), T = -mean(D_i - R_i), asked again on less
or in another way. A verdict flips where its significance does (q < .05 after Benjamini and Hochberg
over the languages, the other languages' p-values kept as they are). Letters: M models, L languages,
N items, R resamples.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.differential_items import INDEPENDENT, differential_items
from core.analysis.audit.item_changes import (
    ItemChanges,
    item_changes,
    rewording_noise,
)
from core.analysis.audit.names import NOTHING_CHANGES, ONE_ITEM
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest, AuditTable
from core.analysis.audit.specifications import specification_rows
from core.stats.fragility import (
    MODELS_OF_A_SPREAD,
    critical_pvalue,
    fewest_items,
    leave_one_out,
    retest,
    sign_flip_z,
)
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.resampling import sign_vectors
from core.stats.scores import ScoreKind
from core.words import counted, listed_or

Array = npt.NDArray[np.float64]

PREDICATE = "predicate"  # metadata of an item, where it has one
MOST_REMOVED = 500
_SIGNS_HELD = 20_000_000  # numbers of the sign vectors that are kept, 160 MB

UNDEFINED = "The item test of this language is undefined, so there is no verdict to flip."
NO_REST = "Without it, no item is left to test."
BORDERLINE = (
    "The verdict is so near its threshold that {:,} sign vectors give the other one, so no search."
)
NOT_FOUND = "No set of up to {} was found without which the verdict is another one."
STANDARDISED_NOTE = (
    "Standardised scores: all tests here are sign flips of items divided by fixed standard "
    "deviations, so that items can be left out; the verdicts' own test draws these anew."
)

_COLUMNS = (
    *("condition", "check", "choice", "value", "kind", "items", "corrected", "estimator"),
    *("main", "n", "n_items", "share_items", "item_ids", "drop", "z", "pvalue", "qvalue"),
    *("n_tests", "significant", "flips", "n_resamples", "reason"),
)


def fragility(panel: Panel, request: AuditRequest, item_tests: AuditTable) -> AuditTable:
    """Ask every language's item test again: leave out, remove, vary, look at single items.

    Parameters
    ----------
    item_tests
        Of the same request.

    Returns
    -------
    AuditTable
        `check` tells the rows apart. In each, `drop` is -mean(D - R) unless it says otherwise, `z`
        is that mean over the spread that sign flips give it, and `n` counts items. `n_tests` is the
        family of its q, or of the q by which the verdict stands.

        leave_out: `choice` (source, category, dimension, predicate, model or rewording) `value` is
        left out, with it `n_items` items, and `pvalue` is of the rest. `flips` says whether the
        verdict is another one.

        fewest_items: the `n_items` items `item_ids` (a JSON list), a share `share_items`, without
        which the verdict flips; `drop` and `pvalue` are of the rest. Found by greedy removal: an
        upper bound.

        specification: rows of `specification_rows`, sorted by z.

        item: items that the models agree on moving otherwise than the others of the language:
        `value` drops by `drop` more than the mean item, mean over `n` models, of which `z` is the t
        statistic, with q < .05 over the items. The row without `value` counts them: `n_items` of
        `n`. The models are taken for independent draws.
    """
    changes = item_changes(panel, request.kind, complete=request.complete)
    n_items = len(panel.items)
    n_signs = min(request.n_resamples, max(1_000, _SIGNS_HELD // max(n_items, 1)))
    signs = sign_vectors(n_items, n_signs, rng=request.rng("signs"))
    if request.kind == STANDARDISED:
        tests = _sign_flips(changes, signs)
    else:
        tests = _tests(item_tests, panel.languages)
    rows: list[dict[str, Any]] = []
    for at, condition in enumerate(panel.languages):
        threshold = critical_pvalue(tests["pvalue"], at)
        values = changes.translated[at] - changes.reworded
        significant = _or_none(tests["qvalue"][at], LEVEL)
        found = [
            *_leave_out(panel, request, changes, at, signs),
            _fewest(panel.item_ids, values, signs, threshold, significant),
        ]
        family = {"condition": condition, "n_tests": n_tests(tests["pvalue"])}
        rows += [_judged(family | row, threshold, significant) for row in found]
    rows += specification_rows(panel, request)
    rows += differential_items(panel, request)
    answers = dict.fromkeys(("corrected", "main", "significant", "flips"), "boolean")
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype({"n_items": "Int64"} | answers)
    return AuditTable(table, _notes(panel, request.kind, n_signs))


def _tests(item_tests: AuditTable, languages: Sequence[str]) -> dict[str, Array]:
    """P and q of the languages' own tests, in their order."""
    rows = item_tests.rows
    whole = rows[rows["group_kind"] == "all"].set_index("condition")[["pvalue", "qvalue"]]
    of_languages = whole.reindex(list(languages)).astype(np.float64)
    return {name: of_languages[name].to_numpy() for name in ("pvalue", "qvalue")}


def _sign_flips(changes: ItemChanges, signs: Array) -> dict[str, Array]:
    """P and q of the languages by sign flips of standardised items; their own test is a bootstrap.

    Of items divided by fixed standard deviations, so that all rows are of one test.
    """
    values = changes.translated - changes.reworded
    if not len(values):
        return {"pvalue": np.empty(0), "qvalue": np.empty(0)}
    pvalue = retest(values, signs=signs).pvalue
    return {"pvalue": pvalue, "qvalue": benjamini_hochberg(pvalue)}


def _leave_out(
    panel: Panel, request: AuditRequest, changes: ItemChanges, at: int, signs: Array
) -> list[dict[str, Any]]:
    """The test of one language without each group of items, each model and each rewording."""
    values = changes.translated[at] - changes.reworded
    rests = [
        (choice, value, rest)
        for choice, labels in _groupings(panel)
        for value, rest in leave_one_out(values, labels).items()
    ]
    rests += _without_a_model(panel, request, at)
    rests += _without_a_rewording(changes, at, complete=request.complete)
    if not rests:
        return []
    found = retest([rest for *_, rest in rests], signs=signs)
    n_all = int(np.isfinite(values).sum())
    return [
        {
            "check": "leave_out",
            "choice": choice,
            "value": value,
            "n": int(found.n[row]),
            "n_items": max(n_all - int(found.n[row]), 0),
            "share_items": max(n_all - int(found.n[row]), 0) / n_all if n_all else np.nan,
            "drop": -found.mean[row],
            "z": -found.z[row],
            "pvalue": found.pvalue[row],
            "n_resamples": len(signs),
            "reason": _no_rest(int(found.n[row]), float(found.pvalue[row])),
        }
        for row, (choice, value, _) in enumerate(rests)
    ]


def _no_rest(n: int, pvalue: float) -> str:
    """Why there is no test of what is left."""
    if n < 2:
        return ONE_ITEM if n else NO_REST
    return NOTHING_CHANGES if np.isnan(pvalue) else ""


def _groupings(panel: Panel) -> Iterator[tuple[str, list[str]]]:
    """Groups of items of which one can be left out: there are others."""
    for column in ("source", "category", "dimension"):
        yield from _if_several(column, panel.items[column].astype(str).tolist())
    english = panel.versions[panel.versions["condition"] == panel.conditions[panel.english]]
    english = english[~english["native"]]
    named = [str(metadata.get(PREDICATE) or "") for metadata in english["metadata"]]
    yield from _if_several(PREDICATE, named)


def _if_several(choice: str, labels: list[str]) -> Iterator[tuple[str, list[str]]]:
    if len({label for label in labels if label}) > 1:
        yield choice, labels


def _without_a_model(
    panel: Panel, request: AuditRequest, at: int
) -> Iterator[tuple[str, str, Array]]:
    n_models = len(panel.scorers)
    if n_models < 2:
        return
    changes = panel.changes(request.kind)
    names = panel.noise_rewordings()
    for m, model in enumerate(panel.models):
        others = np.delete(np.arange(n_models), m)
        of_others = changes[others].mean(axis=0)  # (K, N)
        of_names = of_others[[panel.at(c) for c in names]]
        noise = rewording_noise(of_names, complete=request.complete)
        yield "model", model, of_others[panel.at(panel.languages[at])] - noise


def _without_a_rewording(
    changes: ItemChanges, at: int, *, complete: bool
) -> Iterator[tuple[str, str, Array]]:
    if len(changes.names) < 2:
        return
    for k, name in enumerate(changes.names):
        others = np.delete(changes.rewordings, k, axis=0)
        noise = rewording_noise(others, complete=complete)
        yield "rewording", name, changes.translated[at] - noise


def _fewest(
    ids: list[str], values: Array, signs: Array, threshold: float, significant: bool | None
) -> dict[str, Any]:
    """The search for the fewest items; `flips` is filled in by `_judged`, from the p-value."""
    row: dict[str, Any] = {"check": "fewest_items", "choice": "greedy", "n_resamples": len(signs)}
    n = int(np.isfinite(values).sum())
    if np.isnan(threshold):
        return row | {"n": n, "reason": UNDEFINED}
    most = min(n // 2, MOST_REMOVED)
    found = fewest_items(
        values, signs=signs, threshold=threshold, most=most, significant=significant
    )
    if not found.flipped:
        agrees = (found.pvalues[0] <= threshold) == found.significant
        reason = (
            NOT_FOUND.format(counted(most, "item")) if agrees else BORDERLINE.format(len(signs))
        )
        return row | {"n": n, "pvalue": np.nan, "reason": reason}
    rest = values.copy()
    rest[found.removed] = np.nan
    return row | {
        "n": n,
        "n_items": len(found.removed),
        "share_items": len(found.removed) / n,
        "item_ids": json.dumps([ids[i] for i in found.removed], ensure_ascii=False),
        "drop": -float(rest[np.isfinite(rest)].mean()),
        "z": -float(sign_flip_z(rest)),
        "pvalue": float(found.pvalues[-1]),
        "reason": "",
    }


def _judged(row: dict[str, Any], threshold: float, significant: bool | None) -> dict[str, Any]:
    """With whether the p-value of a row is another verdict than that on all items."""
    now = _or_none(row.get("pvalue", np.nan), threshold, equal=True)
    known = now is not None and significant is not None
    reason = row["reason"] or ("" if significant is not None else UNDEFINED)
    return row | {
        "kind": row.get("kind"),
        "significant": now,
        "flips": now != significant if known else None,
        "reason": reason,
    }


def _notes(panel: Panel, kind: ScoreKind, n_signs: int) -> tuple[str, ...]:
    notes = [
        f"p-values of what is left are from {n_signs:,} sign vectors. The fewest items are an "
        "upper bound: the search removes the most telling item at each step."
    ]
    notes += [STANDARDISED_NOTE] if kind == STANDARDISED else []
    notes += [INDEPENDENT] if len(panel.scorers) >= MODELS_OF_A_SPREAD else []
    notes += panel.no_languages
    same = [
        column
        for column in ("source", "category", "dimension")
        if panel.items[column][panel.items[column] != ""].nunique() < 2
    ]
    if same:
        notes.append(f"No {listed_or(same)} can be left out: the items name fewer than two.")
    if len(panel.scorers) == 1:
        notes.append("One model: none can be left out, and there is no spread over models.")
    return tuple(notes)


def _or_none(pvalue: float, level: float, *, equal: bool = False) -> bool | None:
    if np.isnan(pvalue) or np.isnan(level):
        return None
    return bool(pvalue <= level if equal else pvalue < level)
