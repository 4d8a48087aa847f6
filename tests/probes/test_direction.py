"""Directions and separability against loops over raw outputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.stats.probes.direction import (
    PoleSums,
    chance_separability,
    cosine,
    direction,
    mean_of_sums,
    midpoint,
    separability,
)
from tests.planted_heads import pole_sums

SHAPE = (3, 4, 5)  # L, H, D


def _poles(seed: int = 0, n: tuple[int, int] = (7, 9)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return tuple(
        rng.normal(shift, 1, (size, *SHAPE)).astype(np.float32)
        for shift, size in zip((0.0, 0.5), n, strict=True)
    )


def test_direction_and_separability_are_those_of_a_loop_over_sentences() -> None:
    negative, positive = _poles()
    sums = pole_sums(negative), pole_sums(positive)
    theta, r, middle = direction(*sums), separability(*sums), midpoint(*sums)
    for layer in range(3):
        for head in range(4):
            low = [x[layer, head].astype(float) for x in negative]
            high = [x[layer, head].astype(float) for x in positive]
            mu_low, mu_high = sum(low) / len(low), sum(high) / len(high)
            mubar = (mu_low + mu_high) / 2
            between = np.sum((mu_high - mubar) ** 2) + np.sum((mu_low - mubar) ** 2)
            within = sum(np.sum((x - mu_low) ** 2) for x in low) / len(low)
            within += sum(np.sum((x - mu_high) ** 2) for x in high) / len(high)
            np.testing.assert_allclose(theta[layer, head], mu_high - mu_low, rtol=1e-10)
            np.testing.assert_allclose(middle[layer, head], mubar, rtol=1e-10)
            assert r[layer, head] == pytest.approx(between / within, rel=1e-10)


def test_halves_add_up_to_the_whole() -> None:
    (outputs, _) = _poles()
    both = pole_sums(outputs, slice(0, 3)) + pole_sums(outputs, slice(3, None))
    whole = pole_sums(outputs)
    assert both.n == whole.n == 7
    np.testing.assert_allclose(both.sums, whole.sums)
    np.testing.assert_allclose(both.squares, whole.squares)


def test_swapped_poles_turn_the_direction_and_keep_separability() -> None:
    low, high = map(pole_sums, _poles())
    np.testing.assert_array_equal(direction(high, low), -direction(low, high))
    np.testing.assert_array_equal(separability(high, low), separability(low, high))


@pytest.mark.parametrize("n", [(30, 30), (15, 15), (4, 9)])
def test_random_sentences_have_the_chance_separability(n: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    sums = [pole_sums(rng.normal(size=(size, 40, 50, 16)).astype(np.float32)) for size in n]
    found = separability(*sums)
    error = float(found.std(ddof=1)) / math.sqrt(found.size)
    # A ratio of means is not the mean of ratios: with D = 16 they differ by less than 2 %.
    assert float(found.mean()) == pytest.approx(chance_separability(*n), rel=0.02, abs=4 * error)


def test_the_chance_value_is_the_stated_one() -> None:
    assert chance_separability(30, 30) == pytest.approx(1 / 58)
    assert chance_separability(15, 15) == pytest.approx(1 / 28)
    assert math.isnan(chance_separability(1, 1))
    assert math.isnan(chance_separability(0, 30))


def test_undefined_heads_are_nan_and_the_others_stay() -> None:
    negative, positive = _poles()
    whole = separability(pole_sums(negative), pole_sums(positive))
    for outputs in (negative, positive):
        outputs[:, 0, 0] = 3.7  # neither varies nor differs
        outputs[0, 0, 1, 2] = np.nan
        outputs[0, 2, 1] = np.inf
    positive[:, 0, 2], negative[:, 0, 2] = 4.1, 1.3  # differs, does not vary
    r = separability(pole_sums(negative), pole_sums(positive))
    theta = direction(pole_sums(negative), pole_sums(positive))
    assert np.isnan(r[0, :3]).all() and np.isnan(theta[0, :2]).all()
    assert np.isnan(r[2, 1]) and np.isnan(theta[2, 1]).all()
    np.testing.assert_allclose(theta[0, 2], 2.8, rtol=1e-6)
    np.testing.assert_array_equal(r[1], whole[1])
    assert r[0, 3] == whole[0, 3]


def test_a_constant_that_float32_pooling_left_rounding_in_has_no_variance() -> None:
    rng = np.random.default_rng(2)
    noisy = np.float32(8.3) * (1 + rng.choice([-1, 0, 1], (30, *SHAPE)) * np.float32(6e-8))
    assert np.ptp(noisy) > 0
    sums = pole_sums(noisy[:15].astype(np.float32)), pole_sums(noisy[15:].astype(np.float32))
    assert np.isnan(separability(*sums)).all()
    assert np.isnan(direction(*sums)).all()


def test_one_sentence_per_pole_and_none_are_undefined() -> None:
    one = [pole_sums(outputs, slice(0, 1)) for outputs in _poles()]
    assert np.isnan(separability(*one)).all() and np.isfinite(direction(*one)).all()
    none = PoleSums(np.zeros(SHAPE), np.zeros(SHAPE[:2]), 0)
    assert np.isnan(mean_of_sums(none)).all()
    assert np.isnan(separability(none, one[0])).all() and np.isnan(direction(none, one[0])).all()


def test_cosine_is_that_of_the_vectors_and_none_without_a_direction() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
    a[0, 0] = np.nan
    found = cosine(a, b)
    assert np.isnan(found[0, 0]) and np.nansum(np.isnan(found)) == 1
    expected = np.dot(a[1, 2], b[1, 2]) / (np.linalg.norm(a[1, 2]) * np.linalg.norm(b[1, 2]))
    assert found[1, 2] == pytest.approx(expected)
    np.testing.assert_allclose(cosine(b, -2 * b), -1.0)
    assert math.isnan(float(cosine(np.zeros(3), np.ones(3))))


def test_sums_and_squares_of_other_heads_are_refused() -> None:
    with pytest.raises(ValueError, match="do not go with squares"):
        PoleSums(np.zeros(SHAPE), np.zeros((3, 5)), 2)
