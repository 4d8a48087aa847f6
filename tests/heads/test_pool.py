"""Pooled head outputs against a naive loop over single texts; nothing stays behind."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from core.errors import ModelError
from core.heads import pool
from core.heads.places import find_heads
from core.heads.pool import PooledOutputs, Unpooled, pooled_outputs
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.types import Reason
from tests.tiny_models import CAUSAL_FAMILIES, HEADS, LAYERS, MASKED_FAMILIES, tiny_language_model
from tests.tiny_tokenizers import byte_level_bpe, letters, unigram_metaspace, word_piece

pytestmark = pytest.mark.usefixtures("one_thread")

TEXTS = [
    "The nurse finished the night shift. He was tired.",
    "He was here.",
    "The doctor said that he was tired and she was exhausted.",
    "a",
    "The capital is Paris.",
    "hello world, hello word",
    "She was tired.",
]
BEGINNINGS = [  # that several texts have in common, one of them whole, one of them twice
    "The nurse finished the night shift. She was exhausted.",
    "The nurse finished the night shift.",
    "The nurse finished the day shift.",
    "The nurse finished the day shift.",
    "The nurse",
]


def tiny(family: str = "llama", tokenizer: Any = None, **config: Any) -> LanguageModel:
    tokenizer = tokenizer or byte_level_bpe(add_bos=True)
    return tiny_language_model(family, tokenizer, window=64, **config)


def pooled(language_model: LanguageModel, texts: Sequence[str], **options: Any) -> np.ndarray:
    """Mean and last of each text, in the order of the texts. (N, P, L, H, D)"""
    places = options.pop("places", None) or find_heads(language_model.model)
    rows: dict[int, np.ndarray] = {}
    for indices, outcome in pooled_outputs(language_model, texts, places=places, **options):
        assert isinstance(outcome, PooledOutputs)
        for k, i in enumerate(indices.tolist()):
            assert i not in rows
            rows[i] = np.stack([outcome.mean[k], outcome.last[k]])
    return np.stack([rows[i] for i in range(len(texts))])


def outcomes(language_model: LanguageModel, texts: Sequence[str], **options: Any) -> list[Any]:
    """Each text's outcome: Unpooled, or its outputs."""
    found: dict[int, Any] = {}
    places = find_heads(language_model.model)
    for indices, outcome in pooled_outputs(language_model, texts, places=places, **options):
        for i in indices.tolist():
            assert i not in found
            found[i] = outcome
    return [found[i] for i in range(len(texts))]


@torch.no_grad()
def raw_outputs(language_model: LanguageModel, ids: Sequence[int]) -> np.ndarray:
    """Head outputs of one text at every token, by the whole model. (T, L, H, D)"""
    places = find_heads(language_model.model)
    kept: list[np.ndarray] = []
    hooks = [
        module.register_forward_hook(
            lambda _, inputs, output: kept.append(inputs[0].reshape(len(ids), -1).double().numpy())
        )
        for module in places.modules
    ]
    language_model.model(input_ids=torch.tensor([ids]))
    for hook in hooks:
        hook.remove()
    return np.stack(kept, axis=1).reshape(len(ids), LAYERS, HEADS, -1)


def naive(language_model: LanguageModel, text: str, start: int = 0, end: int = 0) -> np.ndarray:
    """Mean and last without `start` tokens in front and `end` tokens behind. (P, L, H, D)"""
    ids = language_model.tokenizer(text).input_ids
    raw = raw_outputs(language_model, ids)[start : len(ids) - end]
    return np.stack([raw.mean(axis=0), raw[-1]])


def n_hooks(model: Any) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


# Against the naive loop


@pytest.mark.parametrize("family", CAUSAL_FAMILIES)
@pytest.mark.parametrize("bos", ["in", "out"])
@pytest.mark.parametrize("share", [False, True])
def test_causal_families_give_what_a_loop_over_single_texts_gives(family, bos, share):
    language_model = tiny(family)
    texts = [*TEXTS, *BEGINNINGS]
    expected = [naive(language_model, text, start=int(bos == "out")) for text in texts]
    found = pooled(language_model, texts, bos=bos, share=share)
    assert found.shape == (len(texts), 2, LAYERS, HEADS, 8)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("family", MASKED_FAMILIES)
