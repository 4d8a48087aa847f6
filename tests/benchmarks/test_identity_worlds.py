"""Planted worlds of identity pairs, a few of them; `benchmarks.identity_worlds` runs the 1,000."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.identity_worlds import (
    LEAST,
    LEAST_SKEWED,
    MOST_BINOMIAL,
    MOST_OPPOSITE,
    SKEWED,
    all_alike,
    covered,
    outside,
    truth,
    world,
)
from core.settings import DEFAULT_SEED

FEW = 40
CHANCE = 1e-4  # that a row is outside in few worlds though its rate is within its bounds


def test_intervals_over_predicates_cover_and_binomial_ones_do_not() -> None:
    rates = covered(FEW, np.random.default_rng(11))
    for measure, rate in rates["predicates"].items():
        least = LEAST_SKEWED if measure in SKEWED else LEAST
        assert rate * FEW >= binom.ppf(CHANCE, FEW, least)
    assert rates["binomial"]["bias (W)"] * FEW <= binom.ppf(1 - CHANCE, FEW, MOST_BINOMIAL)
    assert rates["binomial"]["bias (W)"] < rates["predicates"]["bias (W)"]


def test_equal_identities_are_rarely_taken_apart() -> None:
    held, opposite = all_alike(FEW, np.random.default_rng(12))
    assert held * FEW >= binom.ppf(CHANCE, FEW, LEAST)
    assert opposite * FEW <= binom.ppf(1 - CHANCE, FEW, MOST_OPPOSITE)


@pytest.mark.slow
def test_all_rows_are_within_their_bounds_in_a_thousand_worlds() -> None:
    assert outside(covered(1_000, np.random.default_rng([DEFAULT_SEED, *b"identities"]))) == []


def test_the_worlds_have_the_planted_shares() -> None:
    rng = np.random.default_rng(3)
    made = [world(rng) for _ in range(30)]
    choices = np.concatenate([one.choices[0] for one in made])
    identities = np.concatenate([one.identities for one in made])
    assert choices[identities == 1].mean() == pytest.approx(0.06, abs=0.02)
    assert choices.mean() == pytest.approx(truth()["bias (W)"], abs=0.02)


def test_rows_outside_their_bounds_are_named() -> None:
    rates = {
        "predicates": {"bias (W)": 0.95, "bias (M)": 0.92, "spread": 0.99},
        "binomial": {"bias (W)": 0.9},
    }
    assert outside(rates) == ["bias (M)", "bias (W), binomial"]
