"""Preference between the sentences of a pair, by hand and on published numbers."""

from __future__ import annotations

import csv
import io
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.stats.pairs import (
    PreferenceShare,
    is_informative,
    preference_share,
    preferred,
    unmodified_sum,
)

NAN = math.nan


def test_the_sum_is_that_of_the_unmodified_tokens_in_float64() -> None:
    logprobs = np.array([-1e8, -0.25, 1e8, -0.5], np.float32)
    assert unmodified_sum(logprobs, np.array([True, True, True, False])) == -0.25
    assert unmodified_sum(logprobs, np.zeros(4, bool)) == 0.0


@given(st.lists(st.floats(-100, 0, width=32), min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_tokens_makes_no_tie_disappear(values: list, random) -> None:
    shuffled = random.sample(values, len(values))
    every = np.ones(len(values), bool)
    assert unmodified_sum(values, every) == unmodified_sum(shuffled, every)


def test_scores_a_hair_apart_are_no_tie_and_a_tie_counts_as_asked() -> None:
    more, less = [-1.0, -2.0, -3.0, NAN], [-1.00001, -2.0, -2.0, -1.0]
    assert preferred(more, less).tolist()[:3] == [1, 0.5, 0]
    assert preference_share(more, less) == PreferenceShare(0.5, 3, 1, 1, 1, 1)
    assert preference_share(more, less, ties="against") == PreferenceShare(1 / 3, 3, 1, 1, 1, 1)
    assert preference_share(more, less, ties="exclude") == PreferenceShare(0.5, 2, 1, 1, 1, 1)
    rounded = preference_share(more, less, ties="against", decimals=3)
    assert rounded == PreferenceShare(0.0, 3, 0, 1, 2, 1)


@pytest.mark.parametrize(("more", "less"), [([], []), ([NAN], [NAN]), ([-1.0], [NAN])])
def test_no_pair_has_no_share(more: list, less: list) -> None:
    found = preference_share(more, less)
    assert math.isnan(found.share)
    assert (found.n, found.n_undefined) == (0, len(more))
    only_ties = preference_share([-1.0], [-1.0], ties="exclude")
    assert math.isnan(only_ties.share)
    assert (only_ties.n, only_ties.n_ties) == (0, 1)


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(InputError, match="half, against, exclude"):
        preference_share([1], [2], ties="drop")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 scores against 2"):
        preference_share([1], [2, 3])


@given(st.lists(st.tuples(st.integers(-4, 0), st.integers(-4, 0)), min_size=1))
def test_swapping_all_pairs_mirrors_the_share(pairs: list) -> None:
    more, less = zip(*pairs, strict=True)
    there, back = preference_share(more, less), preference_share(less, more)
    assert there.share + back.share == pytest.approx(1)
    assert (there.n_more, there.n_less, there.n_ties) == (back.n_less, back.n_more, back.n_ties)


T, F = True, False


@pytest.mark.parametrize(
    ("ids_more", "ids_less", "more", "less", "causal", "masked"),
    [
        ([1, 2, 3], [1, 9, 3], [T, F, T], [T, F, T], T, T),  # something shared behind
        ([1, 2], [1, 9], [T, F], [T, F], F, T),  # shared in front only
        ([1], [1, 9], [T], [T, F], F, T),  # one goes on
        ([1, 3], [1, 9, 3], [T, T], [T, F, T], T, T),  # one has something in between
        ([2], [9], [F], [F], F, F),  # nothing shared
        ([1, 2], [1, 2], [T, T], [T, T], F, F),  # nothing different
    ],
)
def test_whether_a_pair_can_be_told_apart_is_seen_from_structure(
    ids_more: list, ids_less: list, more: list, less: list, causal: bool, masked: bool
) -> None:
    ids, masks = (ids_more, ids_less), (np.array(more), np.array(less))
    assert is_informative(*ids, *masks, causal=True) is causal
    assert is_informative(*ids, *masks, causal=False) is masked
    assert is_informative(*ids[::-1], *masks[::-1], causal=True) is causal


@pytest.mark.benchmarks
@pytest.mark.skipif(
    not os.environ.get("STEREOSCOPE_BENCHMARKS"), reason="STEREOSCOPE_BENCHMARKS is not set"
)
@pytest.mark.parametrize(
    ("name", "separator", "percent", "n_ties"),
    [("results_robbert.csv", ",", 54.82, 0), ("results_bert.csv", ";", 61.45, 2)],
)
def test_the_published_rule_gives_the_published_shares(
    name: str, separator: str, percent: float, n_ties: int
) -> None:
    folder = Path(os.environ["STEREOSCOPE_BENCHMARKS"]) / "dutch_crows_pairs"
    text = (folder / name).read_bytes().decode("latin-1")  # the scores are ASCII
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
    more, less = ([float(r[f"sent_{side}_score"]) for r in rows] for side in ("more", "less"))
    found = preference_share(more, less, ties="against", decimals=3)
    assert round(100 * found.share, 2) == percent
    assert (found.n, found.n_ties, found.n_undefined) == (len(rows), n_ties, 0)
    assert found.n_more == sum(int(r["score"]) for r in rows)
