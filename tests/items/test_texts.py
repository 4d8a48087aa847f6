"""Texts: folding, identity, collapse, invisible characters, words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.items.texts import (
    bare,
    continuation_start,
    fold,
    is_collapsed,
    is_invisible,
    item_texts,
    join,
    make_text,
    visible,
    word_spans,
)
from core.types import Item, Role

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
SPACES = st.text(st.sampled_from(" \t\n\u00a0\u3000\u2028"), max_size=4)
# Scripts whose letters have one lower case each; Turkish dotless i is a letter of its own.
LETTERS = st.text(
    st.sampled_from("abcxyzßéøåñςΣσλдЯжкشعنपतस爱国中가나다かな0123"), min_size=1, max_size=8
)
PUNCTUATION = st.sampled_from(
    ["", " ", ".", "...", " — ", "¿", "。", "、", "؟", "।", "'", "\u00a0"]
)


def item(stereotype: str, anti_stereotype: str) -> Item:
    texts = {"stereotype": stereotype, "anti_stereotype": anti_stereotype}
    return Item(item_id="a", condition="en", context="", **texts)


# --- folding and identity -------------------------------------------------------------------


@given(TEXT, TEXT)
def test_fold_changes_the_joint_only(context: str, continuation: str) -> None:
    left, right = fold(context, continuation)
    assert context.startswith(left) and not context[len(left) :].strip()
    assert continuation.endswith(right)
    assert not continuation[: len(continuation) - len(right)].strip()
    assert fold(left, right) == (left, right)


@given(TEXT, TEXT)
def test_continuation_begins_where_it_is_said_to(context: str, continuation: str) -> None:
    left, right = fold(context, continuation)
    assert join(left, right)[continuation_start(left) :] == right


@given(TEXT, TEXT, SPACES, SPACES)
def test_identity_does_not_depend_on_white_space_at_the_joint(
    context: str, continuation: str, before: str, after: str
) -> None:
    text = make_text(context, continuation)
    assert make_text(context + before, after + continuation) == text
    assert len(text.text_id) == 32 and int(text.text_id, 16) >= 0


@given(TEXT, TEXT, TEXT, TEXT)
def test_identity_is_that_of_the_folded_pair(a: str, b: str, c: str, d: str) -> None:
    same = make_text(a, b).text_id == make_text(c, d).text_id
    assert same == (fold(a, b) == fold(c, d))


def test_identity_depends_on_where_the_context_ends() -> None:
    ids = {
        make_text("a b", "c").text_id,
        make_text("a", "b c").text_id,
        make_text("", "a b c").text_id,
    }
    assert len(ids) == 3
    # Kept for ever: changing it would orphan every stored score.
    assert make_text("He left. ", " She ran.").text_id == "582368d9f6d111e2c4633247f9b27943"


def test_an_item_has_one_text_per_role_that_it_fills() -> None:
    one = Item(
        item_id="a", condition="en", context="x ", stereotype="s", anti_stereotype="t", unknown="u"
    )
    assert {role: text.continuation for role, text in item_texts(one).items()} == {
        Role.STEREOTYPE: "s",
        Role.ANTI_STEREOTYPE: "t",
        Role.UNKNOWN: "u",
    }
    assert {text.context for text in item_texts(one).values()} == {"x"}


# --- collapse -------------------------------------------------------------------------------


@given(st.lists(LETTERS, min_size=1, max_size=4), st.data())
def test_collapse_ignores_case_punctuation_and_spacing(
    words: list[str], data: st.DataObject
) -> None:
    def dressed() -> str:
        case = data.draw(st.sampled_from([str, str.upper, str.lower, str.title, str.casefold]))
        return "".join(data.draw(PUNCTUATION) + case(word) for word in words) + data.draw(
            PUNCTUATION
        )

    assert is_collapsed(item(dressed(), dressed()))


@given(TEXT, TEXT)
def test_collapse_is_symmetric_and_reflexive(one: str, other: str) -> None:
    assert is_collapsed(item(one, other)) == is_collapsed(item(other, one))
    assert is_collapsed(item(one, one))


@given(LETTERS, LETTERS)
def test_different_letters_do_not_collapse(one: str, other: str) -> None:
    assert is_collapsed(item(one, other)) == (one.casefold() == other.casefold())


@pytest.mark.parametrize(
    ("one", "other", "collapsed"),
    [
        ("Él corrió.", "él corrió", True),
        ("ﬁn", "FIN", True),  # compatibility forms
        ("e\u0301l", "\u00e9l", True),  # composed and decomposed
        ("Ａ１", "a1", True),  # full width
        ("weiß", "WEISS", True),
        ("el", "él", False),  # an accent is a letter's
        ("1 < 2", "1 > 2", False),  # symbols are not punctuation
        ("می\u200cروم", "میروم", False),  # a joiner is a letter here
        ("क्\u200dष", "क्ष", False),
        ("", "...", True),
    ],
)
def test_only_case_punctuation_and_spacing_collapse(one: str, other: str, collapsed: bool) -> None:
    assert is_collapsed(item(one, other)) is collapsed


@given(TEXT)
def test_bare_has_neither_spaces_nor_punctuation(text: str) -> None:
    assert not [c for c in bare(text) if c.isspace() or unicodedata.category(c)[0] in "PZ"]


# --- invisible characters -------------------------------------------------------------------


@pytest.mark.parametrize("code", ["200B", "200C", "200D", "200F", "202E", "2060", "FEFF", "AD"])
def test_format_characters_are_invisible(code: str) -> None:
    assert is_invisible(chr(int(code, 16)))


@pytest.mark.parametrize("code", ["FE0F", "34F", "180B", "3164", "E0100"])
def test_other_shapeless_characters_are_invisible(code: str) -> None:
    assert is_invisible(chr(int(code, 16)))


@given(TEXT)
def test_visible_drops_invisible_characters_only(text: str) -> None:
    assert visible(text) == "".join(c for c in text if not is_invisible(c))
    assert visible(visible(text)) == visible(text)
    assert visible("a b,é 中\n") == "a b,é 中\n"


# --- words ----------------------------------------------------------------------------------


@given(TEXT)
def test_word_spans_cover_everything_but_white_space(text: str) -> None:
    spans = word_spans(text)
    covered = [position for start, end in spans for position in range(start, end)]
    assert covered == [n for n, c in enumerate(text) if not c.isspace()]
    assert all(start < end for start, end in spans)


@given(TEXT)
def test_punctuation_at_the_edges_is_apart(text: str) -> None:
    for start, end in word_spans(text):
        marks = [unicodedata.category(c).startswith("P") for c in text[start:end]]
        assert all(marks) or not (marks[0] or marks[-1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(He left.)", ["(", "He", "left", ".)"]),
        ("don't stop", ["don't", "stop"]),
        ("a  b\u3000c", ["a", "b", "c"]),
        ("... !", ["...", "!"]),
        ("¿Quién?", ["¿", "Quién", "?"]),
        ("वह गई।", ["वह", "गई", "।"]),
        ("", []),
    ],
)
def test_words_are_cut_as_written_out_here(text: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == words
