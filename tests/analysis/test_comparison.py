"""Two scorers on the same items, against hand-computed numbers and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.analysis.comparison import (
    OVERALL,
    Comparison,
    compare_scorers,
    comparison_sentence,
)
from core.errors import InputError
from core.items.texts import item_texts
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.types import Item, Reason, Role, Scorer, Unscored
from tests.analysis.test_items import scored, sigmoid
from tests.store_samples import OTHER, SCORER, item, put

A, B = SCORER.scorer_id, OTHER.scorer_id
Preference = float | None | str  # l+ - l-; None could not be scored, "missing" was not tried
Row = tuple[Item, Preference, Preference]  # under a, under b
COLLAPSED = item("c", stereotype="Same.", anti_stereotype="same")


def put_preferences(cache: Cache, scorer: Scorer, rows: list[tuple[Item, Preference]]) -> None:
    """Give each item's anti-stereotype a mean of -2 nats and its stereotype as much more."""
    scores, failed = [], []
    for one, preference in rows:
        texts = item_texts(one)
        plus = texts[Role.STEREOTYPE].text_id
        if preference is None:
            failed.append(Unscored(plus, Reason.TOO_LONG, "too long"))
        elif not isinstance(preference, str):
            scores.append(scored(plus, -2.0 + preference))
        if preference != "missing":
            scores.append(scored(texts[Role.ANTI_STEREOTYPE].text_id, -2.0))
    put_scorer(cache, scorer)
    put_scores(cache, scorer.scorer_id, scores, failed)


def compared(cache: Cache, rows: list[Row]) -> Comparison:
    put(cache, [one for one, _, _ in rows])
    put_preferences(cache, SCORER, [(one, a) for one, a, _ in rows])
    put_preferences(cache, OTHER, [(one, b) for one, _, b in rows])
    return compare_scorers(cache, A, B, "d")


# Single items


def test_each_item_has_its_values_under_both_scorers(cache: Cache) -> None:
    found = compared(cache, [(item("1"), 1.0, -0.5), (item("2"), 1.0, 0.5), (item("3"), 0.0, -1.0)])
    one, two, tie = found.items.itertuples()
    assert (one.l_stereotype_a, one.l_anti_a) == (-1.0, -2.0)
    assert (one.l_stereotype_b, one.l_anti_b) == (-2.5, -2.0)
    assert (one.ss_a, one.ss_b) == pytest.approx((sigmoid(1.0), sigmoid(-0.5)))
    assert one.difference == pytest.approx(sigmoid(-0.5) - sigmoid(1.0))
    assert (one.binary_a, one.binary_b, one.flips) == (1.0, 0.0, True)
    assert (two.binary_a, two.binary_b, two.flips) == (1.0, 1.0, False)
    # A tie is a choice of its own.
    assert (tie.binary_a, tie.binary_b, tie.flips) == (0.5, 0.0, True)


def test_rows_that_one_scorer_lacks_are_named_with_the_reason_and_counted(cache: Cache) -> None:
    found = compared(
        cache,
        [
            (item("1"), 1.0, 0.5),
            (COLLAPSED, "missing", "missing"),
            (item("long"), 1.0, None),
            (item("new"), "missing", 1.0),
            (item("1", "es"), 0.5, "missing"),
        ],
    )
    assert found.items["item_id"].tolist() == ["1"]
    left_out = found.left_out.set_index(["item_id", "condition"])
    assert left_out.loc[("c", "en")].tolist() == ["collapsed", "", "collapsed", ""]
    assert left_out.loc[("long", "en")].tolist() == ["scored", "", "unscored", "too_long"]
    assert left_out.loc[("new", "en")].tolist() == ["missing", "", "scored", ""]
    assert left_out.loc[("1", "es")].tolist() == ["scored", "", "missing", ""]
    summary = found.summary.set_index("condition")
    counts = summary[["n_items", "n_rows", "n_collapsed", "n_not_scored"]]
    assert counts.loc["en"].tolist() == [1, 1, 1, 2]
    assert counts.loc["es"].tolist() == [0, 0, 0, 1]
    assert counts.loc[OVERALL].tolist() == [1, 1, 1, 3]


# Conditions


def test_a_condition_is_a_paired_comparison_over_its_items(cache: Cache) -> None:
    a, b = np.random.default_rng(3).normal(0, 1, (2, 12)).round(3)
    rows: list[Row] = [(item(str(i)), float(a[i]), float(b[i])) for i in range(12)]
    found = compared(cache, [*rows, (item("long"), 9.0, None)]).summary.iloc[0]
    ss_a, ss_b = 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(-b))
    expected = stats.ttest_rel(ss_b, ss_a).confidence_interval(0.95)
    assert (found["condition"], found["n_items"]) == ("en", 12)
    near = {"rel": 1e-5}  # stored log-probabilities are float32
    assert found["interval_low"] == pytest.approx(expected.low, **near)
    assert found["interval_high"] == pytest.approx(expected.high, **near)
    assert (found["ss_a"], found["ss_b"]) == pytest.approx((ss_a.mean(), ss_b.mean()), **near)
    assert found["difference"] == pytest.approx((ss_b - ss_a).mean(), **near)
    assert found["sd"] == pytest.approx((ss_b - ss_a).std(ddof=1), **near)
    assert found["largest_absolute"] == pytest.approx(np.abs(ss_b - ss_a).max(), **near)
    assert found["correlation"] == pytest.approx(stats.pearsonr(ss_a, ss_b).statistic, **near)
    flips = (a > 0) != (b > 0)
    assert (found["n_flips"], found["share_flips"]) == (flips.sum(), pytest.approx(flips.mean()))


