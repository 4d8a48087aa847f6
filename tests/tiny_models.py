"""Models of every architecture family with random weights, small enough to run in milliseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from core.models.language_model import Kind, LanguageModel
from core.models.opening import open_model
from core.models.plan import ModelPlan, plan_model
from core.models.precision import Precision

CAUSAL_FAMILIES = (
    "llama",
    "mistral",
    "olmo2",
    "gemma2",
    "gemma3_text",
    "granite",
    "cohere",
    "bloom",
    "qwen2",
    "qwen3",
    "gpt2",
    "gpt_neox",
    "phi3",
    "falcon",
    "opt",
    "mixtral",
)
MASKED_FAMILIES = ("bert", "roberta", "xlm-roberta", "distilbert", "camembert", "electra")
QUANTIZED = ("int8", "nf4")

HIDDEN, LAYERS, HEADS, WINDOW = 32, 2, 4, 128
GROUPED = {"num_key_value_heads": 2}
SPECIAL_IDS = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
OWN_SETTINGS: dict[str, dict[str, Any]] = {
    "llama": GROUPED,
    "mistral": GROUPED | {"sliding_window": None},
    "olmo2": GROUPED,
    "gemma2": GROUPED | {"head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 64},
    "gemma3_text": GROUPED | {"head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 64},
    "granite": GROUPED | {"logits_scaling": 2.0, "residual_multiplier": 0.5},
    "cohere": GROUPED,
    "bloom": {"n_layer": LAYERS, "n_head": HEADS},
    "qwen2": GROUPED,
    "qwen3": GROUPED | {"head_dim": 8},
    "gpt2": {"n_embd": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "n_positions": WINDOW},
    "phi3": GROUPED | {"sliding_window": None},
    "opt": {"ffn_dim": 64, "word_embed_proj_dim": HIDDEN},
    "mixtral": GROUPED | {"num_local_experts": 4, "sliding_window": None},
    "distilbert": {"dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 64},
    "electra": {"embedding_size": HIDDEN},
}


def tiny_model(family: str, vocab_size: int, seed: int = 0, **config: Any) -> PreTrainedModel:
    """A model of a family (hidden 32, 2 layers, 4 heads) whose weights depend on the seed only.

    Further settings of the family's config may be given by name.
    """
    common = {
        "vocab_size": vocab_size,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": 64,
        "max_position_embeddings": WINDOW,
    }
    aliases = {"gpt2": common.keys() - {"vocab_size"}, "distilbert": common.keys()}
    settings = {k: v for k, v in common.items() if k not in aliases.get(family, ())}
    settings |= SPECIAL_IDS | OWN_SETTINGS.get(family, {}) | {"vocab_size": vocab_size} | config
    if family == "distilbert":
        settings.setdefault("max_position_embeddings", WINDOW)
    auto = AutoModelForCausalLM if family in CAUSAL_FAMILIES else AutoModelForMaskedLM
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = auto.from_config(AutoConfig.for_model(family, **settings))
        for parameter in model.parameters():  # the usual start is so small that logits are flat
            if parameter.dim() > 1:
                parameter.data.normal_(0.0, 0.2)
    return model.eval()


def tiny_language_model(
    family: str, tokenizer: PreTrainedTokenizerBase, *, window: int, **config: Any
) -> LanguageModel:
    """A tiny model as `open_model` would describe it."""
    model = tiny_model(family, len(tokenizer), **config)
    return LanguageModel(
        model=model,
        tokenizer=tokenizer,
        label=f"tiny {family}",
        fingerprint=f"test:{family}",
        kind="causal" if family in CAUSAL_FAMILIES else "masked",
        dtype="float32",
        device="cpu",
        attention=model.config._attn_implementation,
        window=window,
    )


def save_tiny(
    folder: Path,
    family: str,
    tokenizer: PreTrainedTokenizerBase,
    *,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    **config: Any,
) -> Path:
    """Save a tiny model with its tokenizer; the folder opens with `open_model`."""
    roles = ("bos_token_id", "eos_token_id", "pad_token_id")
    ids = {role: getattr(tokenizer, role) for role in roles}
    model = tiny_model(family, len(tokenizer), seed, **{**ids, **config})
    model.to(dtype).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def opened(
    folder: Path, *, device: str = "cpu", kind: Kind | None = "causal", **precision: Any
) -> LanguageModel:
    """Open a model folder; what it computes in may be given by name."""
    return open_model(
        str(folder),
        models_folder=folder.parent,
        precision=Precision(**precision),
        device=device,
        kind=kind,
    )


def planned(
    folder: Path, *, device: str = "cpu", kind: Kind | None = "causal", **precision: Any
) -> ModelPlan:
    """The plan of opening a model folder so."""
    return plan_model(
        str(folder),
        models_folder=folder.parent,
        precision=Precision(**precision),
        device=device,
        kind=kind,
    )
