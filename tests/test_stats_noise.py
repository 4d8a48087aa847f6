"""Rewording noise: the floor from full-coverage rewordings, the typical change from all."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.noise import rewording_noise

NAN = float("nan")
change = st.floats(-1, 1)


def test_the_floor_is_the_mean_of_absolute_means_computed_by_hand() -> None:
    noise = rewording_noise({"p1": [0.3, -0.1], "p2": [-0.2, -0.4], "p3": [0.1, -0.1]}, 2)
    # |mean|: 0.1, 0.3, 0.0
    assert noise.floor == pytest.approx(0.4 / 3)
    assert noise.n_rewordings == 3
    # six changes with mean -0.4 / 6 and sum of squares 0.32
    assert noise.item_sd == pytest.approx(math.sqrt((0.32 - 0.16 / 6) / 5))
    assert noise.n_changes == 6


def test_a_partial_rewording_is_left_out_of_the_floor_but_its_changes_count() -> None:
    full, partial = [0.1, 0.1, 0.4], [0.9, NAN, 0.7]
    noise = rewording_noise({"p1": full, "llm": partial}, n_usable=3)
    assert noise.floor == pytest.approx(0.2)
    assert noise.n_rewordings == 1
    assert noise.item_sd == pytest.approx(statistics.stdev([*full, 0.9, 0.7]))
    assert noise.n_changes == 5


def test_undefined_changes_of_unusable_items_do_not_make_a_rewording_partial() -> None:
    noise = rewording_noise({"p1": [0.1, NAN, 0.3]}, n_usable=2)
    assert noise.floor == pytest.approx(0.2)


@pytest.mark.parametrize(
    "changes", [{}, {"p1": []}, {"p1": [NAN, NAN], "p2": [NAN, NAN]}, {"p1": [np.inf, NAN]}]
)
@pytest.mark.parametrize("n_usable", [0, 2])
def test_without_changes_everything_is_undefined(changes: dict, n_usable: int) -> None:
    noise = rewording_noise(changes, n_usable)
    assert math.isnan(noise.floor)
    assert math.isnan(noise.item_sd)
    assert (noise.n_changes, noise.n_rewordings) == (0, 0)


def test_one_change_has_a_floor_but_no_spread() -> None:
    noise = rewording_noise({"p1": [-0.25]}, n_usable=1)
    assert noise.floor == 0.25
    assert math.isnan(noise.item_sd)
    assert noise.n_changes == 1


@given(st.lists(st.lists(change, min_size=4, max_size=4), min_size=1, max_size=5))
def test_full_coverage_agrees_with_plain_statistics(rows: list[list[float]]) -> None:
    noise = rewording_noise({str(n): row for n, row in enumerate(rows)}, n_usable=4)
    floor = statistics.fmean(abs(statistics.fmean(row)) for row in rows)
    assert noise.floor == pytest.approx(floor, abs=1e-12)
    pooled = [value for row in rows for value in row]
    assert noise.item_sd == pytest.approx(statistics.stdev(pooled), abs=1e-9)


@given(st.lists(change, min_size=3, max_size=3))
def test_the_sign_of_the_change_does_not_matter(row: list[float]) -> None:
    one = rewording_noise({"p1": row}, 3)
    other = rewording_noise({"p1": [-d for d in row]}, 3)
    assert (one.floor, one.item_sd) == pytest.approx((other.floor, other.item_sd))
