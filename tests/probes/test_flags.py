"""What an axis is called goes by its tests: p, q, spread, location, and how many phrases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.stats.probes.flags import Flag, flag_of, flag_words, resampled_words
from core.stats.probes.rejection import Stability

QUIET: dict[str, Any] = {
    "pvalue": 0.4, "qvalue": 0.6, "pvalue_location": 0.5, "pvalue_spread": 0.5,
    "n_concepts": 25, "n_reference": 50, "stability": "no sign of a difference",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({}, Flag.NO_SIGN),
        ({"pvalue": 0.01, "qvalue": 0.04}, Flag.ELSEWHERE),
        ({"pvalue": 0.01, "qvalue": 0.0566, "stability": "well-powered"}, Flag.FLAGGED),
        ({"pvalue": 0.01, "qvalue": np.nan}, Flag.FLAGGED),
        ({"pvalue_spread": 0.024}, Flag.SPREAD),
        ({"pvalue_spread": 0.024, "n_concepts": 6}, Flag.SPREAD),
        ({"pvalue_location": 0.024}, Flag.LOCATION),
        ({"pvalue_location": 0.01, "pvalue_spread": 0.04}, Flag.SPREAD),
        ({"pvalue_spread": np.nan}, Flag.NO_SIGN),
        ({"stability": "underpowered"}, Flag.OPEN),
        ({"n_reference": 9}, Flag.TOO_FEW),
        ({"pvalue": 0.01, "qvalue": 0.01, "n_reference": 9}, Flag.ELSEWHERE),
        ({"pvalue": np.nan, "pvalue_spread": 0.01}, Flag.UNDEFINED),
    ],
)
def test_the_flag_goes_by_the_tests(changes: dict[str, Any], flag: Flag) -> None:
    assert flag_of(QUIET | changes) is flag


def test_without_q_or_resamples_a_flag_says_no_more_than_p() -> None:
    bare = {name: value for name, value in QUIET.items() if name not in ("qvalue", "stability")}
    assert flag_of(bare | {"pvalue": 0.01}) is Flag.FLAGGED
    assert flag_of(bare) is Flag.NO_SIGN


def test_words_say_what_they_go_by_and_no_two_are_alike() -> None:
    assert flag_words(Flag.FLAGGED) == "flagged, p < .05"
    assert flag_words(Flag.ELSEWHERE) == "lies elsewhere, q < .05"
    assert flag_words(Flag.NO_SIGN) == "no sign of a difference"
    beside = {resampled_words(stability) for stability in Stability}
    assert len(beside) == len(Stability)
    assert not beside & {str(flag) for flag in Flag if flag is not Flag.UNDEFINED}
