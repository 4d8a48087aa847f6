"""The same question asked in every defensible way: does the verdict survive the choices?

A specification curve (Simonsohn, Simmons and Nelson 2020) of the item test of "Lost in Translation"
(arXiv 2610.20479). Letters: S specifications, L languages, N items.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.analysis.audit.names import NO_REWORDING, NOTHING_CHANGES, ONE_ITEM
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.fragility import retest
from core.stats.known import mean_of_known
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.resampling import sign_vectors
from core.stats.scores import KINDS, ScoreKind

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ALL = "all"
MODELS = ("every model", "any model", "every model and rewording")
WITHOUT_LARGEST = "mean without the largest changes"
ESTIMATORS = ("mean", WITHOUT_LARGEST, "median")
LEFT_OUT = 0.10  # share of items with the largest |change|; no trimming of both tails
N_RESAMPLES = 2_000  # for each of some hundred specifications
LEAST_RESAMPLES = 500  # of very many items

NO_CHOSEN_ITEM = "No item has what this choice asks for."


@dataclass(frozen=True)
class _Choice:
    kind: ScoreKind
    items: str
    corrected: bool
    estimator: str
    subset: str


def specification_rows(panel: Panel, request: AuditRequest) -> list[dict[str, Any]]:
    """Every language under every combination of five choices.

    Returns
    -------
    list of dict
        Rows of the check "specification", those of a language sorted by `z`:

        kind
            of score, all five;
        items
            scored by every model; by any, as a mean over those; by every model and in every
            rewording;
        corrected
            D - R, or D alone;
        estimator
            mean; mean without the largest changes, those of the tenth of the items with the largest
            |change|; median;
        choice
            all items, or those of one source.

        `drop` is in the unit of the score and kind, `z` comparable between them. `pvalue` is of the
        sign flips of what is averaged, for a median those of the signs (the sign test); `qvalue`
        after Benjamini and Hochberg over the `n_tests` languages under the same choice. `main`
        marks the choice of the audit.
    """
    if not panel.languages or not len(panel.items):
        return []
    n_items = len(panel.items)
    n_draws = min(request.n_resamples, N_RESAMPLES, max(LEAST_RESAMPLES, 20_000_000 // n_items))
    signs = sign_vectors(n_items, n_draws, rng=request.rng("signs"))
    rows: list[dict[str, Any]] = []
    for kind, items in itertools.product(KINDS, MODELS):
        choices, values = _block(panel, kind, items)  # (S, L, N)
        located, tested = _estimates(values, [c.estimator for c in choices])
        found = retest(tested.reshape(-1, n_items), signs=signs)
        pvalues, z = (a.reshape(located.shape) for a in (found.pvalue, -found.z))
        n = np.isfinite(values).sum(axis=-1)
        for s, choice in enumerate(choices):
            qvalues, m = benjamini_hochberg(pvalues[s]), n_tests(pvalues[s])
            rows += [
                {**_row(request, choice, language, n_draws), "n_tests": m}
                | _numbers(-located[s, at], z[s, at], pvalues[s, at], qvalues[at], int(n[s, at]))
                for at, language in enumerate(panel.languages)
            ]
    can_correct = bool(panel.rewordings())
    for row in rows:
        row["reason"] = _reason(row, can_correct)
    place = {language: at for at, language in enumerate(panel.languages)}

    def order(row: dict[str, Any]) -> tuple[int, float]:
        # Undefined ones last: NaN would leave the order to chance.
        return place[row["condition"]], math.inf if math.isnan(row["z"]) else row["z"]

    return sorted(rows, key=order)


def _block(panel: Panel, kind: ScoreKind, items: str) -> tuple[list[_Choice], Array]:
    """Choices, and what each of them averages: D - R or D of every language. (S, L, N)"""
    translated, noise = _changes(panel, kind, items)
    choices, values = [], []
    for corrected in (True, False):
        of_items = translated - noise if corrected else translated
        for (name, mask), estimator in itertools.product(_subsets(panel), ESTIMATORS):
            choices.append(_Choice(kind, items, corrected, estimator, name))
            values.append(np.where(mask, of_items, np.nan))
    return choices, np.array(values)


def _changes(panel: Panel, kind: ScoreKind, items: str) -> tuple[Array, Array]:
    """D (L, N) and R (N,) over the models and items of one choice."""
    changes = panel.changes(kind)
    means = mean_of_known(changes) if items == "any model" else changes.mean(axis=0)  # (K, N)
    rewordings = means[[panel.at(c) for c in panel.noise_rewordings()]]
    noise = mean_of_known(rewordings)
    translated = means[[panel.at(c) for c in panel.languages]]
    if items == "every model and rewording":
        whole = np.isfinite(rewordings).all(axis=0)
        translated = np.where(whole, translated, np.nan)
    return translated, noise


def _subsets(panel: Panel) -> Iterator[tuple[str, Mask]]:
    sources = panel.items["source"].astype(str).to_numpy(object)
    yield ALL, np.ones(len(sources), dtype=np.bool_)
    named = sorted({s for s in sources if s})
    if len(named) > 1:
        for name in named:
            yield name, sources == name


def _estimates(stacked: Array, estimators: list[str]) -> tuple[Array, Array]:
    """Location of each row of values, and what its sign flips are taken of. (S, L), (S, L, N)"""
    tested = stacked.copy()
    # Cut by |value|, which no sign flip changes: the test of what is left stays valid.
    size = np.abs(stacked)
    for s, estimator in enumerate(estimators):
        if estimator == WITHOUT_LARGEST:
            for at in range(stacked.shape[1]):
                known = np.flatnonzero(np.isfinite(size[s, at]))
                cut = int(LEFT_OUT * len(known))
                order = known[np.argsort(size[s, at, known], kind="stable")]
                tested[s, at, order[len(known) - cut :]] = np.nan
        elif estimator == "median":
            tested[s] = np.sign(stacked[s])
    known = np.isfinite(tested)
    n = known.sum(axis=-1)
    total = np.where(known, tested, 0.0).sum(axis=-1)
    located = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    for s, estimator in enumerate(estimators):
        if estimator == "median":
            located[s] = [_median(values) for values in stacked[s]]
    return located, tested


def _median(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else float("nan")


def _row(request: AuditRequest, choice: _Choice, language: str, n_draws: int) -> dict[str, Any]:
    items = MODELS[2] if request.complete else MODELS[0]
    main = _Choice(request.kind, items, corrected=True, estimator=ESTIMATORS[0], subset=ALL)
    return {
        "condition": language,
        "check": "specification",
        "choice": choice.subset,
        "kind": choice.kind,
        "items": choice.items,
        "corrected": choice.corrected,
        "estimator": choice.estimator,
        "main": choice == main,
        "n_resamples": n_draws,
    }


def _numbers(drop: float, z: float, pvalue: float, qvalue: float, n: int) -> dict[str, Any]:
    return {
        "n": n,
        "drop": float(drop),
        "z": float(z),
        "pvalue": float(pvalue),
        "qvalue": float(qvalue),
        "significant": None if np.isnan(qvalue) else bool(qvalue < LEVEL),
    }


def _reason(row: dict[str, Any], can_correct: bool) -> str:
    if row["corrected"] and not can_correct:
        return NO_REWORDING
    if not row["n"]:
        return NO_CHOSEN_ITEM
    if row["n"] == 1:
        return ONE_ITEM
    return NOTHING_CHANGES if np.isnan(row["pvalue"]) else ""
