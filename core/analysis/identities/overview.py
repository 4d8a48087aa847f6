"""What each model does with identity pairs as a whole, and identity by identity."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.panel import FROM_ELSEWHERE, IdentityPanel
from core.analysis.identities.rows import (
    Estimates,
    IdentityRequest,
    bias_rows,
    estimates,
    interval_columns,
    reason,
)
from core.analysis.identities.words import NOT_COMPARABLE, no_floor, verdict
from core.stats.identity_bias import LEAST_LEVELS, multiway_tallies, tally
from core.stats.identity_spread import clear_sides
from core.stats.known import mean_of_known
from core.stats.template_floor import template_floor
from core.words import counted

LOWEST, HIGHEST = "lowest", "highest"
SIDES = {1: "above", -1: "below", 0: ""}
OPPOSITE, BOTH_SIDES, ONE_SIDE = "opposite", "both sides", ""
MULTIWAY = ("predicate", "template", "name")
CLAIM = ["identity", "counterfactual", "predicate"]
INTERVALS = (
    "Intervals (95 %): percentiles of {n} resamples of the predicates, each with all its pairs, "
    "widened for few predicates; the binomial interval beside takes pairs for independent and is "
    "too narrow."
)
FLOOR = (
    "Template floor: absolute difference of bias (W) between two templates on what both share "
    "(identity, counterfactual and predicate, by words), mean over all pairs of templates. Only "
    "the wording differs there; few shared predicates add chance to it."
)


def overview(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """One row per model: bias (W), (M), spread, which identities lie lowest and highest, verdict.

    `template_floor` is the mean over all pairs of templates a, b of

        |mean over k of (x_ak - x_bk)|,

    with x_ak the mean choice, by words, of the pairs that make claim k (identity, counterfactual
    and predicate) in template a, and k over the claims of both: how far other words for the same
    claims move bias (W). `n_templates` counts the templates that share a claim with another; where
    none does the floor is NaN, and `floor_reason` says why.

    `hides` says whether identities go opposite ways: "opposite" where one lies clearly above one
    half and another clearly below (core/stats/identity_spread.py), "both sides" where only their
    shares do, else empty.
    """
    rows = bias_rows(panel, request, request.rng("overview"))
    crossed = multiway_tallies(
        panel.word,
        panel.identity,
        (panel.codes("predicate"), panel.codes("template"), panel.codes("name")),
        len(panel.identities),
        n_resamples=request.n_resamples,
        rng=request.rng("multiway"),
    )
    n = rows["n_predicates"].to_numpy()
    for name, draws in (("bias_w", crossed.weighted), ("bias_m", crossed.mean)):
        ends = interval_columns(name, rows[name].to_numpy(), draws, n)
        rows[f"{name}_multiway_low"], rows[f"{name}_multiway_high"] = list(ends.values())[1:]
    by_identity = identities(panel, request).rows
    extremes = [_extremes(by_identity[by_identity["model"] == m]) for m in rows["model"]]
    rows = pd.concat(
        [rows.drop(columns="reason"), _floors(panel), pd.DataFrame(extremes)], axis=1
    ).assign(reason=rows["reason"])
    rows["verdict"] = [verdict(row) for row in rows.to_dict("records")]
    return AuditTable(rows, (*_notes(panel, request), _multiway_note(panel), FLOOR))


def identities(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Share of every identity under every model, the mean over models last.

    `mark` is highest or lowest where a model's share is; `side` says which identities lie clearly
    above or below one half, all identities taken together. The mean's interval holds the models as
    they are.
    """
    found = estimates(panel, panel.word, request.n_resamples, request.rng("identities"))
    counts = _counts_by_identity(panel)
    rows = [
        _identity_rows(panel, found, m, {name: of[m] for name, of in counts.items()})
        for m in range(len(panel.models))
    ]
    if len(panel.models) > 1:
        rows.append(_mean_rows(panel, found, {n: of.sum(axis=0) for n, of in counts.items()}))
    return AuditTable(pd.concat(rows, ignore_index=True), _notes(panel, request))


def mean_label(n_models: int) -> str:
    """What the row of the mean over models is called."""
    return f"mean of {counted(n_models, 'model')}"


def _identity_rows(
    panel: IdentityPanel, found: Estimates, m: int, counts: dict[str, np.ndarray]
) -> pd.DataFrame:
    shares, drawn = found.data.shares[m], found.drawn.shares[:, m]
    head = {"model": panel.models[m].label, "kind": panel.models[m].kind, "n_models": 1}
    return _rows(panel, head, shares, drawn, found.n_predicates_of[m], counts)


def _mean_rows(
    panel: IdentityPanel, found: Estimates, counts: dict[str, np.ndarray]
) -> pd.DataFrame:
    """Mean over the models; n counts the pairs of all of them."""
    shares = mean_of_known(found.data.shares)
    drawn = mean_of_known(found.drawn.shares.transpose(1, 0, 2))
    kinds = sorted({model.kind for model in panel.models})
    head = {
        "model": mean_label(len(panel.models)),
        "kind": ", ".join(kinds),
        "n_models": (found.data.counts > 0).sum(axis=0),
    }
    there = found.data.counts > 0
    n_predicates = np.where(there, found.n_predicates_of, np.iinfo(np.int64).max).min(axis=0)
    return _rows(panel, head, shares, drawn, np.where(there.any(axis=0), n_predicates, 0), counts)


