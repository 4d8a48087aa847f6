"""Phrases projected onto an axis, head by head, and averaged over the heads that separate it best.

After "StereoDisco" (arXiv 2607.27824), section 7 of the method. x is a head's pooled output for a
phrase's prompt, theta the head's direction (`direction`):

    pi = x . theta / |theta|^2                    in units of the poles' distance
    z  = (pi - mean pi) / sd pi                   per head, over all phrases jointly
    value = mean of z over the k heads of highest R

Swapping the poles negates pi, z and value. Everything is computed in float64: hand in float64
where the same activations meet many axes, so that they are converted once.

Letters: A axes, C phrases (concepts and reference phrases alike), L layers, H heads, D head_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.stats.known import only_rounding

Array = npt.NDArray[np.float64]
Heads = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TOP_HEADS = 128  # k of the published numbers
_AT_A_TIME = 2_000_000  # projections of a block of axes, 16 MB


@dataclass(frozen=True)
class AxisValues:
    """The value of every phrase on every axis, and what it is the mean of."""

    values: Array  # (A, C); NaN for a phrase without finite activations and an axis without heads
    heads: tuple[Heads, ...]  # flat indices of each axis's heads, the most separable first
    n_skipped: npt.NDArray[np.int64]  # heads left out of the choice: no variance, (A,)

    @property
    def n_heads(self) -> npt.NDArray[np.int64]:
        """Heads that each axis's values are a mean of. (A,)"""
        return np.array([len(heads) for heads in self.heads], dtype=np.int64)


