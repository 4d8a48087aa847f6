"""How far rewording alone moves a model's scores.

After "Lost in Translation" (arXiv 2610.20479), the section on the noise floor. d = score of a
reworded item - score of its original; the floor F_m of a model is the mean over rewordings of
|mean d|. Letters: C cells (a model and a rewording), K rewordings, N items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.cells import untested
from core.analysis.audit.columns import neutral_score
from core.analysis.audit.metadata import metadata_numbers
from core.analysis.audit.names import NO_ITEM_OF_MODEL, NO_REWORDING, ONE_ITEM, SUFFIXES
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.metadata import SIMILARITY, UNCHANGED
from core.settings import REFERENCE_CONDITION
from core.stats.agreement import same_choice
from core.stats.association import LEAST, line, row_sums
from core.stats.known import mean_of, mean_over_items, sd_of
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.noise import expected_noise
from core.stats.resampling import sign_flip_test
from core.stats.scores import ScoreKind

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

REPEATED = "This repeats the test of fewer items, so it is in no family and has no q."
NO_SLOPE = f"No slope: fewer than {LEAST} items, or the scores of the original do not vary."
NO_SIMILARITY = "No similarity is known."
NO_UNCHANGED = "The share of unchanged fields is not known."
NO_FULL = "No rewording covers every English item that this model has scored."
_COLUMNS = (
    *("model", "scorer_id", "original", "condition", "full_coverage", "subset", "n"),
    *("mean_change", "abs_mean_change", "sd", "expected_noise", "pvalue", "qvalue", "n_tests"),
    *("mean_change_binary", "abs_mean_change_binary", "sd_binary", "expected_noise_binary"),
    *("pvalue_binary", "qvalue_binary", "n_tests_binary"),
    *("slope", "same_choice", "similarity", "n_similarity"),
    *("fields_unchanged", "n_fields_unchanged", "reason"),
)


@dataclass(frozen=True)
class _Cell:
    """One row of `floors`."""

    model: int
    original: str
    condition: str
    full: bool
    subset: str  # the partial rewording whose items are taken; empty for all
    items: Mask  # (N,)


def floors(panel: Panel, request: AuditRequest) -> AuditTable:
    """Every rewording under every model: what it does to the mean, and whether that is noise.

    Returns
    -------
    AuditTable
        One row per model and rewording, of English (`original` en) and of the translations that
        have some. `mean_change` is mean d over `n` items, `sd` that of d (ddof 1), and
        `expected_noise` the |mean d| that pure noise of this sd would show. `pvalue` is of the
        sign-flip test, `qvalue` after Benjamini and Hochberg over the `n_tests` models and
        rewordings of the same original that have one; all also with the suffix `_binary`.
        `slope` of the reworded score on the original one, and `same_choice` the share of the n
        that prefer the same pole in both. `similarity` and `fields_unchanged` are means over the
        items whose metadata have them.

        `full_coverage`: scored on every item that the model has scored in the original; only such
        a rewording enters the floor. Beside a partial one, the full ones stand once more on the
        items of the partial one, which `subset` then names; those rows repeat tests and have no q.
    """
    cells = list(_cells(panel))
    if not cells:
        nothing = pd.DataFrame(columns=list(_COLUMNS))
        return AuditTable(nothing, (NO_REWORDING, *panel.not_for_pairs))
    rows = pd.DataFrame(
        {
            "model": [panel.models[c.model] for c in cells],
            "scorer_id": [panel.scorers[c.model] for c in cells],
            "original": [c.original for c in cells],
            "condition": [c.condition for c in cells],
            "full_coverage": [c.full for c in cells],
            "subset": [c.subset for c in cells],
        }
    )
    for suffix, kind in zip(SUFFIXES, (request.kind, "binary"), strict=True):
        for name, column in _tested(panel, request, kind, cells).items():
            rows[name if name == "n" else f"{name}{suffix}"] = column
        in_family = rows[f"pvalue{suffix}"].where(rows["subset"] == "")
        families = in_family.groupby(rows["original"])
        rows[f"qvalue{suffix}"] = families.transform(benjamini_hochberg)
        rows[f"n_tests{suffix}"] = families.transform(n_tests).astype(np.int64)
    before, after = _versions(panel, request.kind, cells)
    rows["slope"] = line(row_sums(before, after).sum(axis=-1)).slope
    neutral = neutral_score(request)
    rows["same_choice"] = [
        same_choice(a, b, neutral=neutral).same for a, b in zip(before, after, strict=True)
    ]
    known = np.isfinite(_changes(panel, request.kind, cells))
    for column, name in (("similarity", SIMILARITY), ("fields_unchanged", UNCHANGED)):
        values = metadata_numbers(panel, name)[[panel.at(c.condition) for c in cells]]
        rows[column], rows[f"n_{column}"] = mean_over_items(np.where(known, values, np.nan))
    rows["reason"] = [_reason(row) for row in rows.to_dict("records")]
    return AuditTable(rows[list(_COLUMNS)], _notes(panel, cells))


def floors_by_model(panel: Panel, request: AuditRequest) -> AuditTable:
    """The noise floor F_m of each model: mean over full-coverage rewordings of |mean d|.

    Returns
    -------
    AuditTable
        One row per model: `floor` and `floor_binary` over `n_rewordings` of English, of `n_items`
        items; `expected_noise` is what they would come to if all changes were nothing but noise.
    """
    rows = []
    for m, model in enumerate(panel.models):
        at = [panel.at(c) for c in panel.full_coverage(m)]
        means, n = mean_over_items(panel.changes(request.kind)[m, at])  # (K,)
        means_binary, _ = mean_over_items(panel.changes("binary")[m, at])
        noise = expected_noise([sd_of(panel.changes(request.kind)[m, k]) for k in at], n)
        rows.append(
            {
                "model": model,
                "scorer_id": panel.scorers[m],
                "floor": mean_of(np.abs(means)),
                "floor_binary": mean_of(np.abs(means_binary)),
                "expected_noise": mean_of(noise),
                "n_rewordings": int((n > 0).sum()),
                "n_items": int(n.max(initial=0)),
                "reason": _no_floor(n),
            }
        )
    table = pd.DataFrame(rows)
    notes = () if panel.rewordings() else (NO_REWORDING,)
    return AuditTable(table, notes)


def median_floor(by_model: pd.DataFrame) -> float:
    """The noise floor of several models: the median of F_m over those that have one; NaN if none.

    Parameters
    ----------
    by_model
        Rows of `floors_by_model`.
    """
    known = by_model["floor"].dropna()
    return float(known.median()) if len(known) else float("nan")


def _cells(panel: Panel) -> Iterator[_Cell]:
    originals = [c for c in (REFERENCE_CONDITION, *panel.languages) if panel.rewordings(c)]
    everywhere = np.ones(len(panel.items), dtype=np.bool_)
    for m in range(len(panel.models)):
        for original in originals:
            full = panel.full_coverage(m, original)
            partial = [c for c in panel.rewordings(original) if c not in full]
            for condition in panel.rewordings(original):
                yield _Cell(m, original, condition, condition in full, "", everywhere)
            for subset in partial:
                items = panel.is_scored[m, panel.at(subset)]
                if items.any():
                    for condition in full:
                        yield _Cell(m, original, condition, True, subset, items)


def _changes(panel: Panel, kind: ScoreKind, cells: list[_Cell]) -> Array:
    """Changes of the items of every cell, NaN elsewhere. (C, N)"""
    changes = panel.changes(kind)
    return np.array(
        [np.where(c.items, changes[c.model, panel.at(c.condition)], np.nan) for c in cells]
    )


def _tested(
    panel: Panel, request: AuditRequest, kind: ScoreKind, cells: list[_Cell]
) -> dict[str, Any]:
    # The generator is made anew, so that soft and binary scores meet the same signs.
    found = sign_flip_test(
        _changes(panel, kind, cells), n_resamples=request.n_resamples, rng=request.rng("signs")
    )
    return {
        "n": found.n,
        "mean_change": found.mean,
        "abs_mean_change": np.abs(found.mean),
        "sd": found.sd,
        "expected_noise": expected_noise(found.sd, found.n),
        "pvalue": found.pvalue,
    }


def _versions(panel: Panel, kind: ScoreKind, cells: list[_Cell]) -> tuple[Array, Array]:
    """Scores of the items of every cell in the original and reworded, NaN elsewhere. (C, N) each"""
    scores = panel.scores(kind)
    names = [(c, c.original, c.condition) for c in cells]
    before = [np.where(c.items, scores[c.model, panel.at(name)], np.nan) for c, name, _ in names]
    after = [np.where(c.items, scores[c.model, panel.at(name)], np.nan) for c, _, name in names]
    return np.array(before), np.array(after)


def _no_floor(n: npt.NDArray[np.int64]) -> str:
    """What is undefined of a model's floor, given the items of each full-coverage rewording."""
    if not len(n):
        return NO_FULL
    if not n.any():
        return NO_ITEM_OF_MODEL
    return ONE_ITEM if n.max() == 1 else ""


def _reason(row: dict[Any, Any]) -> str:
    if row["n"] == 0:
        return NO_ITEM_OF_MODEL
    reasons = [why] if (why := untested(row)) else []
    reasons += [REPEATED] if row["subset"] and row["n"] > 1 else []
    reasons += [NO_SLOPE] if np.isnan(row["slope"]) else []
    reasons += [NO_SIMILARITY] if row["n_similarity"] == 0 else []
    reasons += [NO_UNCHANGED] if row["n_fields_unchanged"] == 0 else []
    return " ".join(reasons)


def _notes(panel: Panel, cells: list[_Cell]) -> tuple[str, ...]:
    notes = []
    if not panel.rewordings():
        notes.append(NO_REWORDING)
    if partial := sorted({c.condition for c in cells if not c.full}):
        notes.append(
            f"{', '.join(partial)}: not every model has scored it on all items of the original; "
            "there it does not enter the floor."
        )
    return tuple(notes)
