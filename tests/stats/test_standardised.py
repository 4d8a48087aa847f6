"""Standardised differences against samples that are really drawn."""

from __future__ import annotations

import numpy as np
import pytest

from core.stats.resampling import bootstrap_weights
from core.stats.standardised import standardised_change

NAN = float("nan")


def _naive(before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> float:
    both = np.isfinite(before) & np.isfinite(after)
    drawn = np.repeat(np.flatnonzero(both), weights[both].astype(int))
    a, b = before[drawn], after[drawn]
    return b.mean() / b.std(ddof=1) - a.mean() / a.std(ddof=1)


def test_each_resample_has_its_own_sds() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.normal(50, 1, (2, 3, 40))
    before[0, :5] = after[1, 3:9] = NAN
    weights = np.vstack([np.ones(40), bootstrap_weights(40, 25, rng=rng)])
    found = standardised_change(before, after, weights)
    expected = [[_naive(before[c], after[c], row) for c in range(3)] for row in weights]
    assert found == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


def test_a_change_of_scale_is_no_standardised_change() -> None:
    before = np.random.default_rng(1).normal(0.3, 1, (1, 30))
    found = standardised_change(before, 0.25 * before, np.ones((1, 30)))
    assert found == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([0.1], [0.2]),
        ([0.1, 0.1, 0.1], [0.2, 0.3, 0.1]),
        ([0.3, 0.1, 0.2], [0.7, 0.7, 0.7]),
        ([1e6 + 0.1] * 3, [0.2, 0.3, 0.1]),
        ([NAN, 0.1], [0.2, NAN]),
        ([], []),
    ],
)
def test_items_that_do_not_vary_have_no_standardised_change(before: list, after: list) -> None:
    weights = np.ones((2, len(before)))
    assert np.isnan(standardised_change([before], [after], weights)).all()


def test_what_only_rounding_tells_apart_is_undefined() -> None:
    same = np.array([[-0.1 * 3 + 2.3, -0.3 + 2.3, 2.0]])
    assert np.ptp(same) > 0
    other = np.array([[0.1, 0.2, 0.4]])
    assert np.isnan(standardised_change(same, other, np.ones((1, 3)))).all()
    assert np.isnan(standardised_change(other, same, np.ones((1, 3)))).all()
