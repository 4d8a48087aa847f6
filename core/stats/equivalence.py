"""Is a gap too small to matter? Absence of a difference is shown, not assumed.

Two one-sided tests at 5 % (Schuirmann 1987): a shift is equivalent to none if its 90 % interval
lies within a margin that was fixed before looking at the data, and never taken from them.
"""

from __future__ import annotations

import math

from scipy.special import ndtri

from core.errors import InputError
from core.stats.known import ROUNDING
from core.stats.levels import LEAST_ITEMS

ONE_SIDED_POWER = 0.90


def is_equivalent(low90: float, high90: float, margin: float) -> bool | None:
    """Whether a 90 % interval lies wholly inside -margin .. margin, ends excluded.

    Returns
    -------
    bool or None
        None where the interval is undefined: that says nothing about the shift.

    Raises
    ------
    InputError
        The margin is not a positive number.
    """
    check_margin(margin)
    if math.isnan(low90) or math.isnan(high90):
        return None
    return bool(-margin < low90 and high90 < margin)


def equivalence_n(sd: float, margin: float) -> float:
    """Items with which a true shift of 0 is found equivalent 8 times in 10, rounded up.

    n = ((z_.95 + z_.90) sd / margin)^2, with z_.95 = 1.645 and z_.90 = 1.282: each of the two
    one-sided tests then rejects 9 times in 10, both of them 8 times. A small shift other than 0
    needs more. At least `LEAST_ITEMS`, as fewer have no interval.

    Parameters
    ----------
    sd
        Standard deviation of one item's shift, in the unit of the margin; NaN gives NaN, and so
        does one that is only rounding.

    Raises
    ------
    InputError
        The margin is not a positive number.
    """
    check_margin(margin)
    if math.isnan(sd) or sd <= ROUNDING:
        return math.nan
    needed = ((ndtri(0.95) + ndtri(ONE_SIDED_POWER)) * sd / margin) ** 2
    return float(max(math.ceil(needed), LEAST_ITEMS))


def check_margin(margin: float) -> None:
    """Refuse a margin that no interval could lie within."""
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"The margin of equivalence is {margin}; give a positive number.")
