"""Position prediction against loops, scipy and all labelings."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.errors import InputError
from core.stats.probes.direction import direction, midpoint, separability
from core.stats.probes.positions import (
    draw_labelings,
    position_agreement,
    position_prediction,
    position_scores,
)
from core.stats.probes.projection import mean_over_top
from core.stats.probes.undefined import Undefined
from tests.planted_heads import planted_heads, pole_sums

RNG = np.random.default_rng


def _sides(n_axes: int = 5, n_groups: int = 11, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = RNG(seed)
    labels = np.where(np.arange(n_groups) < 4, 1.0, -1.0)
    return 0.6 * labels + rng.normal(size=(n_axes, n_groups)), labels


def test_numbers_are_those_of_a_loop_over_axes() -> None:
    values, labels = _sides()
    found = position_prediction(values, labels, rng=RNG(1))
    for axis, row in enumerate(values):
        right = [(v > 0) == (y > 0) for v, y in zip(row, labels, strict=True)]
        assert found.accuracy[axis] == pytest.approx(np.mean(right))
        recalls = [
            np.mean([r for r, y in zip(right, labels, strict=True) if y == s]) for s in (1, -1)
        ]
        assert found.balanced_accuracy[axis] == pytest.approx(np.mean(recalls))
        u = stats.mannwhitneyu(row[labels > 0], row[labels < 0]).statistic
        assert found.auc[axis] == pytest.approx(u / (4 * 7))
    assert found.mean_accuracy == pytest.approx(found.accuracy.mean())
    assert found.sd_accuracy == pytest.approx(found.accuracy.std(ddof=1))
    assert found.mean_auc == pytest.approx(found.auc.mean())
    assert found.majority == pytest.approx(7 / 11)
    assert (found.n_axes, found.n_groups, found.n_positive) == (5, 11, 4)


def test_pvalues_are_shares_of_all_labelings_with_the_axes_together() -> None:
    values, labels = _sides(seed=2)
    found = position_prediction(values, labels, rng=RNG(1))
    null: list[tuple[float, float, float]] = []
    for chosen in itertools.combinations(range(11), 4):
        y = np.where(np.isin(np.arange(11), chosen), 1.0, -1.0)
        hits = (values > 0) == (y > 0)
        balanced = (hits[:, y > 0].mean() + hits[:, y < 0].mean()) / 2
        ranks = stats.rankdata(values, axis=1)
        null.append((float(hits.mean()), float(balanced), float(ranks[:, y > 0].sum())))
    observed = next(
        row
        for chosen, row in zip(itertools.combinations(range(11), 4), null, strict=True)
        if chosen == (0, 1, 2, 3)
    )
    shares = [np.mean([row[at] >= observed[at] - 1e-9 for row in null]) for at in range(3)]
    assert found.exact and found.n_labelings == math.comb(11, 4) == len(null)
    assert found.pvalue == pytest.approx(shares[0])
    assert found.pvalue == pytest.approx(shares[1])  # balanced accuracy rises with accuracy
    assert found.pvalue_auc == pytest.approx(shares[2])


def test_drawn_labelings_come_near_all_of_them_and_p_is_never_0() -> None:
    values, labels = _sides(seed=3)
    exact = position_prediction(values, labels, rng=RNG(1))
    drawn = position_prediction(values, labels, n_resamples=300, rng=RNG(1))
    assert not drawn.exact and drawn.n_labelings == 300
    error = 4 * math.sqrt(max(exact.pvalue, 0.01) / 300)
    assert drawn.pvalue == pytest.approx(exact.pvalue, abs=error)
    perfect = position_prediction(10 * labels + values, labels, n_resamples=99, rng=RNG(1))
    assert perfect.mean_accuracy == 1.0 and perfect.pvalue >= 1 / 100


def test_the_share_of_small_pvalues_under_no_relation_is_the_level() -> None:
    rng = RNG(4)
    labels = np.where(np.arange(12) < 5, 1.0, -1.0)
    pvalues = np.array(
        [
            position_prediction(
                rng.normal(size=(1, 12)) + rng.normal(size=(8, 12)) / 2, labels, rng=rng
            ).pvalue
            for _ in range(400)
        ]
    )
    assert (pvalues < 0.05).mean() < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)
    assert (pvalues < 0.5).mean() > 0.3


def test_exactly_zero_counts_half() -> None:
    found = position_prediction([[0.0, 0.0, 1.0, -1.0]], [1, -1, 1, -1], rng=RNG(0))
    assert found.accuracy[0] == 0.75 and found.balanced_accuracy[0] == 0.75


def test_groups_without_label_or_value_are_left_out_and_broken_axes_undefined() -> None:
    values, labels = _sides()
    whole = position_prediction(values[:3], labels, rng=RNG(1))
    more = np.concatenate(
        [values[:3], np.full((1, 11), 0.7), values[4:5], np.full((1, 11), np.nan)]
    )
    more[4, 2] = np.nan
    more = np.column_stack([more, np.full(6, np.nan), np.ones(6), np.ones(6)])
    found = position_prediction(more, [*labels, 1, np.nan, 0], rng=RNG(1))
    assert found.n_groups == 11 and found.n_axes == 3
    assert found.undefined[3:] == (Undefined.CONSTANT, Undefined.NOT_FINITE, Undefined.NO_HEAD)
    assert np.isnan(found.accuracy[3:]).all() and np.isnan(found.auc[3:]).all()
    assert found.mean_accuracy == pytest.approx(whole.mean_accuracy)
    assert (found.pvalue, found.pvalue_auc) == (whole.pvalue, whole.pvalue_auc)


def test_labelings_drawn_once_give_the_same_pvalues() -> None:
    values, labels = _sides(n_groups=30, seed=6)
    labels = np.append(labels, np.nan)
    values = np.column_stack([values, np.ones(len(values))])
    drawn = draw_labelings(labels, 500, rng=RNG(2))
    assert drawn.positive.shape == (500, 30) and not drawn.exact
    assert (drawn.positive.sum(axis=1) == 4).all()
    own = position_prediction(values, labels, n_resamples=500, rng=RNG(2))
    given = position_prediction(values, labels, n_resamples=500, rng=RNG(9), labelings=drawn)
    assert (own.pvalue, own.pvalue_auc) == (given.pvalue, given.pvalue_auc)
    values[:, 0] = np.nan  # the group is left out, and the labelings do not fit
    fewer = position_prediction(values, labels, n_resamples=500, rng=RNG(2), labelings=drawn)
    assert fewer.n_groups == 29 and fewer.n_labelings == 500
    every = draw_labelings([1, -1, -1, 1], 6, rng=RNG(0))
    assert every.exact and sorted(map(tuple, every.positive)) == sorted(
        set(itertools.permutations((1.0, 1.0, 0.0, 0.0)))
    )


def test_no_label_at_all_is_undefined_and_not_zero() -> None:
    found = position_prediction([[1.0, -1.0, 2.0]], [np.nan, 0, np.nan], rng=RNG(0))
    assert np.isnan([found.accuracy[0], found.mean_accuracy, found.majority]).all()
    assert found.undefined == (Undefined.TOO_FEW,) and found.n_groups == 0


def test_one_label_has_an_accuracy_but_nothing_to_be_told_apart() -> None:
    found = position_prediction([[1.0, -1.0, 2.0]], [1, 1, 1], rng=RNG(0))
    assert found.accuracy[0] == pytest.approx(2 / 3) and found.majority == 1.0
    assert math.isnan(found.mean_auc) and math.isnan(found.pvalue)
    assert math.isnan(found.mean_balanced_accuracy) and found.n_labelings == 0


def test_one_group_and_no_axis_are_undefined() -> None:
    one = position_prediction([[1.0]], [1], rng=RNG(0))
    assert one.undefined == (Undefined.TOO_FEW,) and math.isnan(one.mean_accuracy)
    none = position_prediction(np.zeros((0, 4)), [1, 1, -1, -1], rng=RNG(0))
    assert none.n_axes == 0 and math.isnan(none.mean_accuracy) and math.isnan(none.pvalue)


def test_other_labels_and_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"\+1 or -1"):
        position_prediction([[1.0, 2.0]], [1, 2], rng=RNG(0))
    with pytest.raises(ValueError, match="labels"):
        position_prediction([[1.0, 2.0]], [1], rng=RNG(0))
    with pytest.raises(InputError, match="at least one labeling"):
        position_prediction([[1.0, 2.0]], [1, -1], n_resamples=0, rng=RNG(0))


def test_agreement_is_that_of_the_signs() -> None:
    first, second = RNG(5).normal(size=(4, 9)), RNG(6).normal(size=(4, 9))
    first[0, 0], second[1, 1] = np.nan, 0.0
    found = position_agreement(first, second)
    pairs = [
        (a > 0, b > 0)
        for a, b in zip(first.ravel(), second.ravel(), strict=True)
        if np.isfinite(a) and b != 0
    ]
    same = np.mean([a == b for a, b in pairs])
    p, q = np.mean(pairs, axis=0)
    expected = p * q + (1 - p) * (1 - q)
    assert found.n == 34 and found.same == pytest.approx(same)
    assert found.kappa == pytest.approx((same - expected) / (1 - expected))


def test_agreement_with_labels_is_the_mean_accuracy() -> None:
    values, labels = _sides()
    found = position_agreement(values, labels)
    assert found.n == values.size
    assert found.same == pytest.approx(
        position_prediction(values, labels, rng=RNG(0)).mean_accuracy
    )


def _planted() -> tuple[np.ndarray, ...]:
    model, rng = planted_heads(n_axes=3), RNG(1)
    sums = [[pole_sums(model.probes(a, p, rng=rng)) for p in (-1, 1)] for a in range(3)]
    theta, r, middle = (
        np.array([f(*poles) for poles in sums]) for f in (direction, separability, midpoint)
    )
    places = np.zeros((9, 3))
    places[:, 0] = np.linspace(0.2, 1, 9)  # all on the positive side of the first axis
    return (
        model.phrases(places, rng=rng),
        model.phrases(np.zeros((20, 3)), rng=rng),
        theta,
        r,
        middle,
    )


def _values(r: np.ndarray, groups: np.ndarray, theta: np.ndarray, **how: Any) -> np.ndarray:
    """Mean scores over the three best heads."""
    return mean_over_top(position_scores(groups, theta, **how), r, k=3).values


def test_values_lie_around_the_stated_centre() -> None:
    groups, reference, theta, r, middles = _planted()
    joint = _values(r, groups, theta, reference=reference)
    alone = _values(r, groups, theta, centre="groups", reference=reference)
    middle = _values(r, groups, theta, centre="midpoint", reference=reference, midpoints=middles)
    for axis in range(3):
        expected: dict[str, list[np.ndarray]] = {"joint": [], "groups": [], "midpoint": []}
        order = np.argsort(-r[axis].ravel(), kind="stable")[:3]
        for layer, head in (divmod(int(at), 6) for at in order):
            t = theta[axis, layer, head]
            pi, ref = (x[:, layer, head] @ t / (t @ t) for x in (groups, reference))
            both = np.concatenate([pi, ref])
            point = middles[axis, layer, head] @ t / (t @ t)
            expected["joint"].append((pi - both.mean()) / both.std())
            expected["groups"].append((pi - pi.mean()) / pi.std())
            expected["midpoint"].append((pi - point) / both.std())
        for name, found in (("joint", joint), ("groups", alone), ("midpoint", middle)):
            np.testing.assert_allclose(found[axis], np.mean(expected[name], axis=0))
    np.testing.assert_allclose(alone.mean(axis=1), 0.0, atol=1e-12)
    assert (joint[0] > 0).sum() > (alone[0] > 0).sum()


def test_without_a_reference_the_midpoint_is_in_units_of_the_groups() -> None:
    groups, _, theta, r, middles = _planted()
    found = _values(r, groups, theta, centre="midpoint", midpoints=middles)
    alone = _values(r, groups, theta, centre="groups")
    shifts = found - alone  # one shift per axis
    np.testing.assert_allclose(shifts, shifts[:, :1] * np.ones(9), rtol=1e-9)


def test_a_group_that_is_not_finite_has_no_value() -> None:
    groups, reference, theta, r, _ = _planted()
    broken = groups.copy()
    broken[2, 0, 0, 0] = np.nan
    found = _values(r, broken, theta, reference=reference)
    assert np.isnan(found[:, 2]).all() and np.isfinite(np.delete(found, 2, axis=1)).all()


def test_a_centre_without_what_it_needs_is_refused() -> None:
    groups, reference, theta, _, _ = _planted()
    with pytest.raises(InputError, match="'joint' needs reference phrases"):
        position_scores(groups, theta)
    with pytest.raises(InputError, match="'midpoint' needs the midpoints"):
        position_scores(groups, theta, centre="midpoint", reference=reference)
    with pytest.raises(InputError, match="no centre; choose from: joint, groups, midpoint"):
        position_scores(groups, theta, centre="origin")  # type: ignore[arg-type]
