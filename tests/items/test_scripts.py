"""Scripts and invisible characters: what a text's letters say about its language."""

from __future__ import annotations

import pytest

from core.items.scripts import SCRIPTS, foreign_script, is_near_empty, script_of, useless_marks
from core.languages import LANGUAGES


@pytest.mark.parametrize(
    ("character", "script"),
    [
        ("a", "LATIN"), ("ß", "LATIN"), ("ａ", "LATIN"), ("Ж", "CYRILLIC"), ("न", "DEVANAGARI"),
        ("ب", "ARABIC"), ("漢", "CJK"), ("한", "HANGUL"), ("か", "HIRAGANA"),
        ("ा", ""), ("1", ""), (" ", ""), ("!", ""),
    ],
)  # fmt: skip
def test_only_letters_have_a_script(character: str, script: str) -> None:
    assert script_of(character) == script


def test_the_languages_are_known_ones() -> None:
    assert set(SCRIPTS) <= LANGUAGES


@pytest.mark.parametrize(
    ("text", "language", "script"),
    [
        ("The nurse left the room.", "hi", "LATIN"),
        ("नर्स कमरे से बाहर चली गई।", "en", "DEVANAGARI"),
        ("Медсестра вышла из комнаты.", "fr", "CYRILLIC"),
        ("نرس کمرے سے باہر گئی۔", "hi", "ARABIC"),
        ("नर्स कमरे से बाहर चली गई।", "hi", ""),
        ("नर्स ने Google Translate खोला और लिखा।", "hi", ""),  # a name in its own script
        ("Dr. Smith", "ko", ""),  # too few letters to tell
        ("Medicinska sestra je izašla iz sobe.", "sr", ""),  # written in two scripts
        ("Hushi likai le fangjian, hao ma", "zh-Latn", ""),  # said to be
        ("护士离开了房间然后回家了吧", "zh-TW", ""),
    ],
)
def test_a_foreign_script_is_told_only_where_it_is_clear(text, language, script) -> None:
    assert foreign_script(text, language) == script


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("plain", set()),
        ("zero\u200bwidth", {"\u200b"}),
        ("soft\u00adhyphen", {"\u00ad"}),
        ("\ufeffmark", {"\ufeff"}),
        ("left\u200cover joiner", {"\u200c"}),
        ("می\u200cروم", set()),  # Persian writes with it
        ("क्\u200dष", set()),
        ("\u200fשלום", set()),
        ("می\u200bروم", {"\u200b"}),
        ("a heart \u2764\ufe0f", set()),  # how it looks
    ],
)
def test_invisible_characters_are_told_where_the_script_has_no_use_for_them(text, marks) -> None:
    assert useless_marks(text) == marks


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("", False), ("…", True), (" ? ", True), ("x", True), ("7", True), ("ok", False),
        ("他", False), ("그", False), ("न", True), ("ये", False), ("he", False),
        ("-" * 30, True),
    ],
)  # fmt: skip
def test_near_empty_is_no_word_or_a_single_letter(text: str, is_so: bool) -> None:
    assert is_near_empty(text) is is_so
