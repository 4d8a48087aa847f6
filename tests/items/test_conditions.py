"""Conditions: normal forms, parts, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.items.conditions import (
    is_rewording,
    language_of,
    normalise_condition,
    original_of,
)
from core.languages import IMPLIED, LANGUAGES, PREFERRED, normalise_language


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("en", "en"),
        ("zh-CN", "zh"),
        ("zh_cn", "zh"),
        ("zho_Hans", "zh"),
        ("eng_Latn", "en"),
        ("en-US", "en"),
        ("iw", "he"),
        ("pt-BR", "pt-BR"),
        ("es_MX", "es-MX"),
        ("en-GB", "en-GB"),
        ("zh-TW", "zh-TW"),
        ("zh-Hant-CN", "zh-Hant-CN"),
        ("es-419", "es-419"),
        ("fil", "fil"),
        ("en~P1", "en~p1"),
        ("hi~llm", "hi~llm"),
        ("en+true", "en+true"),
        ("zh-CN~p1+Neutral", "zh~p1+neutral"),
    ],
)
def test_spellings_of_a_condition_have_one_normal_form(written: str, normal: str) -> None:
    assert normalise_condition(written) == normal
    assert normalise_condition(normal) == normal


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", " en", "en ", "e", "xx", "english", "en~", "en+", "en~p 1", "en+true~p1", "~p1"],
        *["en-US-posix", "en--US", "es~p1~p2", "nł", "en\n", "K\u212ao", "en\ud800", "en\x00"],
    ],
)
def test_unknown_conditions_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        normalise_condition(text)


def test_a_condition_gives_its_language_its_rewording_and_its_original() -> None:
    assert language_of("pt-BR~p1") == "pt-BR"
    assert language_of("en+true") == "en"
    assert is_rewording("en~p1") and is_rewording("hi~llm")
    assert not is_rewording("es") and not is_rewording("en+true")
    assert original_of("es~p1") == "es"
    assert original_of("es~p1+true") == "es+true"
    assert original_of("es") == "es"


def test_every_listed_code_is_its_own_normal_form() -> None:
    for code in LANGUAGES - set(PREFERRED):
        assert normalise_language(code) == code
    for alias, code in PREFERRED.items():
        assert normalise_language(alias) == code
    assert set(IMPLIED) <= LANGUAGES
    assert set(PREFERRED.values()) <= LANGUAGES
    assert not LANGUAGES & set(PREFERRED)


@given(st.text(max_size=12))
def test_any_text_is_normalised_or_refused(text: str) -> None:
    try:
        normal = normalise_condition(text)
    except InputError:
        return
    assert normalise_condition(normal) == normal
    assert language_of(normal) == normalise_language(language_of(normal))
