"""Bias in parts of the identity pairs: tiers, templates, names, and by which rule or kind of model.

Tiers are nested: a predicate of tier 1 is in tiers 1-2 and 1-3 too, and one that participants added
counts as tier 1 (core/items/predicates.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.analysis.audit.request import AuditTable
from core.analysis.identities.panel import FROM_ELSEWHERE, IdentityPanel, Mask
from core.analysis.identities.rows import UNNAMED, IdentityRequest, bias_rows, pair_counts
from core.analysis.identities.words import NOT_COMPARABLE
from core.stats.identity_bias import tally
from core.stats.known import mean_of

TIES = (
    "By words a tie counts one half, at full precision. The published rule compares unmodified "
    "tokens, rounds scores to three decimals and counts a tie against; sub-word pieces that both "
    "identities share leak into it. Here both align by longest common subsequence; `pairs --align "
    "difflib` aligns as the published code does."
)


def tiers(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Bias over all pairs, in tiers 1-3, 1-2 and 1, and over what participants added alone."""
    tier = panel.facts["tier"].fillna(0).to_numpy(np.int64)
    masks = {"all pairs": np.ones(len(tier), dtype=np.bool_)}
    masks |= {f"tiers 1-{n}": (tier >= 1) & (tier <= n) for n in (3, 2)}
    masks |= {"tier 1": tier == 1, "survey-added": panel.facts["survey_added"].to_numpy(np.bool_)}
    notes = ["Tiers are nested, and a predicate that participants added counts as tier 1."]
    others = {"without a tier": int((tier == 0).sum()), "of excluded ones": int((tier < 0).sum())}
    for words, n in others.items():
        if n:
            notes.append(f"Pairs of predicates {words}: {n:,}; they are only among all pairs.")
    return AuditTable(_part_rows(panel, request, "tiers", masks), tuple(notes))


