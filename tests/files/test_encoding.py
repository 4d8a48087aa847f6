"""Texts out of bytes: UTF-8, evident and named encodings, and files that mix them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import DataSetError, InputError
from core.files.encoding import check_encoding, decode
from core.files.reading import DataFile


def read(content: bytes, encoding: str | None = None) -> tuple[str, list[str]]:
    text, notes = decode(DataFile(Path("a.csv"), content), encoding)
    return text, [note.kind for note in notes]


WORDS = "één financiële naïef André"


@pytest.mark.parametrize("encoding", ["mac_roman", "cp1252"])
def test_an_evident_encoding_is_taken_with_a_note(encoding: str) -> None:
    assert read(WORDS.encode(encoding)) == (WORDS, ["encoding_guessed"])


def test_words_in_utf_8_stay_in_a_file_of_another_encoding() -> None:
    mixed = WORDS.encode("mac_roman") + " één".encode()
    assert read(mixed) == (f"{WORDS} één", ["encoding_guessed"])
    assert read(mixed, "mac-roman") == (f"{WORDS} één", [])


def test_the_note_shows_the_words() -> None:
    _, notes = decode(DataFile(Path("a.csv"), "ja, financiële zaken".encode("mac_roman")))
    assert "mac_roman, which gives financiële;" in notes[0].message


def test_blanks_are_no_examples_of_an_encoding() -> None:
    content = ("Jan\N{NO-BREAK SPACE}en " + "financiële naïef " * 20).encode("mac_roman")
    _, notes = decode(DataFile(Path("a.csv"), content))
    assert "mac_roman, which gives financiële, naïef;" in notes[0].message


@pytest.mark.parametrize(
    "content",
    [
        "Привет, мир".encode("cp1251"),
        "日本語の文".encode("shift_jis"),
        "a – b".encode("cp1252"),
        "he left".encode("utf-16"),
        b"PK\x03\x04\x14\0\0\0\x08\0\x91\xe9",
    ],
)
def test_nothing_is_guessed_where_nothing_is_evident(content: bytes) -> None:
    with pytest.raises(DataSetError, match="save it as UTF-8; `import` also takes its encoding"):
        read(content)


def test_a_named_encoding_is_used() -> None:
    assert read("日本語の文".encode("shift_jis"), "shift_jis") == ("日本語の文", [])
    assert read("he left".encode("utf-16"), "utf-16") == ("he left", [])
    assert read("Привет".encode("cp1251"), "cp1251") == ("Привет", [])
    with pytest.raises(DataSetError, match="not shift_jis: line 1"):
        read(b"\xff\xff", "shift_jis")


def test_only_encodings_of_texts_are_taken() -> None:
    assert check_encoding("Mac-Roman") == check_encoding("mac_roman") == "mac-roman"
    for name in ("nonsense", "base64", "rot13", "a\0b"):
        with pytest.raises(InputError, match="is not an encoding"):
            check_encoding(name)


def test_several_byte_order_marks_go_with_one_note() -> None:
    assert read(b"\xef\xbb\xbf" * 2 + b"id,x") == ("id,x", ["byte_order_mark"])
