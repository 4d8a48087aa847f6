"""The interval of how much further concepts lie is scipy's, and undefined where nothing varies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.stats.probes.location import difference_interval


@pytest.mark.parametrize(("n1", "n2"), [(25, 50), (2, 3), (8, 30)])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_is_welchs(n1: int, n2: int, level: float) -> None:
    rng = np.random.default_rng(n1)
    x, y = rng.normal(0.4, 2.0, (6, n1)), rng.normal(size=(6, n2))
    found = difference_interval(x, y, level=level)
    for ends, a, b in zip(found, x, y, strict=True):
        expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(level)
        np.testing.assert_allclose(ends, [expected.low, expected.high], rtol=1e-10)


def test_one_set_that_does_not_vary_leaves_the_others_variance() -> None:
    rng = np.random.default_rng(1)
    x, y = np.full((1, 6), 0.1), rng.normal(size=(1, 20))
    (ends,) = difference_interval(x, y)
    half = stats.t.ppf(0.975, 19) * y.std(ddof=1) / np.sqrt(20)
    np.testing.assert_allclose(ends, 0.1 - y.mean() + np.array([-half, half]))


def test_axes_without_numbers_or_variance_have_no_interval() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 5)), rng.normal(size=(4, 9))
    x[0], y[0] = 1.0, 2.0  # apart, and neither varies
    x[1, 2] = np.nan
    x[2], y[2] = 0.3, 0.3
    ends = difference_interval(x, y)
    assert np.isnan(ends[:3]).all() and np.isfinite(ends[3]).all()
    assert np.isnan(difference_interval(x, y[:, :0])).all()
    assert np.isnan(difference_interval(x[:, :1], y)).all()


def test_swapped_poles_turn_the_interval() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(3, 12)), rng.normal(size=(3, 15))
    np.testing.assert_allclose(difference_interval(-x, -y), -difference_interval(x, y)[:, ::-1])
