"""Many tests at once: the share of false alarms among what is called real.

Benjamini and Hochberg (1995), as used in "Lost in Translation" (arXiv 2610.20479) over all cells of
a family.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def benjamini_hochberg(pvalues: npt.ArrayLike) -> Array:
    """Adjusted p-values: the least false discovery rate at which each is rejected.

    q_(i) = min over j >= i of p_(j) m / j, at most 1, where p_(1) <= ... <= p_(m).

    Parameters
    ----------
    pvalues : array of any shape
        One family. NaN is no test: it stays NaN and is not counted in m.

    Returns
    -------
    array of the same shape

    Raises
    ------
    ValueError
        A p-value lies outside [0, 1].
    """
    p = np.asarray(pvalues, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    known = ~np.isnan(p)
    tested = p[known]
    if ((tested < 0) | (tested > 1)).any():
        raise ValueError("p-values lie in [0, 1]")
    m = len(tested)
    order = np.argsort(tested, kind="stable")
    scaled = tested[order] * m / np.arange(1, m + 1)
    q = np.empty(m)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    adjusted[known] = q
    return adjusted


def n_tests(pvalues: npt.ArrayLike) -> int:
    """How many tests a family has, m: the p-values that are defined."""
    return int(np.isfinite(np.asarray(pvalues, dtype=np.float64)).sum())
