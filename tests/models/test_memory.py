"""What a model takes before it is read, where it would lie, and that it does."""

from __future__ import annotations

import numpy as np
import pytest
from accelerate import dispatch_model, infer_auto_device_map
from transformers import AutoModelForCausalLM

from core.errors import ModelTooLarge
from core.items.texts import item_texts
from core.models import memory
from core.models.memory import MARGIN, QUANTIZING_BYTES, choose_gpus, place
from core.scoring.texts import score_texts
from tests.jobs.test_jobs import make_items
from tests.tiny_models import QUANTIZED, opened, planned, save_tiny
from tests.tiny_tokenizers import byte_level_bpe

# What it takes

VOCABULARY = len(byte_level_bpe(add_bos=True))
# A tiny llama by hand: two layers; queries and outputs 32 x 32, keys and values 16 x 32; three
# 64 x 32 matrices; embeddings, head and five norms are not quantised.
LINEAR = 2 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 64 * 32)
ROWS = 2 * (32 + 16 + 16 + 32 + 64 + 64 + 32)
OTHERS = 2 * VOCABULARY * 32 + 5 * 32


@pytest.mark.parametrize(
    ("options", "linear_bytes"),
    [
        ({"quantization": "int8"}, LINEAR + 4 * ROWS),
        ({"quantization": "nf4", "no_double_quant": True}, LINEAR / 2 + 4 * LINEAR / 64),
        ({"quantization": "nf4"}, LINEAR / 2 + LINEAR / 64 + 4 * LINEAR / 64 / 256),
    ],
)
@pytest.mark.parametrize(("dtype", "itemsize"), [("float32", 4), ("bfloat16", 2)])
def test_bytes_are_those_counted_by_hand(llama, options, linear_bytes, dtype, itemsize):
    size = planned(llama, dtype=dtype, **options).size()
    assert size.weight_bytes == round(linear_bytes + itemsize * OTHERS)
    loading = max(QUANTIZING_BYTES * 64 * 32, itemsize * VOCABULARY * 32)
    assert size.needed_bytes == max(round(MARGIN * size.weight_bytes), size.weight_bytes + loading)


@pytest.mark.parametrize("name", QUANTIZED)
def test_a_loaded_model_takes_what_was_counted(llama, name):
    language_model = opened(llama, quantization=name)
    held = 0
    for parameter in language_model.model.parameters():
        held += parameter.numel() * parameter.itemsize
        state = getattr(parameter, "quant_state", None)
        if state is not None:
            held += state.absmax.numel() + 4 * state.state2.absmax.numel()
        elif getattr(parameter, "SCB", None) is not None:
            held += 4 * parameter.SCB.numel()
    size = planned(llama, quantization=name).size()
    # A tiny layer has fewer scales than fill the block that the scales' own scale is for.
    assert held == pytest.approx(size.weight_bytes, abs=4 * 14)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({}, "a smaller model, quantization int8 or nf4 or a dtype of half the size such as"),
        ({"dtype": "bfloat16"}, "choose a smaller model or quantization int8 or nf4."),
        ({"quantization": "int8", "dtype": "float16"}, "a smaller model or quantization nf4."),
        ({"quantization": "nf4", "dtype": "bfloat16"}, "choose a smaller model."),
    ],
)
def test_too_large_says_how_large_and_what_helps(llama, monkeypatch, options, advice):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1000)
    with pytest.raises(ModelTooLarge) as caught:
        opened(llama, **options)
    assert advice in str(caught.value)
    assert "and 0.0 GB of memory are free on cpu; choose a smaller model" in str(caught.value)


def test_a_model_fits_in_four_bits_that_does_not_in_float32(llama, monkeypatch):
    sizes = {name: planned(llama, quantization=name).size() for name in ("none", "nf4")}
    assert sizes["nf4"].weight_bytes < sizes["none"].weight_bytes
    free = sizes["none"].needed_bytes - 1
    assert free > sizes["nf4"].needed_bytes
    monkeypatch.setattr(memory, "free_bytes", lambda device: free)
    with pytest.raises(ModelTooLarge, match="quantization int8 or nf4"):
        opened(llama)
    assert opened(llama, quantization="nf4").quantization.startswith("nf4")


