"""Shrunk estimates against plain linear algebra, a closed form and simulated worlds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from core.stats.shrinkage import bootstrap_covariance, shrunk_estimates

NAN = float("nan")


def _restricted(tau2: float, y: np.ndarray, s: np.ndarray) -> float:
    """The restricted likelihood from its textbook form, with an explicit contrast matrix."""
    n = len(y)
    contrasts = np.linalg.svd(np.ones((1, n)))[2][1:]  # orthonormal, orthogonal to 1
    v = contrasts @ (s + tau2 * np.eye(n)) @ contrasts.T
    z = contrasts @ y
    return -0.5 * (np.linalg.slogdet(v)[1] + z @ np.linalg.solve(v, z))


def _world(seed: int, n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n + 2))
    s = root @ root.T / n * 0.01**2 + 0.01**2
    return rng.normal(0.02, 0.015, n) + np.linalg.cholesky(s) @ rng.normal(size=n), s


@pytest.mark.parametrize("seed", range(6))
def test_tau_has_the_largest_restricted_likelihood(seed: int) -> None:
    y, s = _world(seed)
    found = shrunk_estimates(y, s)
    at_best = _restricted(found.tau**2, y, s)
    for tau2 in [0.0, *np.geomspace(1e-8, 1e-2, 400)]:
        assert _restricted(tau2, y, s) <= at_best + 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_posterior_is_that_of_joint_normals_averaged_over_tau(seed: int) -> None:
    """A flat prior on mu is a normal one of huge variance: then plain conditioning applies."""
    y, s = _world(seed)
    found = shrunk_estimates(y, s)
    likelihoods, means, variances = [], [], []
    grid = np.linspace(0, 0.2, 2001)
    for tau in grid:
        prior = tau**2 * np.eye(len(y)) + 10 * np.ones((len(y), len(y)))
        gain = prior @ np.linalg.inv(prior + s)
        likelihoods.append(_restricted(tau**2, y, s))
        means.append(gain @ y)
        variances.append(np.diag(prior - gain @ prior))
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    weights[0] /= 2  # the trapezoid rule
    weights /= weights.sum()
    mean = weights @ np.array(means)
    variance = weights @ (np.array(variances) + (np.array(means) - mean) ** 2)
    assert found.estimate == pytest.approx(mean, abs=2e-5)
    assert found.sd == pytest.approx(np.sqrt(variance), rel=2e-3)
    median = np.interp(0.5, np.cumsum(weights) - weights / 2, grid)
    assert found.tau_median == pytest.approx(median, rel=5e-3)


def test_equal_independent_errors_give_one_factor_for_all() -> None:
    """For S = s^2 I: REML has tau^2 = max(0, var(y) - s^2), and the factor is an integral."""
    y = np.array([0.01, 0.02, 0.05, 0.08, -0.01])
    s2 = 0.02**2
    found = shrunk_estimates(y, s2 * np.eye(5))
    assert found.tau == pytest.approx(np.sqrt(y.var(ddof=1) - s2), rel=1e-4)
    assert found.mean == pytest.approx(y.mean())
    squares = ((y - y.mean()) ** 2).sum()

    def likelihood(t: float) -> float:
        return (t**2 + s2) ** -2 * np.exp(-squares / 2 / (t**2 + s2))

    kept = quad(lambda t: t**2 / (t**2 + s2) * likelihood(t), 0, 1, points=[0.05], limit=200)[0]
    factor = kept / quad(likelihood, 0, 1, points=[0.05], limit=200)[0]
    assert found.estimate == pytest.approx(y.mean() + factor * (y - y.mean()), abs=2e-5)


def test_where_noise_explains_all_spread_little_of_it_is_kept() -> None:
    y = np.array([0.010, 0.011, 0.012, 0.013])
    found = shrunk_estimates(y, 0.02**2 * np.eye(4))
    assert found.tau == 0
    kept = (found.estimate - y.mean()) / (y - y.mean())
    assert (kept < 0.5).all()
    assert (kept > 0).all()


def test_error_common_to_all_cells_pulls_none_toward_the_others() -> None:
    y = np.array([0.0, 0.02, 0.05, 0.01])
    own = 0.005**2 * np.eye(4)
    alone, shared = shrunk_estimates(y, own), shrunk_estimates(y, own + 0.1**2)
    assert shared.estimate == pytest.approx(alone.estimate, rel=1e-4)
    assert (shared.sd > 0.09).all()


def test_selected_cells_are_exaggerated_less_after_shrinking() -> None:
    """2,000 worlds of 10 models whose errors go together; cells are selected by a z test."""
    rng = np.random.default_rng(7)
    n, true_mean, tau = 10, 0.01, 0.01
    s = 0.011**2 * (0.3 + 0.7 * np.eye(n))
    root = np.linalg.cholesky(s)
    plain, shrunk, covered = [], [], []
    for _ in range(2000):
        theta = rng.normal(true_mean, tau, n)
        y = theta + root @ rng.normal(size=n)
        selected = np.abs(y) > 2.5 * 0.011
        found = shrunk_estimates(y, s)
        plain += list(y[selected] - theta[selected])
        shrunk += list(found.estimate[selected] - theta[selected])
        covered += list(np.abs(found.estimate - theta) < 1.96 * found.sd)
    assert np.mean(plain) > 0.008
    assert abs(np.mean(shrunk)) < 0.5 * np.mean(plain)  # what all share stays
    assert np.sqrt(np.mean(np.square(shrunk))) < 0.8 * np.sqrt(np.mean(np.square(plain)))
    assert 0.93 < np.mean(covered) < 0.97


def test_bootstrap_covariance_is_the_plug_in_one() -> None:
    """Cov of means = sum (x_i - mean)(y_i - mean) / N^2, up to the noise of the draws."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 200)) + rng.normal(size=200)
    found = bootstrap_covariance(x, n_resamples=20_000, rng=rng)
    centred = x - x.mean(axis=1, keepdims=True)
    assert found == pytest.approx(centred @ centred.T / 200**2, rel=0.06)


