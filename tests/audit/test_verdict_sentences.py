"""The sentence of a verdict: what each part of it may claim."""

from __future__ import annotations

from typing import Any

import pytest

from core.analysis.audit.verdict_sentences import sentence
from core.languages import LANGUAGES, NAMES, language_name

NAN = float("nan")
ROW: dict[str, Any] = {
    "condition": "hi",
    "language": "Hindi",
    "kind": "mean",
    "verdict": "shift",
    "depends_on_score": False,
    "reads": "shift",
    "drop": 0.030,
    "drop_low": 0.018,
    "drop_high": 0.042,
    "n": 357,
    "t": 0.026,
    "t90_low": 0.015,
    "t90_high": 0.036,
    "n_t": 357,
    "qvalue": 0.0003,
    "noise_floor": 0.008,
    "margin": 0.02,
    "n_needed": 851.0,
    "n_rewordings": 5,
    "prediction_low": -0.01,
    "prediction_high": 0.02,
    "outside": True,
    "qvalue_prediction": 0.004,
    "n_models": 10,
    "reason": "",
}


def test_the_sentence_is_the_promised_one() -> None:
    assert sentence(ROW, {}) == (
        "Scores in Hindi lie 0.030 below English [0.018, 0.042], paired over 357 shared items; "
        "rewording moves scores by 0.008; q = 0.0003: larger than rewording noise. This does not "
        "show that the models are fairer."
    )


def test_q_of_fewer_items_than_the_drop_says_of_which() -> None:
    text = sentence(ROW | {"n": 60, "n_t": 20, "qvalue": 0.006, "t": 0.0123}, {})
    assert "paired over 60 shared items;" in text
    assert (
        "; q = 0.006 over 20 of them that are reworded too, where T, the drop beyond rewording, is "
        "0.012: larger than rewording noise." in text
    )
    undecided = ROW | {"n_t": 1, "verdict": "undecided", "qvalue": 0.4, "t": -0.03}
    assert "q = 0.40 over 1 of them that is reworded too" in sentence(undecided, {})


@pytest.mark.parametrize("q", [0.05, 0.3, NAN])
def test_beyond_one_more_rewording_only_by_itself_is_not_larger_than_noise(q: float) -> None:
    text = sentence(ROW | {"qvalue_prediction": q}, {})
    assert "larger than rewording noise" not in text
    assert (
        "more than these rewordings do to the same items, and outside what one more rewording is "
        "predicted to do, though not once adjusted for several languages (q " in text
    )


def test_one_model_has_no_spread_and_is_spoken_of_alone() -> None:
    text = sentence(ROW | {"n_models": 1}, {})
    assert text.endswith(
        "One model: no spread over models. This does not show that the model is fairer."
    )


def test_above_english_the_interval_turns_round() -> None:
    text = sentence(ROW | {"drop": -0.03, "drop_low": -0.042, "drop_high": -0.018, "t": -0.02}, {})
    assert text.startswith("Scores in Hindi lie 0.030 above English [0.018, 0.042], paired")
    assert text.endswith("This does not show that the models are less fair.")


def test_each_verdict_has_its_words() -> None:
    said = {
        name: sentence(ROW | {"verdict": name, "qvalue": q, "reason": reason}, {})
        for name, q, reason in (
            ("real but small", 0.012, ""),
            ("equivalent", 0.4, ""),
            ("undecided", 0.4, ""),
            ("undefined", NAN, "No rewording of English is scored."),
        )
    }
    assert (
        "q = 0.012: larger than rewording noise; beyond rewording it is smaller than 0.02 (90 % "
        "interval [0.015, 0.036])." in said["real but small"]
    )
    assert "q = 0.40: beyond rewording, the difference is smaller than 0.02" in said["equivalent"]
    assert "neither a difference beyond rewording nor its absence is shown. " in said["undecided"]
    close = sentence(ROW | {"verdict": "undecided", "t": 0.012}, {})
    assert "is shown (showing that there is none would take about 851 items)." in close
    assert (
        "whether it is more than rewording cannot be said: no rewording of English is scored."
        in said["undefined"]
    )
    assert "q = nan" not in said["undefined"]


