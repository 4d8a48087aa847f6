"""Wording variance: the definition as loops, planted variances, scipy's t, exact enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from core.stats.resampling import sign_flip_test
from core.stats.wording import exchange_test, prediction_pvalue, wording_variance

NAN = math.nan


def _changes(rng: np.random.Generator, effects: list[float], n: int, sd: float = 0.12):
    """Changes of rewordings whose original has noise of its own."""
    original = rng.normal(0, sd, n)
    return np.array(effects)[:, None] + rng.normal(0, sd, (len(effects), n)) - original


def test_the_split_is_the_one_of_the_formula_computed_by_loops() -> None:
    rng = np.random.default_rng(0)
    d = _changes(rng, [0.01, -0.02, 0.03, 0.0], 50)
    found = wording_variance(d)
    k, n = d.shape
    c = [[np.cov(d[i], d[j])[0, 1] for j in range(k)] for i in range(k)]
    own = np.mean([c[i][i] for i in range(k)])
    shared = np.mean([c[i][j] for i in range(k) for j in range(k) if i != j])
    means = [row.mean() for row in d]
    assert found.means == pytest.approx(means)
    assert found.mean == pytest.approx(np.mean(means))
    assert found.sd_between == pytest.approx(np.std(means, ddof=1))
    assert found.sampling_variance == pytest.approx(own / n)
    assert found.shared_variance == pytest.approx(shared / n)
    assert found.tau2_raw == pytest.approx(np.var(means, ddof=1) - (own - shared) / n)
    half = scipy.stats.t.ppf(0.975, k - 1) * np.std(means, ddof=1) * math.sqrt(1 + 1 / k)
    assert (found.low, found.high) == pytest.approx((np.mean(means) - half, np.mean(means) + half))
    assert (found.n, found.n_rewordings) == (50, 4)


@pytest.mark.parametrize("tau", [0.0, 0.01, 0.03])
def test_the_estimate_is_unbiased_also_where_there_is_nothing(tau: float) -> None:
    rng = np.random.default_rng(1)
    raw = [
        wording_variance(_changes(rng, list(rng.normal(0, tau, 4)), 60)).tau2_raw
        for _ in range(2_000)
    ]
    assert np.mean(raw) == pytest.approx(tau**2, abs=4 * np.std(raw) / math.sqrt(2_000))
    if tau == 0:
        assert 0.3 < np.mean(np.array(raw) < 0) < 0.7  # truncating it would hide this


def test_what_the_original_adds_does_not_count_as_wording() -> None:
    rng = np.random.default_rng(2)
    d = _changes(rng, [0.01, -0.02, 0.03], 80)
    one, other = wording_variance(d), wording_variance(d - rng.normal(0.5, 1, 80))
    assert one.tau2_raw == pytest.approx(other.tau2_raw)
    assert one.high - one.low == pytest.approx(other.high - other.low)
    assert other.shared_variance > 10 * one.shared_variance


def test_a_negative_estimate_is_reported_beside_the_one_cut_at_zero() -> None:
    rng = np.random.default_rng(3)
    d = rng.normal(0, 0.2, (3, 40))
    found = wording_variance(d - d.mean(axis=1, keepdims=True) + 0.001 * np.arange(3)[:, None])
    assert found.tau2_raw < 0
    assert found.tau2 == 0


def test_items_without_every_rewording_are_left_out() -> None:
    d = _changes(np.random.default_rng(4), [0.0, 0.1, 0.2], 30)
    gaps = d.copy()
    gaps[0, :5] = gaps[2, 5:9] = NAN
    one, other = wording_variance(gaps), wording_variance(d[:, 9:])
    assert one.n == other.n == 21
    assert one.tau2_raw == other.tau2_raw


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (2, 10), (3, 1), (3, 0)])
def test_too_few_rewordings_or_items_leave_it_undefined(k: int, n: int) -> None:
    found = wording_variance(np.random.default_rng(0).normal(size=(k, n)))
    assert (found.n, found.n_rewordings) == (n, k)
    for name in ("sd_between", "sampling_variance", "tau2_raw", "tau2", "low", "high"):
        assert math.isnan(getattr(found, name))
    assert math.isnan(found.mean) is (k == 0 or n == 0)
    assert math.isnan(prediction_pvalue(0.1, found))


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_rewordings_of_one_mean_predict_nothing(value: float) -> None:
    found = wording_variance(np.full((3, 7), value))
    assert found.tau2 == pytest.approx(0, abs=1e-20)
    assert math.isnan(found.low)
    assert math.isnan(prediction_pvalue(0.5, found))


def test_the_p_value_is_scipys_t_and_agrees_with_the_interval() -> None:
    found = wording_variance(_changes(np.random.default_rng(5), [0.01, -0.02, 0.03], 50))
    for change in (found.low - 1e-9, found.low + 1e-9, 0.0, found.high - 1e-9, found.high + 1e-9):
        t = (change - found.mean) / (found.sd_between * math.sqrt(1 + 1 / 3))
        p = prediction_pvalue(change, found)
        assert p == pytest.approx(2 * scipy.stats.t.sf(abs(t), 2))
        assert (p < 0.05) is bool(change < found.low or change > found.high)
    assert math.isnan(prediction_pvalue(NAN, found))


def test_the_exchange_test_nears_its_exact_distribution() -> None:
    versions = np.random.default_rng(6).normal(0, 1, (3, 6))
    versions[0] += 0.7

    def statistic(chosen: tuple[int, ...]) -> float:
        return float(
            np.mean(
                [
                    versions[c, i] - np.mean([versions[j, i] for j in range(3) if j != c])
                    for i, c in enumerate(chosen)
                ]
            )
        )

    observed = abs(statistic((0,) * 6))
    null = [abs(statistic(chosen)) for chosen in itertools.product(range(3), repeat=6)]
    exact = np.mean(np.array(null) >= observed - 1e-12)
    (p,) = exchange_test(versions[None], n_resamples=20_000, rng=np.random.default_rng(7))
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_with_one_rewording_it_is_the_sign_flip_test() -> None:
    rng = np.random.default_rng(8)
    translation, rewording = rng.normal(0.05, 0.2, 60), rng.normal(0, 0.2, 60)
    (p,) = exchange_test(
        np.stack([translation, rewording])[None], n_resamples=20_000, rng=np.random.default_rng(9)
    )
    flipped = sign_flip_test((translation - rewording)[None], rng=np.random.default_rng(9)).pvalue[
        0
    ]
    assert p == pytest.approx(flipped, abs=5 * math.sqrt(flipped * (1 - flipped) / 20_000) * 1.5)


def test_cells_are_tested_as_if_alone_and_the_original_cancels() -> None:
    rng = np.random.default_rng(10)
    versions = rng.normal(0, 0.1, (4, 4, 50))
    versions[1, 0] += 0.05
    versions[2, 1, :10] = NAN
    versions[3] = NAN
    together = exchange_test(versions, n_resamples=500, rng=np.random.default_rng(0))
    for cell in range(3):
        (alone,) = exchange_test(
            versions[[cell]] - rng.normal(size=50), n_resamples=500, rng=np.random.default_rng(0)
        )
        assert together[cell] == alone
    assert together[1] < 0.05
    assert math.isnan(together[3])


def test_an_extreme_translation_has_the_least_p_and_equal_versions_or_one_item_none() -> None:
    versions = np.random.default_rng(11).normal(0, 0.01, (3, 4, 100))
    versions[0, 0] += 1
    versions[1] = 0.3
    versions[2, :, 1:] = np.nan
    p = exchange_test(versions, n_resamples=99, rng=np.random.default_rng(0))
    assert p[0] == 0.01
    assert np.isnan(p[1:]).all()


@pytest.mark.parametrize("shape", [(0, 4, 5), (2, 1, 5), (2, 4, 0)])
def test_nothing_to_exchange_is_undefined(shape: tuple[int, ...]) -> None:
    p = exchange_test(np.zeros(shape), n_resamples=10, rng=np.random.default_rng(0))
    assert p.shape == shape[:1]
    assert np.isnan(p).all()


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        exchange_test(np.zeros((2, 3)), rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="shape"):
        wording_variance(np.zeros(3))


def _rejections(effect: float, n_worlds: int = 3_000) -> dict[str, float]:
    """Worlds in which a translation is one more wording: how often each test says otherwise.

    360 items, 3 rewordings, noise of sd .12 on every item of every version and of the original;
    each version but the original moves all its items by an amount of sd `effect`.
    """
    rng = np.random.default_rng(20260928)
    versions = rng.normal(0, 0.12, (n_worlds, 4, 360)) - rng.normal(0, 0.12, (n_worlds, 1, 360))
    versions += rng.normal(0, effect, (n_worlds, 4, 1))
    # Items come in an order of their own in each world, so worlds may share their draws.
    differences = versions[:, 0] - versions[:, 1:].mean(axis=1)
    pvalues = {
        "items": sign_flip_test(differences, n_resamples=2_000, rng=rng).pvalue,
        "exchange": exchange_test(versions, n_resamples=2_000, rng=rng),
        "prediction": np.array(
            [prediction_pvalue(float(v[0].mean()), wording_variance(v[1:])) for v in versions]
        ),
    }
    return {name: float((p < 0.05).mean()) for name, p in pvalues.items()}


def test_only_the_prediction_interval_holds_when_a_wording_moves_all_items() -> None:
    rates = _rejections(effect=0.01)
    # A test over items takes the shared effect for one of the language: it sees the difference of
    # means with the variance of its noise alone.
    by_formula = 2 * scipy.stats.norm.sf(1.96 / math.sqrt(1 + 360 * 0.01**2 / 0.12**2))
    assert by_formula == pytest.approx(0.29, abs=0.01)
    assert rates["items"] == pytest.approx(by_formula, abs=0.03)
    assert rates["exchange"] == pytest.approx(by_formula, abs=0.03)
    assert 0.035 <= rates["prediction"] <= 0.065


def test_where_wordings_act_on_items_independently_all_three_hold() -> None:
    for rate in _rejections(effect=0.0).values():
        assert 0.035 <= rate <= 0.065