def templates(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Bias in each template."""
    return _by_column(panel, request, "template")


def name_groups(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Bias by the group of the name in the sentence, and without a name."""
    return _by_column(panel, request, "name_group")


def counterfactuals(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Bias by the identity of a pair and the one that it is held against: "Gay / Straight"."""
    pairs = panel.facts[["identity", "counterfactual"]].astype(str)
    against = pairs["counterfactual"].where(pairs["counterfactual"] != "", UNNAMED)
    names = pairs["identity"] + " / " + against
    order = {name: at for at, name in enumerate(panel.identities)}
    found = pairs.assign(name=names, at=pairs["identity"].map(order)).drop_duplicates("name")
    masks = {
        name: (names == name).to_numpy(np.bool_)
        for name in found.sort_values("at", kind="stable")["name"]
    }
    return AuditTable(_part_rows(panel, request, "counterfactual", masks))


def rules(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Bias by words and by the published rule, and how many pairs change their preference.

    Flips are among the `n_both` pairs with a choice by words and by tokens, at full precision.
    """
    of = (panel.identity, len(panel.identities))
    word, published = tally(panel.word, *of), tally(panel.published, *of)
    both = np.isfinite(panel.word) & np.isfinite(panel.token)
    elsewhere = np.array([model.kind == FROM_ELSEWHERE for model in panel.models])
    of_published = np.where(elsewhere, np.nan, 1.0)  # imported scores have one rule, their own
    n_both = np.where(elsewhere, 0, both.sum(axis=1))
    n_flips = np.where(elsewhere, 0, (both & (panel.word != panel.token)).sum(axis=1))
    share = np.divide(n_flips, n_both, out=np.full(len(n_both), np.nan), where=n_both > 0)
    rows = pd.DataFrame(
        {
            **_heads(panel),
            "bias_w": word.weighted,
            "bias_w_published": of_published * published.weighted,
            "bias_m": word.mean,
            "bias_m_published": of_published * published.mean,
            "spread": word.spread,
            "spread_published": of_published * published.spread,
            **pair_counts(panel),
            "n_published": np.where(elsewhere, 0, np.isfinite(panel.published).sum(axis=1)),
            "share_flips": share,
            "n_flips": n_flips,
            "n_both": n_both,
            "reason": [_no_flips(*of) for of in zip(elsewhere, n_both, strict=True)],
        }
    )
    return AuditTable(rows, (TIES,))


def kinds(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """Masked, causal and imported models beside one another: the means over each kind's models.

    n counts the pairs of all of a kind's models.
    """
    found = tally(panel.word, panel.identity, len(panel.identities))
    measures = {"bias_w": found.weighted, "bias_m": found.mean, "spread": found.spread}
    models = pd.DataFrame({**_heads(panel), **measures, **pair_counts(panel)})
    rows = []
    for kind, of in models.groupby("kind", sort=False):
        row: dict[str, object] = {"kind": kind, "condition": panel.condition, "n_models": len(of)}
        for name in ("bias_w", "bias_m", "spread"):
            row |= {name: mean_of(of[name]), f"{name}_least": of[name].min()}
            row[f"{name}_most"] = of[name].max()
        row |= {n: of[n].sum() for n in ("n", "n_ties", "n_uninformative", "n_not_scored")}
        row["models"] = ", ".join(of["model"])
        row["reason"] = "" if row["n"] else "No pair here has a choice, so nothing is defined."
        rows.append(row)
    return AuditTable(pd.DataFrame(rows), (NOT_COMPARABLE,))


def counts(panel: IdentityPanel, request: IdentityRequest) -> AuditTable:
    """How many pairs, predicates, templates and names there are of each identity."""
    rows = []
    for identity in panel.identities:
        of = panel.facts[panel.facts["identity"] == identity]
        rows.append(
            {
                "identity": identity,
                "condition": panel.condition,
                "n": len(of),
                "share_of_pairs": len(of) / len(panel.facts),
                "n_counterfactuals": of["counterfactual"].nunique(),
                "n_predicates": of["predicate"].nunique(),
                "n_templates": _distinct(of["template"]),
                "n_names": _distinct(of["name"]),
                "n_survey_added": int(of["survey_added"].sum()),
                "n_rated": int(of["harmfulness"].notna().sum()),
                "reason": "",
            }
        )
    note = "bias (W) follows the identities with the most pairs; bias (M) weighs all alike."
    return AuditTable(pd.DataFrame(rows), (note,))


def _by_column(panel: IdentityPanel, request: IdentityRequest, column: str) -> AuditTable:
    codes, names = pd.factorize(panel.facts[column])
    found = sorted(enumerate(names), key=lambda one: (one[1] == "", len(one[1]), one[1]))
    masks = {name or UNNAMED: codes == code for code, name in found}
    notes = () if len(masks) > 1 else (f"The pairs have one {column.replace('_', ' ')} only.",)
    return AuditTable(_part_rows(panel, request, column, masks), notes)


def _part_rows(
    panel: IdentityPanel, request: IdentityRequest, table: str, masks: Mapping[str, Mask]
) -> pd.DataFrame:
    """One row per part and model; all pairs draw as the overview does, every other part alone."""
    rows = []
    for name, mask in masks.items():
        stream = "overview" if mask.all() else f"{table} {name}"
        found = bias_rows(panel.part(mask), request, request.rng(stream))
        found.insert(0, "part", name)
        rows.append(found)
    return pd.concat(rows, ignore_index=True)


def _heads(panel: IdentityPanel) -> dict[str, object]:
    return {
        "model": [model.label for model in panel.models],
        "kind": [model.kind for model in panel.models],
        "condition": panel.condition,
    }


def _no_flips(elsewhere: bool, n_both: int) -> str:
    if elsewhere:
        return "Imported scores have one rule, that of the program they come from: no flips."
    return "" if n_both else "No pair has a choice by both rules."


def _distinct(values: pd.Series) -> int:
    return values[values != ""].nunique()