@pytest.mark.parametrize("bos", ["in", "out"])
def test_masked_families_do_with_both_special_tokens_in_or_out(family, bos):
    language_model = tiny(family, word_piece())
    around = int(bos == "out")
    expected = [naive(language_model, text, start=around, end=around) for text in TEXTS]
    np.testing.assert_allclose(pooled(language_model, TEXTS, bos=bos), expected, atol=1e-5)
    shared = pooled(language_model, TEXTS, bos=bos, share=True)  # asked for, but it sees both ways
    np.testing.assert_allclose(shared, expected, atol=1e-5)


def test_heads_that_share_keys_and_are_wider_have_outputs_of_their_own():
    language_model = tiny("qwen3", head_dim=12)
    found = pooled(language_model, TEXTS)
    assert found.shape == (len(TEXTS), 2, LAYERS, HEADS, 12)
    np.testing.assert_allclose(found, [naive(language_model, t) for t in TEXTS], atol=1e-5)
    assert len(np.unique(found[0, 0, 0].round(6), axis=0)) == HEADS


def test_a_text_is_the_same_alone_and_with_longer_ones():
    language_model = tiny()
    together = pooled(language_model, TEXTS)
    alone = pooled(language_model, TEXTS, budget=TokenBudget(1))
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("side", ["left", "right"])
def test_where_the_tokenizer_would_pad_plays_no_part(side, monkeypatch):
    language_model = tiny(tokenizer=unigram_metaspace())
    monkeypatch.setattr(language_model.tokenizer, "padding_side", side)
    expected = [naive(language_model, text) for text in TEXTS]
    np.testing.assert_allclose(pooled(language_model, TEXTS), expected, atol=1e-5)


def test_a_text_that_holds_the_padding_token_keeps_it():
    language_model = tiny(tokenizer=byte_level_bpe())
    texts = ["He was <|begin|> here", TEXTS[0]]
    assert 0 in language_model.tokenizer(texts[0]).input_ids  # what rows are filled up with
    expected = [naive(language_model, text) for text in texts]
    np.testing.assert_allclose(pooled(language_model, texts), expected, atol=1e-5)


def test_texts_on_both_sides_of_a_change_of_positions_are_kept_apart():
    factors = {"short_factor": [1.0] * 4, "long_factor": [1.0, 1.5, 2.0, 3.0]}
    rope = {"rope_type": "longrope", "rope_theta": 10_000.0, **factors}
    language_model = tiny(
        "phi3",
        letters(),
        original_max_position_embeddings=24,
        rope_parameters=rope | {"original_max_position_embeddings": 24},
    )
    texts = [("abcdefgh" * 5)[:n] for n in (3, 12, 23, 24, 25, 26, 40)]
    expected = [naive(language_model, text) for text in texts]
    np.testing.assert_allclose(pooled(language_model, texts), expected, atol=1e-5)


# Common beginnings


def test_a_common_beginning_is_read_once(monkeypatch):
    language_model = tiny(tokenizer=letters())
    shared, ends = "abcdefgh" * 3, ["xy", "xz", "yz", "zz"]
    widths: list[int] = []
    body = language_model.model.base_model
    forward = body.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        widths.append(kwargs["input_ids"].numel())
        return forward(*args, **kwargs)

    monkeypatch.setattr(body, "forward", counted)
    pooled(language_model, [shared + end for end in ends], share=True)
    assert sum(widths) == len(shared) + len({"x", "xy", "xz", "y", "yz", "z", "zz"})
    pooled(language_model, [shared + end for end in ends])
    assert sum(widths[1:]) == 4 * (len(shared) + 2)


