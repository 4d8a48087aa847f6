"""A GGUF file written as llama.cpp writes it converts to the very model it was made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import MODEL_ARCH, GGUFWriter, TokenType, get_tensor_name_map
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from core.errors import ModelError
from core.models.gguf_file import convert_gguf
from core.models.opening import open_model
from tests.tiny_models import tiny_model
from tests.tiny_tokenizers import CORPUS

TEXTS = [
    "He was here. 12 x",
    "The nurse finished the night shift; she wasn't tired.",
    " leading and trailing ",
    "two  spaces, 2024  12345 cats",
    "line\nbreak\ttab",
    "<|im_start|>user\nhello<|im_end|>",
    "La enfermera terminó el turno de noche. ¿Él estaba cansado?",
    "El niño tenía 3 años y ½.",
    "护士下了夜班。她很累。",
    "二零二四年，她12岁。",
    "간호사는 야간 근무를 마쳤다.",
    "그녀는 피곤했다. 7시",
    "أنهت الممرضة نوبتها الليلية.",
    "كانت متعبة في الساعة ٧.",
    "नर्स ने रात की पाली पूरी की।",
    "वह थकी हुई थी। क्\u200dष १२",
    "Muuguzi alimaliza zamu ya usiku.",
    "Die Krankenschwester war müde – sehr müde.",
    "می\u200cروم",
    "👩🏽‍⚕️ fin e\u0301 …",
]
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def single_digits_bpe() -> PreTrainedTokenizerFast:
    """SmolLM's kind: every digit by itself, then GPT-2's words; no begin token is added."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=450,
        special_tokens=CONTROL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def interleaved(weights: np.ndarray, n_heads: int) -> np.ndarray:
    """llama.cpp's order of the rows of q and k: the halves of each head interleaved."""
    halves = weights.reshape(n_heads, 2, -1, weights.shape[1])
    return halves.swapaxes(1, 2).reshape(weights.shape)


def write_gguf(
    path: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, **changes: Any
) -> Path:
    """A GGUF file in float32, as llama.cpp's own conversion lays it out."""
    config = model.config
    writer = GGUFWriter(path, changes.get("architecture", "llama"))
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    state = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(state["vocab"], key=state["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(changes.get("pre", "smollm"))
    writer.add_token_list(tokens)
    writer.add_token_types(
        [TokenType.CONTROL if t in CONTROL else TokenType.NORMAL for t in tokens]
    )
    writer.add_token_merges([" ".join(merge) for merge in state["merges"]])
    writer.add_add_bos_token(False)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = get_tensor_name_map(MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        values = tensor.numpy()
        if "q_proj" in name:
            values = interleaved(values, config.num_attention_heads)
        if "k_proj" in name:
            values = interleaved(values, config.num_key_value_heads)
        if not (name == "lm_head.weight" and config.tie_word_embeddings):
            writer.add_tensor(names.get_name(name, (".weight",)), values)
    for extra in changes.get("extra_tensors", ()):
        writer.add_tensor(extra, np.ones(4, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("tied", [True, False])
def test_same_ids_and_logits_as_the_model_it_was_made_from(tmp_path: Path, tied: bool) -> None:
    tokenizer = single_digits_bpe()
    model = tiny_model(
        "llama",
        len(tokenizer),
        num_key_value_heads=2,
        tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": 1000.0},
        rms_norm_eps=1e-5,
    )
    convert_gguf(write_gguf(tmp_path / "tiny.gguf", model, tokenizer), tmp_path / "tiny")
    converted = open_model(str(tmp_path / "tiny"), models_folder=tmp_path, device="cpu")
    assert len(TEXTS) == 20
    for text in TEXTS:
        ids = tokenizer(text).input_ids
        assert converted.tokenizer(text).input_ids == ids
        assert converted.tokenizer.decode(ids) == text
        row = torch.tensor([ids])
        with torch.inference_mode():
            difference = (converted.model(row).logits - model(row).logits).abs().max()
        assert difference < 1e-3
    assert converted.window == model.config.max_position_embeddings
    assert converted.model.config.rms_norm_eps == 1e-5


def test_digits_are_split_even_where_the_words_would_join_them() -> None:
    tokenizer = single_digits_bpe()
    assert tokenizer.tokenize("  12") == ["Ġ", "Ġ", "1", "2"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"architecture": "gemma2"}, "general.architecture = 'gemma2'"),
        ({"pre": "llama-bpe"}, "tokenizer.ggml.pre = 'llama-bpe'"),
        ({"extra_tensors": ["rope_freqs.weight"]}, "a Llama model lacks: rope_freqs.weight"),
    ],
)
def test_other_kinds_of_files_are_refused(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    tokenizer = single_digits_bpe()
    model = tiny_model("llama", len(tokenizer))
    path = write_gguf(tmp_path / "tiny.gguf", model, tokenizer, **changes)
    with pytest.raises(ModelError, match=says):
        convert_gguf(path, tmp_path / "tiny")
    assert not (tmp_path / "tiny").exists()
