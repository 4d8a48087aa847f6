"""Causal scoring against log-probabilities known by hand, a naive loop and single texts."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from core.errors import CanaryFailed
from core.items.texts import join, make_text
from core.models import packing
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.scoring.canaries import check_known_scores, choose_layout
from core.scoring.causal_canaries import check_causal
from core.scoring.encoding import bos_policy
from core.scoring.logprobs import Layout, token_logprobs
from core.scoring.probes import PROBES, same_but_for_rounding
from core.scoring.texts import score_texts
from core.scoring.version import SCORING_VERSION
from core.types import Reason, TokenScore, Unscored
from tests.bigram import bigram_logprob, bigram_model, bigram_table
from tests.tiny_models import CAUSAL_FAMILIES, tiny_language_model
from tests.tiny_tokenizers import byte_level_bpe, letters

GOLDEN = Path(__file__).parents[1] / "golden" / "causal.json"

TEXTS = [
    make_text("The nurse finished.", "He was tired."),
    make_text("The nurse finished.", "She was tired."),
    make_text("", "The capital is Paris."),
    make_text("The doctor said that he was tired and she was exhausted.", "12 x"),
    make_text("أنهت الممرضة نوبتها الليلية.", "كانت متعبة."),
    make_text("护士下了夜班。", "她很累。"),
    make_text("नर्स ने", "क्षमा 𠮷 👩‍🚀"),
    make_text("Who called?", "The grandson"),
]


def scores_of(language_model, texts, **options):
    batches = score_texts(language_model, texts, **options)
    outcomes = {o.text_id: o for batch in batches for o in batch}
    return [outcomes[t.text_id] for t in texts]


def tiny(family: str, tokenizer, **config) -> LanguageModel:
    return tiny_language_model(family, tokenizer, window=64, **config)


# Known answers


def test_bigram_means_are_the_hand_computed_ones():
    """The mean runs over exactly the continuation: (log P(c| ) + log P(d|c) + log P(e|d)) / 3."""
    tokenizer = letters()
    table = bigram_table(len(tokenizer))
    (score,) = scores_of(bigram_model(tokenizer), [make_text("ab", "cde")])
    space, c, d, e = tokenizer.convert_tokens_to_ids([" ", "c", "d", "e"])
    by_hand = [bigram_logprob(table, *pair) for pair in [(space, c), (c, d), (d, e)]]
    assert score.n_scored == 3
    np.testing.assert_allclose(score.logprobs, by_hand, atol=1e-6)
    assert score.mean == pytest.approx(sum(by_hand) / 3, abs=1e-6)
    assert score.total == pytest.approx(sum(by_hand), abs=1e-6)
    assert [(int(a), int(b)) for a, b in zip(score.starts, score.ends, strict=True)] == [
        (3, 4), (4, 5), (5, 6),
    ]  # fmt: skip


def test_a_one_token_continuation_has_a_score():
    tokenizer = letters()
    table = bigram_table(len(tokenizer))
    (score,) = scores_of(bigram_model(tokenizer), [make_text("ab", "c")])
    space, c = tokenizer.convert_tokens_to_ids([" ", "c"])
    assert score.n_scored == 1
    assert score.mean == pytest.approx(bigram_logprob(table, space, c), abs=1e-6)


def test_a_sentence_alone_is_scored_from_its_first_token():
    tokenizer = letters()
    table = bigram_table(len(tokenizer))
    (score,) = scores_of(bigram_model(tokenizer), [make_text("", "abc")])
    bos, a, b, c = tokenizer.convert_tokens_to_ids(["<bos>", "a", "b", "c"])
    by_hand = [bigram_logprob(table, *pair) for pair in [(bos, a), (a, b), (b, c)]]
    np.testing.assert_allclose(score.logprobs, by_hand, atol=1e-6)


def test_swapping_he_and_she_changes_the_score():
    he, she = scores_of(bigram_model(byte_level_bpe()), TEXTS[:2])
    assert he.mean != she.mean


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_scores_equal_a_naive_loop(family):
    """One text, one position, one softmax at a time, in float64."""
    language_model = tiny(family, byte_level_bpe())
    for text, score in zip(TEXTS, scores_of(language_model, TEXTS), strict=True):
        ids = language_model.tokenizer(join(text.context, text.continuation)).input_ids
        if not text.context:
            ids = [language_model.tokenizer.bos_token_id, *ids]
        with torch.no_grad():
            logits = language_model.model(torch.tensor([ids])).logits[0].double()
        naive = [
            float(logits[i - 1, ids[i]] - torch.logsumexp(logits[i - 1], -1))
            for i in range(len(ids) - score.n_scored, len(ids))
        ]
        np.testing.assert_allclose(score.logprobs, naive, atol=1e-5)


# Neither neighbours, nor padding, nor order


@pytest.mark.parametrize("padding_side", ["left", "right"])
@pytest.mark.parametrize("layout", [Layout.PACKED, Layout.PADDED])
@pytest.mark.parametrize("family", CAUSAL_FAMILIES)
def test_a_batch_scores_as_single_texts(family, layout, padding_side):
    tokenizer = byte_level_bpe()
    tokenizer.padding_side = padding_side
    language_model = tiny(family, tokenizer)
    alone = scores_of(language_model, TEXTS, layout=Layout.SINGLE)
    for budget in (1, 60, 4096):
        together = scores_of(language_model, TEXTS, layout=layout, budget=TokenBudget(budget))
        for a, b in zip(alone, together, strict=True):
            np.testing.assert_allclose(a.logprobs, b.logprobs, atol=1e-5)
    order = random.Random(0).sample(TEXTS, len(TEXTS))
    shuffled = dict(zip(order, scores_of(language_model, order), strict=True))
    for text, a in zip(TEXTS, alone, strict=True):
        np.testing.assert_allclose(a.logprobs, shuffled[text].logprobs, atol=1e-5)


def test_the_same_call_twice_gives_the_same_bits():
    language_model = tiny("llama", byte_level_bpe())
    language_model.model.to(torch.bfloat16)
    first, second = scores_of(language_model, TEXTS), scores_of(language_model, TEXTS)
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.logprobs, b.logprobs)


def test_log_softmax_is_taken_in_float32():
    logits = torch.randn(5, 50_000, generator=torch.Generator().manual_seed(0)).bfloat16()
    targets = torch.arange(5)
    expected = logits.double().log_softmax(-1)[torch.arange(5), targets]
    result = token_logprobs(logits, torch.arange(5), targets)
    assert result.dtype == torch.float32
    torch.testing.assert_close(result.double(), expected, atol=1e-5, rtol=1e-6)
    near = torch.tensor([[0.0, 5.0, 5.03125]]).bfloat16().repeat(2, 1)
    a, b = token_logprobs(near, torch.tensor([0, 1]), torch.tensor([1, 2]))
    assert float(b - a) == pytest.approx(0.03125, abs=1e-5)


def test_eight_threads_share_one_model():
    from concurrent.futures import ThreadPoolExecutor

    language_model = tiny("llama", byte_level_bpe())
    serial = [scores_of(language_model, [t])[0].logprobs for t in TEXTS]
    with ThreadPoolExecutor(8) as pool:
        parallel = list(pool.map(lambda t: scores_of(language_model, [t])[0].logprobs, TEXTS * 4))
    for a, b in zip(serial * 4, parallel, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


# What cannot be scored is named, and the rest goes on


def test_texts_that_cannot_be_scored_leave_the_others_alone():
    texts = [make_text("ab", "cde"), make_text("ab", " "), make_text("ab", "x" * 30)]
    good, empty, long = scores_of(bigram_model(letters(), window=16), texts)
    assert isinstance(good, TokenScore)
    assert empty.reason == Reason.EMPTY_CONTINUATION
    assert long.reason == Reason.TOO_LONG


def test_the_window_is_the_last_length_that_fits():
    texts = [make_text("ab", "x" * n) for n in (12, 13, 14)]  # 15, 16, 17 tokens
    short, exact, long = scores_of(bigram_model(letters(), window=16), texts)
    assert (short.n_scored, exact.n_scored) == (12, 13)
    assert isinstance(long, Unscored)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_logits_that_are_not_finite_are_no_score(bad):
    tokenizer = letters()
    table = bigram_table(len(tokenizer))
    table[tokenizer.convert_tokens_to_ids("q")] = bad
    good, broken = scores_of(
        bigram_model(tokenizer, table=table), [make_text("ab", "cd"), make_text("ab", "qu")]
    )
    assert isinstance(good, TokenScore)
    assert broken.reason == Reason.NOT_FINITE


@pytest.mark.parametrize("layout", Layout)
def test_running_out_of_memory_halves_the_batch_and_loses_nothing(layout):
    language_model = bigram_model(letters())
    body = language_model.model.base_model
    forward = body.forward

    def small_memory(input_ids, **options):
        if input_ids.shape[0] > 2 or input_ids.shape[1] > 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(input_ids, **options)

    texts = [make_text("ab", "cd" * n) for n in range(1, 8)] + [make_text("ab", "x" * 40)]
    expected = scores_of(language_model, texts)
    body.forward = small_memory
    results = scores_of(language_model, texts, layout=layout)
    assert results[-1].reason == Reason.OUT_OF_MEMORY
    for a, b in zip(results[:-1], expected[:-1], strict=True):
        assert np.array_equal(a.logprobs, b.logprobs)


# Canaries


@pytest.mark.parametrize("family", CAUSAL_FAMILIES)
def test_every_causal_family_passes_the_canaries(family):
    language_model = tiny(family, byte_level_bpe())
    check_causal(language_model)
    layout, notes = choose_layout(language_model)
    assert layout is (Layout.PADDED if family == "bloom" else Layout.PACKED)
    assert (notes == ()) is (layout is Layout.PACKED)


@pytest.mark.parametrize("sliding_window", [12, 40, 120])
def test_a_sliding_window_that_is_known_does_not_stop_packing(sliding_window):
    language_model = tiny("mistral", byte_level_bpe(), sliding_window=sliding_window)
    assert choose_layout(replace(language_model, window=128)) == (Layout.PACKED, ())


def test_a_model_that_looks_ahead_is_refused():
    language_model = tiny("llama", byte_level_bpe())
    forward = language_model.model.forward

    def looks_ahead(input_ids, **options):
        logits = forward(input_ids, **options).logits
        return SimpleNamespace(logits=logits + logits.flip(1))

    language_model.model.forward = looks_ahead
    with pytest.raises(CanaryFailed, match="later"):
        check_causal(language_model)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named_as_the_reason(value):
    language_model = tiny("llama", byte_level_bpe())
    language_model.model.lm_head.weight.data[7] = value
    with pytest.raises(CanaryFailed, match="gives values that are not numbers in float32"):
        check_causal(language_model)


def test_a_model_that_sees_padding_is_scored_one_text_at_a_time():
    language_model = tiny("llama", byte_level_bpe())
    body = language_model.model.model
    forward = body.forward

    def sees_padding(input_ids, **options):
        output = forward(input_ids, **options)
        share = (input_ids == 0).float().mean(1)[:, None, None]
        output.last_hidden_state = output.last_hidden_state * (1 + share)
        return output

    body.forward = sees_padding
    layout, notes = choose_layout(language_model)
    assert layout is Layout.SINGLE
    assert "one at a time" in notes[0]


def test_a_model_whose_numbers_depend_on_the_batch_is_scored_one_text_at_a_time():
    language_model = replace(tiny("llama", byte_level_bpe()), depends_on_batch=True)
    assert choose_layout(language_model)[0] is Layout.SINGLE


@pytest.mark.parametrize(
    ("family", "name"), [("llama", "max_position_embeddings"), ("gpt2", "n_positions")]
)
def test_a_layer_that_looks_back_less_far_than_its_config_says_is_noticed(
    family, name, monkeypatch
):
    """A short-sighted layer sees no difference in short texts; the long probe tells."""
    language_model = replace(tiny(family, byte_level_bpe(), **{name: 512}), window=512)
    body = language_model.model.base_model
    forward = body.forward

    def short_sighted(input_ids, attention_mask=None, **options):
        seen = torch.ones(input_ids.shape[1], input_ids.shape[1], dtype=torch.bool).tril()
        seen = (seen & ~seen.tril(-100))[None, None]  # along the row, whatever the texts are
        given = attention_mask is not None and attention_mask.dim() == 4
        mask = seen & attention_mask if given else seen
        return forward(input_ids, attention_mask=mask, **options)

    body.forward = short_sighted
    layout, notes = choose_layout(language_model)
    assert layout is Layout.PADDED
    assert "Packed scores differ" in notes[0]
    monkeypatch.setattr(packing, "LONGEST_ROW", 40)  # rows that short are right
    assert choose_layout(language_model)[0] is Layout.PACKED


def test_scores_that_the_cache_holds_must_come_out_again():
    language_model = tiny("llama", byte_level_bpe())
    texts = list(PROBES)
    known = list(zip(texts, scores_of(language_model, texts), strict=True))
    check_known_scores(language_model, known)
    check_known_scores(language_model, [])
    text, score = known[0]
    moved = replace(score, logprobs=score.logprobs + np.float32(0.01))
    with pytest.raises(CanaryFailed, match="no longer gives"):
        check_known_scores(language_model, [(text, moved)])
    other_tokens = replace(score, token_ids=score.token_ids + 1)
    with pytest.raises(CanaryFailed):
        check_known_scores(language_model, [(text, other_tokens)])


def test_rounding_in_bfloat16_puts_no_model_on_the_slow_path():
    """Single tokens differ by more than the mean may; a leak across branches moves all of them."""
    language_model = tiny("llama", byte_level_bpe())
    language_model.model.to(torch.bfloat16)
    language_model = replace(language_model, dtype="bfloat16")
    assert choose_layout(language_model)[0] is Layout.PACKED
    a = np.zeros(20, dtype=np.float32)
    one_rounded, all_moved = a.copy(), a + np.float32(0.06)
    one_rounded[3] = 0.2
    assert same_but_for_rounding(language_model, a, one_rounded)
    assert not same_but_for_rounding(language_model, a, all_moved)
    exactly = replace(language_model, dtype="float32")
    assert not same_but_for_rounding(exactly, a, a + np.float32(2e-4))
    for broken in (np.nan, np.inf):
        one_rounded[3] = broken
        assert not same_but_for_rounding(language_model, a, one_rounded)
        assert not same_but_for_rounding(exactly, a, one_rounded)


# The golden numbers


def fixed_tokenizers() -> list[PreTrainedTokenizerFast]:
    """Byte-level BPE and Unigram written out by hand: training numbers its tokens by chance."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["ĠHe", "ĠShe", "Ġwas", "Ġtired", "The", "Ġnurse", "Ġfinished", "Paris"]
    merges = dict.fromkeys((w[:i], w[i]) for w in words for i in range(1, len(w)))
    vocabulary = ["<s>", *alphabet, *map("".join, merges)]
    bpe = Tokenizer(models.BPE({token: i for i, token in enumerate(vocabulary)}, list(merges)))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.post_processor = processors.ByteLevel(trim_offsets=False)
    characters = sorted({c for t in TEXTS for c in join(t.context, t.continuation)} - {" "})
    pieces = [("<s>", 0.0), ("▁", -3.0), *((c, -5.0) for c in characters)]
    pieces += [(f"▁{word}", -4.0) for word in ("He", "was", "tired", "nurse", "capital")]
    unigram = Tokenizer(models.Unigram(pieces, unk_id=0))
    unigram.normalizer = normalizers.NFKC()
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    unigram.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    return [PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>") for t in (bpe, unigram)]


def golden_scores() -> list[dict[str, object]]:
    """Bigram scores of all texts under fixed tokenizers: no random number takes part."""
    rows = []
    for tokenizer in fixed_tokenizers():
        language_model = bigram_model(tokenizer)
        rows += [
            {
                "text_id": score.text_id,
                "bos": bos_policy(tokenizer),
                "tokens": tokenizer.convert_ids_to_tokens(score.token_ids.tolist()),
                "logprobs": [round(float(x), 5) for x in score.logprobs],
                "flags": list(score.flags),
            }
            for score in scores_of(language_model, TEXTS)
        ]
    return rows


def test_log_probabilities_change_only_with_the_scoring_version():
    """If this fails, raise SCORING_VERSION and add its numbers to the file; never edit old ones.

    `python -m tests.scoring.test_scoring` adds the numbers of a new version.
    """
    golden = json.loads(GOLDEN.read_text())
    assert max(map(int, golden)) == SCORING_VERSION
    expected = golden[str(SCORING_VERSION)]
    for row, new in zip(expected, golden_scores(), strict=True):
        assert {k: v for k, v in row.items() if k != "logprobs"} == {
            k: v for k, v in new.items() if k != "logprobs"
        }
        np.testing.assert_allclose(new["logprobs"], row["logprobs"], atol=2e-5)
    versions = [json.dumps(numbers) for numbers in golden.values()]
    assert len(set(versions)) == len(versions)


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    numbers = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    numbers.setdefault(str(SCORING_VERSION), golden_scores())
    GOLDEN.write_text(json.dumps(numbers, ensure_ascii=False, indent=1) + "\n")
