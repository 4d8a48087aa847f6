"""What each model does with identity pairs as a whole, and identity by identity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.extremes import ABOVE, BELOW, extremes
from core.analysis.identities.notes import FLOOR, fewest_levels, multiway_note, notes_on
from core.analysis.identities.panel import IdentityPanel
from core.analysis.identities.rows import (
    Estimates,
    IdentityRequest,
    bias_rows,
    estimates,
    interval_columns,
    reason,
)
from core.analysis.identities.words import no_floor, verdict
from core.stats.identity_bias import multiway_tallies, tally
from core.stats.identity_spread import clear_sides
from core.stats.known import mean_of_known
from core.stats.template_floor import template_floor
from core.words import counted

LOWEST, HIGHEST = "lowest", "highest"
SIDES = {1: ABOVE, -1: BELOW, 0: ""}
MODEL, MEAN = "model", "mean"
CLAIM = ["identity", "counterfactual", "predicate"]


def overview(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """One row per model: bias (W), (M), spread, which identities lie lowest and highest, verdict.

    `template_floor` is the mean over all pairs of templates a, b of

        |mean over k of (x_ak - x_bk)|,

    with x_ak the mean choice, by words, of the pairs that make claim k (identity, counterfactual
    and predicate) in template a, and k over the claims of both: how far other words for the same
    claims move bias (W). `n_templates` counts the templates that share a claim with another; where
    none does the floor is NaN, and `floor_reason` says why.

    Which identities lie lowest and highest, and whether they go opposite ways, is told by
    `extremes`.
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
    n = np.minimum(rows["n_predicates"].to_numpy(), fewest_levels(panel))
    for name, draws in (("bias_w", crossed.weighted), ("bias_m", crossed.mean)):
        ends = interval_columns(name, rows[name].to_numpy(), draws, n)
        rows[f"{name}_multiway_low"], rows[f"{name}_multiway_high"] = list(ends.values())[1:]
    by_identity = identities(panel, request).rows
    found = [extremes(by_identity[by_identity["model"] == m]) for m in rows["model"]]
    rows = pd.concat(
        [rows.drop(columns="reason"), floors_of(panel), pd.DataFrame(found)], axis=1
    ).assign(reason=rows["reason"])
    rows["verdict"] = [verdict(row) for row in rows.to_dict("records")]
    return AuditTable(rows, (*notes_on(panel, request), multiway_note(panel), FLOOR))


def identities(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Share of every identity under every model, the mean over models last.

    `mark` is highest or lowest where a model's share is; `side` says which identities lie clearly
    above or below one half, all identities taken together. Means (`row`) are over the models of a
    kind, since kinds are not comparable; their intervals hold the models as they are.
    """
    found = estimates(panel, panel.word, request.n_resamples, request.rng("identities"))
    counts = _counts_by_identity(panel)
    rows = [
        _identity_rows(panel, found, m, {name: of[m] for name, of in counts.items()})
        for m in range(len(panel.models))
    ]
    kinds = [model.kind for model in panel.models]
    for kind in dict.fromkeys(kinds):
        of = np.flatnonzero([one == kind for one in kinds])
        if len(of) > 1:
            label = mean_label(len(of), kind if len(set(kinds)) > 1 else "")
            summed = {name: values[of].sum(axis=0) for name, values in counts.items()}
            rows.append(_mean_rows(panel, found, of, {"model": label, "kind": kind}, summed))
    return AuditTable(pd.concat(rows, ignore_index=True), notes_on(panel, request))


def mean_label(n_models: int, kind: str = "") -> str:
    """What the row of the mean over models is called; the kind where there are several."""
    return f"mean of {counted(n_models, ' '.join(filter(None, (kind, 'model'))))}"


def _identity_rows(
    panel: IdentityPanel, found: Estimates, m: int, counts: dict[str, np.ndarray]
) -> pd.DataFrame:
    shares, drawn = found.data.shares[m], found.drawn.shares[:, m]
    model = panel.models[m]
    head = {"row": MODEL, "model": model.label, "kind": model.kind, "n_models": 1}
    return _rows(panel, head, shares, drawn, found.n_predicates_of[m], counts)


def _mean_rows(
    panel: IdentityPanel,
    found: Estimates,
    of: npt.NDArray[np.intp],
    head: dict[str, object],
    counts: dict[str, np.ndarray],
) -> pd.DataFrame:
    """Mean over some of the models; n counts the pairs of all of them."""
    shares = mean_of_known(found.data.shares[of])
    drawn = mean_of_known(found.drawn.shares[:, of].transpose(1, 0, 2))
    there = found.data.counts[of] > 0
    fewest = np.where(there, found.n_predicates_of[of], np.iinfo(np.int64).max).min(axis=0)
    n_predicates = np.where(there.any(axis=0), fewest, 0)
    head = {"row": MEAN, **head, "n_models": there.sum(axis=0)}
    return _rows(panel, head, shares, drawn, n_predicates, counts)


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


def floors_of(panel: IdentityPanel) -> pd.DataFrame:
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
