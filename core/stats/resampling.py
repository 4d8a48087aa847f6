"""Resampling of items: sign flips for tests, draws with replacement for intervals.

After "Lost in Translation" (arXiv 2610.20479): under the null hypothesis a change is as likely to
have gone the other way, so its sign is drawn anew. All cells (a model and a language, say) share
the signs, which keeps what they have in common and makes the whole family one matrix product. A
missing change counts as 0 there: it adds nothing, whatever its sign.

Letters: N items, C cells, R resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.known import nothing_changes

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

TIE = 1e-15  # of scores in [0, 1]; what rounding may take from a mean that equals the observed one
_WORD = 64  # signs in one random integer
_FEW_CELLS = 2  # of the same items; from three on one product over counted draws is faster
_AT_A_TIME = 4_000_000  # numbers of a block of resamples, 32 MB


@dataclass(frozen=True)
class SignFlip:
    """Two-sided sign-flip tests of C cells; NaN where there is nothing to test."""

    n: npt.NDArray[np.int64]  # changes that are known, (C,)
    mean: Array  # (C,)
    sd: Array  # ddof 1; NaN below two changes, (C,)
    pvalue: Array  # (C,)
    pvalue_maxt: Array  # adjusted over the cells, step-down; always from the drawn signs, (C,)
    exact: Mask  # the p-value is from all 2^n sign vectors, (C,)
    n_resamples: int


def sign_vectors(n_items: int, n_resamples: int, *, rng: np.random.Generator) -> Array:
    """Random signs, +1 or -1 with equal chance. Shape (R, N)

    The rows come one after another from the generator: the first of many are the same as few.
    """
    words = rng.integers(0, 2**_WORD, (n_resamples, -(-n_items // _WORD)), dtype=np.uint64)
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=n_items)
    return np.asarray(bits * 2.0 - 1.0, dtype=np.float64)


def sign_flip_test(
    differences: npt.ArrayLike,
    *,
    n_resamples: int = 20_000,
    rng: np.random.Generator,
    signs: Array | None = None,
) -> SignFlip:
    """Sign-flip permutation test of the hypothesis that changes are symmetric around 0.

    Parameters
    ----------
    differences : array, shape (C, N)
        Changes of N items in C cells; NaN where an item has none in a cell.
    n_resamples
        R, the sign vectors drawn where `signs` is not given.
    signs : array, shape (R, N)
        Sign vectors to use, as of `sign_vectors`.

    Returns
    -------
    SignFlip
        p = (1 + #{|null| >= |observed| - 1e-15}) / (R + 1) on means, the tolerance scaled by the
        largest |change| where that exceeds 1, so that ties count despite rounding. A cell with
        2^n <= R is enumerated: all sign vectors over its n changes, p = # / 2^n. Below two changes,
        and where all are 0 up to rounding (1e-12), there is nothing to test: p is NaN.

        `pvalue_maxt` is the step-down maxT of Westfall and Young (1993) on
        |sum d| / sqrt(sum d^2). It needs the joint distribution, so it uses the shared signs for
        enumerated cells too.

    Raises
    ------
    ValueError
        The shapes do not fit, or there is no resample.
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 2:
        raise ValueError(f"changes have the shape (cells, items), not {d.shape}")
    if signs is not None:
        if signs.ndim != 2 or signs.shape[1] != d.shape[1]:
            raise ValueError(f"signs of the shape {signs.shape} for {d.shape[1]} items")
        n_resamples = len(signs)
    if n_resamples < 1:
        raise ValueError("a sign-flip test needs at least one resample")
    known = np.isfinite(d)
    filled = np.where(known, d, 0.0)
    n = known.sum(axis=1)
    mean, sd = _moments(filled, known)
    least = least_mean(filled, n)
    n_cells, n_items = d.shape
    blocks = _sign_blocks(n_items, n_cells, n_resamples, rng, signs)
    drawn, pvalue_maxt = _shared_pvalues(filled, n, least, blocks, n_resamples)
    pvalue, exact = _settled(drawn, filled, known, least, n_resamples)
    pvalue_maxt[np.isnan(pvalue)] = np.nan
    return SignFlip(n, mean, sd, pvalue, pvalue_maxt, exact, n_resamples)


def sign_flip_pvalues(filled: Array, known: Mask, *, signs: Array) -> Array:
    """The p-values of `sign_flip_test` with these signs, and nothing that it finds besides. (C,)

    Parameters
    ----------
    filled : array, shape (C, N)
        Changes, 0 where an item has none.
    known : array, shape (C, N)
        Where an item has one.
    signs : array, shape (R, N)
        As of `sign_vectors`; the same for all cells.
    """
    n = known.sum(axis=1)
    least = least_mean(filled, n)
    null = np.abs(signs @ filled.T) / np.maximum(n, 1)  # (R, C)
    drawn = drawn_pvalue((null >= least).sum(axis=0), len(signs))
    return _settled(drawn, filled, known, least, len(signs))[0]


def least_mean(filled: Array, n: npt.ArrayLike) -> Array:
    """How large a null mean, or -mean, counts as no smaller than the observed one.

    |mean| of the N changes along the last axis, n of them known, less what rounding may take.
    """
    total = np.asarray(filled.sum(axis=-1))
    tie = TIE * np.maximum(1.0, np.abs(filled).max(axis=-1, initial=0.0))
    return np.asarray(np.abs(_over(total, n, fill=0.0)) - tie)


def drawn_pvalue(above: npt.ArrayLike, n_resamples: int) -> Array:
    """P-value of a test of which `above` of the draws are no smaller than the data: never 0."""
    return np.asarray((1 + np.asarray(above)) / (n_resamples + 1), dtype=np.float64)


def is_testable(filled: Array, n: npt.ArrayLike) -> Mask:
    """Whether there is something to test: two changes or more, not all 0 up to rounding."""
    return np.asarray((np.asarray(n) > 1) & ~nothing_changes(filled))


def enumerable(n: npt.ArrayLike, n_resamples: int) -> Mask:
    """Whether all sign vectors of n changes are no more than would be drawn."""
    return np.asarray(np.asarray(n) <= np.log2(n_resamples))


def all_signs(n: int) -> Array:
    """Every sign vector of n changes but for turning all of them, which leaves |sum| as it is.

    Shape (2^(n-1), N): the last sign is +1 throughout.
    """
    codes = np.arange(2 ** (n - 1))[:, None]
    return np.asarray(1.0 - 2.0 * (codes >> np.arange(n) & 1))


def bootstrap_weights(n_units: int, n_resamples: int, *, rng: np.random.Generator) -> Array:
    """How often each of N units is drawn in R samples of N with replacement. Shape (R, N)"""
    if n_units == 0:
        return np.zeros((n_resamples, 0))
    drawn = _drawn_units(n_units, n_resamples, rng)
    at = drawn + np.arange(n_resamples)[:, None] * n_units
    counts = np.bincount(at.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)


def _drawn_units(n_units: int, n_resamples: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Samples of N of N units, with replacement; int32 is half the work of int64. (R, N)"""
    return rng.integers(0, n_units, (n_resamples, n_units), dtype=np.int32)


def bootstrap_ratios(
    numerators: Array, denominators: Array, *, n_resamples: int, rng: np.random.Generator
) -> Array:
    """Ratios of sums over units drawn with replacement, the same draws for all cells.

    Parameters
    ----------
    numerators, denominators : array, shape (C, U)
        What each of U units adds: the sum of a cluster's values and how many they are, say.

    Returns
    -------
    array, shape (R, C)
        NaN where the drawn denominators sum to 0.
    """
    n_units = numerators.shape[1]
    ratios = np.empty((n_resamples, len(numerators)))
    for rows in _row_blocks(n_resamples, n_units):
        weights = bootstrap_weights(n_units, rows.stop - rows.start, rng=rng)
        ratios[rows] = _over(weights @ numerators.T, weights @ denominators.T, fill=np.nan)
    return ratios


def bootstrap_means(values: npt.ArrayLike, *, n_resamples: int, rng: np.random.Generator) -> Array:
    """Means over items drawn with replacement.

    Parameters
    ----------
    values : array, shape (C, N)
        NaN where a cell has no value of an item: that cell is resampled without it.

    Returns
    -------
    array, shape (R, C)
        Cells of the same items share their draws; cells of as many other items share the places
        drawn, so that only draws of the same items may be set against each other. NaN for a cell
        without values.
    """
    x = np.asarray(values, dtype=np.float64)
    known = np.isfinite(x)
    n = known.sum(axis=1)
    means = np.full((n_resamples, len(x)), np.nan)
    for size in np.unique(n[n > 0]).tolist():
        cells = np.flatnonzero(n == size)
        of = x[cells][known[cells]].reshape(-1, size)
        for rows in _row_blocks(n_resamples, size):
            n_rows = rows.stop - rows.start
            if len(cells) <= _FEW_CELLS:  # looking the drawn values up beats counting them
                drawn = _drawn_units(size, n_rows, rng)
                for cell, of_cell in zip(cells, of, strict=True):
                    means[rows, cell] = of_cell[drawn].mean(axis=1)
            else:
                means[rows, cells] = bootstrap_weights(size, n_rows, rng=rng) @ of.T / size
    return means


def _moments(filled: Array, known: Mask) -> tuple[Array, Array]:
    """Mean and sd (ddof 1) of the known changes of each cell."""
    n = known.sum(axis=1)
    mean = _over(filled.sum(axis=1), n, fill=np.nan)
    centred = np.where(known, filled - np.where(n > 0, mean, 0.0)[:, None], 0.0)
    variance = np.where(n > 1, (centred**2).sum(axis=1), np.nan) / np.maximum(n - 1, 1)
    return mean, np.asarray(np.sqrt(variance), dtype=np.float64)


def _shared_pvalues(
    filled: Array,
    n: npt.NDArray[np.int64],
    least: Array,
    blocks: Iterator[Array],
    n_resamples: int,
) -> tuple[Array, Array]:
    """p-values of each cell by itself and by step-down maxT, from the same signs."""
    count = np.maximum(n, 1)
    # The sum of squares does not depend on the signs, so a mean times `unit` is the statistic.
    norm = np.sqrt((filled**2).sum(axis=1))
    unit = _over(count.astype(np.float64), norm, fill=0.0)
    order = np.argsort(-least * unit, kind="stable")
    above, above_max = np.zeros(len(n)), np.zeros(len(n))
    for signs in blocks:
        null = np.abs(signs @ filled.T) / count  # (block, C)
        above += (null >= least).sum(axis=0)
        # At each step the cells with larger statistics have been decided and leave the maximum.
        left = np.maximum.accumulate((null * unit)[:, order[::-1]], axis=1)[:, ::-1]
        above_max += (left >= (least * unit)[order]).sum(axis=0)
    adjusted = np.empty(len(n))
    adjusted[order] = np.maximum.accumulate(drawn_pvalue(above_max, n_resamples))
    return drawn_pvalue(above, n_resamples), adjusted


def _settled(
    drawn: Array, filled: Array, known: Mask, least: Array, n_resamples: int
) -> tuple[Array, Mask]:
    """The p-values of each cell: drawn, of all sign vectors (marked), or NaN without a test."""
    n = known.sum(axis=1)
    tested = is_testable(filled, n)
    exact = tested & enumerable(n, n_resamples)
    pvalues = np.where(tested, drawn, np.nan)
    for size in np.unique(n[exact]).tolist():
        signs = all_signs(size)
        for cell in np.flatnonzero(exact & (n == size)):
            null = np.abs(signs @ filled[cell, known[cell]]) / size
            pvalues[cell] = (null >= least[cell]).mean()
    return pvalues, exact


def _sign_blocks(
    n_items: int,
    n_cells: int,
    n_resamples: int,
    rng: np.random.Generator,
    signs: Array | None,
) -> Iterator[Array]:
    for rows in _row_blocks(n_resamples, max(n_items, n_cells)):
        size = rows.stop - rows.start
        yield sign_vectors(n_items, size, rng=rng) if signs is None else signs[rows]


def _row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    size = max(1, _AT_A_TIME // max(width, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _over(a: Array, b: npt.ArrayLike, *, fill: float) -> Array:
    """Quotient, and `fill` where b is 0."""
    b = np.asarray(b, dtype=np.float64)
    return np.asarray(np.divide(a, b, out=np.full(a.shape, fill), where=b != 0))
