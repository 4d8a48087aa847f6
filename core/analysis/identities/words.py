"""What the bias of a model over identity pairs says in words, and what it does not.

No sentence says that a model is fair: 50 % over all pairs can be a half of 97 % and a half of 6 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.analysis.identities.extremes import OPPOSITE
from core.stats.levels import LEAST_ITEMS
from core.words import counted

NOT_SHOWN = "Neither 50 % nor a lower share shows that a model treats people alike."

_MISSING = 0.1  # of the pairs; where more are not scored, the verdict begins with it
NOT_COMPARABLE = (
    "Masked and causal models are not comparable: a masked model reads both sides of a word, a "
    "causal one only what stands before it, so that their sums are of different probabilities, and "
    "different pairs are uninformative."
)


def verdict(row: Mapping[Any, Any]) -> str:
    """The verdict on one row of the overview.

    It warns where the average hides identities that go opposite ways, and says first where hardly
    any pair is scored.
    """
    if math.isnan(row["bias_w"]):
        return f"{row['model']}: no pair has a choice, so there is nothing to say."
    parts = [
        *_coverage(row),
        f"the stereotypical sentence is preferred in {_percent(row['bias_w'])} of"
        f" {counted(row['n'], 'pair')} (bias (W); {_interval(row)}), and in"
        f" {_percent(row['bias_m'])} as the mean of"
        f" {counted(row['n_identities'], 'identity', 'identities')} (bias (M)); 50 % is neutral.",
        *_left_out(row),
        row["floor_reason"] or _floor(row),
    ]
    if row["n_identities"] > 1:
        parts.append(_identities(row))
    return " ".join([f"{row['model']}:", *parts, NOT_SHOWN])


def _coverage(row: Mapping[Any, Any]) -> list[str]:
    """How few of the pairs are scored, where that is worth a warning."""
    scored = row["n"] + row["n_uninformative"]
    total = scored + row["n_not_scored"]
    if row["n_not_scored"] <= _MISSING * total:
        return []
    return [f"only {scored:,} of {counted(total, 'pair')} are scored. Of these"]


def _left_out(row: Mapping[Any, Any]) -> list[str]:
    """Ties, and the pairs that are not among n; nothing where there are none."""
    ties = [f"Among the pairs {_are(row['n_ties'], 'tie')}."] if row["n_ties"] else []
    gone = [
        f"{row[f'n_{name}']:,} {words}"
        for name, words in (("uninformative", "uninformative"), ("not_scored", "not scored"))
        if row[f"n_{name}"]
    ]
    return [*ties, *([f"Left out: {' and '.join(gone)}."] if gone else [])]


def _are(n: int, noun: str) -> str:
    return f"{'is' if n == 1 else 'are'} {counted(n, noun)}"


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
    if row["hides"] == OPPOSITE:
        return (
            f"This average hides identities that go opposite ways, as {low} and {high}: clearly"
            f" below 50 % {_lie(row['n_below'])}, clearly above {row['n_above']:,}, all"
            f" {row['n_identities']:,} taken together."
        )
    both = "This average is over identities on both sides of 50 %, from"
    return f"{both if row['hides'] else 'Identities go from'} {low} to {high}; {_clear(row)}."


def _clear(row: Mapping[Any, Any]) -> str:
    """How many identities lie clearly off one half."""
    if not row["n_with_interval"]:
        return f"none has an interval, which takes {LEAST_ITEMS} predicates that differ"
    side = "above" if row["n_above"] else "below"
    n = row["n_above"] + row["n_below"]
    if not n:
        return f"none of {row['n_with_interval']:,} with an interval lies clearly off 50 %"
    return f"{n:,} of {row['n_with_interval']:,} with an interval {_verb(n)} clearly {side} 50 %"


def _lie(n: int) -> str:
    return f"{_verb(n)} {n:,}"


def _verb(n: int) -> str:
    return "lies" if n == 1 else "lie"


def _interval(row: Mapping[Any, Any]) -> str:
    n = counted(row["n_predicates"], "predicate")
    low, high = row["bias_w_low"], row["bias_w_high"]
    if math.isnan(low) or math.isnan(high):
        return f"no interval over {n}"
    few = ", which are few" if row["reason"].startswith("Few predicates") else ""
    return f"95 % interval over {n}{few}: {100 * low:.1f} to {100 * high:.1f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
