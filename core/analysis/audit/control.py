"""The positive control: sentences in front that ought to move the scores, and one that ought not.

After "Lost in Translation" (arXiv 2610.20479), the section on sensitivity: four arms (nothing, a
neutral sentence, "stereotypes are true", "stereotypes are false"). Letters: M models, N items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import bdtr

from core.analysis.audit.names import (
    ALIKE,
    ALL_MODELS,
    FEW_ITEMS,
    MODEL,
    NO_CHOICE_CHANGES,
    NO_ITEM,
    NO_ITEM_OF_MODEL,
    NOTHING_CHANGES,
    ONE_ITEM,
    ONE_MODEL,
    SUFFIXES,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.items.conditions import parse_condition, without_prefix
from core.stats.intervals import percentile_interval, t_interval
from core.stats.known import mean_of, sd_of
from core.stats.levels import LEAST_ITEMS
from core.stats.multiple import benjamini_hochberg, n_tests
from core.stats.resampling import bootstrap_means, sign_flip_test
from core.stats.scores import ScoreKind

Array = npt.NDArray[np.float64]

N_BOOTSTRAP = 2_000  # at most: the ends of an interval need no more
NEUTRAL, ARMS = "neutral", ("neutral", "true", "false")  # in the order of the table
NO_CONTROL = (
    "No item has a version with the prefix true, false or neutral (such as en+true), so there is "
    "no positive control."
)
NO_NEUTRAL = (
    "There is no neutral arm beside {}: any prefix moves scores, so what it says is not told apart "
    "from its being there."
)
NO_BASE = "The version without the prefix is not in the data set."
NO_MODEL = "No model moves, so there is no sign to test."
SAME_MEANS = "The mean changes of the models do not differ, so there is no interval over them."
SAME_CHOICES = "The choices change alike, so there is no interval of theirs."
NO_CHOICE = "The choices of no model move, so there is no sign of theirs to test."
_COLUMNS = (
    *("unit", "condition", "arm", "against", "model", "scorer_id", "n", "n_binary"),
    *("mean_change", "low", "high", "sd", "sd_models", "pvalue", "qvalue", "n_tests"),
    *("mean_change_binary", "low_binary", "high_binary", "pvalue_binary", "qvalue_binary"),
    "n_tests_binary",
    *("n_models", "n_moved", "n_up", "n_models_binary", "n_moved_binary", "n_up_binary", "reason"),
)


@dataclass(frozen=True)
class _Contrast:
    """A version with a prefix, and what it is compared with."""

    condition: str
    arm: str
    against: str


def control(panel: Panel, request: AuditRequest) -> AuditTable:
    """Positive control: a sentence in front that says stereotypes are true, or false, or nothing.

    Returns
    -------
    AuditTable
        `unit` "model": the paired sign-flip test of the scores with the prefix `arm` minus those of
        `against`, which is the same version without a prefix or with the neutral one, over `n`
        items; `sd` is over these items, and `low` and `high` are the 95 % bootstrap interval over
        them. `qvalue` over all models, arms and comparisons, `n_tests` in all.
        `unit` "all models": `mean_change` is the mean over the `n_models` that have scored both
        versions of one of the `n` items, `sd_models` the standard deviation over them, and `low`
        and `high` the 95 % t interval over them; with one model, its interval over items. Of the
        `n_moved` whose mean change is not 0, `n_up` move up, and `pvalue` is that of the sign test
        over these; `qvalue` over the `n_tests` arms and comparisons.
        With the suffix `_binary` the same of the choice alone.
    """
    contrasts = list(_contrasts(panel))
    if not contrasts:
        nothing = pd.DataFrame(columns=list(_COLUMNS))
        return AuditTable(nothing, (NO_CONTROL, *panel.not_for_pairs))
    bases = sorted({without_prefix(c.condition) for c in contrasts})
    notes = [NO_NEUTRAL.format(b) for b in bases if f"{b}+{NEUTRAL}" not in panel.conditions]
    rows = pd.DataFrame(_places(panel, contrasts))
    everyone = pd.DataFrame([_named(c, ALL_MODELS, "") for c in contrasts])
    for suffix, kind in zip(SUFFIXES, (request.kind, "binary"), strict=True):
        changes = np.array([_difference(panel, kind, c) for c in contrasts])  # (contrasts, M, N)
        tested = _tested(changes, request)
        rows = rows.join(tested.add_suffix(suffix))
        everyone = everyone.join(_over_models(changes, tested).add_suffix(suffix))
        for table in (rows, everyone):
            table[f"qvalue{suffix}"] = benjamini_hochberg(table[f"pvalue{suffix}"])
            table[f"n_tests{suffix}"] = n_tests(table[f"pvalue{suffix}"])
    for table, why in ((rows, _no_test), (everyone, _no_sign)):
        table["reason"] = [why(panel, row) for row in table.to_dict("records")]
    table = pd.concat([rows, everyone], ignore_index=True).reindex(columns=list(_COLUMNS))
    counts = [c for c in _COLUMNS if c.startswith("n_up")]
    return AuditTable(table.astype(dict.fromkeys(counts, "Int64")), tuple(notes))


def sign_test(n_up: int, n: int) -> float:
    """Two-sided exact p of n_up of n signs being positive, each with chance 1/2; NaN without any.

    Twice the smaller tail of the binomial distribution, at most 1.
    """
    return min(1.0, 2 * float(bdtr(min(n_up, n - n_up), n, 0.5))) if n else float("nan")


def _contrasts(panel: Panel) -> Iterator[_Contrast]:
    held = [(parse_condition(c).prefix, without_prefix(c), c) for c in panel.conditions]
    bases = list(dict.fromkeys(base for arm, base, _ in held if arm in ARMS))
    for arm, base, condition in sorted(
        (one for one in held if one[0] in ARMS),
        key=lambda one: (bases.index(one[1]), ARMS.index(one[0])),
    ):
        yield _Contrast(condition, arm, base)
        neutral = f"{base}+{NEUTRAL}"
        if arm != NEUTRAL and neutral in panel.conditions:
            yield _Contrast(condition, arm, neutral)


def _places(panel: Panel, contrasts: list[_Contrast]) -> list[dict[str, Any]]:
    """Every contrast under every model, contrasts first."""
    return [
        _named(c, model, scorer_id) | {"unit": MODEL}
        for c in contrasts
        for model, scorer_id in zip(panel.models, panel.scorers, strict=True)
    ]


def _named(contrast: _Contrast, model: str, scorer_id: str) -> dict[str, Any]:
    return {
        "unit": ALL_MODELS,
        "condition": contrast.condition,
        "arm": contrast.arm,
        "against": contrast.against,
        "model": model,
        "scorer_id": scorer_id,
    }


def _difference(panel: Panel, kind: ScoreKind, contrast: _Contrast) -> Array:
    """Scores with the prefix minus those to compare with. (M, N)"""
    scores = panel.scores(kind)
    if contrast.against not in panel.conditions:
        return np.full(scores[:, 0].shape, np.nan)
    return np.asarray(
        scores[:, panel.at(contrast.condition)] - scores[:, panel.at(contrast.against)]
    )


def _tested(changes: Array, request: AuditRequest) -> pd.DataFrame:
    """The paired test of every contrast under every model, contrasts first."""
    flat = changes.reshape(-1, changes.shape[-1])
    # The generator is made anew, so that soft and binary scores meet the same signs.
    found = sign_flip_test(flat, n_resamples=request.n_resamples, rng=request.rng("signs"))
    known = found.n > 0
    up = pd.array((found.mean > 0).astype(np.int64), dtype="Int64")
    up[~known] = pd.NA
    draws = bootstrap_means(
        flat, n_resamples=min(request.n_bootstrap, N_BOOTSTRAP), rng=request.rng("control")
    )  # (R, C)
    ends = [
        percentile_interval(float(mean), draws[:, at], int(found.n[at]))
        for at, mean in enumerate(found.mean)
    ]
    return pd.DataFrame(
        {
            "n": found.n,
            "mean_change": found.mean,
            "low": [interval.low for interval in ends],
            "high": [interval.high for interval in ends],
            "sd": found.sd,
            "pvalue": found.pvalue,
            "n_models": known.astype(np.int64),
            "n_moved": (known & (found.mean != 0)).astype(np.int64),
            "n_up": up,
        }
    )


def _over_models(changes: Array, tested: pd.DataFrame) -> pd.DataFrame:
    """One row per contrast, over all models; `tested` has those of each one."""
    rows = []
    ends = tested[["low", "high"]].to_numpy(np.float64).reshape(*changes.shape[:2], 2)
    for of_contrast, of_models in zip(changes, ends, strict=True):
        known = np.isfinite(of_contrast)
        means = np.array([mean_of(of_model) for of_model in of_contrast])
        n_up, n_moved = int((means > 0).sum()), int((np.isfinite(means) & (means != 0)).sum())
        n_models = int(np.isfinite(means).sum())
        over = t_interval(means)
        low, high = of_models[np.isfinite(means)][0] if n_models == 1 else (over.low, over.high)
        rows.append(
            {
                "n": int(known.any(axis=0).sum()),
                "mean_change": mean_of(means),
                "low": float(low),
                "high": float(high),
                "sd_models": sd_of(means),
                "pvalue": sign_test(n_up, n_moved),
                "n_models": n_models,
                "n_moved": n_moved,
                "n_up": n_up if n_models else pd.NA,
            }
        )
    return pd.DataFrame(rows)


def _no_test(panel: Panel, row: dict[Any, Any]) -> str:
    """Why a number of a row of one model is undefined."""
    if row["against"] not in panel.conditions:
        return NO_BASE
    if row["n"] < 2:
        return ONE_ITEM if row["n"] else NO_ITEM_OF_MODEL
    if np.isnan(row["pvalue"]):
        return NOTHING_CHANGES
    reasons = [NO_CHOICE_CHANGES] if np.isnan(row["pvalue_binary"]) else []
    return " ".join([*reasons, *_no_interval(row, ALIKE)])


def _no_sign(panel: Panel, row: dict[Any, Any]) -> str:
    """Why a number of a row of all models is undefined."""
    if row["against"] not in panel.conditions:
        return NO_BASE
    if not row["n_models"]:
        return NO_ITEM
    reasons = [] if row["n_moved"] else [NO_MODEL]
    if row["n_moved"] and not row["n_moved_binary"]:
        reasons.append(NO_CHOICE)
    one = np.isnan(row["sd_models"])
    reasons += [ONE_MODEL] if one else []
    if row["n_moved"]:
        reasons += _no_interval(row, ALIKE if one else SAME_MEANS)
    return " ".join(reasons)


def _no_interval(row: dict[Any, Any], alike: str) -> list[str]:
    """Why a row lacks an interval, of the score or else of the choice; `alike`: what has no spread.

    An interval over one model is that over its items.
    """
    if not np.isnan(row["low"]):
        tested = not np.isnan(row["pvalue_binary"])  # else that is said already
        return [SAME_CHOICES] if tested and np.isnan(row["low_binary"]) else []
    few = row["n_models"] == 1 and row["n"] < LEAST_ITEMS
    return [FEW_ITEMS if few else alike]
