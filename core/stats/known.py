"""Means of what is known, and whether it varies: NaN is missing and enters nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ROUNDING = 1e-12  # what rounding may leave of a difference, of scores of the order of 1
_NO_SPREAD = 1e-20  # mean square about the mean that is rounding, of scores of the order of 1
_CANCELLED = 1e-12  # share of the sum of squares below which the rest is rounding


def mean_of(values: npt.ArrayLike) -> float:
    """Mean of all finite values; NaN where there is none."""
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    return float(finite.mean()) if finite.size else float("nan")


def sd_of(values: npt.ArrayLike) -> float:
    """Standard deviation (ddof 1) of all finite values; NaN below two."""
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    return float(finite.std(ddof=1)) if finite.size > 1 else float("nan")


def mean_over_items(values: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Mean over the last axis and how many values it is of; NaN where there is none."""
    known = np.isfinite(values)
    n = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    mean = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    return mean, n


def mean_of_known(values: Array) -> Array:
    """Mean over the first axis of what is known; NaN where nothing is."""
    return mean_over_items(np.moveaxis(np.asarray(values, dtype=np.float64), 0, -1))[0]


def varies(values: npt.ArrayLike) -> bool:
    """Whether the finite values differ by more than rounding."""
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    if finite.size < 2:
        return False
    return bool(np.ptp(finite) > ROUNDING * max(1.0, float(np.abs(finite).max())))


def nothing_changes(changes: npt.ArrayLike) -> Mask:
    """Whether the known changes along the last axis are 0 up to rounding; True for none at all."""
    known = np.nan_to_num(np.abs(np.asarray(changes, dtype=np.float64)), nan=0.0)
    return np.asarray(known.max(axis=-1, initial=0.0) <= ROUNDING)


def only_rounding(squares: npt.ArrayLike, uncentred: npt.ArrayLike, n: npt.ArrayLike) -> Mask:
    """Whether a sum of squares about a mean is nothing but rounding; False for NaN.

    Parameters
    ----------
    squares
        About the mean, of values of the order of 1.
    uncentred
        The sum of squares that the mean was taken from.
    n
        Values in the sums.
    """
    least = np.maximum(_CANCELLED * np.asarray(uncentred), _NO_SPREAD * np.asarray(n))
    return np.asarray(np.asarray(squares) <= least)
