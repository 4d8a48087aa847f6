"""What two sentences share, against an enumeration of every alignment and by hand."""

from __future__ import annotations

import difflib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.items import alignment
from core.items.alignment import (
    Block,
    Sentence,
    matching_blocks,
    mostly_different,
    unmodified_tokens,
)

SHORT = st.lists(st.sampled_from("xyz"), max_size=6)


def sentence(*pieces: str) -> Sentence:
    """A sentence of these tokens; a piece that begins with "_" begins a word, as in many models."""
    text, ids, spans = "", [], []
    for piece in pieces:
        start = len(text)
        text += piece.replace("_", " ") if text else piece.removeprefix("_")
        spans.append((start, len(text)))
        ids.append(sum(ord(c) * 131**n for n, c in enumerate(piece)) % 100_003)
    columns = np.array(spans, dtype=np.int32).reshape(-1, 2)
    return Sentence(text, np.array(ids, dtype=np.int32), columns[:, 0], columns[:, 1])


def kept(a: Sentence, b: Sentence, **options: str) -> tuple[list[str], list[str]]:
    masks = unmodified_tokens(a, b, **options)  # type: ignore[arg-type]
    return tuple(  # type: ignore[return-value]
        [s.text[i:j].strip() for i, j, keep in zip(s.starts, s.ends, mask, strict=True) if keep]
        for s, mask in zip((a, b), masks, strict=True)
    )


def every_alignment(a: list, b: list) -> list[list[tuple[int, int]]]:
    """All common subsequences, as lists of matched positions."""
    return [
        list(zip(of_a, of_b, strict=True))
        for n in range(min(len(a), len(b)) + 1)
        for of_a in combinations(range(len(a)), n)
        for of_b in combinations(range(len(b)), n)
        if [a[i] for i in of_a] == [b[j] for j in of_b]
    ]


def n_blocks(pairs: list[tuple[int, int]]) -> int:
    return sum((i - 1, j - 1) not in pairs for i, j in pairs)


def oracle(a: list, b: list) -> list[tuple[int, int]]:
    """The definition, by trying everything."""
    if b < a:
        return sorted((i, j) for j, i in oracle(b, a))
    begin = 0
    while begin < min(len(a), len(b)) and a[begin] == b[begin]:
        begin += 1
    end = 0
    while end < min(len(a), len(b)) - begin and a[-1 - end] == b[-1 - end]:
        end += 1
    must = {(i, i) for i in range(begin)} | {(len(a) - k, len(b) - k) for k in range(1, end + 1)}
    possible = [pairs for pairs in every_alignment(a, b) if must <= set(pairs)]
    longest = max(map(len, possible))
    assert longest == max(map(len, every_alignment(a, b)))  # beginning and end cost nothing
    return min(
        (pairs for pairs in possible if len(pairs) == longest),
        key=lambda pairs: (n_blocks(sorted(set(pairs) - must)), pairs),
    )


def positions(blocks: list[Block]) -> list[tuple[int, int]]:
    return [(i + k, j + k) for i, j, n in blocks for k in range(n)]


@settings(deadline=None, max_examples=150)
@given(SHORT, SHORT)
def test_the_alignment_is_the_one_of_the_definition(a: list, b: list) -> None:
    assert positions(matching_blocks(a, b)) == oracle(a, b)


@settings(deadline=None, max_examples=300)
@given(*[st.lists(st.integers(0, 4), max_size=14)] * 2)
def test_swapping_swaps_the_alignment_and_runs_are_whole(a: list, b: list) -> None:
    blocks = matching_blocks(a, b)
    assert [Block(j, i, n) for i, j, n in blocks] == matching_blocks(b, a)
    assert all(a[i : i + n] == b[j : j + n] and n for i, j, n in blocks)


def test_few_long_runs_are_preferred_to_many_short_ones_and_left_to_right() -> None:
    assert positions(matching_blocks("1abc2", "3a9b9abc4")) == [(1, 5), (2, 6), (3, 7)]
    assert positions(matching_blocks("1x2", "3x4x5")) == [(1, 1)]
    assert matching_blocks("", "abc") == []
    assert matching_blocks("same", "same") == [Block(0, 0, 4)]


def test_a_middle_that_is_too_large_matches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = list("<1abc2>"), list("<3abc4>")
    assert len(positions(matching_blocks(a, b))) == 5
    monkeypatch.setattr(alignment, "LARGEST_TABLE", 24)
    assert positions(matching_blocks(a, b)) == [(0, 0), (6, 6)]


@settings(deadline=None)
@given(*[st.lists(st.integers(0, 3), max_size=12)] * 2)
def test_difflib_matches_what_its_opcodes_call_equal(a: list, b: list) -> None:
    expected = [
        (i + k, op[3] + k)
        for op in difflib.SequenceMatcher(None, [*map(str, a)], [*map(str, b)]).get_opcodes()
        if op[0] == "equal"
        for k, i in enumerate([op[1]] * (op[2] - op[1]))
    ]
    assert positions(matching_blocks(a, b, "difflib")) == expected


@settings(deadline=None)
@given(*[st.lists(st.integers(0, 3), min_size=1, max_size=10)] * 2, st.booleans(), st.booleans())
def test_difflib_aligns_tokens_as_between_special_ones(
    a: list, b: list, front: bool, behind: bool
) -> None:
    def of(ids: list) -> Sentence:
        no_spans = np.full(len(ids), -1, np.int32)
        return Sentence("", np.array(ids, np.int32), no_spans, no_spans)

    masks = unmodified_tokens(of(a), of(b), unit="token", align="difflib", special=(front, behind))
    of_a, of_b = ([101] * front + ids + [102] * behind for ids in (a, b))
    inner = [
        (i - front, j - front)
        for i, j in positions(matching_blocks(of_a, of_b, "difflib"))
        if of_a[i] < 100
    ]
    assert np.flatnonzero(masks[0]).tolist() == [i for i, _ in inner]
    assert np.flatnonzero(masks[1]).tolist() == [j for _, j in inner]


