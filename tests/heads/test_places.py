"""Where heads are: what is found adds up to what the module puts out, and nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from core.errors import InputError, ModelError
from core.heads.places import find_heads
from tests.tiny_models import CAUSAL_FAMILIES, HEADS, HIDDEN, LAYERS, MASKED_FAMILIES, tiny_model

pytestmark = pytest.mark.usefixtures("one_thread")

VOCABULARY = 64
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
GPT_SIZES = {"vocab_size": VOCABULARY, "n_embd": HIDDEN, "n_layer": LAYERS, "n_head": HEADS}
DEEPSEEK = {
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 6,
    "n_routed_experts": 4,
    "n_group": 1,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
}
# Families beyond those that are scored in tests: their name of the projection, and its settings.
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "phi": ("self_attn.dense", SIZES),
    "gptj": ("attn.out_proj", GPT_SIZES | {"rotary_dim": 4}),
    "gpt_bigcode": ("attn.c_proj", GPT_SIZES),
    "xlm": (
        "out_lin",
        {"vocab_size": VOCABULARY, "emb_dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS},
    ),
    "mpnet": ("attention.attn.o", SIZES),
    "deepseek_v3": ("self_attn.o_proj", SIZES | {"num_key_value_heads": HEADS} | DEEPSEEK),
}


def built(family: str, settings: dict[str, Any], auto: Any = AutoModelForCausalLM) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        special = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
        return auto.from_config(AutoConfig.for_model(family, **(special | settings))).eval()


@torch.no_grad()
def through(model: Any, modules: tuple[Any, ...]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """What goes into modules and what comes out while a model reads two rows of tokens."""
    passed: list[tuple[torch.Tensor, torch.Tensor]] = []
    hooks = [
        module.register_forward_hook(lambda _, inputs, output: passed.append((inputs[0], output)))
        for module in modules
    ]
    model(input_ids=torch.arange(3, 19).view(2, 8))
    for hook in hooks:
        hook.remove()
    return passed


@torch.no_grad()
def check_heads_add_up(model: Any, head_dim: int) -> None:
    places = find_heads(model)
    assert (places.n_layers, places.n_heads, places.head_dim) == (LAYERS, HEADS, head_dim)
    passed = through(model, places.modules)
    assert len(passed) == LAYERS
    for layer, (x, output) in enumerate(passed):
        heads = x.view(2, 8, HEADS, head_dim)
        parts = torch.einsum("bthd,ohd->btho", heads, places.weight(layer))
        bias = places.bias(layer)
        total = parts.sum(dim=2) + (0 if bias is None else bias)
        torch.testing.assert_close(total, output, atol=1e-5, rtol=1e-5)
        for head in range(HEADS):
            silent = heads.clone()
            silent[:, :, head] = 0.0
            without = places.modules[layer](silent.view_as(x))
            torch.testing.assert_close(without, output - parts[:, :, head], atol=1e-5, rtol=1e-5)
            assert not torch.allclose(without, output, atol=1e-3)


@pytest.mark.parametrize("family", CAUSAL_FAMILIES + MASKED_FAMILIES)
def test_parts_of_the_heads_add_up_to_what_the_module_puts_out(family):
    check_heads_add_up(tiny_model(family, VOCABULARY), HIDDEN // HEADS)


@pytest.mark.parametrize("family", OTHERS)
def test_they_do_in_families_that_call_it_otherwise(family):
    name, settings = OTHERS[family]
    auto = AutoModelForMaskedLM if family == "mpnet" else AutoModelForCausalLM
    model = built(family, settings, auto)
    for parameter in model.parameters():
        parameter.data.normal_(0.0, 0.2)
    check_heads_add_up(model, 6 if family == "deepseek_v3" else HIDDEN // HEADS)
    assert all(found.endswith(name) for found in find_heads(model).names)


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma2", "mistral", "mixtral"])
def test_heads_may_be_wider_than_their_share_of_the_hidden_size(family):
    check_heads_add_up(tiny_model(family, VOCABULARY, head_dim=12), 12)


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("gpt2", "transformer.h.0.attn.c_proj"),
        ("gpt_neox", "gpt_neox.layers.0.attention.dense"),
        ("bloom", "transformer.h.0.self_attention.dense"),
        ("falcon", "transformer.h.0.self_attention.dense"),
        ("opt", "model.decoder.layers.0.self_attn.out_proj"),
        ("bert", "bert.encoder.layer.0.attention.output.dense"),
        ("distilbert", "distilbert.transformer.layer.0.attention.out_lin"),
    ],
)
def test_modules_of_the_mlp_are_never_taken_though_they_are_as_wide(family, name):
    width = {"gpt2": "n_inner", "opt": "ffn_dim", "distilbert": "hidden_dim"}
    settings = {width.get(family, "intermediate_size"): HIDDEN}
    assert find_heads(tiny_model(family, VOCABULARY, **settings)).names[0] == name


def renamed(model: Any, name: str, new: str) -> Any:
    """The model with one module of each layer's attention under another name."""
    for layer in model.model.layers:
        layer.self_attn.add_module(new, getattr(layer.self_attn, name))
        delattr(layer.self_attn, name)
    return model


