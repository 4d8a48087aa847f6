"""Every language under every kind of score: does the verdict depend on which one is read?

After "Lost in Translation" (arXiv 2610.20479): the scale of a mean log-probability depends on
tokens per word, so part of a drop may be scale alone. Letters: M models, L languages, K rewordings,
N items, R resamples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.item_changes import item_changes, rewordings_of_noise
from core.analysis.audit.panel import NO_TRANSLATION, Panel
from core.analysis.audit.request import KINDS, AuditRequest, AuditTable
from core.analysis.audit.verdicts import depends_on_score, verdict
from core.stats.intervals import percentile_interval
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import bootstrap_ratios, bootstrap_weights, sign_flip_test
from core.stats.standardised import standardised_change

Array = npt.NDArray[np.float64]

STANDARDISED = "standardised"
_NUMBERS_HELD = 20_000_000  # of the draws that standardising keeps, 160 MB

NO_ITEM = "No item is scored by every model in both versions."
NO_REWORDING = "No rewording of English is scored, so there is nothing to set the drop against."
NO_SPREAD = "The items of every model do not vary, or change alike: no interval."
_COLUMNS = (
    *("condition", "kind", "drop", "drop_low", "drop_high", "n", "t", "t_low", "t_high"),
    *("t90_low", "t90_high", "n_t", "test", "pvalue", "qvalue", "verdict", "depends_on_score"),
    *("n_models", "reason"),
)


def score_panel(panel: Panel, request: AuditRequest) -> AuditTable:
    """Test each language under each kind of score.

    Returns
    -------
    AuditTable
        One row per language and kind: `drop` = -mean D over the `n` items scored by every model,
        with a 95 % bootstrap interval over items; `t`, the drop beyond that of rewording, over the
        `n_t` that are reworded too, with 95 and 90 % intervals; q after Benjamini and Hochberg over
        the languages under the same kind; `verdict` of that kind alone. `depends_on_score`, the
        same for all rows of a language: some kinds show a shift and others none, or one the other
        way.

        The standardised drop is the difference of mean(u) / sd(u) per condition, u = l+ - l-, the
        mean over models, with the sds of each resample; its `t` is that minus the mean of the
        rewordings' on the items they have. No sign flip applies to it, so its p is from the
        bootstrap (`test`): twice the smaller share of draws on one side of 0. It has no margin in
        the unit of a score, so it is never called equivalent.
    """
    if not panel.languages:
        return AuditTable(pd.DataFrame(columns=list(_COLUMNS)), (NO_TRANSLATION,))
    rows = [*_item_rows(panel, request), *_standardised_rows(panel, request)]
    table = pd.DataFrame(rows)
    table["qvalue"] = table.groupby("kind", sort=False)["pvalue"].transform(benjamini_hochberg)
    reworded = bool(panel.rewordings())
    found = table.to_dict("records")
    table["verdict"] = [
        verdict(
            r["qvalue"],
            r["t90_low"],
            r["t90_high"],
            np.nan if r["kind"] == STANDARDISED else request.margin,
        )
        for r in found
    ]
    depends = {
        condition: depends_on_score(zip(part["verdict"], part["t"], strict=True))
        for condition, part in table.groupby("condition", sort=False)
    }
    table["depends_on_score"] = pd.array(
        [depends[condition] for condition in table["condition"]], dtype="boolean"
    )
    table["n_models"] = len(panel.scorers)
    table["reason"] = [_reason(r, reworded) for r in found]
    place = {condition: at for at, condition in enumerate(panel.languages)}
    order = table["condition"].map(place).argsort(kind="stable")
    return AuditTable(table.iloc[order].reset_index(drop=True)[list(_COLUMNS)])


def _item_rows(panel: Panel, request: AuditRequest) -> list[dict[str, Any]]:
    """The kinds that are a mean over items. All share the signs and the resampled items."""
    kinds = [kind for kind in KINDS if kind != STANDARDISED]
    changes = [item_changes(panel, kind) for kind in kinds]
    drops = np.concatenate([-c.translated for c in changes])  # (kinds x L, N)
    beyond = np.concatenate([c.reworded - c.translated for c in changes])
    found = sign_flip_test(beyond, n_resamples=request.n_resamples, rng=request.rng("signs"))
    both = np.concatenate([drops, beyond])
    known = np.isfinite(both)
    draws = bootstrap_ratios(
        np.where(known, both, 0.0),
        known.astype(np.float64),
        n_resamples=request.n_bootstrap,
        rng=request.rng("score_panel"),
    )  # (R, 2 x kinds x L)
    half = len(drops)
    return [
        {
            "kind": kinds[at // len(panel.languages)],
            "condition": panel.languages[at % len(panel.languages)],
            **_interval("drop", _mean(drops[at]), draws[:, at], int(known[at].sum())),
            **_interval("t", _mean(beyond[at]), draws[:, half + at], int(known[half + at].sum())),
            "test": "sign_flip",
            "pvalue": float(found.pvalue[at]),
        }
        for at in range(half)
    ]


def _standardised_rows(panel: Panel, request: AuditRequest) -> list[dict[str, Any]]:
    languages, names = panel.languages, rewordings_of_noise(panel)
    u = panel.numbers["l_stereotype"] - panel.numbers["l_anti"]  # (M, K, N)
    n_models, _, n_items = u.shape
    at = [panel.at(c) for c in (*languages, *names)]
    before = np.broadcast_to(u[:, [panel.english]], (n_models, len(at), n_items)).copy()
    after = u[:, at].copy()
    # As elsewhere, an item counts if every model has scored it in both versions.
    whole = np.isfinite(before).all(axis=0) & np.isfinite(after).all(axis=0)
    before[:, ~whole] = after[:, ~whole] = np.nan
    shape = (n_models * len(at), n_items)
    width = max(n_items, 4 * shape[0], 1)
    n_draws = min(request.n_bootstrap, max(500, _NUMBERS_HELD // width))
    weights = bootstrap_weights(n_items, n_draws, rng=request.rng("score_panel standardised"))
    weights = np.vstack([np.ones(n_items), weights])
    changes = standardised_change(before.reshape(shape), after.reshape(shape), weights)
    by_version = changes.reshape(-1, n_models, len(at)).mean(axis=1)  # (1 + R, L + K)
    drops = -by_version[:, : len(languages)]
    noise = by_version[:, len(languages) :]
    reworded = noise.mean(axis=1) if names else np.full(len(weights), np.nan)
    beyond = drops + reworded[:, None]
    n = whole.sum(axis=-1)
    return [
        {
            "kind": STANDARDISED,
            "condition": language,
            **_interval("drop", float(drops[0, j]), drops[1:, j], int(n[j])),
            **_interval("t", float(beyond[0, j]), beyond[1:, j], int(n[j]) if names else 0),
            "test": "bootstrap",
            "pvalue": _bootstrap_pvalue(beyond[1:, j]) if np.isfinite(beyond[0, j]) else np.nan,
        }
        for j, language in enumerate(languages)
    ]


def _interval(name: str, value: float, draws: Array, n: int) -> dict[str, Any]:
    wide = percentile_interval(value, draws, n)
    numbers: dict[str, Any] = {name: value, f"{name}_low": wide.low, f"{name}_high": wide.high}
    if name == "drop":
        return numbers | {"n": n}
    narrow = percentile_interval(value, draws, n, level=0.90)
    return numbers | {"t90_low": narrow.low, "t90_high": narrow.high, "n_t": n}


def _bootstrap_pvalue(draws: Array) -> float:
    """Twice the smaller share of draws on one side of 0, each side counted with one more."""
    finite = draws[np.isfinite(draws)]
    if len(finite) < 2 or np.ptp(finite) == 0:
        return float("nan")
    sides = 1 + np.array([(finite <= 0).sum(), (finite >= 0).sum()])
    return min(1.0, 2 * float(sides.min()) / (len(finite) + 1))


def _reason(row: dict[Any, Any], reworded: bool) -> str:
    if not row["n"]:
        return NO_ITEM
    if np.isnan(row["drop"]):
        return NO_SPREAD
    if not reworded:
        return NO_REWORDING
    if not row["n_t"]:
        return NO_ITEM
    return NO_SPREAD if np.isnan(row["t_low"]) or np.isnan(row["drop_low"]) else ""


def _mean(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else float("nan")
