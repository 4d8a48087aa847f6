"""A GGUF file of the demo model's kind -> a model folder with float32 safetensors.

GGUF is llama.cpp's one-file format: settings, vocabulary and (quantised) weights. llama.cpp turns
a head by interleaved pairs of rows, transformers by its two halves, so the rows of the query and
key weights are put back in order. Read here rather than by transformers, which wants accelerate
for it, does not split digits as this vocabulary's authors do, and cannot save what it read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import MODEL_ARCH, GGUFReader, TokenType, dequantize, get_tensor_name_map
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import ModelError
from core.models.quiet import without_progress_bar
from core.types import FloatArray

EXPECTED = {
    "general.architecture": "llama",
    "tokenizer.ggml.model": "gpt2",  # byte-level BPE
    "tokenizer.ggml.pre": "smollm",  # single digits, then words as in GPT-2
    "tokenizer.ggml.add_bos_token": False,
}


def convert_gguf(gguf_path: Path, folder: Path) -> None:
    """Write the model in a GGUF file to a folder that `open_model` reads.

    Raises
    ------
    ModelError
        When the file holds another kind of model than this conversion knows.
    """
    reader = GGUFReader(gguf_path)
    for key, expected in EXPECTED.items():
        found = _field(reader, key)
        if found != expected:
            raise ModelError(f"{gguf_path} has {key} = {found!r} where {expected!r} is needed.")
    config = _read_config(reader)
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    model.load_state_dict(_read_weights(reader, model), strict=False, assign=True)
    model.tie_weights()
    folder.mkdir(parents=True)
    with without_progress_bar():
        model.save_pretrained(folder)
    _read_tokenizer(reader, config).save_pretrained(folder)


def _field(reader: GGUFReader, key: str, default: Any = None) -> Any:
    field = reader.get_field(key)
    return default if field is None else field.contents()


def _read_config(reader: GGUFReader) -> LlamaConfig:
    n_heads = _field(reader, "llama.attention.head_count")
    return LlamaConfig(
        architectures=["LlamaForCausalLM"],
        vocab_size=len(_field(reader, "tokenizer.ggml.tokens")),
        num_hidden_layers=_field(reader, "llama.block_count"),
        max_position_embeddings=_field(reader, "llama.context_length"),
        hidden_size=_field(reader, "llama.embedding_length"),
        intermediate_size=_field(reader, "llama.feed_forward_length"),
        num_attention_heads=n_heads,
        num_key_value_heads=_field(reader, "llama.attention.head_count_kv", n_heads),
        # The file has the float32 nearest to 1e-5; the model was trained with 1e-5 itself.
        rms_norm_eps=float(f"{_field(reader, 'llama.attention.layer_norm_rms_epsilon'):.6g}"),
        rope_parameters={
            "rope_type": "default",
            "rope_theta": _field(reader, "llama.rope.freq_base", 10000.0),
        },
        tie_word_embeddings=all(tensor.name != "output.weight" for tensor in reader.tensors),
        bos_token_id=_field(reader, "tokenizer.ggml.bos_token_id"),
        eos_token_id=_field(reader, "tokenizer.ggml.eos_token_id"),
        pad_token_id=_field(reader, "tokenizer.ggml.padding_token_id"),
        dtype=torch.float32,
    )


def _read_weights(reader: GGUFReader, model: LlamaForCausalLM) -> dict[str, torch.Tensor]:
    """Every parameter in float32, by the name that transformers gives it."""
    config = model.config
    n_key_value_heads = config.num_key_value_heads or config.num_attention_heads
    names = get_tensor_name_map(MODEL_ARCH.LLAMA, config.num_hidden_layers)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    weights = {}
    for name in model.state_dict():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        module, _, suffix = name.rpartition(".")
        tensor = tensors.pop(f"{names.get_name(module)}.{suffix}", None)
        if tensor is None:
            raise ModelError(f"The GGUF file has no weights for {name}.")
        values = dequantize(tensor.data, tensor.tensor_type)
        if module.endswith("q_proj"):
            values = _rows_in_halves(values, config.num_attention_heads)
        if module.endswith("k_proj"):
            values = _rows_in_halves(values, n_key_value_heads)
        weights[name] = torch.from_numpy(np.array(values, dtype=np.float32))
    if tensors:
        raise ModelError(f"The GGUF file has weights that a Llama model lacks: {min(tensors)}.")
    return weights


def _rows_in_halves(weights: FloatArray, n_heads: int) -> FloatArray:
    """Undo llama.cpp's order of a head's rows: 0, D/2, 1, D/2 + 1, ... -> 0, 1, ..., D - 1."""
    pairs = weights.reshape(n_heads, -1, 2, weights.shape[-1])  # (H, D / 2, 2, hidden)
    return pairs.swapaxes(1, 2).reshape(weights.shape)


def _read_tokenizer(reader: GGUFReader, config: LlamaConfig) -> PreTrainedTokenizerFast:
    tokens = _field(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _field(reader, "tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = _field(reader, "tokenizer.ggml.token_type")
    control = [t for t, kind in zip(tokens, kinds, strict=True) if kind == TokenType.CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in control])
    ids = {
        f"{role}_token": _field(reader, f"tokenizer.ggml.{key}_token_id")
        for role, key in {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}.items()
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=config.max_position_embeddings,
        clean_up_tokenization_spaces=False,
        chat_template=_field(reader, "tokenizer.chat_template"),
        **{role: tokens[i] for role, i in ids.items() if i is not None},
    )
