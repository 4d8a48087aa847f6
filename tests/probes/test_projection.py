"""Projections, z-scores and means over heads against loops over phrases and heads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.errors import InputError
from core.stats.probes.projection import (
    aggregate,
    axis_values,
    layer_profile,
    project,
    top_heads,
    zscore,
)

L, H, D, C, A = 3, 4, 5, 11, 6


def _world(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(2, 1, (C, L, H, D)).astype(np.float32)
    return x, rng.normal(size=(A, L, H, D)), rng.random((A, L, H))


def _naive(x: np.ndarray, theta: np.ndarray, r: np.ndarray, k: int) -> list[float]:
    """Values on one axis: heads sorted by R, each projection divided by its length squared."""
    order = sorted(range(L * H), key=lambda at: (-r.ravel()[at], at))[:k]
    columns = []
    for at in order:
        layer, head = divmod(at, H)
        t = theta[layer, head]
        columns.append([float(v[layer, head] @ t) / float(t @ t) for v in x])
    return [float(np.mean(row)) for row in zip(*map(stats.zscore, columns), strict=True)]


def test_projections_are_those_of_a_loop() -> None:
    x, theta, _ = _world()
    found = project(x, theta)
    assert found.shape == (A, C, L * H)
    for axis, phrase, layer, head in [(0, 0, 0, 0), (2, 3, 1, 2), (5, 10, 2, 3)]:
        t = theta[axis, layer, head]
        expected = float(x[phrase, layer, head] @ t) / float(t @ t)
        assert found[axis, phrase, layer * H + head] == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(project(x, theta[2]), found[2], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 4, L * H])
def test_axis_values_are_those_of_a_loop_over_heads(k: int) -> None:
    x, theta, r = _world()
    found = axis_values(x, theta, r, k=k)
    for axis in range(A):
        np.testing.assert_allclose(found.values[axis], _naive(x, theta[axis], r[axis], k))
    assert found.n_heads.tolist() == [k] * A and found.n_skipped.tolist() == [0] * A


def test_blocks_of_axes_give_the_values_of_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x, theta, r = _world()
    whole = axis_values(x, theta, r, k=5).values
    monkeypatch.setattr("core.stats.probes.projection._AT_A_TIME", 2 * C * L * H)
    np.testing.assert_allclose(axis_values(x, theta, r, k=5).values, whole, rtol=1e-10)
    for axis in range(A):
        alone = axis_values(x, theta[[axis]], r[[axis]], k=5).values[0]
        np.testing.assert_allclose(alone, whole[axis], rtol=1e-10)


def test_swapped_poles_negate_projections_and_values() -> None:
    x, theta, r = _world()
    np.testing.assert_array_equal(project(x, -theta), -project(x, theta))
    np.testing.assert_allclose(
        axis_values(x, -theta, r, k=3).values, -axis_values(x, theta, r, k=3).values, rtol=1e-12
    )


def test_a_longer_direction_shortens_projections_and_keeps_values() -> None:
    x, theta, r = _world()
    np.testing.assert_allclose(project(x, 4 * theta), project(x, theta) / 4)
    np.testing.assert_allclose(
        axis_values(x, 4 * theta, r, k=3).values, axis_values(x, theta, r, k=3).values
    )


def test_the_poles_themselves_lie_one_apart() -> None:
    x, _, _ = _world()
    theta = (x[1] - x[0])[None]
    low, high = project(x[:2], theta)[0]
    np.testing.assert_allclose(high - low, 1.0, rtol=1e-5)


def test_zscores_are_scipys_and_those_around_other_moments_and_centres() -> None:
    rng = np.random.default_rng(1)
    pi, other = rng.normal(3, 2, (9, 6)), rng.normal(size=(14, 6))
    np.testing.assert_allclose(zscore(pi), stats.zscore(pi, axis=0))
    np.testing.assert_allclose(zscore(pi, moments_of=other), stats.zmap(pi, other, axis=0))
    centre = rng.normal(size=6)
    np.testing.assert_allclose(
        zscore(pi, moments_of=other, centre=centre), (pi - centre) / other.std(axis=0)
    )
    np.testing.assert_allclose(zscore(pi, centre=centre), (pi - centre) / pi.std(axis=0))


def test_top_heads_break_ties_by_layer_then_head_and_skip_the_undefined() -> None:
    r = np.array([[0.2, 0.9, np.nan], [0.9, 0.2, 0.5]])
    assert top_heads(r, 3).tolist() == [1, 3, 5]
    assert top_heads(r, None).tolist() == [1, 3, 5, 0, 4]
    assert top_heads(r, 6).tolist() == [1, 3, 5, 0, 4]  # one of six is skipped
    usable = np.array([True, False, True, True, True, True])
    assert top_heads(r, 2, usable=usable).tolist() == [3, 5]
    assert layer_profile(top_heads(r, 3), 3, 3).tolist() == [1, 2, 0]


def test_more_heads_than_there_are_and_none_are_refused() -> None:
    x, theta, r = _world()
    with pytest.raises(InputError, match="has 12 heads, not 13: take at most 12, or all"):
        top_heads(r[0], 13)
    with pytest.raises(InputError, match="take at most 12"):
        axis_values(x, theta, r)  # 128, the published number
    with pytest.raises(InputError, match="at least one"):
        top_heads(r[0], 0)


def test_a_head_in_which_no_phrase_differs_is_skipped_for_the_next() -> None:
    x, theta, r = _world()
    r[:, 1, 1], r[:, 2, 2], r[:, 0, 3] = 5.0, 4.0, np.nan
    x[:, 1, 1] = x[0, 1, 1]
    theta[:, 2, 2] = np.nan
    theta[1, 2, 2, 1:] = 0.0, np.inf, 0.0, 0.0
    theta[2, 2, 2] = 0.0
    found = axis_values(x, theta, r, k=2)
    assert found.n_skipped.tolist() == [3] * A and found.n_heads.tolist() == [2] * A
    without = np.where(np.isnan(r) | (r > 1), -1.0, r)
    for axis in range(A):
        expected = _naive(x, theta[axis], without[axis], 2)
        np.testing.assert_allclose(found.values[axis], expected)


def test_a_model_without_any_varying_head_has_no_values() -> None:
    x, theta, r = _world()
    found = axis_values(np.broadcast_to(x[:1], x.shape), theta, r, k=2)
    assert np.isnan(found.values).all() and found.n_heads.tolist() == [0] * A
    assert np.isnan(axis_values(x, theta, np.full_like(r, np.nan), k=2).values).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_phrase_that_is_not_finite_has_no_value_and_moves_no_other(bad: float) -> None:
    x, theta, r = _world()
    broken = np.concatenate([x[:4], x[:1], x[4:]])
    broken[4, 1, 2, 0] = bad
    found = axis_values(broken, theta, r, k=4).values
    assert np.isnan(found[:, 4]).all()
    np.testing.assert_allclose(np.delete(found, 4, axis=1), axis_values(x, theta, r, k=4).values)


def test_aggregate_leaves_out_heads_without_any_z() -> None:
    z = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 6.0]])
    assert aggregate(z, [0, 1, 2]).tolist() == [2.0, 4.0]
    assert np.isnan(aggregate(z, [1])).all()


def test_one_phrase_none_that_is_finite_and_no_axis_are_no_error() -> None:
    x, theta, r = _world()
    assert np.isnan(axis_values(x[:1], theta, r, k=2).values).all()
    assert np.isnan(axis_values(np.full_like(x, np.nan), theta, r, k=2).values).all()
    assert axis_values(x, theta[:0], r[:0], k=2).values.shape == (0, C)


def test_shapes_that_do_not_fit_are_refused() -> None:
    x, theta, r = _world()
    with pytest.raises(ValueError, match="activations have the shape"):
        project(x, theta[..., :4])
    with pytest.raises(ValueError, match="do not go with R"):
        axis_values(x, theta, r[:2], k=2)
