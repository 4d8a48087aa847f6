"""How much of a noise floor is the wording itself, and is a translation more than a rewording?

Beside the noise floor of "Lost in Translation" (arXiv 2610.20479), which takes the wordings as
given. Here a rewording is one draw from the ways to say the same, so its effect on the mean score
is a random variable with variance tau^2 that no number of items makes smaller.

Letters: N items, K rewordings, R resamples, C cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from core.stats.known import ROUNDING, nothing_changes
from core.stats.levels import CONFIDENCE
from core.stats.resampling import TIE, drawn_pvalue

Array = npt.NDArray[np.float64]
NAN = math.nan

LEAST_REWORDINGS = 3
_AT_A_TIME = 256  # resamples of a block of the exchange test


@dataclass(frozen=True)
class WordingVariance:
    """The mean changes of K rewordings, taken apart; NaN where K or N is too small.

    Variances are in squared units of the scores.
    """

    means: Array  # mean change of each rewording, (K,)
    mean: float  # over rewordings
    sd_between: float  # of the means, ddof 1
    sampling_variance: float  # of one rewording's mean, from the choice of items
    shared_variance: float  # the part of it that all rewordings share, through their original
    tau2_raw: float  # unbiased, so negative about every other time where tau is 0
    tau2: float  # the same, at least 0
    low: float  # 95 % prediction interval for the mean change of one more rewording
    high: float
    n: int  # items that have every rewording
    n_rewordings: int


def wording_variance(changes: npt.ArrayLike) -> WordingVariance:
    """Split the spread of rewordings into item sampling and wording variance tau^2.

    A reworded version's mean change is m_k = b_k + (mean noise of version k) - (mean noise of the
    original), with b_k of variance tau^2. The original's noise is in every m_k, so it cancels in
    their variance S^2 = sum (m_k - m)^2 / (K - 1), and

        E S^2 = tau^2 + (mean of C_kk - mean of C_kl over k != l) / N,

    where C is the covariance of the item changes d_k, d_l over items: what the rewordings share
    through their original is in the diagonal and beside it alike. tau^2 is estimated by moments,
    S^2 minus that difference with C estimated from the same items. C does not contain tau^2,
    because an effect on all items moves no item against another.

    The interval m -+ t_(K-1) S sqrt(1 + 1/K) predicts the mean change of one more rewording of the
    same items against the same original. It assumes that the rewordings at hand and the new one
    are draws from one normal distribution; it does not need tau^2, because S holds both parts.

    Parameters
    ----------
    changes : array, shape (K, N)
        Changes d_k of each item; only items that have all of them are used.
    """
    d = _rows(changes)
    d = d[:, np.isfinite(d).all(axis=0)]
    k, n = d.shape
    if k == 0 or n == 0:
        return _undefined(np.full(k, NAN), NAN, n)
    means = d.mean(axis=1)
    mean = float(means.mean())
    if k < LEAST_REWORDINGS or n < 2:
        return _undefined(means, mean, n)
    centred = d - means[:, None]
    covariance = centred @ centred.T / (n - 1)
    own = float(np.trace(covariance)) / k
    shared = (float(covariance.sum()) - k * own) / (k * (k - 1))
    sd = float(means.std(ddof=1))
    tau2 = sd**2 - (own - shared) / n
    # Rewordings of one and the same mean tell nothing of the next: no interval, not one of width 0.
    known = sd > ROUNDING * max(1.0, float(np.abs(d).max()))
    half = float(stdtrit(k - 1, (1 + CONFIDENCE) / 2)) * sd * math.sqrt(1 + 1 / k) if known else NAN
    return WordingVariance(
        means=means,
        mean=mean,
        sd_between=sd,
        sampling_variance=own / n,
        shared_variance=shared / n,
        tau2_raw=tau2,
        tau2=max(tau2, 0.0),
        low=mean - half,
        high=mean + half,
        n=n,
        n_rewordings=k,
    )


def prediction_pvalue(mean_change: float, wording: WordingVariance) -> float:
    """Two-sided p of a translation's mean change being that of one more rewording.

    t = (mean_change - m) / (S sqrt(1 + 1/K)) with K - 1 degrees of freedom; p < .05 where the
    change lies outside the 95 % prediction interval. NaN where there is no interval, or where the
    rewordings do not differ at all.

    Parameters
    ----------
    mean_change
        On the same items as the rewordings.
    """
    k = wording.n_rewordings
    if math.isnan(wording.low) or math.isnan(mean_change):
        return NAN
    scale = wording.sd_between * math.sqrt(1 + 1 / k)
    return float(2 * stdtr(k - 1, -abs(mean_change - wording.mean) / scale))


def exchange_test(
    versions: npt.ArrayLike, *, n_resamples: int = 20_000, rng: np.random.Generator
) -> Array:
    """Is the translation just another wording, item by item?

    In each draw, one of the K + 1 versions of each item is taken at random for the translation and
    compared with the mean of the others. With one rewording this is the sign-flip test.

    Its null hypothesis has wordings act on items independently. An effect that one rewording has on
    all items alike is outside it: then this test rejects too often, as does every test over items,
    and the prediction interval of `wording_variance` decides.

    Parameters
    ----------
    versions : array, shape (C, K + 1, N)
        Scores, or changes from a common original, of the translation (first) and K rewordings in C
        cells. An item counts in the cells in which it has all versions.
    n_resamples
        The draws are shared by the cells.

    Returns
    -------
    array, shape (C,)
        Two-sided p = (1 + #{|null| >= |observed| - 1e-15}) / (R + 1); NaN in a cell with fewer than
        two items that have all versions, where no version differs, and without rewordings.

    Raises
    ------
    ValueError
        The shape is another one.
    """
    v = np.asarray(versions, dtype=np.float64)
    if v.ndim != 3:
        raise ValueError(f"versions have the shape (cells, versions, items), not {v.shape}")
    n_cells, n_versions, n_items = v.shape
    whole = np.asarray(np.isfinite(v).all(axis=1))  # (C, N)
    n = whole.sum(axis=1)
    if n_versions < 2 or n_cells == 0 or not n.any():
        return np.full(n_cells, NAN)
    filled = np.where(whole[:, None], v, 0.0)
    # A version minus the mean of the others is (K + 1) / K times its distance from the mean of all,
    # and that factor leaves p as it is.
    distance = filled - filled.mean(axis=1, keepdims=True)
    alike = nothing_changes(distance.reshape(n_cells, -1))
    distance /= np.maximum(n, 1)[:, None, None]
    least = np.abs(distance[:, 0].sum(axis=1)) - TIE * np.maximum(
        1.0, np.abs(filled).max(axis=(1, 2))
    )
    # Relative to the last version, which then needs no product of its own.
    last = distance[:, -1].sum(axis=1)
    others = np.ascontiguousarray((distance[:, :-1] - distance[:, -1:]).transpose(1, 2, 0))
    above = np.zeros(n_cells)
    for start in range(0, n_resamples, _AT_A_TIME):
        size = min(_AT_A_TIME, n_resamples - start)
        chosen = rng.integers(0, n_versions, (size, n_items), dtype=np.uint8)
        taken = np.empty(chosen.shape)
        null = np.tile(last, (size, 1))
        for version, values in enumerate(others):
            np.equal(chosen, version, out=taken)
            null += taken @ values
        above += (np.abs(null) >= least).sum(axis=0)
    return np.where((n > 1) & ~alike, drawn_pvalue(above, n_resamples), NAN)


def _rows(changes: npt.ArrayLike) -> Array:
    d = np.asarray(changes, dtype=np.float64)
    if d.ndim != 2:
        raise ValueError(f"changes have the shape (rewordings, items), not {d.shape}")
    return d


def _undefined(means: Array, mean: float, n: int) -> WordingVariance:
    return WordingVariance(means, mean, NAN, NAN, NAN, NAN, NAN, NAN, NAN, n, len(means))
