"""What the benchmark of masked scoring measures with; nothing is timed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from transformers import BertTokenizer

from benchmarks import masked_texts
from benchmarks.masked_texts import distinct_sentences, save_random_bert, template_pairs
from core.items.texts import make_text
from core.scoring.encoding import encode_masked
from core.scoring.masked import mask_copies

SENTENCES = distinct_sentences(60)


@pytest.fixture
def tokenizer(tmp_path, monkeypatch):
    """The tokenizer of all sentences, saved beside a model of no size."""
    small = masked_texts.BertConfig(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1
    )
    monkeypatch.setattr(masked_texts, "BertConfig", lambda **_: small)
    save_random_bert(tmp_path, [*SENTENCES, *(s for pair in template_pairs(384) for s in pair)])
    return BertTokenizer.from_pretrained(tmp_path)


def encoded(tokenizer, sentences):
    return [encode_masked(tokenizer, make_text("", s), 512) for s in sentences]


def test_distinct_sentences_share_no_copy_and_have_8_to_28_tokens(tokenizer):
    texts = encoded(tokenizer, SENTENCES)
    copies = [c for e in texts for c in mask_copies(e, tokenizer.mask_token_id, "original")]
    assert len(set(copies)) == len(copies)
    assert all(8 <= len(e.spans) <= 28 for e in texts)


def test_no_two_distinct_sentences_differ_in_one_word_only():
    for one, other in combinations([s.split() for s in SENTENCES], 2):
        assert len(one) != len(other) or sum(a != b for a, b in zip(one, other, strict=True)) > 1


def test_each_template_sentence_occurs_in_three_pairs():
    pairs = template_pairs(384)
    assert len(set(pairs)) == len(pairs) == 384
    assert set(Counter(s for pair in pairs for s in pair).values()) == {3}


def test_tokenizer_knows_every_piece_and_splits_some_words(tokenizer):
    texts = [*SENTENCES, *(s for pair in template_pairs(384) for s in pair)]
    pieces = [piece for text in texts for piece in tokenizer.tokenize(text)]
    assert len(tokenizer) == 30_522
    assert "[UNK]" not in pieces
    assert 0 < sum(piece.startswith("##") for piece in pieces) < 0.1 * len(pieces)
