"""Which tokens belong to the continuation; oracles are hand-made spans and whole encodings."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.items.texts import continuation_start, join, make_text, word_spans
from core.scoring.encoding import Encoded, encode
from core.scoring.spans import (
    first_scored_by_span,
    spans_cover,
    words_of,
)
from core.types import Flag, Reason, Unscored
from tests.tiny_tokenizers import byte_level_bpe, letters, unigram_metaspace, word_piece

TOKENIZERS = {
    "byte_level_bpe": byte_level_bpe(),
    "byte_level_bpe_bos": byte_level_bpe(add_bos=True),
    "unigram": unigram_metaspace(),
    "word_piece": word_piece(),
    "letters": letters(),
}
everywhere = pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS.keys())


class Answer(dict):
    """What a tokenizer answers; every token is a word."""

    def word_ids(self) -> list[int]:
        return list(range(len(self["input_ids"])))


def encoded(tokenizer, context, continuation):
    result = encode(tokenizer, make_text(context, continuation), None)
    assert isinstance(result, Encoded), result
    return result


def scored_text(tokenizer, context, continuation):
    e = encoded(tokenizer, context, continuation)
    return tokenizer.decode(e.ids[e.first :]).strip()


# The joint: nothing of the continuation is lost, nothing of the context is scored


def test_the_first_word_is_scored():
    tokenizer = byte_level_bpe()
    assert scored_text(tokenizer, "The nurse finished.", "He was tired.") == "He was tired."
    assert scored_text(tokenizer, "The nurse finished.", "She was tired.") == "She was tired."


def test_counting_the_tokens_of_context_and_space_loses_the_first_word():
    """The mutant that must fail: what the naive count would have scored."""
    tokenizer = byte_level_bpe()
    ids = tokenizer("The nurse finished. He was tired.").input_ids
    naive = ids[len(tokenizer("The nurse finished. ").input_ids) :]
    assert tokenizer.decode(naive).strip() != "He was tired."
    e = encoded(tokenizer, "The nurse finished.", "He was tired.")
    assert e.ids[e.first :] != naive
    assert tokenizer.decode(e.ids[e.first]).strip() == "He"


@pytest.mark.parametrize(
    ("context", "continuation", "spans", "first"),
    [
        ("Ans", "wer", [(0, 4), (4, 6)], 0),  # one token spans the join
        ("hello wor", "ld", [(0, 5), (5, 11)], 1),
        ("ab", "cde", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], 2),
    ],
)
def test_a_token_across_the_join_is_scored(context, continuation, spans, first):
    text = context + continuation
    assert spans_cover(text, spans)
    assert first_scored_by_span(spans, len(context)) == first


def test_a_merge_with_the_context_is_flagged():
    """With WordPiece-like spans that join "a b" into one token, the merged token is scored."""

    class Merging:
        bos_token_id, eos_token_id, unk_token_id, all_special_ids = 0, None, None, [0]

        def __call__(self, text, **_):
            spans = [(0, 6), (6, len(text))]
            return Answer(
                {
                    "input_ids": [5, 6],
                    "offset_mapping": spans,
                    "special_tokens_mask": [0, 0],
                }
            )

    e = encoded(Merging(), "one", "two three")
    assert e.flags == (Flag.BOUNDARY_MERGE,)
    assert e.ids == [0, 5, 6]
    assert e.first == 1


def test_a_merged_space_is_no_boundary_merge():
    assert encoded(byte_level_bpe(), "The nurse finished.", "He was tired.").flags == ()


@everywhere
def test_white_space_at_the_joint_is_folded(tokenizer):
    plain = encoded(tokenizer, "The capital is", "Paris.")
    for context, continuation in [
        ("The capital is ", "Paris."),
        ("The capital is", " Paris."),
        ("The capital is\t", "\n Paris."),
        ("The capital is  ", "  Paris."),
    ]:
        e = encoded(tokenizer, context, continuation)
        assert (e.ids, e.first, e.text_id) == (plain.ids, plain.first, plain.text_id)


@everywhere
@pytest.mark.parametrize(
    "continuation",
    [
        "👩‍🚀 left",
        "𠮷 left",
        "क्षमा की",
        "كانت متعبة",
        "她很累。",
        "그녀는 피곤했다",
        "… end",
        "exhausted.",
    ],
)
def test_scored_ids_are_the_tail_of_the_whole_string(tokenizer, continuation):
    """Every piece of the first character is scored once; no lone "▁" stands before it."""
    context = "The nurse finished."
    e = encoded(tokenizer, context, continuation)
    whole = tokenizer(
        join(context, continuation), add_special_tokens=False, return_offsets_mapping=True
    )
    c0 = continuation_start(context)
    spans = zip(whole.input_ids, whole.offset_mapping, strict=True)
    assert e.ids[e.first :] == [token for token, (_, end) in spans if end > c0]


def test_byte_tokens_decode_to_the_continuation():
    for continuation in ["👩‍🚀 left", "𠮷 left", "क्षमा की", "كانت متعبة"]:
        assert scored_text(byte_level_bpe(), "The nurse finished.", continuation) == continuation


@pytest.mark.parametrize("continuation", ["fin … end", "T\x10his", "a\u200cb", "e\u0301t"])
def test_normalisers_may_expand_or_drop_characters(continuation):
    tokenizer = unigram_metaspace()
    e = encoded(tokenizer, "The nurse finished.", continuation)
    whole = tokenizer(f"The nurse finished. {continuation}").input_ids
    assert whole[-len(e.words) :] == e.ids[e.first :]
    assert Flag.SPANS_UNTRUSTED not in e.flags


def test_a_boundary_inside_an_expanded_character_goes_to_the_continuation():
    assert first_scored_by_span([(0, 2), (2, 4), (2, 4)], 3) == 1


# Spans that lie


class BadOffsets:
    """A tokenizer by words whose spans are chosen by the test."""

    bos_token_id, eos_token_id, unk_token_id, all_special_ids = 0, None, None, [0]

    def __init__(self, spans):
        self.spans = spans

    def __call__(self, text, **_):
        ids = [1 + sum(map(ord, word)) for word in text.split()]
        spans = [self.spans(text, i) for i in range(len(ids))]
        return Answer(
            {
                "input_ids": ids,
                "offset_mapping": spans,
                "special_tokens_mask": [0] * len(ids),
            }
        )


@pytest.mark.parametrize(
    "spans",
    [
        lambda text, i: (3 * i, 3 * i),  # zero width
        lambda text, i: (0, len(text)) if i == 0 else (0, 0),  # back to the start
        lambda text, i: (i + 1, len(text) + 1),  # beyond the end
        lambda text, i: (1, len(text)),  # the first letter is left out
    ],
    ids=["zero_width", "backwards", "beyond", "gap"],
)
def test_untrusted_spans_fall_back_to_the_token_prefix(spans):
    e = encoded(BadOffsets(spans), "The nurse left.", "He was tired.")
    assert Flag.SPANS_UNTRUSTED in e.flags
    assert len(e.ids) - e.first == 3
    assert e.spans == [(-1, -1)] * 3
    assert e.words == [-1] * 3


def test_untrusted_spans_without_a_scored_token_are_refused():
    class Same(BadOffsets):
        def __call__(self, text, **options):
            return super().__call__("always the same", **options)

    text = make_text("The nurse left.", "He was tired.")
    result = encode(Same(lambda text, i: (0, 0)), text, None)
    assert isinstance(result, Unscored)
    assert result.reason == Reason.NO_SCORED_TOKEN


# What stands before the first token


@everywhere
def test_an_empty_context_scores_every_token(tokenizer):
    e = encoded(tokenizer, "", "He was tired.")
    content = tokenizer("He was tired.", add_special_tokens=False).input_ids
    assert e.ids[e.first :] == content
    assert e.first == 1


def test_the_tokenizer_decides_about_bos():
    assert (
        byte_level_bpe(add_bos=True).bos_token_id
        == encoded(byte_level_bpe(add_bos=True), "The nurse left.", "He").ids[0]
    )
    without = encoded(byte_level_bpe(), "The nurse left.", "He")
    assert byte_level_bpe().bos_token_id not in without.ids
    for tokenizer in (byte_level_bpe(add_bos=True), unigram_metaspace()):
        ids = encoded(tokenizer, "The nurse left.", "He").ids
        assert ids.count(tokenizer.bos_token_id) == 1


def test_without_bos_the_end_token_stands_in_front_of_an_empty_context():
    tokenizer = byte_level_bpe(bos=False)
    assert encoded(tokenizer, "", "He").ids[0] == tokenizer.eos_token_id


def test_without_bos_and_eos_an_empty_context_is_refused():
    result = encode(byte_level_bpe(bos=False, eos=False), make_text("", "He was tired."), None)
    assert isinstance(result, Unscored)
    assert result.reason == Reason.NO_PREFIX
    assert isinstance(
        encode(byte_level_bpe(bos=False, eos=False), make_text("The nurse", "left."), None), Encoded
    )


def test_an_end_token_that_the_tokenizer_appends_is_never_scored():
    plain = encoded(byte_level_bpe(), "The nurse left.", "He was tired.")
    ending = encoded(byte_level_bpe(add_eos=True), "The nurse left.", "He was tired.")
    assert (ending.ids, ending.first) == (plain.ids, plain.first)


@pytest.mark.parametrize(
    ("tokenizer", "literal"),
    [
        (byte_level_bpe(), "<|endoftext|>"),
        (unigram_metaspace(), "</s>"),
        (word_piece(), "[MASK]"),
    ],
    ids=["bpe", "unigram", "word_piece"],
)
def test_a_special_token_spelled_in_the_text_is_flagged(tokenizer, literal):
    e = encoded(tokenizer, "The nurse left.", f"He wrote {literal} twice.")
    assert Flag.SPECIAL_LITERAL in e.flags
    assert Flag.SPECIAL_LITERAL not in encoded(tokenizer, "The nurse left.", "He wrote.").flags


def test_an_unknown_word_is_no_special_token():
    assert encoded(word_piece(), "The nurse left.", "He 𠮷").flags == ()


def test_an_empty_continuation_is_refused():
    for tokenizer in TOKENIZERS.values():
        result = encode(tokenizer, make_text("The nurse left.", " \t"), None)
        assert isinstance(result, Unscored)
        assert result.reason == Reason.EMPTY_CONTINUATION


@pytest.mark.parametrize(("length", "fits"), [(15, True), (16, True), (17, False), (40, False)])
def test_a_text_beyond_the_window_is_flagged(length, fits):
    text = make_text("ab", "x" * (length - 3))
    result = encode(letters(), text, 16)
    assert isinstance(result, Encoded) == fits
    if isinstance(result, Unscored):
        assert result.reason == Reason.TOO_LONG
        assert f"{length} tokens" in result.detail


# Words


def test_words_have_their_edge_punctuation_split_off():
    text = "(He left.) It's 'fine'…"
    assert [text[a:b] for a, b in word_spans(text)] == [
        "(", "He", "left", ".)", "It's", "'", "fine", "'…",
    ]  # fmt: skip


def test_each_token_knows_its_word():
    text = "He was tired."
    words = word_spans(text)
    assert words_of([(0, 2), (2, 6), (6, 9), (9, 12), (12, 13)], words) == [0, 1, 2, 2, 3]
    assert words_of([(0, 2), (2, 3), (3, 6)], words) == [0, -1, 1]


@given(st.text(alphabet="ab .,'", max_size=30))
def test_words_cover_all_but_spaces_once(text):
    marks = [0] * len(text)
    for start, end in word_spans(text):
        assert start < end
        for i in range(start, end):
            marks[i] += 1
    assert marks == [0 if c.isspace() else 1 for c in text]


readable = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)


@given(readable, readable)
def test_whatever_the_text_the_scored_part_is_the_continuation(context, continuation):
    """Byte-level BPE is lossless, so the scored ids must decode to the continuation exactly."""
    tokenizer = byte_level_bpe()
    text = make_text(context, continuation)
    result = encode(tokenizer, text, None)
    if isinstance(result, Unscored):
        assert not text.continuation
        return
    if Flag.SPECIAL_LITERAL in result.flags:
        return
    decoded = tokenizer.decode(result.ids[result.first :], clean_up_tokenization_spaces=False)
    assert decoded.removeprefix(" " if text.context else "") == text.continuation


def test_a_token_that_the_model_does_not_know_is_refused_by_name():
    tokenizer = byte_level_bpe()
    text = make_text("The nurse left.", "He wrote <|endoftext|> twice.")
    result = encode(tokenizer, text, None, n_embeddings=1)
    assert isinstance(result, Unscored)
    assert result.reason == Reason.NO_EMBEDDING
    assert isinstance(encode(tokenizer, text, None, n_embeddings=len(tokenizer)), Encoded)


@pytest.mark.parametrize("continuation", ["김 was tired.", "한글", "é left", "ą́ left"])
def test_composed_and_decomposed_spellings_score_the_same_tokens(continuation):
    """A normaliser composes them, so both members of a pair must be located by one rule."""
    tokenizer = unigram_metaspace()
    spellings = [unicodedata.normalize(form, continuation) for form in ("NFC", "NFD")]
    composed, decomposed = (encoded(tokenizer, "The nurse left.", s) for s in spellings)
    assert composed.ids == decomposed.ids
    assert composed.first == decomposed.first
    assert composed.flags == decomposed.flags == ()


def test_a_lone_space_token_is_scored_by_neither_rule():
    class LoneSpace(BadOffsets):
        """Every space is a token of its own, also one at the end."""

        def __call__(self, text, **_):
            pieces = [piece for piece in re.split("( )", text) if piece]
            return Answer(
                {
                    "input_ids": [1 + sum(map(ord, piece)) for piece in pieces],
                    "offset_mapping": [(0, 0)] * len(pieces),
                    "special_tokens_mask": [0] * len(pieces),
                }
            )

    e = encoded(LoneSpace(lambda text, i: (0, 0)), "The nurse left.", "He was tired.")
    assert Flag.SPANS_UNTRUSTED in e.flags
    assert len(e.ids) - e.first == 5  # He, space, was, space, tired.
