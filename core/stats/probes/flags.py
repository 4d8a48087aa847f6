"""What the tests of an axis say, in a word or two: by how much is shown, never by its direction.

A flag is p < .05 of the Kolmogorov-Smirnov test, as published. Where that test finds nothing, the
tests of spread (Brown and Forsythe) and of location (Mann and Whitney) may: there is no sign of a
difference only where none of the three rejects. How steadily a test rejects when phrases are drawn
anew (`rejection`) is another thing, and has words of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from core.stats.levels import LEVEL
from core.stats.probes.rejection import Stability

LEAST_TOLD = 10  # phrases of either set: below, hardly any difference would be found


class Flag(StrEnum):
    """What the tests of one axis against one set of phrases say."""

    ELSEWHERE = "lies elsewhere"  # flagged, and q over the set below the level
    FLAGGED = "flagged"  # but not after adjusting over the set, or not adjusted
    SPREAD = "spread differs"  # not flagged; Brown-Forsythe rejects
    LOCATION = "location differs"  # not flagged; Mann-Whitney rejects, and Brown-Forsythe does not
    OPEN = "not flagged"  # no test rejects, but many resamples do
    NO_SIGN = "no sign of a difference"
    TOO_FEW = "too few phrases to tell"
    UNDEFINED = "undefined"


_BY = {  # by which number a flag goes
    Flag.ELSEWHERE: "q < .05",
    Flag.FLAGGED: "p < .05",
    Flag.SPREAD: "p < .05",
    Flag.LOCATION: "p < .05",
}
_RESAMPLED = {  # where the word of the class would say more than the resamples do
    Stability.NO_SIGN: "seldom rejects",
    Stability.TOO_FEW: "too few to draw anew",
}


def flag_of(row: Mapping[str, Any]) -> Flag:
    """The flag of one axis.

    Parameters
    ----------
    row
        pvalue, pvalue_location, pvalue_spread, n_concepts and n_reference, and where they are known
        qvalue and stability; as a row of `core.analysis.heads.axis_table.axis_rows`.
    """
    if math.isnan(row["pvalue"]):
        return Flag.UNDEFINED
    if row["pvalue"] < LEVEL:
        return Flag.ELSEWHERE if row.get("qvalue", math.nan) < LEVEL else Flag.FLAGGED
    if row["pvalue_spread"] < LEVEL:
        return Flag.SPREAD
    if row["pvalue_location"] < LEVEL:
        return Flag.LOCATION
    if min(row["n_concepts"], row["n_reference"]) < LEAST_TOLD:
        return Flag.TOO_FEW
    return Flag.OPEN if row.get("stability") == Stability.UNDERPOWERED else Flag.NO_SIGN


def flag_words(flag: Flag) -> str:
    """A flag with the number that it goes by."""
    return f"{flag}, {_BY[flag]}" if flag in _BY else str(flag)


def resampled_words(stability: str) -> str:
    """What a class of the resampled rejection rate is called beside a flag."""
    return _RESAMPLED.get(Stability(stability), stability)
