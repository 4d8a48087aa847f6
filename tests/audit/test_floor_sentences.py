"""Sentences on noise floors: the numbers of the row, and no more than they show."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from core.analysis.audit.floor_sentences import (
    floor_sentence,
    gap_reading,
    gap_sentence,
    rewording_sentence,
    wording_sentences,
)
from core.analysis.audit.words import p_words

NAN = math.nan


def by_model(*rows: tuple[float, float], reason: str = "") -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["floor", "expected_noise"])
    return table.assign(n_rewordings=3, n_items=40, reason=reason)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [(0.004, 0.006)],
            "Rewording alone moves the mean score of the model by 0.004 (3 rewordings of full "
            "coverage, n = 40 items). Changes of single items that are nothing but noise would "
            "move it by 0.006: what is seen is no more than that. One model: how far models differ "
            "in this is not known.",
        ),
        (
            [(0.01, 0.005), (0.02, 0.005), (NAN, NAN)],
            "Rewording alone moves the mean score of a model by 0.015 (median over 2 of 3 models, "
            "0.010 to 0.020; 3 rewordings of full coverage, n = 40 items). Changes of single items "
            "that are nothing but noise would move it by 0.005: what is seen is 3.0 times that.",
        ),
    ],
)
def test_a_floor_stands_beside_pure_noise(rows, expected):
    assert floor_sentence(by_model(*rows)) == expected


def test_a_floor_without_noise_or_none_at_all():
    assert floor_sentence(by_model((0.1, 0.0))).endswith("no noise to compare it with.")
    unknown = by_model((NAN, NAN), reason="There is no rewording.")
    assert floor_sentence(unknown) == "The noise floor is not known. There is no rewording."


def test_rewordings_that_the_item_test_finds_are_named():
    tested = pd.DataFrame(
        {"condition": ["en~a", "en~b", "en~c"], "qvalue": [0.01, 0.5, NAN], "reason": ["", "", "x"]}
    )
    assert "1 of 2 rewordings (en~a) differs from the others with q < .05" in rewording_sentence(
        tested
    )
    assert "the only one that can be tested does not" in rewording_sentence(tested.iloc[1:])
    assert rewording_sentence(tested.iloc[2:]) == "No rewording can be tested against others. x"


def gap(**changed):
    row = {
        "unit": "language",
        "condition": "hi",
        "gap": 0.05,
        "floor": NAN,
        "floor_of_mean": 0.01,
        "difference": 0.04,
        "difference_low": 0.02,
        "difference_high": 0.06,
        "n_items": 357,
        "n_languages": 1,
        "n_rewordings": 3,
        "n_models": 3,
        "reason": "",
    }
    return {**row, **changed}


@pytest.mark.parametrize(
    ("changed", "reading", "ending"),
    [
        ({}, "above the floor", "larger than what rewording does."),
        (
            {"difference_low": -0.00004},
            "not shown above",
            "difference 0.040 [\u22120.00004, 0.060] (n = 357 items, 3 rewordings): not shown to "
            "be larger than what rewording does.",
        ),
        (
            {"difference": -0.02, "difference_low": -0.04, "difference_high": -0.01},
            "below the floor",
            "difference \u22120.020 [\u22120.040, \u22120.010] (n = 357 items, 3 rewordings): "
            "smaller than what rewording does.",
        ),
        (
            {"difference_low": NAN, "difference_high": NAN, "reason": "All alike."},
            "undefined",
            "(no interval; n = 357 items, 3 rewordings). All alike.",
        ),
        (
            {
                "difference": NAN,
                "difference_low": NAN,
                "floor_of_mean": NAN,
                "reason": "There is no rewording.",
            },
            "undefined",
            "Hindi: gap 0.050; what rewording does is not known. There is no rewording.",
        ),
        (
            {"gap": NAN, "difference": NAN, "difference_low": NAN, "reason": "Nothing scored."},
            "undefined",
            "Hindi: there is no gap to compare. Nothing scored.",
        ),
    ],
)
def test_gaps_are_read_by_their_interval(changed, reading, ending):
    assert gap_reading(gap(**changed)) == reading
    assert gap_sentence(gap(**changed), "m").endswith(ending)


def test_a_model_has_a_mean_gap_over_languages():
    row = gap(unit="model", condition="", n_languages=8, n_models=1, floor=0.013)
    said = "m: mean gap over 8 languages 0.050, floor of the same items 0.013, "
    assert gap_sentence(row, "m").startswith(said)


def test_a_language_has_a_floor_of_another_kind_by_its_own_name():
    start = "Hindi: gap 0.050, floor of the mean over models 0.010, difference"
    assert gap_sentence(gap(), "m").startswith(start)
    alone = gap_sentence(gap(n_models=1), "m")
    assert alone.startswith("Hindi: gap 0.050, floor of the same items 0.010, ")


def wordings(**changed):
    row = {
        "prediction_low": -0.03,
        "prediction_high": 0.02,
        "n_rewordings": 3,
        "n": 40,
        "tau": 0.007,
        "tau2_raw": 0.007**2,
        "sampling_sd": 0.005,
        "reason": "",
    }
    return {**row, **changed}


def languages(outside=(True, False, None), q=0.2):
    table = pd.DataFrame(
        {"condition": ["hi", "es", "fr"], "mean_change": [-0.05, 0.01, NAN], "n": [39, 40, 0]}
    )
    return table.assign(
        pvalue_prediction=[0.02, 0.6, NAN],
        qvalue_prediction=[q, 0.6, NAN],
        n_rewordings=3,
        outside=pd.array(list(outside), "boolean"),
    )


def test_languages_outside_are_named_with_p_and_q():
    said = wording_sentences(wordings(), languages(), "over 2 models", ["es", "hi"])
    assert said[0].startswith(
        "One more rewording of English is predicted to change the mean score over 2 models by "
        "something in [\u22120.030, 0.020] (95 %, from 3 rewordings, n = 40 items)."
    )
    assert said[1] == (
        "Outside its interval, so further than one more wording is expected to go, lies 1 of 2 "
        "languages: Hindi (\u22120.050, n = 39, p = 0.020, q = 0.20). None holds after adjusting "
        "for 2 languages (q)."
    )
    assert said[2].startswith("Above the floor, yet inside the interval: Spanish.")
    assert "None holds" not in wording_sentences(wordings(), languages(q=0.04), "m")[1]


def test_nothing_outside_is_not_nothing_there():
    said = wording_sentences(wordings(tau=0.0, tau2_raw=-1e-6), languages((False, False, None)), "")
    assert "does not show that there is none" in said[1]
    assert "none of 2 languages lies outside" in said[2]
    assert len(said) == 3


def test_too_few_rewordings_predict_nothing():
    row = wordings(prediction_low=NAN, reason="Wording variance needs 3 rewordings, not 1.")
    assert wording_sentences(row, languages(), "of m") == [
        "What one more rewording of English would do to the mean score of m cannot be predicted. "
        "Wording variance needs 3 rewordings, not 1."
    ]
    assert len(wording_sentences(wordings(), languages((None, None, None)), "m")) == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [(NAN, "p unknown"), (1e-5, "p < 0.0001"), (5e-4, "p = 0.0005"), (0.2, "p = 0.20")],
)
def test_p_in_words(value, words):
    assert p_words("p", value) == words


def test_no_sentence_calls_a_model_fair():
    said = [
        floor_sentence(by_model((0.004, 0.006))),
        gap_sentence(gap(), "m"),
        *wording_sentences(wordings(), languages(), "m", ["es"]),
    ]
    assert not any("fair" in sentence or "bias" in sentence for sentence in said)
