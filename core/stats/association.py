"""How scores before and after a change go together: correlation, spread, carry-over.

After "Lost in Translation" (arXiv 2610.20479), the section on what a lower score does not show:
rows are model x item, x an item's score before a change of language or wording, y after it. The
ceiling of each number is what mere rewording leaves of it, not 1.

Everything here is a function of six sums over rows (their number, x, y, x^2, y^2, xy). Sums add up:
over models, over rewordings, over items as often as a bootstrap draws them. So an item is drawn
with all its rows, and all draws are one matrix product.

Letters: N items, M models, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.intervals import Interval, percentile_interval
from core.stats.known import only_rounding
from core.stats.resampling import bootstrap_weights

Array = npt.NDArray[np.float64]

NEUTRAL = 0.5  # a stereotype score of no preference
LEAST = 3  # rows, and items: two always lie on a line
_AT_A_TIME = 4_000_000  # weights of a block of resamples, 32 MB


@dataclass(frozen=True)
class Line:
    """Least-squares line of y on x; arrays of one shape, NaN where undefined."""

    n: Array  # rows
    r: Array  # Pearson
    sd_ratio: Array  # sd of y over sd of x
    slope: Array  # r times sd_ratio
    intercept: Array  # y - origin where x is the origin; NaN within models, which have many


@dataclass(frozen=True)
class Association:
    """How the scores of the same rows before and after a change go together."""

    n_rows: int  # model x item
    n_items: int
    r: Interval
    slope: Interval
    at_neutral: Interval  # the line's y where x is neutral: where no preference ends up
    sd_ratio: float
    r_within: float  # after centring each model's scores on its own means
    slope_within: float


@dataclass(frozen=True)
class Explained:
    """What least squares explains of y."""

    n: int  # rows with y and all predictors
    r2: float  # share of the sum of squares about the mean; NaN where undefined
    residuals: Array  # of the shape of y; NaN where a row is not whole


def row_sums(before: npt.ArrayLike, after: npt.ArrayLike, *, origin: float = NEUTRAL) -> Array:
    """What each row adds to the six sums: 1, x, y, x^2, y^2, xy. Shape (6, ..., N)

    Parameters
    ----------
    before, after : array, shape (..., N)
        Scores of the same rows; a row with a NaN adds nothing.
    origin
        Taken from both: squares stay small, and the line's intercept is read at no preference.

    Raises
    ------
    ValueError
        The shapes differ.
    """
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"scores before and after need one shape, not {x.shape}, {y.shape}")
    whole = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(whole, x - origin, 0.0), np.where(whole, y - origin, 0.0)
    return np.stack([whole.astype(np.float64), x, y, x * x, y * y, x * y])


def resampled_sums(
    values: Array, *, n_resamples: int, rng: np.random.Generator, weights: Array | None = None
) -> Array:
    """Sums over N items drawn with replacement, the same draws for all.

    Parameters
    ----------
    values : array, shape (..., N)
        What each item adds; 0 where it adds nothing.
    weights : array, shape (R, N)
        Draws to use, as of `bootstrap_weights`; without them they are drawn in blocks, so that
        many items need no more memory.

    Returns
    -------
    array, shape (..., R)
    """
    n_items = values.shape[-1]
    flat = values.reshape(math.prod(values.shape[:-1]), n_items)
    if weights is not None:
        return np.asarray((flat @ weights.T).reshape(*values.shape[:-1], len(weights)))
    sums = np.empty((len(flat), n_resamples))
    size = max(1, _AT_A_TIME // max(n_items, 1))
    for start in range(0, n_resamples, size):
        stop = min(start + size, n_resamples)
        sums[:, start:stop] = flat @ bootstrap_weights(n_items, stop - start, rng=rng).T
    return sums.reshape(*values.shape[:-1], n_resamples)


def line(sums: Array) -> Line:
    """The line through all rows together.

    r = S_xy / sqrt(S_xx S_yy), sd_ratio = sqrt(S_yy / S_xx), slope = S_xy / S_xx with S the sums of
    squares and products about the means, intercept = mean y - slope * mean x.

    Parameters
    ----------
    sums : array, shape (6, ...)
        Of `row_sums`, added up over rows.

    Returns
    -------
    Line
        NaN below three rows and where x does not vary; r also where y does not.
    """
    n, x, y = sums[:3]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_y = x / n, y / n
    found = _line(n, *_about_means(sums))
    return Line(found.n, found.r, found.sd_ratio, found.slope, mean_y - found.slope * mean_x)


def line_within(sums: Array) -> Line:
    """The common line of several models, each centred on its own means.

    Parameters
    ----------
    sums : array, shape (6, M, ...)
        Added up over the rows of each model.

    Returns
    -------
    Line
        Shape (...); S_xx, S_yy and S_xy of `line` are added up over the models.
    """
    squares = [s.sum(axis=0) for s in _about_means(sums)]
    return _line(sums[0].sum(axis=0), *squares)


def association_of(
    sums: Array, draws: Array, n_items: int, *, neutral: float = NEUTRAL
) -> Association:
    """Association from sums over the rows, and from the same sums over drawn items.

    Parameters
    ----------
    sums : array, shape (6, M)
    draws : array, shape (6, R)
        Added up over the models.
    n_items
        Items with at least one row. Below three everything is NaN.
    neutral
        The origin that the rows were given.
    """
    n_rows = round(float(sums[0].sum()))
    if n_items < LEAST:
        sums, draws = np.full_like(sums, np.nan), np.full_like(draws, np.nan)
    pooled, within, drawn = line(sums.sum(axis=1)), line_within(sums), line(draws)
    found = {
        "r": percentile_interval(float(pooled.r), drawn.r, n_items),
        "slope": percentile_interval(float(pooled.slope), drawn.slope, n_items),
        "at_neutral": percentile_interval(
            float(pooled.intercept) + neutral, drawn.intercept + neutral, n_items
        ),
    }
    return Association(
        n_rows=n_rows,
        n_items=n_items,
        **found,
        sd_ratio=float(pooled.sd_ratio),
        r_within=float(within.r),
        slope_within=float(within.slope),
    )


def association(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    neutral: float = NEUTRAL,
) -> Association:
    """How scores before and after a change go together, with bootstrap intervals over items.

    Parameters
    ----------
    before, after : array, shape (M, N)
        Scores of the same items under M models; NaN where there is none.
    neutral
        The score of no preference; the fitted line is read off there.

    Returns
    -------
    Association
        Percentile intervals at 95 %, each draw taking an item with its rows under all models. Draws
        in which the scores do not vary are counted in `n_undefined`.
    """
    rows = row_sums(before, after, origin=neutral)
    draws = resampled_sums(rows.sum(axis=1), n_resamples=n_resamples, rng=rng)
    return association_of(rows.sum(axis=-1), draws, n_items_of(rows), neutral=neutral)


def explained(y: npt.ArrayLike, predictors: Sequence[npt.ArrayLike]) -> Explained:
    """Ordinary least squares of y on predictors and a constant.

    Parameters
    ----------
    y, predictors : array, all of one shape
        A row with a NaN in any of them is left out.

    Returns
    -------
    Explained
        R^2 = 1 - sum of squared residuals / S_yy. Predictors that repeat others or do not vary add
        nothing. Everything is NaN without predictors, without spread of y, and unless there are
        more rows than coefficients.
    """
    of = np.asarray(y, dtype=np.float64)
    columns = [np.broadcast_to(np.asarray(x, dtype=np.float64), of.shape) for x in predictors]
    whole = np.isfinite(of) & np.all([np.isfinite(x) for x in columns], axis=0)
    n, residuals = int(whole.sum()), np.full(of.shape, np.nan)
    if not columns or n <= len(columns) + 1:
        return Explained(n, math.nan, residuals)
    centred = of[whole] - of[whole].mean()
    total = float(centred @ centred)
    if only_rounding(total, 0.0, n):
        return Explained(n, math.nan, residuals)
    x = np.stack([column[whole] for column in columns], axis=1)
    x = x - x.mean(axis=0)
    left = centred - x @ np.linalg.lstsq(x, centred, rcond=None)[0]
    residuals[whole] = left
    return Explained(n, 1.0 - float(left @ left) / total, residuals)


def n_items_of(rows: Array) -> int:
    """Items with at least one row, of `row_sums` with shape (6, ..., N)."""
    return int(rows[0].any(axis=tuple(range(rows.ndim - 2))).sum())


def _about_means(sums: Array) -> tuple[Array, Array, Array]:
    """S_xx, S_yy, S_xy about the means; 0 where rounding is all there is."""
    n, x, y, xx, yy, xy = sums
    rows = np.where(n > 0, n, 1.0)
    s_xx = _no_less(xx - x * x / rows, xx, n)
    s_yy = _no_less(yy - y * y / rows, yy, n)
    return s_xx, s_yy, np.asarray(xy - x * y / rows)


def _no_less(squares: Array, uncentred: Array, n: Array) -> Array:
    return np.where(only_rounding(squares, uncentred, n), 0.0, squares)


def _line(n: Array, s_xx: Array, s_yy: Array, s_xy: Array) -> Line:
    s_xx = np.where((n >= LEAST) & (s_xx > 0), s_xx, np.nan)
    with np.errstate(invalid="ignore"):
        r = s_xy / np.sqrt(s_xx * np.where(s_yy > 0, s_yy, np.nan))
    return Line(
        n=np.asarray(n),
        r=np.clip(r, -1.0, 1.0),
        sd_ratio=np.sqrt(s_yy / s_xx),
        slope=np.asarray(np.where(s_yy > 0, s_xy, 0.0) / s_xx),
        intercept=np.full_like(r, np.nan),
    )
