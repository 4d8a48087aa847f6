"""Attenuation: planted reliabilities come back, and draws are those of a plain loop."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from core.stats.attenuation import against_rewording, attenuation
from core.stats.resampling import bootstrap_weights

NAN = float("nan")


def world(n_models=2, n_versions=3, n_items=40, seed=0, *, shared=0.6, wording=0.7):
    """Two languages whose true scores correlate by `shared`, worded with noise of sd `wording`."""
    rng = np.random.default_rng(seed)
    common, own = rng.normal(size=(n_models, n_items)), rng.normal(size=(2, n_models, n_items))
    true = np.sqrt(shared) * common + np.sqrt(1 - shared) * own  # unit variance, r = shared
    noise = rng.normal(0, wording, (2, n_models, n_versions, n_items))
    return 0.5 + 0.1 * (true[:, :, None] + noise)


def reliability(versions):
    return np.mean([np.corrcoef(a, b)[0, 1] for a, b in combinations(versions, 2)])


def by_hand(before, after):
    """Cross correlation, reliabilities and corrected value of one model without gaps."""
    cross = np.corrcoef(before[0], after[0])[0, 1]
    rel = reliability(before), reliability(after)
    return [cross, *rel, cross / math.sqrt(rel[0] * rel[1]) if min(rel) > 0 else NAN]


def estimates(found, names=("r_cross", "reliability_before", "reliability_after", "corrected")):
    return [getattr(found, name).value for name in names]


def test_values_are_means_over_models_of_each_models_own():
    before, after = world()
    found = attenuation(before, after, n_resamples=20, rng=np.random.default_rng(1))
    expected = np.mean([by_hand(b, a) for b, a in zip(before, after, strict=True)], axis=0)
    assert estimates(found) == pytest.approx(expected.tolist(), abs=1e-12)
    assert (found.n_items, found.n_models, found.n_models_undefined) == (40, 2, 0)


def test_intervals_agree_with_a_loop_over_the_same_draws():
    before, after = world(n_items=20)
    before[0, 1, 3] = after[1, 0, 4] = NAN
    found = attenuation(before, after, n_resamples=200, rng=np.random.default_rng(2))
    naive = []
    for weights in bootstrap_weights(20, 200, rng=np.random.default_rng(2)):
        drawn = np.repeat(np.arange(20), weights.astype(int))
        models = []
        for b, a in zip(before[..., drawn], after[..., drawn], strict=True):
            whole = np.isfinite(b).all(axis=0) & np.isfinite(a).all(axis=0)
            models.append(by_hand(b[:, whole], a[:, whole]))
        naive.append(np.mean(models, axis=0))
    for interval, draws in zip(intervals_of(found), np.array(naive).T, strict=True):
        defined = draws[np.isfinite(draws)]
        expected = np.quantile(defined, [0.025, 0.975])
        assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=1e-10)
        assert interval.n_undefined == 200 - len(defined)


def intervals_of(found):
    names = list(found.__dataclass_fields__)[3:]
    return [getattr(found, name) for name in names]


def test_the_correlation_of_true_scores_is_recovered():
    before, after = world(n_models=3, n_items=30_000)
    found = attenuation(before, after, n_resamples=20, rng=np.random.default_rng(1))
    rel = 1 / (1 + 0.7**2)
    assert found.reliability_before.value == pytest.approx(rel, abs=0.01)
    assert found.reliability_after.value == pytest.approx(rel, abs=0.01)
    assert found.r_cross.value == pytest.approx(0.6 * rel, abs=0.01)
    assert found.corrected.value == pytest.approx(0.6, abs=0.015)


def test_the_share_of_the_rewording_correlation_is_recovered():
    before, after = world(n_models=3, n_items=30_000)
    found = against_rewording(before, after[:, 0], n_resamples=20, rng=np.random.default_rng(1))
    assert found.r_reworded.value == pytest.approx(1 / (1 + 0.7**2), abs=0.01)
    assert found.ratio.value == pytest.approx(0.6, abs=0.015)


def test_a_translation_that_is_one_more_rewording_has_a_ratio_and_a_correction_of_one():
    versions = world(n_models=2, n_versions=5, n_items=30_000)[0]
    rng = np.random.default_rng(1)
    ratio = against_rewording(versions[:, :3], versions[:, 3], n_resamples=5, rng=rng).ratio
    assert ratio.value == pytest.approx(1, abs=0.02)
    found = attenuation(versions[:, :2], versions[:, 3:], n_resamples=5, rng=rng)
    assert found.corrected.value == pytest.approx(1, abs=0.02)


def test_the_ratio_is_taken_on_items_that_have_everything():
    before, after = world(n_items=30)
    before[0, 2, :5], after[0, 0, 5:10] = NAN, NAN
    found = against_rewording(before, after[:, 0], n_resamples=50, rng=np.random.default_rng(3))

    def of(versions, translation):
        cross = np.corrcoef(versions[0], translation)[0, 1]
        reworded = np.mean([np.corrcoef(versions[0], v)[0, 1] for v in versions[1:]])
        return cross, reworded, cross / reworded

    models = [of(before[0][:, 10:], after[0, 0, 10:]), of(before[1], after[1, 0])]
    values = estimates(found, ("r_cross", "r_reworded", "ratio"))
    assert values == pytest.approx(np.mean(models, axis=0).tolist(), abs=1e-12)
    assert found.n_items == 30


def test_the_corrected_value_is_not_clipped():
    x = np.random.default_rng(0).normal(size=60)
    y, z = np.random.default_rng(1).normal(size=(2, 60))
    before, after = np.array([[x, x + y]]), np.array([[x, x + z]])
    found = attenuation(before, after, n_resamples=50, rng=np.random.default_rng(1))
    assert found.r_cross.value == pytest.approx(1)
    assert found.corrected.value > 1.2
    assert found.corrected.high > found.corrected.value


def test_a_model_whose_wordings_share_nothing_has_no_corrected_value():
    before, after = world(n_models=3)
    before[2, 1:] = 1 - before[2, :1]  # every rewording turns all preferences around
    found = attenuation(before, after, n_resamples=50, rng=np.random.default_rng(1))
    rest = attenuation(before[:2], after[:2], n_resamples=50, rng=np.random.default_rng(1))
    assert (found.n_models, found.n_models_undefined) == (3, 1)
    assert found.corrected == rest.corrected
    assert found.r_cross.value != rest.r_cross.value


def test_draws_without_a_reliability_are_counted():
    before, after = world(1, 2, 6, seed=3, wording=1.0)
    found = attenuation(before, after, n_resamples=300, rng=np.random.default_rng(4))
    assert 0 < found.corrected.n_undefined < 300
    assert found.corrected.n_undefined >= found.r_cross.n_undefined


@pytest.mark.parametrize(
    "scores",
    [np.full((2, 3, 8), NAN), np.full((2, 3, 8), 0.4), np.zeros((2, 3, 0)), world()[0][..., :2]],
)
def test_what_cannot_be_said_is_undefined(scores):
    rng = np.random.default_rng(0)
    found = attenuation(scores, scores, n_resamples=20, rng=rng)
    other = against_rewording(scores, scores[:, 0], n_resamples=20, rng=rng)
    for interval in intervals_of(found) + intervals_of(other):
        assert np.isnan([interval.value, interval.low, interval.high]).all()
        assert interval.n_undefined == 20
    assert found.n_models == other.n_models == 0


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (np.zeros((2, 1, 5)), np.zeros((2, 1, 5)), "at least one rewording"),
        (np.zeros((2, 2, 5)), np.zeros((2, 3, 5)), "one shape"),
        (np.zeros((2, 2, 5)), np.zeros((3, 2, 5)), "same models"),
        (np.zeros((2, 5)), np.zeros((2, 5)), "models, versions, items"),
    ],
)
def test_versions_that_do_not_fit_are_refused(before, after, message):
    with pytest.raises(ValueError, match=message):
        attenuation(before, after, n_resamples=5, rng=np.random.default_rng(0))
