"""How much do wordings differ, and is a translation more than one more wording?

Beside the noise floor of "Lost in Translation" (arXiv 2610.20479), which takes the rewordings as
given: here they are a sample of the ways to say the same. Letters: M models, K rewordings, N items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.names import ALL_MODELS, LANGUAGE, NO_REWORDING, NOTHING_CHANGES
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.settings import REFERENCE_CONDITION
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.wording import (
    LEAST_REWORDINGS,
    WordingVariance,
    exchange_test,
    prediction_pvalue,
)
from core.stats.wording import (
    wording_variance as split_variance,
)

Array = npt.NDArray[np.float64]

REWORDINGS = "rewordings"  # what a row of `wording_variance` is of, or LANGUAGE

ASSUMED = (
    "The prediction interval takes the rewordings and the translation for draws from one normal "
    "distribution of wordings; with k of them it has k − 1 degrees of freedom, so it is wide."
)
FEW_REWORDINGS = f"Wording variance needs {LEAST_REWORDINGS} rewordings, not {{}}."
TWO_ITEMS = "Wording variance needs two items that have all these versions, not {}."
SAME_MEANS = "The rewordings do not differ in their means, so they predict nothing."
ONLY_TOGETHER = "The exchange test is of the mean over all models alone."
_COLUMNS = (
    *("unit", "original", "condition", "model", "scorer_id", "n", "n_rewordings", "mean_change"),
    *("sd_between", "sampling_variance", "sampling_sd", "shared_variance", "tau2_raw", "tau2"),
    "tau",
    *("prediction_low", "prediction_high", "outside", "languages_outside"),
    *("pvalue_prediction", "qvalue_prediction", "n_tests_prediction"),
    *("pvalue_exchange", "qvalue_exchange", "n_tests_exchange", "reason"),
)


@dataclass(frozen=True)
class _Unit:
    """One model, or the mean over all."""

    model: str
    scorer_id: str
    changes: Array  # of every condition, (K, N)
    rewordings: dict[str, list[str]]  # per original, those that count


def wording_variance(panel: Panel, request: AuditRequest) -> AuditTable:
    """Wording variance tau^2 of English and of every language with rewordings, and what is beyond.

    Returns
    -------
    AuditTable
        `unit` "rewordings": one row per `original` and model, and one for the mean over all models.
        `mean_change` is the mean over the `n_rewordings` of mean d, on the `n` items that have all
        of them, and `sd_between` the sd of these means. `sampling_variance` of one such mean comes
        from the choice of items, `shared_variance` of it from the original that all share. `tau2`
        is what is left for the wording, `tau2_raw` before it is cut at 0, `tau` its root. The mean
        change of one more rewording is predicted between `prediction_low` and `prediction_high`
        (95 %, t with k - 1 degrees of freedom); `languages_outside` are the translations that lie
        outside.

        `unit` "language": one row per translation and model, against the rewordings of English on
        the `n` items that have the translation too. `outside` the interval where
        `pvalue_prediction` < .05; `qvalue_prediction` over the rows of single models, and apart
        over those of all models, `n_tests_prediction` of them. `pvalue_exchange`, of the mean over
        all models alone: any version of an item could be the translation; it does not know of
        effects on all items of a rewording.

        Rewordings are those of full coverage; if there is none such, all of them.
    """
    rows: list[dict[str, Any]] = []
    units = list(_units(panel, request))
    for original in (REFERENCE_CONDITION, *panel.languages):
        if panel.rewordings(original):
            rows += [_rewordings_row(panel, unit, original) for unit in units]
    languages = [
        _language_row(panel, unit, condition) for condition in panel.languages for unit in units
    ]
    _add_exchange(panel, request, units[-1], languages)
    table = pd.DataFrame(rows + languages, columns=list(_COLUMNS))
    _add_outside(table)
    table["reason"] = [_reasons(row) for row in table.to_dict("records")]
    notes = (ASSUMED,) if panel.rewordings() else (NO_REWORDING,)
    return AuditTable(table, notes + panel.no_languages)


def _units(panel: Panel, request: AuditRequest) -> Iterator[_Unit]:
    """Every model, then the mean over all of them."""
    changes = panel.changes(request.kind)
    originals = (REFERENCE_CONDITION, *panel.languages)
    for m, (model, scorer_id) in enumerate(zip(panel.models, panel.scorers, strict=True)):
        chosen = {o: panel.noise_rewordings(o, m) for o in originals}
        yield _Unit(model, scorer_id, changes[m], chosen)
    chosen = {o: panel.noise_rewordings(o) for o in originals}
    yield _Unit(ALL_MODELS, "", changes.mean(axis=0), chosen)


def _rewordings_row(panel: Panel, unit: _Unit, original: str) -> dict[str, Any]:
    found = split_variance(unit.changes[[panel.at(c) for c in unit.rewordings[original]]])
    return {
        "unit": REWORDINGS,
        "original": original,
        "condition": "",
        "model": unit.model,
        "scorer_id": unit.scorer_id,
        "mean_change": found.mean,
        **_split(found),
    }


def _language_row(panel: Panel, unit: _Unit, condition: str) -> dict[str, Any]:
    """A translation against the rewordings of English, on the items that have all of them."""
    versions = _versions(panel, unit, condition)
    versions = versions[:, np.isfinite(versions).all(axis=0)]
    found = split_variance(versions[1:])
    mean = float(versions[0].mean()) if versions.shape[1] else float("nan")
    pvalue = prediction_pvalue(mean, found)
    return {
        "unit": LANGUAGE,
        "original": REFERENCE_CONDITION,
        "condition": condition,
        "model": unit.model,
        "scorer_id": unit.scorer_id,
        "mean_change": mean,
        **_split(found),
        "pvalue_prediction": pvalue,
        "outside": None if np.isnan(pvalue) else bool(pvalue < LEVEL),
    }


def _versions(panel: Panel, unit: _Unit, condition: str) -> Array:
    """Changes from English of a translation, first, and of the rewordings. (K + 1, N)"""
    names = [condition, *unit.rewordings[REFERENCE_CONDITION]]
    return unit.changes[[panel.at(c) for c in names]]


def _split(found: WordingVariance) -> dict[str, Any]:
    return {
        "sd_between": found.sd_between,
        "sampling_variance": found.sampling_variance,
        "sampling_sd": float(np.sqrt(found.sampling_variance)),
        "shared_variance": found.shared_variance,
        "tau2_raw": found.tau2_raw,
        "tau2": found.tau2,
        "tau": float(np.sqrt(found.tau2)),
        "prediction_low": found.low,
        "prediction_high": found.high,
        "n": found.n,
        "n_rewordings": found.n_rewordings,
        "reason": _no_variance(found),
    }


def _no_variance(found: WordingVariance) -> str:
    if found.n_rewordings < LEAST_REWORDINGS:
        return FEW_REWORDINGS.format(found.n_rewordings)
    if found.n < 2:
        return TWO_ITEMS.format(found.n)
    return SAME_MEANS if np.isnan(found.low) else ""


def _reasons(row: dict[Any, Any]) -> str:
    """Why a row has no wording variance, and why a language has no exchange test."""
    reasons = [row["reason"]]
    if row["unit"] == LANGUAGE and np.isnan(row["pvalue_exchange"]):
        if row["model"] != ALL_MODELS:
            reasons.append(ONLY_TOGETHER)
        elif row["n_rewordings"] and row["n"] > 1:
            reasons.append(NOTHING_CHANGES)
    return " ".join(reason for reason in reasons if reason)


def _add_exchange(
    panel: Panel, request: AuditRequest, everyone: _Unit, rows: list[dict[str, Any]]
) -> None:
    """The exchange test of each language, over the mean of all models."""
    if not panel.languages:
        return
    versions = np.array([_versions(panel, everyone, c) for c in panel.languages])
    pvalues = exchange_test(
        versions, n_resamples=request.n_resamples, rng=request.rng("wording_variance")
    )
    of_language = dict(zip(panel.languages, pvalues.tolist(), strict=True))
    for row in rows:
        if row["model"] == ALL_MODELS:
            row["pvalue_exchange"] = of_language[row["condition"]]


def _add_outside(table: pd.DataFrame) -> None:
    """q-values of the languages, and which of them lie outside beside each interval of English."""
    is_language = table["unit"] == LANGUAGE
    everyone = table["model"] == ALL_MODELS
    for name in ("prediction", "exchange"):
        table[f"qvalue_{name}"], table[f"n_tests_{name}"] = np.nan, 0
        for rows in (is_language & everyone, is_language & ~everyone):
            p = table.loc[rows, f"pvalue_{name}"].to_numpy(np.float64)
            table.loc[rows, f"qvalue_{name}"] = benjamini_hochberg(p)
            table.loc[rows, f"n_tests_{name}"] = n_tests(p)
    table["outside"] = table["outside"].astype("boolean")
    found = table[is_language & table["outside"].fillna(False)]
    of_model = found.groupby("scorer_id")["condition"].agg(", ".join).to_dict()
    english = ~is_language & (table["original"] == REFERENCE_CONDITION)
    table["languages_outside"] = [
        of_model.get(scorer_id, "") if of_english else ""
        for scorer_id, of_english in zip(table["scorer_id"], english, strict=True)
    ]