def test_a_branch_without_numbers_takes_no_other_with_it():
    language_model = tiny(tokenizer=letters())
    (bad,) = language_model.tokenizer("q").input_ids
    language_model.model.get_input_embeddings().weight.data[bad] = np.nan
    texts = ["abcdefghx", "abcdefghq", "abcdefghy"]
    places = find_heads(language_model.model)
    for indices, outcome in pooled_outputs(language_model, texts, places=places, share=True):
        if isinstance(outcome, Unpooled):
            assert (indices.tolist(), outcome.reason) == ([1], Reason.NOT_FINITE)
        else:
            assert sorted(indices) == [0, 2]
            expected = [naive(language_model, texts[i]) for i in indices]
            both = np.stack([outcome.mean, outcome.last], axis=1)
            np.testing.assert_allclose(both, expected, atol=1e-5)


def test_texts_of_a_row_that_does_not_fit_are_read_one_at_a_time(monkeypatch):
    language_model = tiny(tokenizer=letters())
    texts = ["abcdefgh" * 2 + end for end in "xyz"]
    expected = [naive(language_model, text) for text in texts]
    body = language_model.model.base_model
    forward = body.forward

    def full(*args: Any, **kwargs: Any) -> Any:
        if kwargs["input_ids"].shape[1] > 17:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return forward(*args, **kwargs)

    monkeypatch.setattr(body, "forward", full)
    found = pooled(language_model, texts, share=True)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_what_a_layer_does_not_look_back_to_is_not_shared():
    language_model = tiny("mistral", letters(), sliding_window=8)
    texts = [("abcdefgh" * 3)[:n] + end for n in (4, 15) for end in "xyz"]
    expected = [naive(language_model, text) for text in texts]
    np.testing.assert_allclose(pooled(language_model, texts, share=True), expected, atol=1e-5)


# Which tokens count


def test_a_trailing_eos_counts_with_the_bos_and_goes_with_it():
    language_model = tiny(tokenizer=byte_level_bpe(add_bos=True, add_eos=True))
    ids = language_model.tokenizer(TEXTS[1]).input_ids
    assert (ids[0], ids[-1]) == (0, 1)
    raw = raw_outputs(language_model, ids)
    inside, outside = (pooled(language_model, TEXTS[1:2], bos=bos)[0] for bos in ("in", "out"))
    np.testing.assert_allclose(inside, [raw.mean(axis=0), raw[-1]], atol=1e-5)
    np.testing.assert_allclose(outside, [raw[1:-1].mean(axis=0), raw[-2]], atol=1e-5)


def test_without_special_tokens_there_is_nothing_to_leave_out():
    language_model = tiny(tokenizer=byte_level_bpe())
    inside, outside = (pooled(language_model, TEXTS, bos=bos) for bos in ("in", "out"))
    np.testing.assert_array_equal(inside, outside)


def test_a_special_token_that_the_text_spells_is_part_of_the_text():
    language_model = tiny(tokenizer=byte_level_bpe(add_bos=True))
    text = "<|begin|> He was here."
    expected = naive(language_model, text, start=1)
    assert language_model.tokenizer(text).input_ids[:2] == [0, 0]
    np.testing.assert_allclose(pooled(language_model, [text], bos="out")[0], expected, atol=1e-5)


# Texts that have none


def test_a_text_longer_than_the_window_is_named_and_not_cut():
    language_model = replace(tiny(tokenizer=letters()), window=20)
    fits, too_long = "a" * 20, "a" * 21
    found = outcomes(language_model, ["abc", too_long, fits])
    assert [type(f) for f in found] == [PooledOutputs, Unpooled, PooledOutputs]
    assert found[1] == Unpooled(
        Reason.TOO_LONG, "21 tokens are more than the model's window of 20."
    )


@pytest.mark.parametrize(
    ("tokenizer", "bos", "reason"),
    [
        (byte_level_bpe(), "in", Reason.NO_SCORED_TOKEN),
        (byte_level_bpe(add_bos=True), "out", Reason.NO_SCORED_TOKEN),
        (byte_level_bpe(add_bos=True), "in", None),
    ],
)
def test_an_empty_text_has_outputs_only_where_a_special_token_counts(tokenizer, bos, reason):
    empty, other = outcomes(tiny(tokenizer=tokenizer), ["", "a"], bos=bos)
    assert getattr(empty, "reason", None) == reason
    assert isinstance(other, PooledOutputs)