def test_words_leave_out_pieces_that_the_changed_words_share() -> None:
    a = sentence("_The", "_trans", "gender", "_man", "_left", ".")
    b = sentence("_The", "_cis", "gender", "_man", "_left", ".")
    rest = ["The", "man", "left", "."]
    assert kept(a, b) == (rest, rest)
    both = ["The", "gender", "man", "left", "."]
    assert kept(a, b, unit="token") == (both, both)


def test_identities_of_other_lengths_and_two_changed_spans() -> None:
    a = sentence("_All", "_gay", "_men", "_say", "_he", "_left")
    b = sentence("_All", "_hetero", "sexual", "_men", "_say", "_she", "_left")
    rest = ["All", "men", "say", "left"]
    assert kept(a, b) == (rest, rest)
    assert kept(a, b, unit="token") == (rest, rest)


def test_a_word_that_shares_a_token_with_a_changed_one_is_changed_in_both() -> None:
    a = sentence("_We", "_saw", "_gay", ",", "_then", "_left")
    b = sentence("_We", "_saw", "_bi,", "_then", "_left")
    assert a.words == ["We", "saw", "gay", ",", "then", "left"]
    rest = ["We", "saw", "then", "left"]
    assert kept(a, b) == (rest, rest)
    assert kept(b, a) == (rest, rest)


def test_a_torn_word_tears_the_words_that_it_shares_tokens_with() -> None:
    a = sentence("_x", "_gay", "_b_c", "_d")
    b = sentence("_x", "_bi_b", "_c", "_d")
    assert kept(a, b) == (["x", "d"], ["x", "d"])


def test_a_shared_word_of_other_tokens_is_compared_in_its_own_tokens() -> None:
    a, b = sentence("_Gay", "_people", "_left"), sentence("People", "_left")
    assert kept(a, b) == (["left"], ["left"])  # words are compared as text
    c = sentence("_Gay", "_peo", "ple", "_left")
    d = sentence("_Old", "_people", "_left")
    assert kept(c, d) == (["peo", "ple", "left"], ["people", "left"])
    assert kept(c, d, unit="token") == (["left"], ["left"])


def test_white_space_belongs_to_the_word_behind_it() -> None:
    a = Sentence(
        "a  b ", *(np.array(x, np.int32) for x in ([1, 2, 3, 4], [0, 1, 2, 4], [1, 2, 4, 5]))
    )
    b = Sentence(
        "c  b ", *(np.array(x, np.int32) for x in ([9, 2, 3, 4], [0, 1, 2, 4], [1, 2, 4, 5]))
    )
    masks = unmodified_tokens(a, b)
    assert [m.tolist() for m in masks] == [[False, True, True, False]] * 2


def test_tokens_that_share_a_character_or_have_none_stay_with_their_word() -> None:
    columns = ([7, 8, 9, 5], [0, 2, 2, 3], [1, 3, 3, 3])
    a = Sentence("a 𠮷", *(np.array(x, np.int32) for x in columns))
    b = Sentence("b 𠮷", *(np.array(x, np.int32) for x in ([6, 8, 9, 5], *columns[1:])))
    # The last token has no characters and stands behind the last word.
    assert [m.tolist() for m in unmodified_tokens(a, b)] == [[False, True, True, False]] * 2


def test_without_spans_words_are_not_guessed() -> None:
    a, b = sentence("_a", "_b"), sentence("_a", "_c")
    a.starts[:] = a.ends[:] = -1
    with pytest.raises(ValueError, match="not known"):
        unmodified_tokens(a, b)
    assert [m.tolist() for m in unmodified_tokens(a, b, unit="token")] == [[True, False]] * 2


def test_unknown_rules_are_refused_by_name() -> None:
    a = sentence("_a")
    with pytest.raises(InputError, match="'letter' is not a unit"):
        unmodified_tokens(a, a, unit="letter")
    with pytest.raises(InputError, match="'best' is not an alignment"):
        unmodified_tokens(a, a, align="best")


def test_more_than_half_of_the_longer_sentence() -> None:
    assert not mostly_different(["a", "b", "c", "d"], ["a", "b", "x", "y"])
    assert mostly_different(["a", "b", "c", "d"], ["a", "x", "y", "z"])
    assert mostly_different(["a"], ["a", "b", "c"])
    assert not mostly_different([], [])


PIECES = st.lists(
    st.sampled_from(["_gay", "_bi", "_the", "_m", "en", "en_s", "ay", ",", "._b"]),
    min_size=1,
    max_size=8,
)


@settings(deadline=None, max_examples=200)
@given(PIECES, PIECES, st.sampled_from(["word", "token"]))
def test_both_sentences_keep_the_same_text_and_swapping_swaps(
    first: list, second: list, unit: str
) -> None:
    a, b = sentence(*first), sentence(*second)
    (mask_a, mask_b), (swap_b, swap_a) = (
        unmodified_tokens(a, b, unit=unit),
        unmodified_tokens(b, a, unit=unit),
    )
    assert np.array_equal(mask_a, swap_a)
    assert np.array_equal(mask_b, swap_b)
    if unit == "token":
        assert a.token_ids[mask_a].tolist() == b.token_ids[mask_b].tolist()
    else:
        texts = ["".join(part).replace(" ", "") for part in kept(a, b)]
        assert texts[0] == texts[1]