def test_the_overall_row_counts_each_item_once(cache: Cache) -> None:
    found = compared(
        cache,
        [
            (item("1"), 0.0, 1.0),
            (item("1", "es"), 0.0, 1.0),
            (item("1", "fr"), 0.0, 0.0),
            (item("2"), 1.0, 1.0),
        ],
    ).summary.iloc[-1]
    high = sigmoid(1.0)
    # Item 1: differences h - 0.5, h - 0.5, 0; item 2: 0.
    d = np.array([2 / 3 * (high - 0.5), 0.0])
    assert (found["condition"], found["n_items"], found["n_rows"]) == (OVERALL, 2, 4)
    assert found["ss_a"] == pytest.approx((0.5 + high) / 2)
    assert found["difference"] == pytest.approx(d.mean())
    half = 12.7062047 * d.std(ddof=1) / math.sqrt(2)  # t_.975 with 1 degree of freedom
    assert found["interval_high"] == pytest.approx(d.mean() + half)
    assert found["n_flips"] == 2
    assert found["share_flips"] == pytest.approx((2 / 3 + 0) / 2)


def test_repeating_every_item_in_more_conditions_makes_nothing_surer(cache: Cache) -> None:
    preferences = [(0.1, 0.3), (0.5, 0.2), (-0.4, 0.1)]
    found = compared(
        cache,
        [
            (item(str(i), condition), a, b)
            for condition in ("en", "es", "fr", "hi")
            for i, (a, b) in enumerate(preferences)
        ],
    ).summary.set_index("condition")
    compare = ["n_items", "difference", "interval_low", "interval_high", "sd"]
    assert found.loc[OVERALL, compare].tolist() == pytest.approx(found.loc["en", compare].tolist())


def test_native_items_of_two_languages_are_two_items_even_with_one_id(cache: Cache) -> None:
    found = compared(
        cache,
        [
            (item("1"), 0.0, 1.0),
            (item("1", "es", language="es"), 0.0, 1.0),
            (item("1", "hi", language="hi", native=True), 0.0, 1.0),
            (item("1", "sw", language="sw", native=True), 0.0, 1.0),
        ],
    ).summary.iloc[-1]
    assert (found["n_items"], found["n_rows"]) == (3, 4)


# Undefined


def test_one_item_has_a_difference_but_no_interval(cache: Cache) -> None:
    found = compared(cache, [(item("1"), 1.0, 0.5)])
    for _, row in found.summary.iterrows():
        assert row["difference"] == pytest.approx(sigmoid(0.5) - sigmoid(1.0))
        assert row[["interval_low", "interval_high", "sd", "correlation"]].isna().all()
    assert "one item has no interval" in comparison_sentence(found)


def test_without_a_common_item_everything_is_undefined(cache: Cache) -> None:
    found = compared(cache, [(item("1"), 1.0, "missing"), (item("2"), "missing", 1.0)])
    assert found.items.empty
    for _, row in found.summary.iterrows():
        assert (row["n_items"], row["n_flips"], row["n_not_scored"]) == (0, 0, 2)
        assert row[["ss_a", "ss_b", "difference", "share_flips", "largest_absolute"]].isna().all()
    sentence = comparison_sentence(found, "this", "that")
    assert sentence == "No item is scored under both this and that."


# The yardstick


def test_the_noise_is_that_of_scorer_a(cache: Cache) -> None:
    found = compared(
        cache,
        [
            (item("1"), 0.0, 0.0),
            (item("2"), 0.0, 0.0),
            (item("1", "en~p1"), 1.0, 3.0),
            (item("2", "en~p1"), 1.0, -3.0),
        ],
    )
    assert found.summary["rewording_floor"].tolist() == pytest.approx([sigmoid(1.0) - 0.5] * 3)
    assert found.summary["n_rewordings"].tolist() == [1, 1, 1]
    assert found.summary["n_rewording_changes"].tolist() == [2, 2, 2]
    assert "moves the mean by 0.2311 (n = 1 rewording)" in comparison_sentence(found)


def test_without_rewordings_the_noise_is_undefined_and_said_to_be(cache: Cache) -> None:
    found = compared(cache, [(item("1"), 0.0, 1.0), (item("2"), 0.0, 1.0)])
    assert found.summary[["rewording_floor", "rewording_sd"]].isna().all(axis=None)
    assert "no yardstick" in comparison_sentence(found)


def test_the_sentence_says_how_far_and_in_which_direction(cache: Cache) -> None:
    found = compared(cache, [(item("1"), 0.0, -0.2), (item("2"), 0.0, -0.3)])
    # d = -0.04983, -0.07444: mean -0.06214, half width 12.7062 * 0.012304
    sentence = comparison_sentence(found, "org/m-1 in float32", "org/m-1 in int8")
    assert "under org/m-1 in int8 is 0.0621 below that under org/m-1 in float32" in sentence
    assert "difference −0.2185 to +0.0942" in sentence
    assert "flips in 2 of 2 rows" in sentence
    assert sentence.endswith("not whether a model is fair.")


# What cannot be compared


def test_a_scorer_is_not_compared_with_itself(cache: Cache) -> None:
    compared(cache, [(item("1"), 1.0, 1.0)])
    with pytest.raises(InputError, match=f"Both scorers are {A}"):
        compare_scorers(cache, A, A, "d")


def test_a_data_set_that_one_scorer_has_not_scored_is_named(cache: Cache) -> None:
    with pytest.raises(InputError, match=f"No item of d is scored under {B} \\(tiny, bfloat16"):
        compared(cache, [(item("1"), 1.0, "missing")])
    with pytest.raises(InputError, match="No item of d is scored under nope"):
        compare_scorers(cache, "nope", A, "d")
    with pytest.raises(InputError, match="no data set 'e'"):
        compare_scorers(cache, A, B, "e")
