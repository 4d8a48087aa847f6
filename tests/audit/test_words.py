"""One wording for a difference, an interval and a p-value, written out by hand."""

from __future__ import annotations

import math

import pytest

from core.analysis.audit.words import (
    bounds,
    bounds_beside,
    difference,
    lowered,
    number,
    p_number,
    p_words,
)

NAN = math.nan


@pytest.mark.parametrize(
    ("drop", "low", "high", "said"),
    [
        (0.0301, 0.018, 0.0424, "Scores in Hindi lie 0.030 below English [0.018, 0.042]"),
        (-0.03, -0.042, 0.001, "Scores in Hindi lie 0.030 above English [\u22120.001, 0.042]"),
        (0.0006, NAN, NAN, "Scores in Hindi lie 0.001 below English (no interval)"),
        (
            -0.0004,
            -0.002,
            0.0031,
            "Scores in Hindi and English are the same to three digits, the drop is within "
            "[\u22120.002, 0.003]",
        ),
        (0.0, NAN, NAN, "Scores in Hindi and English are the same to three digits (no interval)"),
    ],
)
def test_a_difference_and_its_interval_look_the_same_way(drop, low, high, said: str) -> None:
    assert difference("Hindi", "English", drop, low, high) == said


def test_no_number_is_minus_zero_and_no_interval_half_known() -> None:
    assert [number(-0.0001), number(-0.04, 1), number(-0.06, 1)] == ["0.000", "0.0", "\u22120.1"]
    assert bounds(-0.0001, 0.25, 2) == "[0.00, 0.25]"
    assert bounds(NAN, 0.1) == bounds(0.1, NAN) == "(no interval)"
    assert number(NAN) == "–"


def test_p_values_have_as_many_digits_as_they_need() -> None:
    found = [p_words("q", p) for p in (0.5, 0.0512, 0.00098, 0.00004, NAN)]
    assert found == ["q = 0.50", "q = 0.051", "q = 0.0010", "q < 0.0001", "q unknown"]


def test_an_interval_within_the_margin_is_not_shown_to_reach_it() -> None:
    assert bounds_beside(0.009, 0.01996, 0.02) == "[0.00900, 0.01996]"
    assert bounds_beside(-0.0199, 0.004, 0.02) == "[\u22120.0199, 0.0040]"
    assert bounds_beside(0.009, 0.013, 0.02) == "[0.009, 0.013]"
    assert bounds_beside(NAN, NAN, 0.02) == "(no interval)"


def test_a_p_value_beside_the_level_is_not_rounded_to_it() -> None:
    found = [p_words("p", p) for p in (0.0499, 0.05, 0.0501, 0.04998)]
    assert found == ["p = 0.0499", "p = 0.050", "p = 0.0501", "p = 0.04998"]
    assert [p_number(p) for p in (0.04998, 0.00003, 0.013, NAN)] == [
        *("0.04998", "< 0.0001", "0.0130", "–"),
    ]


def test_a_sentence_ends_another_with_a_small_letter() -> None:
    assert lowered("No item is scored.") == "no item is scored."
    assert lowered("") == "it has no number."
