"""How much further concepts lie than reference phrases do, with its interval.

Welch's interval of a difference of means (Welch 1947): phrases are the units, drawn apart from each
other, and either set has a variance of its own. The test beside it is Mann and Whitney's
(`stereotypicality`), which looks at ranks, so that the two may disagree near the level.

Letters: A axes, C concepts or phrases.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from core.stats.known import only_rounding
from core.stats.levels import CONFIDENCE
from core.stats.probes.stereotypicality import phrase_sets
from core.stats.probes.undefined import is_defined

Array = npt.NDArray[np.float64]


def difference_interval(
    concepts: npt.ArrayLike, reference: npt.ArrayLike, *, level: float = CONFIDENCE
) -> Array:
    """Welch's interval of the concepts' mean less that of the reference phrases.

    Parameters
    ----------
    concepts, reference
        As of `stereotypicality`.

    Returns
    -------
    array, shape (A, 2)
        Low and high end, in the values' unit; NaN where the axis is undefined, and where the values
        vary in neither set.
    """
    x, y, undefined = phrase_sets(concepts, reference)
    ends = np.full((len(undefined), 2), np.nan)
    at = is_defined(undefined)
    if at.any():
        ends[at] = _welch(x[at], y[at], level)
    return ends


def _welch(x: Array, y: Array, level: float) -> Array:
    """Difference -+ t sqrt(s1^2 / n1 + s2^2 / n2), by the degrees of freedom of Satterthwaite."""
    n = np.array([[x.shape[1]], [y.shape[1]]])
    parts = np.array([x.var(axis=1, ddof=1), y.var(axis=1, ddof=1)]) / n  # (2, A)
    squares = np.array([(x**2).sum(axis=1), (y**2).sum(axis=1)])
    parts[only_rounding(parts * n * (n - 1), squares, n)] = 0.0
    total = parts.sum(axis=0)
    total[total == 0] = np.nan
    freedom = total**2 / (parts**2 / (n - 1)).sum(axis=0)
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(total)
    difference = x.mean(axis=1) - y.mean(axis=1)
    return np.stack([difference - half, difference + half], axis=1)