def _rows(
    panel: IdentityPanel,
    head: dict[str, object],
    shares: np.ndarray,
    drawn: np.ndarray,
    n_predicates: np.ndarray,
    counts: dict[str, np.ndarray],
) -> pd.DataFrame:
    rows = pd.DataFrame(
        {
            **head,
            "condition": panel.condition,
            "identity": panel.identities,
            **interval_columns("share", shares, drawn, n_predicates),
            "mark": _marks(shares),
            "side": [SIDES[side] for side in clear_sides(shares, drawn, n_predicates).tolist()],
            **counts,
            "n_predicates": n_predicates,
        }
    )
    ends = zip(rows["n"], n_predicates.tolist(), rows["share_low"], strict=True)
    rows["reason"] = [reason(*of) for of in ends]
    return rows


def _marks(shares: np.ndarray) -> list[str]:
    """Which shares are the highest and the lowest, if they differ."""
    known = shares[np.isfinite(shares)]
    if len(known) < 2 or known.min() == known.max():
        return [""] * len(shares)
    names = {float(known.min()): LOWEST, float(known.max()): HIGHEST}
    return [names.get(float(share), "") for share in shares]


def _counts_by_identity(panel: IdentityPanel) -> dict[str, np.ndarray]:
    """`pair_counts` of every identity. Shape (M, I) each"""
    n_identities = len(panel.identities)
    there = np.isfinite(panel.word)
    masks = {"n": there, "n_ties": panel.word == 0.5, "n_uninformative": panel.uninformative}
    masks["n_not_scored"] = ~there & ~panel.uninformative
    return {
        name: tally(mask.astype(np.float64), panel.identity, n_identities).sums.astype(np.int64)
        for name, mask in masks.items()
    }


def _floors(panel: IdentityPanel) -> pd.DataFrame:
    """How far the same claims in another template move each model. M rows"""
    claims = panel.facts.groupby(CLAIM, sort=False, observed=True).ngroup()
    cells = np.asarray(claims, dtype=np.int64)
    found = template_floor(panel.word, panel.codes("template"), cells)
    reasons = [
        "" if compared else no_floor(there)
        for compared, there in zip(found.n_compared, found.n_templates.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "template_floor": found.value,
            "n_templates": found.n_compared,
            "floor_reason": reasons,
        }
    )


def _extremes(rows: pd.DataFrame) -> dict[str, object]:
    """The identities with the lowest and the highest share of one model, and on which sides."""
    known = rows[rows["share"].notna()]
    if known.empty:
        nothing = {"lowest": "", "lowest_share": math.nan, "n_lowest": 0}
        return nothing | {"highest": "", "highest_share": math.nan, "n_highest": 0, "hides": ""}
    low, high = (known.iloc[int(at)] for at in (known["share"].argmin(), known["share"].argmax()))
    clearly = {"above", "below"} <= set(known["side"])
    sides = low["share"] < 0.5 < high["share"]
    return {
        "lowest": low["identity"],
        "lowest_share": low["share"],
        "n_lowest": low["n"],
        "highest": high["identity"],
        "highest_share": high["share"],
        "n_highest": high["n"],
        "hides": OPPOSITE if clearly else BOTH_SIDES if sides else ONE_SIDE,
    }


def _notes(panel: IdentityPanel, request: IdentityRequest) -> tuple[str, ...]:
    notes = [INTERVALS.format(n=f"{request.n_resamples:,}")]
    if not panel.facts["has_name"].all() and panel.condition.split("-")[0] != "en":
        notes.append(
            "Pairs whose predicate has no name of its own (predicate_name or predicate_en) are "
            "told apart by its form, so that the forms of one predicate count as several and the "
            "intervals are too narrow; `import --predicates` names those of a survey."
        )
    if any(model.kind == FROM_ELSEWHERE for model in panel.models):
        notes.append(
            "Imported scores were computed elsewhere: which tokens the sentences share, and "
            "whether a pair is uninformative, was up to that program."
        )
    if len({model.kind for model in panel.models} - {FROM_ELSEWHERE}) > 1:
        notes.append(NOT_COMPARABLE)
    if panel.n_left_out:
        left = counted(panel.n_left_out, "pair")
        notes.append(f"Left out are {left} of {panel.condition} without an identity or predicate.")
    return tuple(notes)


def _multiway_note(panel: IdentityPanel) -> str:
    """Which factors the multiway interval draws, and which it holds."""
    levels = {name: int(panel.codes(name).max(initial=-1)) + 1 for name in MULTIWAY}
    drawn = [f"{name} ({n})" for name, n in levels.items() if n >= LEAST_LEVELS]
    held = [f"{name} ({n})" for name, n in levels.items() if n < LEAST_LEVELS]
    note = f"Multiway intervals draw at once: {', '.join(drawn) or 'nothing'}"
    return f"{note}; held as they are: {', '.join(held)}." if held else f"{note}."
