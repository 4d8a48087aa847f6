"""How far each language lies below English, item by item: drop and T, on which verdicts stand.

After "Lost in Translation" (arXiv 2610.20479), item-level test: drop = -mean D_i over the items
that every model has scored, and T = -mean(D_i - R_i), what of it is beyond rewording, with their
intervals over items and the p-value of T. `item_tests`, `main` (drop_items, t), `equivalence`,
`score_panel` and `verdicts` take them from here, so that no two of them show different ones.

Where models have scored different items, other means of the same changes differ from this drop:
over models of each one's mean (`drop` of `main` and `pipeline_errors`), of all scores
(`drop_pooled` of `crossed`), and of all rows of a group (`drop_rows` of `surface` and `quality`).
Letters: M models, L languages, N items, P pairs of a version with its items, R resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.analysis.audit.item_changes import item_changes
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import STANDARDISED, AuditRequest
from core.stats.intervals import percentile_interval
from core.stats.known import mean_of, varies
from core.stats.levels import CONFIDENCE, LEAST_ITEMS, NARROW
from core.stats.resampling import bootstrap_ratios, bootstrap_weights, sign_flip_test
from core.stats.scores import ScoreKind
from core.stats.standardised import standardised_change

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SIGN_FLIP, BOOTSTRAP = "sign_flip", "bootstrap"  # how a p-value was made
_LEAST_DRAWS = 500
_NUMBERS_HELD = 20_000_000  # of the draws that standardising keeps, 160 MB


def language_rows(
    panel: Panel, request: AuditRequest, kinds: Sequence[ScoreKind]
) -> list[dict[str, Any]]:
    """Drop and T of each language under some kinds of score, with their intervals over items.

    Returns
    -------
    list of dict
        One per kind and language. `drop` over the `n_drop` items scored by every model in both
        versions, with `drop_low` and `drop_high`, the 95 % percentile bootstrap interval over
        items; `t` over the `n` that are reworded too, with 95 and 90 % intervals; `reworded_drop`
        on these. `pvalue` is of the `test`: sign flips of D - R (`exact`: of all sign vectors), or
        for standardised scores the bootstrap, twice the smaller share of draws on one side of 0,
        because no sign flip of items applies to a ratio. `n_bootstrap` draws. All kinds but the
        standardised share the signs and the resampled items, and the numbers of one kind do not
        depend on which others are asked for.

        The standardised drop is the difference of mean(u) / sd(u) per condition, u = l+ - l-, mean
        over models, with the sds of each resample; its `t` is that minus the mean of the
        rewordings', on the items that every model has scored in all of these versions. A rewording
        that no model shares an item of with the others is left out.
    """
    if not panel.languages:
        return []
    of_items = [kind for kind in kinds if kind != STANDARDISED]
    rows = _item_rows(panel, request, of_items) if of_items else []
    return rows + (_standardised_rows(panel, request) if STANDARDISED in kinds else [])


def _item_rows(panel: Panel, request: AuditRequest, kinds: list[ScoreKind]) -> list[dict[str, Any]]:
    """The kinds that are a mean over items."""
    changes = [item_changes(panel, kind, complete=request.complete) for kind in kinds]
    drops = np.concatenate([-c.translated for c in changes])  # (kinds x L, N)
    beyond = np.concatenate([c.reworded - c.translated for c in changes])
    noise = np.concatenate([np.broadcast_to(c.reworded, c.translated.shape) for c in changes])
    found = sign_flip_test(beyond, n_resamples=request.n_resamples, rng=request.rng("signs"))
    both = np.concatenate([drops, beyond])
    known = np.isfinite(both)
    draws = bootstrap_ratios(
        np.where(known, both, 0.0),
        known.astype(np.float64),
        n_resamples=request.n_bootstrap,
        rng=request.rng("language_rows"),
    )  # (R, 2 x kinds x L)
    half = len(drops)
    return [
        {
            "kind": kinds[at // len(panel.languages)],
            "condition": panel.languages[at % len(panel.languages)],
            **drop_interval(mean_of(drops[at]), draws[:, at], int(known[at].sum())),
            **t_intervals(mean_of(beyond[at]), draws[:, half + at], int(known[half + at].sum())),
            "reworded_drop": -mean_of(np.where(known[half + at], noise[at], np.nan)),
            "test": SIGN_FLIP,
            "pvalue": float(found.pvalue[at]),
            "exact": bool(found.exact[at]),
            "n_bootstrap": request.n_bootstrap,
        }
        for at in range(half)
    ]


def _standardised_rows(panel: Panel, request: AuditRequest) -> list[dict[str, Any]]:
    u = panel.numbers["l_stereotype"] - panel.numbers["l_anti"]  # (M, K, N)
    whole: Mask = np.asarray(np.isfinite(u).all(axis=0))  # (K, N)
    whole &= whole[panel.english]
    names = [c for c in panel.noise_rewordings() if whole[panel.at(c)].any()]
    reworded = whole[[panel.at(c) for c in names]].all(axis=0) & bool(names)
    pairs = [(c, whole[panel.at(c)]) for c in panel.languages]
    for language in panel.languages:
        of_both = whole[panel.at(language)] & reworded
        pairs += [(c, of_both) for c in (language, *names)]
    draws = _standardised_draws(panel, request, u, pairs)  # (1 + R, P)
    rows = []
    for j, language in enumerate(panel.languages):
        first = len(panel.languages) + j * (1 + len(names))
        nothing = np.full(len(draws), np.nan)
        noise = draws[:, first + 1 : first + 1 + len(names)].mean(axis=1) if names else nothing
        t = noise - draws[:, first]
        rows.append(
            {
                "kind": STANDARDISED,
                "condition": language,
                **drop_interval(-float(draws[0, j]), -draws[1:, j], int(pairs[j][1].sum())),
                **t_intervals(float(t[0]), t[1:], int(pairs[first][1].sum())),
                "reworded_drop": -float(noise[0]),
                "test": BOOTSTRAP,
                "pvalue": _bootstrap_pvalue(t, int(pairs[first][1].sum())),
                "exact": False,
                "n_bootstrap": len(draws) - 1,
            }
        )
    return rows


def _standardised_draws(
    panel: Panel, request: AuditRequest, u: Array, pairs: list[tuple[str, Mask]]
) -> Array:
    """Standardised change of versions on their items, mean over models: first of the data. (1+R, P)

    Versions that come twice with the same items are computed once.
    """
    keys = [(condition, mask.tobytes()) for condition, mask in pairs]
    distinct = dict(zip(keys, pairs, strict=True))
    n_models, _, n_items = u.shape
    before, after = (np.full((n_models, len(distinct), n_items), np.nan) for _ in range(2))
    for at, (condition, mask) in enumerate(distinct.values()):
        before[:, at, mask] = u[:, panel.english, mask]
        after[:, at, mask] = u[:, panel.at(condition), mask]
    shape = (n_models * len(distinct), n_items)
    width = max(n_items, 4 * shape[0], 1)
    n_draws = min(request.n_bootstrap, max(_LEAST_DRAWS, _NUMBERS_HELD // width))
    rng = request.rng("language_rows standardised")
    weights = np.vstack([np.ones(n_items), bootstrap_weights(n_items, n_draws, rng=rng)])
    changes = standardised_change(before.reshape(shape), after.reshape(shape), weights)
    of_versions = changes.reshape(len(weights), n_models, len(distinct)).mean(axis=1)
    place = {key: at for at, key in enumerate(distinct)}
    return np.asarray(of_versions[:, [place[key] for key in keys]])


def drop_interval(value: float, draws: Array, n: int) -> dict[str, Any]:
    """A drop with its 95 % interval and its items, under their names in the tables."""
    wide = percentile_interval(value, draws, n)
    return {"drop": value, "drop_low": wide.low, "drop_high": wide.high, "n_drop": n}


def t_intervals(value: float, draws: Array, n: int) -> dict[str, Any]:
    """T with its 95 % and 90 % intervals of the same draws and its items, under their names."""
    wide, narrow = (
        percentile_interval(value, draws, n, level=level) for level in (CONFIDENCE, NARROW)
    )
    return {
        "t": value,
        "t_low": wide.low,
        "t_high": wide.high,
        "t90_low": narrow.low,
        "t90_high": narrow.high,
        "n": n,
    }


def _bootstrap_pvalue(t: Array, n: int) -> float:
    """Twice the smaller share of draws on one side of 0, each side counted with one more.

    Of n items; the first of `t` is of the data, the others are draws. NaN where there is no
    interval.
    """
    finite = t[1:][np.isfinite(t[1:])]
    if np.isnan(t[0]) or n < LEAST_ITEMS or not varies(finite):
        return float("nan")
    sides = 1 + np.array([(finite <= 0).sum(), (finite >= 0).sum()])
    return min(1.0, 2 * float(sides.min()) / (len(finite) + 1))