def test_shapes_are_built_once_for_all_that_is_asked_of_a_plan(llama, monkeypatch):
    built = []
    from_config = AutoModelForCausalLM.from_config

    def counted(*arguments, **options):
        built.append(1)
        return from_config(*arguments, **options)

    monkeypatch.setattr("core.models.plan.AutoModelForCausalLM.from_config", counted)
    plan = planned(llama, quantization="nf4")
    plan.size(), plan.placement(), plan.file_bytes(), plan.described()
    assert len(built) == 1


# Several GPUs


@pytest.mark.parametrize(
    ("needed", "free", "chosen"),
    [
        (80, [80], (0,)),
        (81, [80], ()),
        (80, [80, 80], (0,)),
        (81, [80, 80], (0, 1)),
        (81, [40, 80, 80], (0, 1)),
        (161, [80, 80, 80, 80], (0, 1, 2)),
        (321, [80, 80, 80, 80], ()),
        (1, [], ()),
    ],
)
def test_a_model_is_spread_over_as_few_gpus_as_hold_it(needed, free, chosen):
    assert choose_gpus(needed, free) == chosen


@pytest.mark.parametrize(
    ("needed", "quantized", "free", "gpus"),
    [
        (80, False, {"cpu": 500, "cuda": 90}, ()),  # the whole model passes through main memory
        (80, True, {"cuda": 90}, ()),
        (160, False, {"cuda": 170}, (0, 1)),
        (180, False, {"cpu": 500, "cuda": 170}, ()),  # never partly on the CPU
    ],
)
def test_the_numbers_of_a_refusal_are_those_that_decided(
    monkeypatch, needed, quantized, free, gpus
):
    monkeypatch.setattr(memory, "gpu_free_bytes", lambda: [90, 80])
    monkeypatch.setattr(memory, "free_bytes", lambda device: 500)
    placement = place(needed, "cuda", quantized=quantized)
    assert (placement.free_bytes, placement.gpus) == (free, gpus)
    assert placement.loads_directly == ("cpu" not in free)


def test_layers_are_shared_out_from_the_embeddings_on(tmp_path):
    """Inputs go to the first GPU, so the embeddings must lie there, and nothing off the GPUs."""
    deep = save_tiny(tmp_path / "deep", "llama", byte_level_bpe(), num_hidden_layers=24)
    shapes = planned(deep).shapes
    size = sum(4 * parameter.numel() for parameter in shapes.parameters())
    places = infer_auto_device_map(
        shapes,
        max_memory={0: size * 2 // 3, 1: size * 2 // 3},
        no_split_module_classes=shapes._no_split_modules,
    )
    assert places["model.embed_tokens"] == 0
    assert set(places.values()) == {0, 1}


def test_texts_score_the_same_through_the_hooks_of_spread_layers(llama):
    """With one CPU all layers lie on it; the hooks that move values are there all the same."""
    whole, spread = opened(llama), opened(llama)
    places = dict.fromkeys(
        ["model.embed_tokens", "model.rotary_emb", "model.layers", "model.norm", "lm_head"], "cpu"
    )
    dispatch_model(spread.model, places, main_device="cpu", force_hooks=True)
    assert hasattr(spread.model.model.layers[1], "_hf_hook")
    texts = [t for item in make_items(3) for t in item_texts(item).values()]
    found, expected = (
        {o.text_id: o for batch in score_texts(model, texts) for o in batch}
        for model in (spread, whole)
    )
    for text_id, outcome in expected.items():
        np.testing.assert_allclose(found[text_id].logprobs, outcome.logprobs, atol=1e-5)