def test_bootstrap_covariance_over_different_items_keeps_what_is_shared() -> None:
    """Cells over overlapping items: cov = sum over shared (x - mean)(y - mean) / (n_x n_y)."""
    rng = np.random.default_rng(4)
    x = np.vstack([rng.normal(size=300)] * 2)
    x[0, :100] = x[1, 200:] = np.nan
    found = bootstrap_covariance(x, n_resamples=20_000, rng=rng)
    a, b = (row - np.nanmean(row) for row in x)
    assert found[0, 1] == pytest.approx(np.nansum(a * b) / 200**2, rel=0.1)


@pytest.mark.parametrize(
    ("y", "variances"),
    [
        ([], []),
        ([0.1], [1.0]),
        ([0.1, 0.2], [1.0, 1.0]),
        ([0.1, 0.2, NAN], [1.0, 1.0, 1.0]),
        ([0.1, 0.2, 0.3], [1.0, 1.0, 0.0]),
        ([0.1, 0.2, 0.3], [1.0, 1.0, NAN]),
    ],
)
def test_fewer_than_three_cells_are_not_shrunk(y: list[float], variances: list[float]) -> None:
    found = shrunk_estimates(y, np.diag(variances) if variances else np.zeros((0, 0)))
    assert found.n == min(len(y), 2)
    assert np.isnan(found.estimate).all()
    assert np.isnan([*found.sd, found.mean, found.tau]).all()


def test_a_cell_without_estimate_stays_undefined_and_changes_nothing() -> None:
    y, s = _world(1)
    wide = np.full((9, 9), NAN)
    wide[1:, 1:] = s
    found, alone = shrunk_estimates([NAN, *y], wide), shrunk_estimates(y, s)
    assert np.isnan(found.estimate[0])
    assert found.estimate[1:] == pytest.approx(alone.estimate, rel=1e-12)
    assert found.n == 8


def test_a_covariance_of_fewer_items_than_cells_is_no_obstacle() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(0.02, 0.1, (6, 3))
    s = bootstrap_covariance(x, n_resamples=500, rng=rng)
    assert np.isfinite(shrunk_estimates(x.mean(axis=1), s).estimate).all()


def test_cells_without_values_have_no_covariance() -> None:
    rng = np.random.default_rng(6)
    x = np.full((3, 20), NAN)
    assert np.isnan(bootstrap_covariance(x, n_resamples=10, rng=rng)).all()
    x[1] = rng.normal(size=20)
    found = bootstrap_covariance(x, n_resamples=100, rng=rng)
    assert np.isfinite(found[1, 1])
    assert np.isnan(found[0]).all()


def test_unequal_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        shrunk_estimates([0.1, 0.2, 0.3], np.eye(2))