def test_a_shift_against_the_drop_is_not_called_larger_than_noise() -> None:
    text = sentence(ROW | {"drop": 0.004, "t": -0.015}, {})
    assert "against these rewordings of the same items, scores lie 0.015 above." in text
    assert "larger" not in text
    # Rewording raises scores by 0.1, the language leaves them as they are.
    text = sentence(ROW | {"drop": 0.002, "t": 0.102}, {})
    assert "against these rewordings of the same items, scores lie 0.102 below." in text
    assert "larger" not in text


def test_only_what_lies_beyond_one_more_rewording_is_larger_than_rewording_noise() -> None:
    more = "q = 0.0003: more than these rewordings do to the same items"
    said = {
        case: sentence(ROW | {"outside": outside, "n_rewordings": n}, {})
        for case, outside, n in (
            ("inside", False, 5),
            ("few", None, 2),
            ("unknown", None, 5),
            ("outside", True, 5),
        )
    }
    assert (
        f"{more}, yet one more rewording might do as much: its drop is predicted within "
        "[\u22120.010, 0.020]. This does not" in said["inside"]
    )
    assert (
        f"{more}; with fewer than 3 rewordings nobody can say what one more would do. This"
        in said["few"]
    )
    assert f"{more}; what one more rewording would do is not known. This" in said["unknown"]
    claims = [case for case, text in said.items() if "larger than rewording noise" in text]
    assert claims == ["outside"]
    calm = sentence(ROW | {"verdict": "undecided", "outside": False}, {})
    assert "one more rewording" not in calm


def test_what_rounds_to_no_difference_is_not_below_or_above() -> None:
    row = ROW | {"drop": 0.0003, "drop_low": -0.002, "drop_high": 0.003, "verdict": "undecided"}
    assert sentence(row, {}).startswith(
        "Scores in Hindi and English are the same to three digits, the drop is within "
        "[\u22120.002, 0.003], paired over 357 shared items; "
    )
    assert "lie 0.001 below" in sentence(row | {"drop": 0.00051}, {})
    exact = sentence(row | {"drop": -3e-18, "drop_low": NAN, "drop_high": NAN}, {})
    assert exact.startswith(
        "Scores in Hindi and English are the same to three digits (no interval)"
    )
    assert exact.endswith("This does not show that the models are free of bias.")


def test_disagreement_is_said() -> None:
    findings = {"mean": "lower", "per_code_point": "lower", "binary": "none shown"}
    text = sentence(ROW | {"depends_on_score": True}, findings)
    assert (
        "This depends on the score: lower under mean, per code point; none shown under binary."
        in text
    )


@pytest.mark.parametrize(
    ("q", "shown"),
    [
        (0.00001, "q < 0.0001"),
        (0.00035, "q = 0.0003"),
        (0.0123, "q = 0.012"),
        (0.0496, "q = 0.0496"),
        (0.432, "q = 0.43"),
        (1.0, "q = 1.00"),
    ],
)
def test_q_is_never_zero(q: float, shown: str) -> None:
    assert f"; {shown}: " in sentence(ROW | {"qvalue": q}, {})


def test_no_item_no_number() -> None:
    row = ROW | {"n": 0, "drop": NAN, "verdict": "undefined", "reason": "No item is scored."}
    assert sentence(row, {}) == "Hindi cannot be compared with English: no item is scored."


def test_languages_have_names_and_unknown_ones_their_code() -> None:
    assert [language_name(c) for c in ("hi", "zh-TW", "pt-BR", "quc")] == [
        "Hindi",
        "Chinese (TW)",
        "Portuguese (BR)",
        "quc",
    ]
    assert set(NAMES) <= LANGUAGES
