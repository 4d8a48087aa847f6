"""Pseudo-log-likelihoods against a naive loop and against numbers known by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers
from transformers import (
    AutoModelForMaskedLM,
    BigBirdConfig,
    IBertConfig,
    PreTrainedTokenizerFast,
)

from core.errors import CanaryFailed
from core.items.texts import join, make_text
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.models.opening import open_model
from core.scoring.canaries import check_model, choose_layout
from core.scoring.encoding import encode_masked, special_policy
from core.scoring.logprobs import Layout
from core.scoring.masked import VARIANTS, mask_copies
from core.scoring.texts import score_texts
from core.types import Flag, Reason, TokenScore
from tests.bigram import masked_bigram_logprob, masked_bigram_model
from tests.tiny_models import MASKED_FAMILIES, tiny_language_model, tiny_model
from tests.tiny_tokenizers import byte_level_bpe, letters, unigram_metaspace, word_piece

TEXTS = [
    make_text("", "The nurse finished the night shift."),
    make_text("", "The doctor finished the night shift."),
    make_text("", "exhausted grandfather"),
    make_text("", "He"),
    make_text("", "The grandson called. He was tired, and hello world."),
    make_text("The nurse was here.", "She was exhausted."),
]


def scores_of(language_model, texts, **options):
    batches = score_texts(language_model, texts, **options)
    outcomes = {o.text_id: o for batch in batches for o in batch}
    return [outcomes[t.text_id] for t in texts]


def tiny(family: str, tokenizer=None) -> LanguageModel:
    tokenizer = tokenizer or word_piece()
    pad = tokenizer.pad_token_id
    return tiny_language_model(family, tokenizer, window=60, pad_token_id=pad)


def letters_with_mask() -> PreTrainedTokenizerFast:
    backend = Tokenizer.from_str(letters().backend_tokenizer.to_str())
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<bos>", mask_token="<mask>")


def naive(language_model: LanguageModel, text, variant: str) -> list[float]:
    """One token, one forward pass, one softmax at a time, in float64."""
    tokenizer = language_model.tokenizer
    whole = tokenizer(join(text.context, text.continuation), return_offsets_mapping=True)
    words = whole.word_ids()
    start = len(text.context) + 1 if text.context else 0
    values = []
    for i, (_, end) in enumerate(whole.offset_mapping):
        if words[i] is None or end <= start:
            continue
        ids = torch.tensor([whole.input_ids])
        ids[0, i] = tokenizer.mask_token_id
        if variant == "within_word_l2r":
            for j in range(i + 1, len(words)):
                if words[j] == words[i]:
                    ids[0, j] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = language_model.model(ids).logits[0, i].double()
        values.append(float(logits.log_softmax(-1)[whole.input_ids[i]]))
    return values


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("family", MASKED_FAMILIES)
def test_scores_equal_a_naive_loop(family, layout, variant):
    language_model = tiny(family)
    scores = scores_of(language_model, TEXTS, layout=layout, variant=variant)
    for text, score in zip(TEXTS, scores, strict=True):
        np.testing.assert_allclose(score.logprobs, naive(language_model, text, variant), atol=1e-5)


@pytest.mark.parametrize("tokenizer", [byte_level_bpe(), unigram_metaspace()])
@pytest.mark.parametrize("variant", VARIANTS)
def test_other_tokenizers_too(tokenizer, variant):
    """One without any special token around a text, one with a BOS only."""
    language_model = tiny("bert", tokenizer)
    for text, score in zip(TEXTS, scores_of(language_model, TEXTS, variant=variant), strict=True):
        ids = tokenizer(text.continuation, add_special_tokens=False).input_ids
        if not text.context:
            assert score.token_ids.tolist() == ids
        np.testing.assert_allclose(score.logprobs, naive(language_model, text, variant), atol=1e-5)


def test_hand_values_of_both_variants():
    """A neighbour that is masked too counts as the mask."""
    language_model = masked_bigram_model(word_piece())
    tokenizer = language_model.tokenizer
    ids = tokenizer("finishing", add_special_tokens=False).input_ids
    assert len(ids) >= 3
    around = [tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]
    mask = tokenizer.mask_token_id
    table = language_model.model.table
    (original,) = scores_of(language_model, [make_text("", "finishing")])
    (left_to_right,) = scores_of(
        language_model, [make_text("", "finishing")], variant="within_word_l2r"
    )
    for k in range(len(ids)):
        before, token, after = around[k : k + 3]
        by_hand = masked_bigram_logprob(table, before, after, token)
        assert original.logprobs[k] == pytest.approx(by_hand, abs=1e-5)
        last = k == len(ids) - 1
        by_hand = masked_bigram_logprob(table, before, after if last else mask, token)
        assert left_to_right.logprobs[k] == pytest.approx(by_hand, abs=1e-5)


def test_only_the_variant_masks_the_rest_of_the_word():
    e = encode_masked(word_piece(), make_text("", "finishing was"), None)
    mask = word_piece().mask_token_id
    n_pieces = e.tokenizer_words.count(e.tokenizer_words[0])
    assert n_pieces >= 3
    assert [ids.count(mask) for ids, _ in mask_copies(e, mask, "original")] == [1] * e.n_scored
    masked = [ids.count(mask) for ids, _ in mask_copies(e, mask, "within_word_l2r")]
    assert masked[:n_pieces] == list(range(n_pieces, 0, -1))


def test_special_tokens_are_never_scored():
    for tokenizer in (word_piece(), unigram_metaspace(add_eos=True), byte_level_bpe()):
        (score,) = scores_of(tiny("bert", tokenizer), [make_text("", "He was tired.")])
        assert (
            score.token_ids.tolist()
            == tokenizer("He was tired.", add_special_tokens=False).input_ids
        )
    assert special_policy(word_piece()) == "adds [CLS] ... [SEP]"
    assert special_policy(byte_level_bpe()) == "adds nothing"


def test_a_mask_that_the_text_spells_stays_where_it_is():
    tokenizer = word_piece()
    text = make_text("", "The [MASK] was tired.")
    e = encode_masked(tokenizer, text, None)
    assert e.flags == (Flag.SPECIAL_LITERAL,)
    mask = tokenizer.mask_token_id
    own = e.targets.index(mask)
    for k, (ids, at) in enumerate(mask_copies(e, mask, "original")):
        assert ids.count(mask) == (1 if k == own else 2)
        assert at == e.first + k
    language_model = tiny("bert")
    (score,) = scores_of(language_model, [text])
    np.testing.assert_allclose(score.logprobs, naive_without_words(language_model, text), atol=1e-5)


def naive_without_words(language_model, text) -> list[float]:
    """As `naive`, for a text in which the tokenizer calls a literal no word."""
    ids = language_model.tokenizer(text.continuation).input_ids
    values = []
    for i in range(1, len(ids) - 1):
        copy = torch.tensor([ids])
        copy[0, i] = language_model.tokenizer.mask_token_id
        with torch.no_grad():
            logits = language_model.model(copy).logits[0, i].double()
        values.append(float(logits.log_softmax(-1)[ids[i]]))
    return values


def test_masking_keeps_every_other_id():
    e = encode_masked(byte_level_bpe(), make_text("", "My sister is so tired."), None)
    for ids, at in mask_copies(e, byte_level_bpe().mask_token_id, "original"):
        assert len(ids) == len(e.ids)
        assert [i for i, (a, b) in enumerate(zip(ids, e.ids, strict=True)) if a != b] == [at]


def test_copies_that_two_texts_share_are_computed_once():
    """Sentences that differ in one token are the same where it is masked."""
    language_model = masked_bigram_model(letters_with_mask())
    texts = [make_text("", "abcd"), make_text("", "axcd")]
    scores_of(language_model, texts)
    assert language_model.model.base_model.copies == 7


def test_running_out_of_memory_loses_only_what_never_fits():
    language_model = masked_bigram_model(letters_with_mask())
    texts = [make_text("", "abcdefg"[:n]) for n in range(2, 8)] + [make_text("", "x" * 40)]
    expected = scores_of(language_model, texts)
    body = language_model.model.base_model
    forward = body.forward

    def small_memory(input_ids, **options):
        if input_ids.numel() > 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **options)

    body.forward = small_memory
    results = scores_of(language_model, texts, budget=TokenBudget(100))
    assert results[-1].reason == Reason.OUT_OF_MEMORY
    for a, b in zip(results[:-1], expected[:-1], strict=True):
        assert np.array_equal(a.logprobs, b.logprobs)


def test_a_roberta_of_514_positions_takes_512_tokens():
    model = tiny_model("roberta", len(word_piece()), max_position_embeddings=18, pad_token_id=1)
    language_model = replace(tiny("roberta"), model=model, window=16)
    fits, too_long = scores_of(
        language_model, [make_text("", "He " * 14), make_text("", "He " * 15)]
    )
    assert isinstance(fits, TokenScore)
    assert too_long.reason == Reason.TOO_LONG


# Self-checks


@pytest.mark.parametrize("family", MASKED_FAMILIES)
def test_every_family_passes_and_is_computed_packed(family):
    language_model = tiny(family)
    check_model(language_model)
    assert choose_layout(language_model) == (Layout.PACKED, ())


def test_a_tokenizer_without_a_mask_is_refused():
    with pytest.raises(CanaryFailed, match="has no mask token"):
        check_model(tiny("bert", letters()))


def test_a_model_that_looks_back_only_is_refused():
    with pytest.raises(CanaryFailed, match="does not look at what follows"):
        check_model(masked_bigram_model(word_piece(), looks_ahead=False))


def test_a_head_of_an_unknown_kind_is_left_to_the_model():
    language_model = tiny("bert")
    model = language_model.model
    stranger = SimpleNamespace(
        base_model=model.base_model,
        get_input_embeddings=model.get_input_embeddings,
        config=model.config,
    )

    class Stranger:
        def __getattr__(self, name):
            return getattr(stranger, name)

        def __call__(self, **inputs):
            return model(**inputs)

    unknown = replace(language_model, model=Stranger())
    layout, notes = choose_layout(unknown)
    assert layout is Layout.PADDED
    assert "of an unknown kind" in notes[0]
    for a, b in zip(
        scores_of(unknown, TEXTS, layout=layout), scores_of(language_model, TEXTS), strict=True
    ):
        np.testing.assert_allclose(a.logprobs, b.logprobs, atol=1e-5)


def test_a_tokenizer_without_words_of_its_own_masks_no_other_word():
    """Its whole sentence is one word of the tokenizer's: spaces part it instead."""
    backend = Tokenizer.from_str(unigram_metaspace().backend_tokenizer.to_str())
    backend.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, mask_token="<mask>")
    text = make_text("", "The nurse finished the night shift.")
    e = encode_masked(tokenizer, text, None)
    assert len({word for word, _ in e.tokenizer_words}) == 1
    spaces = [text.continuation[:end].count(" ") for _, end in e.spans]
    for k, (ids, _) in enumerate(mask_copies(e, tokenizer.mask_token_id, "within_word_l2r")):
        hidden = [j for j in range(e.n_scored) if ids[e.first + j] == tokenizer.mask_token_id]
        assert hidden[0] == k
        assert {spaces[j] for j in hidden} == {spaces[k]}


def test_a_models_sparse_attention_does_not_depend_on_what_it_read_before(tmp_path):
    """BigBird leaves block-sparse attention for good with the first short text."""
    tokenizer = word_piece()
    model = AutoModelForMaskedLM.from_config(
        BigBirdConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=128, block_size=4, num_random_blocks=1,
            attention_type="block_sparse", pad_token_id=0,
        )
    )  # fmt: skip
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    opened = [open_model(str(tmp_path), models_folder=tmp_path, kind="masked") for _ in range(2)]
    assert opened[0].attention == "eager, full"
    long = make_text("", "The nurse finished the night shift. " * 8)
    check_model(opened[0])
    (after,) = scores_of(opened[0], [long], layout=Layout.SINGLE)
    (before,) = scores_of(opened[1], [long], layout=Layout.SINGLE)
    assert np.array_equal(before.logprobs, after.logprobs)


def test_positions_of_a_kind_of_their_own_count_from_the_padding_too(tmp_path):
    """I-BERT keeps its positions in no plain embedding."""
    tokenizer = word_piece()
    config = IBertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64, pad_token_id=4,
    )  # fmt: skip
    AutoModelForMaskedLM.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert open_model(str(tmp_path), models_folder=tmp_path, kind="masked").window == 59