def test_a_token_that_the_model_does_not_know_is_named():
    language_model = tiny(tokenizer=letters())
    language_model.model.resize_token_embeddings(60)
    known, unknown = outcomes(language_model, ["AB", "Az"])
    assert isinstance(known, PooledOutputs)
    assert unknown == Unpooled(
        Reason.NO_EMBEDDING, "The model has no embedding for 'z', which the text holds."
    )


def test_a_text_without_numbers_takes_no_other_with_it():
    language_model = tiny(tokenizer=letters())
    (bad,) = language_model.tokenizer("q").input_ids
    language_model.model.get_input_embeddings().weight.data[bad] = np.nan
    texts = ["abc", "aqc", "acbd", "q"]
    found = outcomes(language_model, texts)
    assert [getattr(f, "reason", None) for f in found] == [
        None,
        Reason.NOT_FINITE,
        None,
        Reason.NOT_FINITE,
    ]
    fine = pooled(language_model, ["abc", "acbd"])
    np.testing.assert_allclose(fine, [naive(language_model, t) for t in ("abc", "acbd")], atol=1e-5)


def test_no_text_gives_nothing():
    assert outcomes(tiny(), []) == []


# Batches


def batch_sizes(language_model: LanguageModel, monkeypatch, limit: int = 10**9) -> list[int]:
    """Rows of every pass from now on; one of more than `limit` runs out of memory."""
    sizes: list[int] = []
    body = language_model.model.base_model
    forward = body.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        sizes.append(len(kwargs["input_ids"]))
        result = forward(*args, **kwargs)
        if sizes[-1] > limit:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return result

    monkeypatch.setattr(body, "forward", counted)
    return sizes


def test_a_batch_that_does_not_fit_is_halved(monkeypatch):
    language_model = tiny()
    expected = pooled(language_model, TEXTS)
    sizes = batch_sizes(language_model, monkeypatch, limit=2)
    np.testing.assert_allclose(pooled(language_model, TEXTS), expected, atol=1e-5)
    assert max(sizes) > 2
    assert n_hooks(language_model.model) == 0


def test_what_does_not_fit_even_alone_is_named(monkeypatch):
    language_model = tiny()
    batch_sizes(language_model, monkeypatch, limit=0)
    assert {f.reason for f in outcomes(language_model, TEXTS)} == {Reason.OUT_OF_MEMORY}


def test_a_model_that_depends_on_its_batch_reads_one_text_at_a_time(monkeypatch):
    language_model = replace(tiny(), depends_on_batch=True)
    sizes = batch_sizes(language_model, monkeypatch)
    pooled(language_model, TEXTS, budget=TokenBudget(10_000))
    assert sizes == [1] * len(TEXTS)


def test_a_batch_holds_no_more_outputs_than_may_be_held(monkeypatch):
    language_model = tiny()
    expected = pooled(language_model, TEXTS)
    monkeypatch.setattr(pool, "POOLED_BYTES", 3 * 2 * LAYERS * 32 * 4)
    sizes = batch_sizes(language_model, monkeypatch)
    np.testing.assert_allclose(pooled(language_model, TEXTS), expected, atol=1e-5)
    assert max(sizes) == 3


def test_shared_rows_hold_no_more_outputs_than_may_be_held_either(monkeypatch):
    language_model = tiny(tokenizer=letters())
    texts = [first * 6 + end for first in "abcd" for end in "xyz"]  # four rows of three texts
    expected = pooled(language_model, texts)
    monkeypatch.setattr(pool, "POOLED_BYTES", 7 * 2 * LAYERS * 32 * 4)
    sizes = batch_sizes(language_model, monkeypatch)
    np.testing.assert_allclose(pooled(language_model, texts, share=True), expected, atol=1e-5)
    assert sizes == [2, 2]


