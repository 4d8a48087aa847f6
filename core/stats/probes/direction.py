"""The direction between two poles in every head's output, and how well it separates them.

After "StereoDisco" (arXiv 2607.27824), section 7 of the method. A pole is a handful of probe
sentences; x is a head's pooled output for one of them. All that is needed are two sums per pole and
head, of x and of |x|^2, so memory does not depend on the number of sentences, and the sums of the
two halves of a pole's templates add up to the whole.

    theta = mu+ - mu-
    R     = (|mu+ - mubar|^2 + |mu- - mubar|^2) / (Var+ + Var-)

with mubar = (mu+ + mu-) / 2, so that the numerator is |theta|^2 / 2, and Var the mean squared
distance of a pole's sentences to its own mean. The published text says "projected", its formula
does not; this is the formula.

Letters: N sentences of a pole, L layers, H heads, D head_dim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.known import only_rounding

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PoleSums:
    """What is kept of one pole's sentences."""

    sums: Array  # of x, (..., L, H, D)
    squares: Array  # of |x|^2, (..., L, H)
    n: int  # sentences

    def __post_init__(self) -> None:
        if np.shape(self.sums)[:-1] != np.shape(self.squares):
            raise ValueError(
                f"sums of the shape {np.shape(self.sums)} do not go with squares of the shape "
                f"{np.shape(self.squares)}"
            )

    def __add__(self, other: PoleSums) -> PoleSums:
        """The sums over both sets of sentences, as of the two halves of one pole."""
        return PoleSums(self.sums + other.sums, self.squares + other.squares, self.n + other.n)


def mean_of_sums(pole: PoleSums) -> Array:
    """Mean output of each head over the pole's sentences. (..., L, H, D)

    NaN without any sentence, and where a sum is not finite.
    """
    return _finite(pole.sums) / (pole.n or math.nan)


def direction(negative: PoleSums, positive: PoleSums) -> Array:
    """Mass-mean direction theta = mu+ - mu- of each head.

    Returns
    -------
    array, shape (..., L, H, D)
        NaN for a head whose means are equal up to rounding, or not finite: it has no direction.
    """
    low, high = mean_of_sums(negative), mean_of_sums(positive)
    theta = high - low
    uncentred = (low**2).sum(axis=-1) + (high**2).sum(axis=-1)
    square = (theta**2).sum(axis=-1)
    none = only_rounding(square, uncentred, 1) | ~np.isfinite(square)
    return np.where(none[..., None], np.nan, theta)


def midpoint(negative: PoleSums, positive: PoleSums) -> Array:
    """Where each head's output is halfway between the poles, (mu+ + mu-) / 2. (..., L, H, D)"""
    return (mean_of_sums(negative) + mean_of_sums(positive)) / 2


def separability(negative: PoleSums, positive: PoleSums) -> Array:
    """R of each head: the poles' distance over their sentences' spread; at least 0.

    R = (|mu+ - mubar|^2 + |mu- - mubar|^2) / (Var+ + Var-).

    Returns
    -------
    array, shape (..., L, H)
        NaN for a head whose outputs do not vary within the poles beyond rounding, or are not
        finite, and where both poles have no more than one sentence. Not 0 where nothing is to be
        found: see `chance_separability`.
    """
    between = ((mean_of_sums(positive) - mean_of_sums(negative)) ** 2).sum(axis=-1) / 2
    (low, low_dead), (high, high_dead) = (_variance(pole) for pole in (negative, positive))
    within = low + high
    defined = ~(low_dead & high_dead) & np.isfinite(within) & np.isfinite(between)
    out = np.full(between.shape, np.nan)
    return np.asarray(np.divide(between, within, out=out, where=defined))


def chance_separability(n_negative: int, n_positive: int) -> float:
    """R to be expected of independent sentences whose poles do not differ.

    E|theta|^2 / 2 over E(Var+ + Var-) = (1/n+ + 1/n-) / (2 (2 - 1/n+ - 1/n-)), which for N
    sentences per pole is 1 / (2 (N - 1)): .0172 at N = 30. NaN where it is undefined. Poles that
    share templates are closer than that, as what a template does moves both means alike and yet is
    in the spread: there, R under labels swapped within templates is the value to look at.
    """
    if min(n_negative, n_positive) < 1 or max(n_negative, n_positive) < 2:
        return math.nan
    shares = 1 / n_negative + 1 / n_positive
    return shares / (2 * (2 - shares))


def cosine(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Cosine of two directions in each head, in [-1, 1]; NaN where either is none. (..., L, H)"""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    length = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    out = np.full(length.shape, np.nan)
    np.divide((a * b).sum(axis=-1), length, out=out, where=length > 0)
    return np.clip(out, -1.0, 1.0)


def _variance(pole: PoleSums) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Mean squared distance to the pole's mean, and where it is only rounding. (..., L, H) each"""
    squares = _finite(pole.squares)
    centred = squares - pole.n * (mean_of_sums(pole) ** 2).sum(axis=-1)
    dead = only_rounding(centred, squares, pole.n)
    return np.where(dead, 0.0, centred) / max(pole.n, 1), dead


def _finite(values: npt.ArrayLike) -> Array:
    """Values with NaN for what overflowed, so that it stays unknown in every sum."""
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(array), array, np.nan)