def project(activations: npt.ArrayLike, directions: npt.ArrayLike) -> Array:
    """Projections pi = x . theta / |theta|^2 of phrases onto axes, in every head.

    Parameters
    ----------
    activations : array, shape (C, L, H, D)
        One pooled output per phrase and head.
    directions : array, shape (..., L, H, D)
        One direction per axis and head; not finite, or 0, where a head has none.

    Returns
    -------
    array, shape (..., C, L * H)
        Head h of layer l is at l * H + h. NaN where the head has no direction.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    x = np.asarray(activations, dtype=np.float64)
    theta = np.asarray(directions, dtype=np.float64)
    if x.ndim != 4 or theta.ndim < 3 or theta.shape[-3:] != x.shape[1:]:
        raise ValueError(
            f"activations have the shape (phrases, layers, heads, head_dim) and directions end "
            f"with the last three, not {x.shape} and {theta.shape}"
        )
    n_phrases, n_layers, n_heads, head_dim = x.shape
    by_head = x.reshape(n_phrases, n_layers * n_heads, head_dim).transpose(1, 0, 2)  # (L * H, C, D)
    theta = theta.reshape(-1, n_layers * n_heads, head_dim)  # (A, L * H, D)
    square = (theta**2).sum(axis=-1, keepdims=True)
    usable = np.isfinite(square) & (square > 0)
    scaled = np.divide(theta, square, out=np.full_like(theta, np.nan), where=usable)
    pi = np.asarray(by_head @ scaled.transpose(1, 2, 0)).transpose(2, 1, 0)  # (A, C, L * H)
    return pi.reshape(*np.shape(directions)[:-3], n_phrases, n_layers * n_heads)


def zscore(
    projections: npt.ArrayLike,
    *,
    moments_of: npt.ArrayLike | None = None,
    centre: npt.ArrayLike | None = None,
) -> Array:
    """Projections in standard deviations (ddof 0) from their mean, head by head.

    Parameters
    ----------
    projections : array, shape (..., C, heads)
        A phrase that is not finite makes its heads undefined: leave it out before.
    moments_of : array, shape (..., phrases, heads)
        The projections whose mean and standard deviation are taken; by default the same.
    centre : array, shape (..., heads)
        What is subtracted instead of the mean.

    Returns
    -------
    array, shape (..., C, heads)
        NaN throughout a head whose projections do not vary beyond rounding.
    """
    pi = np.asarray(projections, dtype=np.float64)
    base = pi if moments_of is None else np.asarray(moments_of, dtype=np.float64)
    n = max(base.shape[-2], 1)
    mean = base.sum(axis=-2, keepdims=True) / n
    centred = base - mean
    sd = _deviation(centred, mean)
    if base is not pi or centre is not None:
        middle = mean if centre is None else np.asarray(centre, dtype=np.float64)[..., None, :]
        centred = pi - middle
    return np.asarray(np.divide(centred, sd, out=centred))


def top_heads(
    separability: npt.ArrayLike, k: int | None = TOP_HEADS, *, usable: Mask | None = None
) -> Heads:
    """The k heads of highest R, the most separable first; ties by layer, then head.

    Parameters
    ----------
    separability : array, shape (L, H) or (L * H,)
        A head with NaN has no variance or no direction and is skipped.
    k
        How many; None takes all.
    usable : array of the same size
        Heads to choose from; by default those with a finite R.

    Returns
    -------
    array of flat indices l * H + h
        Fewer than k where fewer are left after those that are skipped.

    Raises
    ------
    InputError
        The model has fewer than k heads, or k is below 1.
    """
    r = np.asarray(separability, dtype=np.float64).ravel()
    check_k(k, r.size)
    choice = np.isfinite(r) if usable is None else np.isfinite(r) & np.ravel(usable)
    order = np.argsort(np.where(choice, -r, np.inf), kind="stable")
    return order[: min(int(choice.sum()), r.size if k is None else k)]


def aggregate(z: npt.ArrayLike, heads: npt.ArrayLike) -> Array:
    """Mean of z (C, heads) over the chosen heads, those without any z left out. (C,)

    NaN for a phrase that lacks one of the others, and for all where no head is left.
    """
    chosen = np.asarray(z, dtype=np.float64)[:, np.asarray(heads, dtype=np.int64)]
    chosen = chosen[:, np.isfinite(chosen).any(axis=0)]
    if not chosen.shape[1]:
        return np.full(len(chosen), np.nan)
    return np.asarray(chosen.mean(axis=1))


def axis_values(
    activations: npt.ArrayLike,
    directions: npt.ArrayLike,
    separability: npt.ArrayLike,
    *,
    k: int | None = TOP_HEADS,
) -> AxisValues:
    """Values of all phrases on all axes, z-scored over these phrases jointly.

    Parameters
    ----------
    activations : array, shape (C, L, H, D)
        Concepts and reference phrases together. A phrase with a number that is not finite enters
        no mean, and has no value.
    directions : array, shape (A, L, H, D)
    separability : array, shape (A, L, H)
    k
        How many heads, as in `top_heads`; a head in which no phrase differs is skipped.

    Raises
    ------
    ValueError
        The shapes do not fit.
    InputError
        The model has fewer than k heads, or k is below 1.
    """
    x = np.asarray(activations, dtype=np.float64)
    theta = np.asarray(directions, dtype=np.float64)
    r = np.asarray(separability, dtype=np.float64)
    if theta.ndim != 4 or r.shape != theta.shape[:-1]:
        raise ValueError(
            f"directions of the shape {theta.shape} do not go with R of the shape {r.shape}"
        )
    n_heads = theta.shape[1] * theta.shape[2]
    check_k(k, n_heads)
    known = np.asarray(np.isfinite(x).all(axis=(1, 2, 3)))
    x = x if known.all() else x[known]
    values = np.full((len(theta), len(known)), np.nan)
    heads: list[Heads] = []
    n_skipped = np.empty(len(theta), dtype=np.int64)
    step = max(1, _AT_A_TIME // max(len(x) * n_heads, 1))
    for start in range(0, len(theta), step):
        block = slice(start, start + step)
        found = mean_over_top(zscore(project(x, theta[block])), r[block], k=k)
        values[block, known], n_skipped[block] = found.values, found.n_skipped
        heads.extend(found.heads)
    return AxisValues(values, tuple(heads), n_skipped)


def mean_over_top(z: Array, separability: Array, *, k: int | None) -> AxisValues:
    """Mean of z (A, C, L * H) over each axis's k heads of highest R (A, L, H) that have any z."""
    usable = np.asarray(np.isfinite(z).any(axis=1))  # (A, L * H)
    heads = tuple(top_heads(r, k, usable=u) for r, u in zip(separability, usable, strict=True))
    values = np.array([aggregate(scores, top) for scores, top in zip(z, heads, strict=True)])
    usable &= np.isfinite(separability).reshape(usable.shape)
    return AxisValues(values.reshape(z.shape[:2]), heads, (~usable).sum(axis=1))


def layer_profile(heads: npt.ArrayLike, n_layers: int, n_heads: int) -> npt.NDArray[np.int64]:
    """How many of the chosen heads lie in each layer. (L,)"""
    layers = np.asarray(heads, dtype=np.int64) // n_heads
    return np.asarray(np.bincount(layers, minlength=n_layers), dtype=np.int64)


def check_k(k: int | None, n_heads: int) -> None:
    """Refuse more heads than there are, and fewer than one."""
    if k is not None and k > n_heads:
        raise InputError(f"The model has {n_heads} heads, not {k}: take at most {n_heads}, or all.")
    if k is not None and k < 1:
        raise InputError(f"{k} heads hold no direction: take at least one.")


def _deviation(centred: Array, mean: Array) -> Array:
    """Standard deviation (ddof 0) of each head; NaN where it is rounding. (..., 1, heads)"""
    n = centred.shape[-2]
    squares = np.square(centred).sum(axis=-2, keepdims=True)
    dead = only_rounding(squares, squares + n * mean**2, n)
    return np.asarray(np.sqrt(np.where(dead, np.nan, squares) / max(n, 1)))