@pytest.mark.parametrize("share", [False, True])
def test_the_order_of_the_texts_changes_nothing_to_the_last_bit(monkeypatch, share):
    language_model = tiny(tokenizer=letters())
    texts = ["".join(sorted(word)) * 3 for word in ("abc", "bcd", "cde", "defg", "efgh", "xyz")]
    expected = pooled(language_model, texts, share=share, budget=TokenBudget(20))
    body, batches = language_model.model.base_model, []
    forward = body.forward

    def kept(*args: Any, **kwargs: Any) -> Any:
        batches.append(kwargs["input_ids"].tolist())
        return forward(*args, **kwargs)

    monkeypatch.setattr(body, "forward", kept)
    n_batches = 0
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]):
        shuffled = [texts[i] for i in order]
        found = pooled(language_model, shuffled, share=share, budget=TokenBudget(20))
        np.testing.assert_array_equal(found, expected[order])
        n_batches = n_batches or len(batches)
        assert batches[-n_batches:] == batches[:n_batches]  # what rounding may depend on
    assert len(batches) == 3 * n_batches > 3


def test_the_vocabulary_is_not_projected_to(monkeypatch):
    for language_model in (tiny(), tiny("bert", word_piece())):
        used: list[Any] = []
        head = language_model.model.get_output_embeddings()
        monkeypatch.setattr(head, "forward", used.append)
        pooled(language_model, TEXTS)
        assert used == []


# What stays


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_arrays_are_float32_and_own_their_memory(dtype):
    language_model = replace(tiny(), dtype=dtype)
    language_model.model.to(getattr(torch, dtype))
    for _, outcome in pooled_outputs(
        language_model, TEXTS, places=find_heads(language_model.model)
    ):
        for array in (outcome.mean, outcome.last):
            assert array.dtype == np.float32
            assert array.flags.owndata
            assert array.base is None


def test_values_of_lower_precision_are_averaged_in_float32():
    language_model = replace(tiny(), dtype="bfloat16")
    language_model.model.to(torch.bfloat16)
    expected = [naive(language_model, text) for text in TEXTS]
    found = pooled(language_model, TEXTS, budget=TokenBudget(1))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_fifty_extractions_leave_no_hook_and_no_tensor():
    language_model = tiny()

    def tensors() -> int:
        gc.collect()
        return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())

    pooled(language_model, TEXTS)
    before = tensors()
    for _ in range(50):
        pooled(language_model, TEXTS)
    assert tensors() == before
    assert n_hooks(language_model.model) == 0


def test_hooks_go_when_the_model_fails(monkeypatch):
    language_model = tiny()
    hooks: list[int] = []

    def fails(*args: Any, **kwargs: Any) -> None:
        hooks.append(n_hooks(language_model.model))
        raise ValueError("broken")

    monkeypatch.setattr(language_model.model.model.layers[1].mlp, "forward", fails)
    with pytest.raises(ValueError, match="broken"):
        pooled(language_model, TEXTS)
    assert hooks == [LAYERS]
    assert n_hooks(language_model.model) == 0


def test_no_hook_stands_while_the_results_are_used():
    language_model = tiny()
    places = find_heads(language_model.model)
    batches = pooled_outputs(language_model, TEXTS, places=places, budget=TokenBudget(20))
    next(batches)
    assert n_hooks(language_model.model) == 0


def test_a_module_that_the_model_does_not_use_is_refused():
    language_model = tiny()
    for layer in language_model.model.model.layers:
        layer.self_attn.mixer = torch.nn.Linear(32, 32)
    places = find_heads(language_model.model, named="model.layers.{}.self_attn.mixer")
    with pytest.raises(ModelError, match=r"tiny llama .* model\.layers\.0\.self_attn\.mixer once"):
        pooled(language_model, TEXTS, places=places)


def test_a_module_that_is_used_twice_is_refused():
    language_model = tiny()
    first, second = language_model.model.model.layers
    second.self_attn.o_proj = first.self_attn.o_proj
    places = find_heads(language_model.model, named="model.layers.{}.self_attn.o_proj")
    with pytest.raises(ModelError, match="once"):
        pooled(language_model, TEXTS, places=places)
