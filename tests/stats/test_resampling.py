"""Sign flips against enumeration and scipy, bootstrap draws against scipy and a naive loop."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.stats import resampling
from core.stats.resampling import (
    bootstrap_means,
    bootstrap_ratios,
    bootstrap_weights,
    sign_flip_test,
    sign_vectors,
)

Array = npt.NDArray[np.float64]
NAN = float("nan")
changes = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.1, 0.2, 0.3, 0.7]), max_size=9)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def mean_of(x: Array, axis: int) -> Array:
    return np.asarray(x.mean(axis=axis))


def enumerated(values: list[float]) -> float:
    """Share over all sign vectors, in exact integer arithmetic (tenths)."""
    tenths = [round(10 * v) for v in values]
    sums = [
        abs(sum(s * v for s, v in zip(signs, tenths, strict=True)))
        for signs in itertools.product([-1, 1], repeat=len(tenths))
    ]
    return sum(s >= abs(sum(tenths)) for s in sums) / len(sums)


@given(changes, st.sampled_from([1.0, 1e3 / 7, 1e6 / 7]))
def test_small_cells_equal_the_enumeration_of_all_sign_vectors(
    values: list[float], scale: float
) -> None:
    found = sign_flip_test([[*(scale * v for v in values), NAN]], n_resamples=512, rng=rng())
    assert found.n[0] == len(values)
    if len(values) > 1 and max(abs(scale * v) for v in values) > 1e-12:
        assert found.exact[0]
        assert found.pvalue[0] == pytest.approx(enumerated(values), abs=1e-12)
    else:
        assert np.isnan([found.pvalue[0], found.pvalue_maxt[0]]).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 10), st.integers(0, 2**32))
def test_enumerated_cells_equal_scipy(n: int, seed: int) -> None:
    d = rng(seed).normal(0.1, 0.2, n)
    expected = stats.permutation_test(
        (d,), mean_of, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    found = sign_flip_test(d[None], n_resamples=2000, rng=rng())
    assert found.exact.all()
    assert found.pvalue[0] == pytest.approx(expected.pvalue, abs=1e-12)


def test_drawn_cells_equal_scipy_within_their_error() -> None:
    d = rng(3).normal(0.03, 0.2, (4, 60))
    found = sign_flip_test(d, n_resamples=40_000, rng=rng(1))
    for cell in range(4):
        expected = stats.permutation_test(
            (d[cell],),
            mean_of,
            permutation_type="samples",
            n_resamples=40_000,
            vectorized=True,
            rng=rng(2),
        ).pvalue
        error = np.sqrt(2 * expected * (1 - expected) / 40_000)
        assert abs(found.pvalue[cell] - expected) < 5 * error
        assert found.mean[cell] == pytest.approx(d[cell].mean())
        assert found.sd[cell] == pytest.approx(d[cell].std(ddof=1))
    assert not found.exact.any()


def naive_test(d: Array, signs: Array) -> tuple[Array, Array]:
    """Plain and step-down maxT by loops over the shared signs."""
    filled = np.nan_to_num(d)
    n, norm = np.isfinite(d).sum(axis=1), np.sqrt((filled**2).sum(axis=1))
    null = np.abs(signs @ filled.T)
    observed = np.abs(filled.sum(axis=1))
    pvalues = [
        (1 + sum(row / n[c] >= observed[c] / n[c] - 1e-15 for row in null[:, c])) / (len(signs) + 1)
        for c in range(len(d))
    ]
    ranked = sorted(range(len(d)), key=lambda c: -observed[c] / norm[c])
    adjusted = np.zeros(len(d))
    least = 0.0
    for step, cell in enumerate(ranked):
        rest = ranked[step:]
        largest = (null[:, rest] / norm[rest]).max(axis=1)
        p = (1 + (largest >= observed[cell] / norm[cell] - 1e-12).sum()) / (len(signs) + 1)
        least = max(least, p)
        adjusted[cell] = least
    return np.array(pvalues), adjusted


def test_shared_signs_and_maxt_equal_a_naive_loop() -> None:
    d = rng(5).normal(0, 0.2, (6, 40)) + np.linspace(0, 0.12, 6)[:, None]
    d[2, 5:9] = NAN
    signs = sign_vectors(40, 800, rng=rng(6))
    found = sign_flip_test(d, rng=rng(), signs=signs)
    pvalues, adjusted = naive_test(d, signs)
    assert found.pvalue == pytest.approx(pvalues, abs=1e-12)
    assert found.pvalue_maxt == pytest.approx(adjusted, abs=1e-12)
    assert found.n_resamples == 800
    assert (found.pvalue_maxt >= found.pvalue).all()


def test_one_cell_has_the_same_pvalue_by_maxt() -> None:
    found = sign_flip_test(rng(1).normal(0.05, 0.2, (1, 50)), n_resamples=3000, rng=rng())
    assert found.pvalue == found.pvalue_maxt


def test_maxt_of_enumerated_cells_comes_from_the_drawn_signs() -> None:
    d = rng(7).normal(0, 0.2, (2, 40))
    d[0, 3:] = NAN
    signs = sign_vectors(40, 999, rng=rng(8))
    found = sign_flip_test(d, rng=rng(), signs=signs)
    assert found.exact.tolist() == [True, False]
    assert found.pvalue_maxt == pytest.approx(naive_test(d, signs)[1], abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_sums_that_differ_by_rounding_count_as_ties(scale: float) -> None:
    # 0.1 + 0.2 is not 0.3: the observed sum is 0 but for rounding, as are many others
    d = np.array([[0.1, 0.2, -0.3] * 6]) * scale
    found = sign_flip_test(d, n_resamples=100, rng=rng())
    assert found.pvalue[0] == 1
    assert found.pvalue_maxt[0] == 1


def test_an_extreme_effect_has_the_least_pvalue_that_the_draws_allow() -> None:
    d = np.full((1, 40), 0.3)
    found = sign_flip_test(d, n_resamples=999, rng=rng())
    assert found.pvalue[0] == found.pvalue_maxt[0] == 1 / 1000
    assert sign_flip_test(d[:, :8], n_resamples=256, rng=rng()).pvalue[0] == 2 / 256


@pytest.mark.parametrize("n_items", [4, 30])
@pytest.mark.parametrize("change", [0.0, 1e-17, -1e-13])
def test_changes_of_no_more_than_rounding_leave_nothing_to_test(
    n_items: int, change: float
) -> None:
    found = sign_flip_test(np.full((2, n_items), change), n_resamples=100, rng=rng())
    assert np.isnan([found.pvalue, found.pvalue_maxt]).all()
    assert found.n.tolist() == [n_items, n_items]
    assert not found.exact.any()


def test_changes_that_are_all_alike_are_tested() -> None:
    found = sign_flip_test(np.full((1, 6), 1e-9), n_resamples=100, rng=rng())
    assert found.pvalue[0] == 2 / 2**6


def test_one_change_and_none_are_undefined() -> None:
    found = sign_flip_test([[0.4, NAN], [NAN, NAN]], n_resamples=100, rng=rng())
    assert found.n.tolist() == [1, 0]
    assert np.isnan([found.pvalue, found.pvalue_maxt, found.sd]).all()
    assert found.mean[0] == 0.4
    assert np.isnan(found.mean[1])
    assert not found.exact.any()


def test_undefined_and_zero_cells_leave_the_others_as_they_are() -> None:
    d = rng(9).normal(0.05, 0.2, (3, 40))
    signs = sign_vectors(40, 500, rng=rng())
    alone = sign_flip_test(d, rng=rng(), signs=signs)
    joined = sign_flip_test(np.vstack([d, np.zeros(40), np.full(40, NAN)]), rng=rng(), signs=signs)
    assert joined.pvalue[:3].tolist() == alone.pvalue.tolist()
    assert joined.pvalue_maxt[:3].tolist() == alone.pvalue_maxt.tolist()


@pytest.mark.parametrize("n_items", [1, 63, 64, 65, 360])
def test_signs_drawn_in_blocks_equal_those_drawn_at_once(n_items: int) -> None:
    blocks = rng(4)
    parts = [sign_vectors(n_items, r, rng=blocks) for r in (1, 7, 92)]
    whole = sign_vectors(n_items, 100, rng=rng(4))
    assert whole.shape == (100, n_items)
    assert np.array_equal(np.vstack(parts), whole)
    assert set(np.unique(whole)) == {-1.0, 1.0}


def test_the_test_does_not_depend_on_the_size_of_its_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = rng(2).normal(0.03, 0.2, (5, 70))
    whole = sign_flip_test(d, n_resamples=501, rng=rng())
    monkeypatch.setattr(resampling, "_AT_A_TIME", 700)  # ten rows
    blocks = sign_flip_test(d, n_resamples=501, rng=rng())
    assert blocks.pvalue.tolist() == whole.pvalue.tolist()
    assert blocks.pvalue_maxt.tolist() == whole.pvalue_maxt.tolist()


def test_signs_are_balanced_and_independent() -> None:
    signs = sign_vectors(50, 4000, rng=rng(11))
    assert np.abs(signs.mean(axis=0)).max() < 5 / np.sqrt(4000)
    products = signs.T @ signs / 4000 - np.eye(50)
    assert np.abs(products).max() < 5.5 / np.sqrt(4000)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="cells, items"):
        sign_flip_test([0.1, 0.2], rng=rng())
    with pytest.raises(ValueError, match="for 2 items"):
        sign_flip_test([[0.1, 0.2]], rng=rng(), signs=np.ones((10, 3)))
    with pytest.raises(ValueError, match="at least one"):
        sign_flip_test([[0.1, 0.2]], rng=rng(), n_resamples=0)


def test_nothing_at_all_gives_empty_results() -> None:
    assert sign_flip_test(np.empty((0, 5)), n_resamples=10, rng=rng()).pvalue.shape == (0,)
    none = sign_flip_test(np.empty((2, 0)), n_resamples=10, rng=rng())
    assert np.isnan(none.pvalue).all()
    assert bootstrap_means(np.empty((0, 5)), n_resamples=3, rng=rng()).shape == (3, 0)
    assert bootstrap_weights(0, 3, rng=rng()).shape == (3, 0)


def test_bootstrap_weights_are_multinomial_counts() -> None:
    weights = bootstrap_weights(8, 20_000, rng=rng())
    assert (weights.sum(axis=1) == 8).all()
    expected = stats.multinomial(8, np.full(8, 1 / 8)).cov()
    assert np.cov(weights.T) == pytest.approx(expected, abs=0.06)
    assert weights.mean(axis=0) == pytest.approx(np.ones(8), abs=0.05)


def test_bootstrap_means_are_the_weighted_means_of_a_naive_loop() -> None:
    x = rng(1).normal(size=(3, 12))
    x[2, 4] = NAN
    found = bootstrap_means(x, n_resamples=50, rng=rng(5))
    # cells of the same items share their draws: the first mask in sorted order is that of cell 2
    again = rng(5)
    masks = {
        False: bootstrap_weights(11, 50, rng=again),
        True: bootstrap_weights(12, 50, rng=again),
    }
    for cell in range(3):
        values = x[cell][np.isfinite(x[cell])]
        for r, row in enumerate(masks[len(values) == 12]):
            drawn = [v for v, times in zip(values, row, strict=True) for _ in range(int(times))]
            assert found[r, cell] == pytest.approx(np.mean(drawn))


def test_bootstrap_means_spread_like_scipys() -> None:
    x = rng(2).exponential(size=40)
    found = bootstrap_means(x[None], n_resamples=20_000, rng=rng())[:, 0]
    expected = stats.bootstrap((x,), np.mean, n_resamples=20_000, rng=rng(1))
    assert found.std(ddof=1) == pytest.approx(expected.standard_error, rel=0.03)
    assert found.mean() == pytest.approx(
        x.mean(), abs=5 * expected.standard_error / np.sqrt(20_000)
    )


def test_a_cell_without_values_has_no_draws() -> None:
    found = bootstrap_means([[NAN, NAN], [0.5, 0.7]], n_resamples=20, rng=rng())
    assert np.isnan(found[:, 0]).all()
    assert np.isfinite(found[:, 1]).all()


def test_a_draw_without_units_is_undefined() -> None:
    found = bootstrap_ratios(
        np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]]), n_resamples=200, rng=rng()
    )[:, 0]
    assert set(found[np.isfinite(found)]) == {0.5}
    assert 0.15 < np.isnan(found).mean() < 0.35  # both draws fall on the empty unit: 1 in 4


@pytest.mark.parametrize("n_cells", [1, 2, 3])
def test_few_cells_are_resampled_as_many_are(n_cells: int) -> None:
    values = np.random.default_rng(3).normal(0, 0.2, (5, 40))
    few = bootstrap_means(values[:n_cells], n_resamples=300, rng=np.random.default_rng(4))
    drawn = bootstrap_weights(40, 300, rng=np.random.default_rng(4))
    assert few == pytest.approx(drawn @ values[:n_cells].T / 40, abs=1e-14)
