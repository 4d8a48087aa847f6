"""A verdict on a language in words, each claim no larger than what was tested.

After "Lost in Translation" (arXiv 2610.20479): no sentence says that a model is fair or fairer.
"""

from __future__ import annotations

import math
from typing import Any

from core.analysis.audit.words import (
    bounds,
    bounds_beside,
    difference,
    is_nothing,
    lowered,
    number,
    p_words,
)
from core.languages import language_name
from core.settings import REFERENCE_CONDITION
from core.stats.levels import LEVEL
from core.stats.wording import LEAST_REWORDINGS

DEPENDS = "depends on the score"


def sentence(row: dict[str, Any], findings: dict[str, str]) -> str:
    """A verdict in words: difference, items, rewording noise, q, and what it does not show.

    Parameters
    ----------
    row
        Of `verdicts`.
    findings
        What each kind of score finds, "lower", "higher" or "none shown".
    """
    drop = row["drop"]
    if math.isnan(drop):
        return f"{row['language']} cannot be compared with {_english()}: {lowered(row['reason'])}"
    apart = difference(row["language"], _english(), drop, row["drop_low"], row["drop_high"])
    items = f"{row['n']:,} shared item{'' if row['n'] == 1 else 's'}"
    parts = [f"{apart}, paired over {items}; {_noise(row)}; {_judgment(row)}."]
    if row["depends_on_score"] is True:
        parts.append(f"This {DEPENDS}: {_disagreement(findings)}.")
    who = "models are"
    if row["n_models"] == 1:
        parts.append("One model: no spread over models.")
        who = "model is"
    what = "free of bias" if is_nothing(drop) else "fairer" if drop >= 0 else "less fair"
    parts.append(f"This does not show that the {who} {what}.")
    return " ".join(parts)


def _judgment(row: dict[str, Any]) -> str:
    """q, and what the verdict means."""
    if row["verdict"] == "undefined":
        return f"whether it is more than rewording cannot be said: {lowered(row['reason'])[:-1]}"
    q = p_words("q", row["qvalue"]) + _of_fewer(row)
    within = f"90 % interval {bounds_beside(row['t90_low'], row['t90_high'], row['margin'])}"
    if row["verdict"] == "undecided":
        return f"{q}: neither a difference beyond rewording nor its absence is shown{_enough(row)}"
    if row["verdict"] == "equivalent":
        return f"{q}: beyond rewording, the difference is smaller than {row['margin']:g} ({within})"
    size = _beyond_rewording(row)
    if row["verdict"] == "real but small":
        size += f"; beyond rewording it is smaller than {row['margin']:g} ({within})"
    return f"{q}: {size}"


def _of_fewer(row: dict[str, Any]) -> str:
    """Of which items q is, and how much T, where these are not those of the drop."""
    if row["n_t"] == row["n"]:
        return ""
    are = "is" if row["n_t"] == 1 else "are"
    return (
        f" over {row['n_t']:,} of them that {are} reworded too, "
        f"where T, the drop beyond rewording, is {number(row['t'])}"
    )


def _beyond_rewording(row: dict[str, Any]) -> str:
    """What a shift is shown to be.

    The item test sets the mean change against that of the given rewordings, with its sign. Only a
    drop outside the prediction interval is more than rewording in general does, and where several
    languages are held against such intervals, only with q < .05 over these.
    """
    t, drop = row["t"], row["drop"]
    alone = row["outside"] is True and not row["qvalue_prediction"] < LEVEL
    if abs(drop) <= abs(drop - t):  # the rewordings move scores as far, the other way
        side = "below" if t > 0 else "above"
        size = f"against these rewordings of the same items, scores lie {abs(t):.3f} {side}"
    elif row["outside"] is True and not alone:
        return "larger than rewording noise"
    else:
        size = "more than these rewordings do to the same items"
    if alone:
        return (
            f"{size}, and outside what one more rewording is predicted to do, "
            "though not once adjusted for several languages "
            f"({p_words('q', row['qvalue_prediction'])})"
        )
    if row["outside"] is True:
        return size
    if row["outside"] is False:
        low, high = row["prediction_low"], row["prediction_high"]
        return (
            f"{size}, yet one more rewording might do as much: its drop is predicted within "
            f"{bounds(low, high)}"
        )
    if row["n_rewordings"] < LEAST_REWORDINGS:
        return (
            f"{size}; with fewer than {LEAST_REWORDINGS} rewordings nobody can say what one more "
            "would do"
        )
    return f"{size}; what one more rewording would do is not known"


def _enough(row: dict[str, Any]) -> str:
    needed = row["n_needed"]
    if math.isnan(needed) or abs(row["t"]) > row["margin"]:  # no number of items would show it
        return ""
    return f" (showing that there is none would take about {needed:,.0f} items)"


def _noise(row: dict[str, Any]) -> str:
    floor = row["noise_floor"]
    if math.isnan(floor) and not math.isnan(row["t"]):
        return "no rewording covers every item, so there is no noise floor"
    if math.isnan(floor):
        return "what rewording does to scores is not known"
    return f"rewording moves scores by {floor:.3f}"


def _disagreement(findings: dict[str, str]) -> str:
    """Which kinds find what: "lower under mean, summed; none shown under binary"."""
    by_finding: dict[str, list[str]] = {}
    for kind, finding in findings.items():
        by_finding.setdefault(finding, []).append(kind.replace("_", " "))
    return "; ".join(f"{finding} under {', '.join(kinds)}" for finding, kinds in by_finding.items())


def _english() -> str:
    return language_name(REFERENCE_CONDITION)
