"""Sentences about axes say what was found, undefined with its reason, and never that it is fair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.analysis.heads.chosen import choose, parse_choice
from core.analysis.heads.sentences import (
    CAUTION,
    axis_sentence,
    choice_sentence,
    heads_words,
    length_sentence,
    position_sentence,
    separability_sentence,
    strongest_sentence,
)
from tests.head_views import made_view

ROW: dict[str, Any] = {
    "statistic": 0.5, "pvalue": 0.003, "qvalue": 0.02, "difference": -0.25,
    "difference_low": -0.45, "difference_high": -0.05,
    "pvalue_location": 0.01, "spread_ratio": 1.5, "pvalue_spread": 0.4, "rejection_rate": 0.9,
    "rejection_error": 0.01, "stability": "well-powered", "n_concepts": 25, "n_reference": 50,
    "n_heads": 128, "separability_held_out": 0.21, "held_out_chance": 0.07, "reason": "",
}  # fmt: skip


def said(*, k: int | None = 128, by_hand: bool = False, **changes: Any) -> str:
    return axis_sentence(
        ROW | changes,
        poles=("cold", "warm"),
        concepts="groups",
        reference="phrases",
        n_axes=8,
        k=k,
        by_hand=by_hand,
    )


def test_a_flag_is_told_with_n_side_spread_and_stability() -> None:
    assert said() == (
        "cold – warm: groups lie elsewhere than phrases in the 128 heads of highest R: KS D = 0.50 "
        "(n = 25 and 50), p = 0.003, q = 0.020 over 8 axes. On average they lie 0.25 sd "
        "[0.05, 0.45] further towards cold than the phrases "
        "(p = 0.010), and they spread 1.50 times as wide (p = 0.40). 90 % (±1.0 %) of resamples "
        "reject: well-powered."
    )


def test_what_does_not_outlast_the_other_axes_says_so() -> None:
    assert "flagged (p < 0.05), but not after adjusting over the axes" in said(qvalue=0.2)
    assert "not shown to lie elsewhere than" in said(pvalue=0.2, qvalue=0.5)
    assert "more phrases would be needed" in said(pvalue=0.2, stability="underpowered")


def test_heads_chosen_by_hand_are_named_and_p_is_not_adjusted_for_them() -> None:
    assert "not adjusted for choosing them" not in said()
    assert said(k=7, n_heads=7, by_hand=True).endswith("not adjusted for choosing them.")
    assert "in the 7 heads of highest R" in said(k=7, n_heads=7)
    assert "in all 24 heads" in said(k=None, n_heads=24)


def test_few_phrases_without_a_difference_are_too_few_to_tell() -> None:
    quiet = {"pvalue": 0.6, "qvalue": 0.8, "stability": "no sign of a difference"}
    quiet |= {"pvalue_location": 0.5, "rejection_rate": 0.05}
    assert said(**quiet).endswith("5 % (±1.0 %) of resamples reject.")
    assert said(**quiet, n_concepts=9).endswith("too few to tell.")
    assert said(**quiet, n_reference=9).endswith("too few to tell.")
    assert not said(**quiet, n_reference=9, pvalue_spread=0.01).endswith("too few to tell.")


def test_no_direction_is_told_of_a_difference_that_rounds_to_nothing() -> None:
    near = {"difference": 0.004, "difference_low": -0.2, "difference_high": 0.208}
    assert "they lie 0.00 sd [−0.20, 0.21] from the phrases (" in said(**near)
    assert "further" not in said(**near)
    assert "0.01 sd [−0.19, 0.21] further towards warm" in said(
        difference=0.006, difference_low=-0.194, difference_high=0.206
    )
    assert "0.25 sd (no interval) further towards cold" in said(
        difference_low=np.nan, difference_high=np.nan
    )


def test_values_that_follow_the_phrases_length_are_told_where_they_are_shown_to() -> None:
    long = {"length_r": -0.64, "length_qvalue": 0.001, "length_unit": "tokens", "n_phrases": 75}
    assert "follow the phrases' length in tokens: r = −0.64 (Spearman, n = 75, q" in said(**long)
    assert "length" not in said(**(long | {"length_qvalue": 0.2}))
    unknown = length_sentence(long | {"length_r": np.nan, "length_qvalue": np.nan})
    assert unknown == "Whether values follow the phrases' length is undefined (n = 75)."
    unshown = length_sentence(long | {"length_qvalue": 0.2})
    assert unshown.startswith("Values are not shown to follow the phrases' length in tokens")


def test_the_strongest_heads_are_named_by_layer_and_number() -> None:
    view = made_view(4, 3, 12, 10, n_dead=2)
    r = np.where(np.isfinite(view.separability), view.separability, -1).ravel()
    best = np.argsort(-r)[:5]
    sentence = strongest_sentence(view)
    assert sentence.startswith("Strongest of 10 heads: ")
    places = [sentence.find(f"L{head // 3} H{head % 3} (R = {r[head]:.2f})") for head in best]
    assert places == sorted(places) and places[0] > 0
    assert sentence.endswith("n = 30 sentences of either pole.")
    assert strongest_sentence(replace(view, separability=view.separability * np.nan)) == ""


def test_a_selection_without_q_says_no_more_than_its_p() -> None:
    view = made_view(4, 3, 12, 10, n_dead=0)
    choice = parse_choice("rect:0,0,1,2", *view.shape)
    found = replace(choose(view, choice, seed=1), pvalue=0.01)
    sentence = choice_sentence(view, found, choice)
    assert "are flagged (p < 0.05) in these heads, against reference" in sentence
    assert "lie elsewhere than" not in sentence
    assert "adjusted" not in choice_sentence(view, found, choice, by_hand=False)


def test_r_of_heads_chosen_by_r_is_called_too_high_and_stands_beside_r_anew() -> None:
    view = made_view(4, 3, 12, 10, n_dead=0)

    def of(heads: str, row: dict[str, Any] | None = None, **changes: Any) -> str:
        choice = parse_choice(heads, *view.shape)
        seen = replace(view, **changes)
        return separability_sentence(seen, choose(seen, choice, seed=1), choice, row)

    assert "too high" in of("k3")
    assert "is 0.210 in the other half (by chance 0.070)" in of("k3", ROW)
    assert "half" not in of("k3", ROW | {"separability_held_out": np.nan})
    assert not any("too high" in of(heads, ROW) for heads in ("all", "k12", "head:1,1"))
    one_gone = np.where(np.arange(12).reshape(4, 3) == 4, np.nan, view.chance)
    assert "under swapped labels undefined in 1 of 1 head" in of("head:1,1", chance=one_gone)
    assert "for all 30 templates only" in of("head:1,1", chance=view.chance * np.nan)


def test_undefined_has_its_reason_and_no_number() -> None:
    sentence = said(pvalue=np.nan, reason="too few phrases")
    assert sentence == "cold – warm: undefined against phrases, because too few phrases."


def test_no_sentence_calls_a_model_fair() -> None:
    assert not any(" fair" in text for text in (said(), said(pvalue=0.9), CAUTION))


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ("k3", "the 3 heads of highest R"),
        ("all", "all 12 heads"),
        ("head:2,1", "1 head (layer 2, head 1)"),
        ("rect:0,1,1,2", "4 heads (layers 0 to 1, heads 1 to 2)"),
    ],
)
def test_heads_are_named_with_their_number(heads: str, words: str) -> None:
    view = made_view(4, 3, 12, 10, n_dead=0)
    choice = parse_choice(heads, *view.shape)
    found = choose(view, choice, seed=1)
    assert heads_words(found, choice) == words
    sentence = choice_sentence(view, found, choice)
    assert words in sentence
    assert "not adjusted for choosing them" in sentence
    assert f"of {found.n_labelled} labelled concepts" in position_sentence(view, found)
    assert "(centre: mean of concepts and reference; balanced" in position_sentence(view, found)
    r = view.separability.ravel()[found.heads].mean()
    assert f"is {r:.3f} (under swapped labels" in separability_sentence(view, found, choice)


def test_what_is_missing_is_said() -> None:
    view = made_view(4, 3, 12, 0, n_dead=0, dimension="")
    choice = parse_choice("all", *view.shape)
    found = choose(view, choice, seed=1)
    assert "no test, because no reference phrases were chosen" in choice_sentence(
        view, found, choice
    )
    assert "not compared with people's" in position_sentence(view, found)