def test_an_unknown_name_is_refused_with_what_could_be_named():
    model = tiny_model("llama", VOCABULARY, intermediate_size=HIDDEN)  # as wide as the heads
    model = renamed(model, "o_proj", "mixer")
    with pytest.raises(ModelError) as refused:
        find_heads(model)
    message = str(refused.value)
    assert "LlamaForCausalLM" in message
    assert "model.layers.{}.self_attn.mixer (in 2 of 2 layers)" in message
    assert "mlp" not in message
    assert find_heads(model, named="model.layers.{}.self_attn.mixer").modules == tuple(
        layer.self_attn.mixer for layer in model.model.layers
    )


@pytest.mark.parametrize(
    "named",
    [
        "model.layers.{}.mlp.down_proj",
        "model.layers.{}.self_attn.k_proj",
        "model.layers.0.self_attn.o_proj",
        "nowhere",
        "",
    ],
)
def test_a_name_of_something_else_is_refused(named):
    with pytest.raises(InputError, match=r"model\.layers\.\{\}\.self_attn\.o_proj"):
        find_heads(tiny_model("llama", VOCABULARY, intermediate_size=HIDDEN), named=named)


def test_a_layer_without_attention_is_not_passed_over():
    model = tiny_model("llama", VOCABULARY, num_hidden_layers=3)
    del model.model.layers[1].self_attn.o_proj
    with pytest.raises(ModelError, match=r"self_attn\.o_proj \(in 2 of 3 layers\)"):
        find_heads(model)
    places = find_heads(model, named="model.layers.{}.self_attn.o_proj")
    assert [name.split(".")[2] for name in places.names] == ["0", "2"]
    assert places.named == "model.layers.{}.self_attn.o_proj in layers 0, 2 of 3"


def test_a_name_is_kept_where_it_is_not_what_is_found_without_one():
    model = tiny_model("llama", VOCABULARY)
    assert find_heads(model).named == ""
    assert find_heads(model, named="model.layers.{}.self_attn.o_proj").named == ""
    queries = "model.layers.{}.self_attn.q_proj"
    assert find_heads(model, named=queries).named == queries


def test_two_sets_of_projections_are_not_chosen_between():
    model = tiny_model("llama", VOCABULARY)
    for layer in model.model.layers:
        layer.self_attn.out_proj = torch.nn.Linear(HIDDEN, HIDDEN)
    with pytest.raises(ModelError, match=r"self_attn\.o_proj .*self_attn\.out_proj"):
        find_heads(model)


@pytest.mark.parametrize("family", ["mamba", "rwkv"])
def test_a_model_without_heads_is_refused(family):
    sizes = {"vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS}
    with pytest.raises(ModelError, match="no attention heads"):
        find_heads(built(family, sizes))


def test_layers_that_share_one_module_are_refused():
    model = built("albert", SIZES | {"embedding_size": HIDDEN}, AutoModelForMaskedLM)
    with pytest.raises(ModelError, match="choose another model"):
        find_heads(model)


def test_what_is_partly_convolution_is_refused():
    with pytest.raises(ModelError, match="not all of one kind"):
        find_heads(built("convbert", SIZES, AutoModelForMaskedLM))


def test_layers_of_different_widths_are_refused():
    model = tiny_model("llama", VOCABULARY, head_dim=8)
    model.model.layers[1].self_attn.o_proj = torch.nn.Linear(2 * HIDDEN, HIDDEN)
    with pytest.raises(ModelError, match="equally many and wide"):
        find_heads(model, named="model.layers.{}.self_attn.o_proj")
