"""How sure a share is that a few people's answers give."""

from __future__ import annotations

import math

from scipy.special import ndtri

from core.stats.intervals import Interval
from core.stats.levels import CONFIDENCE


def wilson_interval(n_yes: float, n: int, *, level: float = CONFIDENCE) -> Interval:
    """The share n_yes / n and its score interval (Wilson 1927); NaN without an answer.

    With p the share and z the normal quantile of (1 + level) / 2, the ends are
    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n). Unlike an interval by the
    bootstrap it says something where all of a few answers agree. An answer that is half a yes
    counts one half.
    """
    if not n:
        return Interval(math.nan, math.nan, math.nan, 0)
    z = float(ndtri((1 + level) / 2))
    share = n_yes / n
    centre = share + z**2 / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    low, high = (centre - half) / scale, (centre + half) / scale
    return Interval(share, max(low, 0.0), min(high, 1.0), n)
