"""What the bias of a model over identity pairs says in words, and what it does not.

No sentence says that a model is fair: 50 % over all pairs can be a half of 97 % and a half of 6 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.words import counted

NOT_SHOWN = "Neither 50 % nor a lower share shows that a model treats people alike."

NOT_COMPARABLE = (
    "Masked and causal models are not comparable: a masked model reads both sides of a word, a "
    "causal one only what stands before it, so that their sums are of different probabilities, and "
    "different pairs are uninformative."
)


def verdict(row: Mapping[Any, Any]) -> str:
    """The verdict on one row of the overview.

    It warns where the average hides identities that go opposite ways.
    """
    if math.isnan(row["bias_w"]):
        return f"{row['model']}: no pair has a choice, so there is nothing to say."
    parts = [
        f"{row['model']}: the stereotypical sentence is preferred in {_percent(row['bias_w'])} of"
        f" {counted(row['n'], 'pair')} (bias (W); {_interval(row)}), and in"
        f" {_percent(row['bias_m'])} as the mean of"
        f" {counted(row['n_identities'], 'identity', 'identities')} (bias (M)); 50 % is neutral."
        f" Among the pairs are {counted(row['n_ties'], 'tie')}, left out are"
        f" {row['n_uninformative']:,} uninformative and {row['n_not_scored']:,} not scored."
    ]
    parts.append(row["floor_reason"] or _floor(row))
    if row["n_identities"] > 1:
        parts.append(_identities(row))
    return " ".join([*parts, NOT_SHOWN])


def no_floor(n_templates: int) -> str:
    """Why the same claims in another template are no noise floor.

    Parameters
    ----------
    n_templates
        With a choice; no two of them make the same claim.
    """
    if n_templates == 0:
        return "No pair with a choice names its template, so there is no noise floor."
    if n_templates == 1:
        return "There is one template only, so there is no noise floor."
    return f"No two of the {n_templates} templates make the same claim: there is no noise floor."


def _floor(row: Mapping[Any, Any]) -> str:
    """What another wording alone does to bias (W)."""
    return (
        "The same claims in another template move bias (W) by"
        f" {100 * row['template_floor']:.1f} points (mean over any two of"
        f" {row['n_templates']:,} templates)."
    )


def _identities(row: Mapping[Any, Any]) -> str:
    """How far identities lie apart, and whether the average hides it."""
    low = f"{_percent(row['lowest_share'])} for {row['lowest']} (n {row['n_lowest']:,})"
    high = f"{_percent(row['highest_share'])} for {row['highest']} (n {row['n_highest']:,})"
    if row["lowest_share"] == row["highest_share"]:
        return f"All identities have a share of {_percent(row['lowest_share'])}."
    between = f"{low} to {high}"
    if row["hides"] == "opposite":
        return (
            f"This average hides identities that go opposite ways: from {between}, with intervals"
            " on either side of 50 %, also when the number of identities is taken into account."
        )
    if row["hides"] == "both sides":
        return (
            f"This average is over identities on both sides of 50 %, from {between}, though the"
            " intervals do not set some clearly above it and some clearly below."
        )
    return f"Identities go from {between}."


def _interval(row: Mapping[Any, Any]) -> str:
    n = counted(row["n_predicates"], "predicate")
    low, high = row["bias_w_low"], row["bias_w_high"]
    if math.isnan(low) or math.isnan(high):
        return f"no interval over {n}"
    few = ", which are few" if row["reason"].startswith("Few predicates") else ""
    return f"95 % interval over {n}{few}: {100 * low:.1f} to {100 * high:.1f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
