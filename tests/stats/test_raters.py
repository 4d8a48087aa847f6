"""Agreement among raters against published examples, statsmodels and loops over pairs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from statsmodels.stats import inter_rater

from core.stats.raters import fleiss_kappa, krippendorff_alpha

NAN = math.nan
# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part C.
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


@pytest.mark.parametrize(
    ("distance", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_published_example(distance, published):
    found = krippendorff_alpha(FOUR_OBSERVERS, distance)
    assert found.value == pytest.approx(published, abs=5e-4)
    assert (found.n_items, found.n_answers) == (11, 40)


def test_nominal_alpha_is_that_of_a_loop_over_pairs_of_answers():
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 5, (5, 30)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    items = [column[np.isfinite(column)] for column in ratings.T]
    items = [answers for answers in items if len(answers) > 1]
    answers = np.concatenate(items)
    within = sum(
        sum(float(a != b) for a, b in itertools.permutations(i, 2)) / (len(i) - 1) for i in items
    )
    among = [float(a != b) for a, b in itertools.permutations(answers, 2)]
    found = krippendorff_alpha(ratings)
    assert found.observed == pytest.approx(within / len(answers))
    assert found.expected == pytest.approx(np.mean(among))
    assert found.value == pytest.approx(1 - (within / len(answers)) / np.mean(among))


def test_kappa_is_that_of_statsmodels_where_all_items_have_as_many_answers():
    rng = np.random.default_rng(1)
    counts = rng.multinomial(7, [0.5, 0.2, 0.2, 0.1], size=20)
    found = fleiss_kappa(counts)
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(counts))
    assert (found.n_items, found.n_answers) == (20, 140)


def test_kappa_of_items_with_different_numbers_of_answers_by_hand():
    found = fleiss_kappa([[2, 0], [1, 2], [0, 4], [1, 0], [0, 0]])  # the last two are left out
    observed = (1 + 1 / 3 + 1) / 3
    expected = (3 / 9) ** 2 + (6 / 9) ** 2
    assert (found.observed, found.expected) == pytest.approx((observed, expected))
    assert found.value == pytest.approx((observed - expected) / (1 - expected))
    assert (found.n_items, found.n_answers) == (3, 9)


def test_one_answer_throughout_and_no_answer_are_undefined():
    assert math.isnan(fleiss_kappa([[3, 0], [4, 0]]).value)
    assert fleiss_kappa([[3, 0], [4, 0]]).observed == 1
    assert math.isnan(fleiss_kappa([[1, 0], [0, 0]]).value)
    for distance in ("nominal", "ordinal", "interval"):
        assert math.isnan(krippendorff_alpha([[2, 2], [2, 2]], distance).value)
        nothing = krippendorff_alpha([[1, NAN], [NAN, 2]], distance)
        assert math.isnan(nothing.value) and nothing.n_items == 0


def test_all_agreeing_is_1_and_always_disagreeing_is_below_0():
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]).value == 1
    assert fleiss_kappa([[3, 0], [0, 3]]).value == 1
    assert krippendorff_alpha([[1, 2], [2, 1]]).value < 0
    assert fleiss_kappa([[1, 1], [1, 1]]).value == pytest.approx(-1)
