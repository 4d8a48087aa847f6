"""Planted worlds: intervals cover the planted truth, tests reject no more than they may.

A few worlds in the default run, which find what is badly wrong; the whole number is marked slow.
`python -m benchmarks.worlds` prints the same rows.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.coverage import ANALYSES, Analysis, covered
from benchmarks.false_alarms import (
    MOST,
    SHARED_EFFECT_BOUNDS,
    TAU,
    TESTS,
    shared_effect_rates,
)
from benchmarks.planted import NOISE, planted_changes, planted_scores, shared_effects
from benchmarks.worlds import outside
from core.settings import DEFAULT_SEED
from core.stats.intervals import t_interval

FEW, FEW_NULL = 24, 200
CHANCE = 1e-5  # that a row is outside in few worlds though its rate is within its bounds


def seeded(name):
    return np.random.default_rng([DEFAULT_SEED, *name.encode()])


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda a: a.name)
def test_intervals_cover_the_planted_value_in_a_few_worlds(analysis):
    rate, undefined = covered(analysis, FEW, seeded(analysis.name))
    assert undefined == 0
    assert rate * FEW >= binom.ppf(CHANCE, FEW, analysis.least)


@pytest.mark.parametrize("test", TESTS, ids=lambda t: t.name)
def test_tests_rarely_reject_in_a_few_null_worlds(test):
    rejected = test.worlds(seeded(test.name), FEW_NULL)
    assert len(rejected) == FEW_NULL
    assert rejected.sum() <= binom.ppf(1 - CHANCE, FEW_NULL, MOST)


def test_an_effect_of_wording_misleads_the_tests_over_items_and_not_the_prediction_interval():
    rates = shared_effect_rates(seeded("few"), 400, rewordings=3)
    for name, (low, high) in SHARED_EFFECT_BOUNDS.items():
        least, most = binom.ppf(CHANCE, 400, low), binom.ppf(1 - CHANCE, 400, high)
        assert least <= 400 * rates[name] <= most
    formula = math.erfc(1.959964 / math.sqrt(2 * (1 + 360 * TAU**2 / NOISE**2)))
    low, high = SHARED_EFFECT_BOUNDS["item test"]
    assert low < formula < high


@pytest.mark.slow
@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda a: a.name)
def test_intervals_cover_the_planted_value(analysis):
    rate, _ = covered(analysis, 1_000, seeded(analysis.name))
    assert analysis.least <= rate <= analysis.most


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS, ids=lambda t: t.name)
def test_tests_reject_in_at_most_65_of_1000_null_worlds(test):
    assert test.worlds(seeded(test.name), 2_000).mean() <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("rewordings", [3, 5])
def test_rates_where_every_rewording_moves_all_its_items(rewordings):
    rates = shared_effect_rates(seeded(f"shared {rewordings}"), 10_000, rewordings=rewordings)
    for name, (low, high) in SHARED_EFFECT_BOUNDS.items():
        assert low <= rates[name] <= high


def test_an_interval_that_is_too_narrow_is_found_outside():
    def narrow(rng):
        found = t_interval(rng.normal(0, 1, 10), level=0.8)
        return float(found.low <= 0 <= found.high)

    rate, _ = covered(Analysis("narrow", narrow, ""), 1_000, np.random.default_rng(1))
    assert rate == pytest.approx(0.8, abs=0.05)
    fine = {a.name: 0.95 for a in ANALYSES}
    alarms = {t.name: 0.05 for t in TESTS}
    shared = {"3": {name: sum(b) / 2 for name, b in SHARED_EFFECT_BOUNDS.items()}}
    assert outside(fine, alarms, shared) == [
        a.name for a in ANALYSES if not a.least <= 0.95 <= a.most
    ]
    name = ANALYSES[0].name
    assert name in outside(fine | {name: rate}, alarms, shared)
    assert "sign flip" in outside(fine, alarms | {"sign flip": 0.066}, shared)
    assert "sign flip" in outside(fine, alarms | {"sign flip": math.nan}, shared)
    shared["3"]["item test"] = 0.05
    assert "item test, 3 rewordings with shared effects" in outside(fine, alarms, shared)


def test_an_undefined_interval_does_not_cover():
    analysis = Analysis("none", lambda rng: math.nan, "")
    assert covered(analysis, 10, np.random.default_rng(1)) == (0.0, 10)


def test_planted_changes_are_as_described():
    rng = np.random.default_rng(1)
    changes, reworded = planted_changes(
        rng, models=50, items=2_000, rewordings=4, drop=0.05, model_sd=0.02
    )
    assert changes.shape == (50, 2_000)
    assert reworded.shape == (50, 4, 2_000)
    assert changes.std(axis=1).mean() == pytest.approx(NOISE * math.sqrt(2), rel=0.03)
    assert changes.mean() == pytest.approx(-0.05, abs=0.012)
    assert changes.mean(axis=1).std() == pytest.approx(0.02, rel=0.4)
    # Versions share the original's noise, so that changes correlate by one half.
    assert np.corrcoef(changes[0], reworded[0, 0])[0, 1] == pytest.approx(0.5, abs=0.06)
    # Half of the variance is the models' own.
    assert np.corrcoef(changes[0], changes[1])[0, 1] == pytest.approx(0.5, abs=0.06)


def test_shared_effects_move_all_items_of_a_version():
    worlds = shared_effects(np.random.default_rng(1), worlds=500, items=400, rewordings=3, tau=0.05)
    assert worlds.shape == (500, 4, 400)
    spread = worlds.mean(axis=2).std(axis=1, ddof=1)
    assert np.sqrt((spread**2).mean()) == pytest.approx(np.hypot(0.05, NOISE / 20), rel=0.05)


def test_planted_scores_correlate_as_planted():
    scores = planted_scores(
        np.random.default_rng(1),
        models=20,
        items=4_000,
        reliability=0.75,
        carry_over=0.45,
        language_own=0.5,
    )

    def r(a, b):
        return np.mean([np.corrcoef(x, y)[0, 1] for x, y in zip(scores[a], scores[b], strict=True)])

    assert r("en", "en~p1") == pytest.approx(0.75, abs=0.02)
    assert r("en", "xx") == pytest.approx(0.45, abs=0.03)
    assert r("xx", "xx~p1") == pytest.approx(0.45**2 / 0.75 + 0.25, abs=0.03)
    assert scores["xx"].std() == pytest.approx(0.2, rel=0.03)
