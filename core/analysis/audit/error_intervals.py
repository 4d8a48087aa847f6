"""How sure it is what an error of a pipeline does: both pipelines on the same resampled items.

After "Lost in Translation" (arXiv 2610.20479): items are drawn with replacement, and tests flip the
signs of items. Letters: M models, L languages, N items, R resamples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.analysis.audit.floors import floors_by_model, median_floor
from core.analysis.audit.names import SUFFIXES
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.intervals import Interval, percentile_interval
from core.stats.known import mean_of_known, mean_over_items
from core.stats.resampling import bootstrap_ratios, sign_flip_test
from core.stats.scores import ScoreKind

Array = npt.NDArray[np.float64]

N_BOOTSTRAP = 2_000  # at most: the ends of an interval need no more
N_RESAMPLES = 5_000  # at most: what would have been found needs no p-value to four digits


class _Means(NamedTuple):
    """Means over models of each one's mean over items: of the data first, then of R draws."""

    english: Array  # (1 + R,)
    drops: Array  # (1 + R, L), then of their mean over languages: (1 + R, 1 + L)
    n_english: int  # items
    n: npt.NDArray[np.int64]  # items behind each drop, (1 + L,)


Draws = Callable[[Panel, ScoreKind], _Means]


def draws_of(request: AuditRequest) -> Draws:
    """A function that gives the means of a panel, and computes those of one panel once.

    Every panel meets the same resampled items, so that differences of two are of the same ones.
    """
    known: dict[tuple[int, ScoreKind], tuple[Panel, _Means]] = {}

    def draws(panel: Panel, kind: ScoreKind) -> _Means:
        key = (id(panel), kind)  # the panel is kept beside, so that no other one gets its id
        if key not in known:
            known[key] = panel, _means(panel, kind, request)
        return known[key][1]

    return draws


def error_intervals(
    wrong: Panel, right: Panel, request: AuditRequest, draws: Draws
) -> list[dict[str, Any]]:
    """What an error does to the English mean and to drops, with 95 % intervals over items.

    Returns
    -------
    list of dict
        Over all languages, then one per language. `drop_low` and `drop_high` of the drop, with
        `right_` those of the right pipeline; `moved` is the drop minus the right one and
        `english_moved` the same of the English mean, with `_low` and `_high`. All are percentile
        intervals of `n_bootstrap` draws of `n_items` items (`n_english` of the English means).
        `moved_pvalue` is of the sign-flip test of what the error does to the drop of each item,
        mean over models. All with the suffix `_binary` for the choice alone. `noise_floor` and
        `right_noise_floor` are the medians over models of F_m.
    """
    rows = [
        {
            "noise_floor": _floor(wrong, request),
            "right_noise_floor": _floor(right, request),
            "n_bootstrap": min(request.n_bootstrap, N_BOOTSTRAP),
        }
        for _ in range(1 + len(wrong.languages))
    ]
    for suffix, kind in zip(SUFFIXES, (request.kind, "binary"), strict=True):
        after, before = draws(wrong, kind), draws(right, kind)
        pvalues = _moved_pvalues(wrong, right, kind, request)
        english = _ends(after.english - before.english, after.n_english, "english_moved", suffix)
        for at, row in enumerate(rows):
            n = int(after.n[at])
            row |= _ends(after.drops[:, at], n, "drop", suffix, value=False)
            row |= _ends(before.drops[:, at], n, "right_drop", suffix, value=False)
            row |= _ends(after.drops[:, at] - before.drops[:, at], n, "moved", suffix)
            row |= english | {f"moved_pvalue{suffix}": pvalues[at]}
            if not suffix:
                row |= {"n_items": n, "n_english": after.n_english}
    return rows


def _means(panel: Panel, kind: ScoreKind, request: AuditRequest) -> _Means:
    at = [panel.at(c) for c in panel.languages]
    english = panel.scores(kind)[:, [panel.english]]
    values = np.concatenate([english, -panel.changes(kind)[:, at]], axis=1)  # (M, 1 + L, N)
    known = np.isfinite(values)
    flat = known.reshape(-1, known.shape[-1])
    drawn = bootstrap_ratios(
        np.where(known, values, 0.0).reshape(flat.shape),
        flat.astype(np.float64),
        n_resamples=min(request.n_bootstrap, N_BOOTSTRAP),
        rng=request.rng("pipeline_errors"),
    )
    of_data = mean_over_items(values)[0]
    means = np.concatenate([of_data[None], drawn.reshape(-1, *of_data.shape)])  # (1 + R, M, 1 + L)
    over_models = _mean_of_those(means.transpose(1, 0, 2), np.isfinite(of_data))
    drops = over_models[:, 1:]
    there = np.isfinite(drops[0])
    overall = drops[:, there].mean(axis=1) if there.any() else np.full(len(drops), np.nan)
    of_any = known.any(axis=0)  # (1 + L, N)
    return _Means(
        over_models[:, 0],
        np.column_stack([overall, drops]),
        int(of_any[0].sum()),
        np.concatenate([[of_any[1:].any(axis=0).sum()], of_any[1:].sum(axis=1)]).astype(np.int64),
    )


def _mean_of_those(means: Array, there: npt.NDArray[np.bool_]) -> Array:
    """Mean over the models that have data, column by column; NaN where one has none in a draw.

    Parameters
    ----------
    means
        (M, 1 + R, 1 + L)
    there
        (M, 1 + L)
    """
    filled = np.where(there[:, None], means, 0.0).sum(axis=0)
    n = there.sum(axis=0)
    return np.asarray(np.where(n > 0, filled / np.maximum(n, 1), np.nan))


def _ends(draws: Array, n: int, name: str, suffix: str, *, value: bool = True) -> dict[str, float]:
    """An interval under its names in the table; the first of the draws is of the data."""
    found: Interval = percentile_interval(float(draws[0]), draws[1:], n)
    ends = {f"{name}{suffix}_low": found.low, f"{name}{suffix}_high": found.high}
    return ({f"{name}{suffix}": found.value} if value else {}) | ends


def _moved_pvalues(
    wrong: Panel, right: Panel, kind: ScoreKind, request: AuditRequest
) -> list[float]:
    """Sign-flip p of what the error does to the drop, over all languages and in each."""
    at = [wrong.at(c) for c in wrong.languages]
    moved = mean_of_known(right.changes(kind)[:, at] - wrong.changes(kind)[:, at])  # (L, N)
    found = sign_flip_test(
        np.vstack([mean_of_known(moved)[None], moved]),
        n_resamples=min(request.n_resamples, N_RESAMPLES),
        rng=request.rng("signs"),
    )
    return [float(p) for p in found.pvalue]


def _floor(panel: Panel, request: AuditRequest) -> float:
    return median_floor(floors_by_model(panel, request).rows)
