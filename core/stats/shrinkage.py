"""Estimates pulled toward their common mean, by as much as they are noise.

Cells that passed a test were chosen for being large, so their estimates exaggerate: about 1.8-fold
at a shift of 0.02 in "Lost in Translation" (arXiv 2610.20479). The posterior of a normal-normal
hierarchical model with flat priors (Rubin 1981; Gelman et al., Bayesian Data Analysis, section 5.4)
takes that back, whatever the selection was.

Letters: N items, C cells (the models of one language, say), R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.resampling import bootstrap_ratios

Array = npt.NDArray[np.float64]

LEAST_CELLS = 3  # below, the spread of the true values cannot be told from noise at all
_STEPS = 200  # values of tau^2 in one look; looks are repeated between the neighbours of the best


@dataclass(frozen=True)
class Shrunk:
    """Posterior of C true values; NaN for a cell without estimate, and for all below 3 cells."""

    estimate: Array  # posterior means, (C,)
    sd: Array  # posterior sds, with the uncertainty of mu and tau, (C,)
    mean: float  # of the posterior of mu, the common mean
    tau: float  # the likeliest sd of the true values around mu; 0 where noise explains all spread
    tau_median: float  # of the posterior of tau; its mean is infinite with 3 cells
    n: int  # cells with an estimate


def shrunk_estimates(estimates: npt.ArrayLike, covariance: npt.ArrayLike) -> Shrunk:
    """Posterior means and sds of cells that share a mean and their items.

    With y ~ N(theta, S) and theta ~ N(mu 1, tau^2 I), so that V = S + tau^2 I, at a given tau::

        mu       = 1' V^-1 y / 1' V^-1 1                       (generalised least squares)
        E theta  = mu + tau^2 V^-1 (y - mu)
        Var theta = tau^2 I - tau^4 V^-1 + w w' / (1' V^-1 1),  w = (I - tau^2 V^-1) 1

    These are averaged over tau >= 0 with the restricted marginal likelihood for weights, that is,
    with a flat prior on tau and mu: a full posterior, and no empirical Bayes estimate, which would
    take the likeliest tau for the true one. With few cells tau is not well known, and that would
    make the intervals too narrow. S is the full covariance: cells
    share their items, so their errors go together, and what all have in common is no reason to pull
    one toward the others.

    Parameters
    ----------
    estimates : array, shape (C,)
        NaN where a cell has none.
    covariance : array, shape (C, C)
        S, of sampling; a cell whose variance is not above 0 is left out.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    y, s = np.asarray(estimates, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if y.ndim != 1 or s.shape != (len(y), len(y)):
        raise ValueError(f"{y.shape} estimates with a covariance of the shape {s.shape}")
    with np.errstate(invalid="ignore"):
        used = np.isfinite(y) & (np.diagonal(s) > 0)
    estimate, sd = np.full(len(y), np.nan), np.full(len(y), np.nan)
    n = int(used.sum())
    if n < LEAST_CELLS:
        return Shrunk(estimate, sd, np.nan, np.nan, np.nan, n)
    values, vectors = np.linalg.eigh(s[np.ix_(used, used)])
    # A covariance of few items has directions without variance; rounding may make them negative.
    values = np.maximum(values, 1e-9 * values.max())
    rotated, ones = vectors.T @ y[used], vectors.sum(axis=0)
    tau, weights = _posterior_of_tau(rotated, ones, values)
    tau2 = tau[:, None] ** 2
    inverse = 1 / (values + tau2)  # V^-1 in the basis of S's eigenvectors, (T, C)
    precision = (ones**2 * inverse).sum(axis=1)
    mu = (ones * inverse * rotated).sum(axis=1) / precision  # (T,)
    means = mu[:, None] + (tau2 * inverse * (rotated - mu[:, None] * ones)) @ vectors.T
    w = ((1 - tau2 * inverse) * ones) @ vectors.T
    variances = (tau2 - tau2**2 * inverse) @ (vectors**2).T + w**2 / precision[:, None]
    estimate[used] = weights @ means
    sd[used] = np.sqrt(weights @ (np.maximum(variances, 0) + (means - estimate[used]) ** 2))
    likeliest = _restricted_maximum(rotated, ones, values)
    median = np.interp(0.5, np.cumsum(weights) - weights / 2, tau)
    return Shrunk(estimate, sd, float(weights @ mu), float(np.sqrt(likeliest)), float(median), n)


def bootstrap_covariance(
    values: npt.ArrayLike, *, n_resamples: int, rng: np.random.Generator
) -> Array:
    """Covariance of C cells' means over items drawn with replacement, the same items for all.

    Parameters
    ----------
    values : array, shape (C, N)
        NaN where a cell has no value of an item: the mean is over what it has.

    Returns
    -------
    array, shape (C, C)
        NaN for cells without values, and throughout if fewer than two draws reach all the others.
    """
    x = np.asarray(values, dtype=np.float64)
    known = np.isfinite(x)
    cells = known.any(axis=1)
    covariance = np.full((len(x), len(x)), np.nan)
    if not cells.any():
        return covariance
    draws = bootstrap_ratios(
        np.where(known, x, 0.0)[cells],
        known[cells].astype(np.float64),
        n_resamples=n_resamples,
        rng=rng,
    )  # (R, cells)
    draws = draws[np.isfinite(draws).all(axis=1)]
    if len(draws) > 1:
        covariance[np.ix_(cells, cells)] = np.atleast_2d(np.cov(draws, rowvar=False))
    return covariance


def _posterior_of_tau(rotated: Array, ones: Array, values: Array) -> tuple[Array, Array]:
    """Values of tau >= 0, and their posterior weights under a flat prior. Shapes (T,)"""
    # tau = scale x / (1 - x) maps the half-line to 0..1, which midpoints cover evenly.
    scale = float(np.sqrt(values.mean() + rotated.var()))
    x = (np.arange(2 * _STEPS) + 0.5) / (2 * _STEPS)
    tau = scale * x / (1 - x)
    weight = _restricted_likelihood(tau**2, rotated, ones, values) - 2 * np.log(1 - x)
    weight = np.exp(weight - weight.max())
    return tau, weight / weight.sum()


def _restricted_maximum(rotated: Array, ones: Array, values: Array) -> float:
    """tau^2 >= 0 of the largest restricted likelihood, to five digits."""
    # The spread of the estimates bounds tau^2: beyond it, the likelihood only falls.
    top = 4 * float((rotated**2).sum() + values.sum())
    grid = np.concatenate([[0.0], np.geomspace(1e-6 * float(values.min()), top, _STEPS)])
    for _ in range(3):
        best = int(np.argmax(_restricted_likelihood(grid, rotated, ones, values)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        tau2 = float(grid[best])
        grid = np.append(np.linspace(low, high, _STEPS), tau2)
    return tau2


def _restricted_likelihood(tau2: Array, rotated: Array, ones: Array, values: Array) -> Array:
    """Log-likelihood of the contrasts among cells, up to a constant. Shape of tau2"""
    v = values + tau2[:, None]  # (steps, C)
    precision = (ones**2 / v).sum(axis=1)
    mu = (ones * rotated / v).sum(axis=1) / precision
    residual = ((rotated - mu[:, None] * ones) ** 2 / v).sum(axis=1)
    return np.asarray(-0.5 * (np.log(v).sum(axis=1) + np.log(precision) + residual))
