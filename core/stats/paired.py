"""Two measurements of the same items: how far apart, how sure, how alike.

The paired protocol of "Lost in Translation" (arXiv 2610.20479): only items with both values count,
and each is compared with itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.intervals import t_interval
from core.stats.known import sd_of

Array = npt.NDArray[np.float64]
NAN = float("nan")


@dataclass(frozen=True)
class PairedDifference:
    """Differences b - a of paired values, in the unit of the values; NaN where undefined."""

    n: int  # pairs with both values
    mean: float
    sd: float  # ddof 1; NaN below two pairs
    confidence_interval: tuple[float, float]  # 95 %, of the mean; NaN where `t_interval` has none
    median_absolute: float
    largest_absolute: float


def paired_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> PairedDifference:
    """How far b lies from a, over the pairs in which both are known.

    Parameters
    ----------
    a, b
        Values of the same items in the same order, shape (n,); NaN where an item has none.

    Returns
    -------
    PairedDifference
        The interval is mean +- t_.975 sd / sqrt(n) with n - 1 degrees of freedom, as of the paired
        t test; undefined below two pairs and where all differ alike. It takes the pairs for
        independent: one value per item, not one per version of it.

    Raises
    ------
    ValueError
        The shapes differ.
    """
    first, second = _pairs(a, b)
    d = second - first
    n = len(d)
    if n == 0:
        return PairedDifference(0, NAN, NAN, (NAN, NAN), NAN, NAN)
    interval = t_interval(d)
    absolute = np.abs(d)
    return PairedDifference(
        n=n,
        mean=interval.value,
        sd=sd_of(d),
        confidence_interval=(interval.low, interval.high),
        median_absolute=float(np.median(absolute)),
        largest_absolute=float(absolute.max()),
    )


def paired_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Pearson's r over the pairs in which both are known, in [-1, 1].

    NaN below three pairs (two always lie on a line) and where one side does not vary.

    Raises
    ------
    ValueError
        The shapes differ.
    """
    first, second = _pairs(a, b)
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return NAN
    return float(np.corrcoef(first, second)[0, 1])


def _pairs(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Array, Array]:
    """The values of the pairs that are whole."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"paired values need one shape (n,), not {first.shape}, {second.shape}")
    whole = np.isfinite(first) & np.isfinite(second)
    return first[whole], second[whole]
