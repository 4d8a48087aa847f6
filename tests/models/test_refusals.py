"""What cannot be opened is refused with one sentence that says what to do."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from httpx2 import Request
from huggingface_hub import errors as hub
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import BertModel, CanineTokenizer, PreTrainedTokenizerFast

from core.errors import (
    CanaryFailed,
    ModelError,
    ModelGated,
    ModelNotFound,
    ModelTooLarge,
    WrongModelKind,
)
from core.models import memory, sources
from core.models.canary import MIXED_PROBE, check_round_trip, switch_sampling_off
from core.models.opening import open_model
from tests.tiny_models import planned, save_tiny, tiny_model
from tests.tiny_tokenizers import byte_level_bpe, unigram_metaspace, word_piece

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def opened(spec: Path | str, **options: Any) -> Any:
    return open_model(str(spec), models_folder=Path("unused"), device="cpu", **options)


def refusal(error: type[ModelError], spec: Path | str, **options: Any) -> str:
    """The sentence of a refusal."""
    with pytest.raises(error) as caught:
        opened(spec, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message[-1] in ".?"
    return message


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return save_tiny(tmp_path / "llama", "llama", byte_level_bpe())


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return save_tiny(tmp_path / "bert", "bert", word_piece())


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


# The kind of model


def test_a_masked_model_is_not_scored_causally(bert: Path) -> None:
    message = refusal(WrongModelKind, bert)
    assert "bert is a masked language model (BertForMaskedLM)" in message
    assert "ask for masked scoring" in message


def test_a_causal_model_is_not_scored_as_masked(llama: Path) -> None:
    message = refusal(WrongModelKind, llama, kind="masked")
    assert "llama is a causal language model (LlamaForCausalLM)" in message


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_an_encoder_without_a_head_is_refused(bert: Path, kind: str) -> None:
    BertModel(tiny_model("bert", len(word_piece())).config).save_pretrained(bert)
    assert "has no language-model head (BertModel)" in refusal(WrongModelKind, bert, kind=kind)


def test_an_encoder_decoder_is_refused(llama: Path) -> None:
    edit_config(
        llama,
        model_type="t5",
        architectures=["T5ForConditionalGeneration"],
        is_encoder_decoder=True,
    )
    assert "has an encoder-decoder (T5ForConditionalGeneration)" in refusal(WrongModelKind, llama)


@pytest.mark.parametrize(("family", "kind"), [("llama", "causal"), ("bert", "masked")])
def test_a_config_without_class_names_goes_by_its_type(
    request: pytest.FixtureRequest, family: str, kind: str
) -> None:
    folder = request.getfixturevalue(family)
    edit_config(folder, architectures=None)
    assert opened(folder, kind=kind).kind == kind
    refusal(WrongModelKind, folder, kind="masked" if kind == "causal" else "causal")


def test_a_pretraining_checkpoint_is_masked(bert: Path) -> None:
    edit_config(bert, architectures=["BertForPreTraining"])
    assert opened(bert, kind="masked").kind == "masked"


# The weights


def test_missing_head_weights_are_refused(llama: Path) -> None:
    weights = load_file(llama / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, llama / "model.safetensors", {"format": "pt"})
    assert "no weights for lm_head.weight (1 missing" in refusal(CanaryFailed, llama)


def test_an_electra_discriminator_has_no_masked_head(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "electra", "electra", word_piece())
    edit_config(folder, architectures=["ElectraForPreTraining"])
    weights = load_file(folder / "model.safetensors")
    save_file(
        {k: v for k, v in weights.items() if k.startswith("electra.")},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    assert "has no weights for generator_" in refusal(CanaryFailed, folder, kind="masked")


def test_tied_head_weights_are_not_missing(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "tied", "llama", byte_level_bpe(), tie_word_embeddings=True)
    assert "lm_head.weight" not in load_file(folder / "model.safetensors")
    model = opened(folder).model
    assert model.lm_head.weight is model.model.embed_tokens.weight


@pytest.mark.parametrize("damage", ["cut", "empty", "text"])
def test_broken_weights_are_refused(llama: Path, damage: str) -> None:
    path = llama / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes({"cut": content[:-100], "empty": b"", "text": b"404: not found"}[damage])
    assert "weights of llama cannot be read" in refusal(ModelError, llama)


def test_broken_pickled_weights_are_refused(llama: Path) -> None:
    (llama / "model.safetensors").unlink()
    (llama / "pytorch_model.bin").write_bytes(b"404: not found")
    assert "weights of llama cannot be read" in refusal(ModelError, llama)


def test_weights_of_another_shape_are_refused(llama: Path) -> None:
    edit_config(llama, intermediate_size=48)
    message = refusal(ModelError, llama)
    assert "config and the weights of llama do not fit together" in message
    assert "has shape (32, 64) in the weights and (32, 48) by the config" in message


def test_another_vocabulary_size_in_the_config_is_named(llama: Path) -> None:
    edit_config(llama, vocab_size=430)
    message = refusal(ModelError, llama)
    assert "lm_head.weight has shape (420, 32) in the weights and (430, 32) by the conf" in message
    assert "download" not in message


@pytest.mark.parametrize(("family", "prefix"), [("llama", ""), ("gpt2", "transformer.")])
def test_a_layer_beyond_the_config_is_refused(tmp_path: Path, family: str, prefix: str) -> None:
    folder = save_tiny(tmp_path / family, family, byte_level_bpe())
    weights = load_file(folder / "model.safetensors")
    # GPT-2 as it was published names its weights without the prefix.
    named = {name.removeprefix(prefix): values for name, values in weights.items()}
    save_file(named, folder / "model.safetensors", {"format": "pt"})
    assert opened(folder).kind == "causal"
    edit_config(folder, **{"n_layer" if family == "gpt2" else "num_hidden_layers": 1})
    message = refusal(ModelError, folder)
    assert f"config of {family} leaves out a part of its weights such as " in message
    assert ".1." in message


def test_weights_of_another_part_may_stay(llama: Path) -> None:
    path = llama / "model.safetensors"
    more = {
        "vision.layers.0.mlp.weight": torch.ones(2),
        "score.weight": torch.ones(2),
        "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(2),
    }
    save_file(load_file(path) | more, path, {"format": "pt"})
    assert opened(llama).kind == "causal"


def test_a_folder_without_weights_is_refused(llama: Path) -> None:
    (llama / "model.safetensors").unlink()
    assert "holds no weights" in refusal(ModelError, llama)


def test_too_large_is_known_before_weights_are_read(
    llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_config(
        llama, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, head_dim=128
    )
    monkeypatch.setattr(memory, "free_bytes", lambda device: 8_000_000_000)
    message = refusal(ModelTooLarge, llama)
    # Per layer 3 x 4096 x 14336 + (4 + 2 + 2 + 4) x 128 x 4096 + 2 x 4096 weights, 32 layers;
    # vocabulary 420 twice, one more norm; 4 bytes each and a fifth more.
    n = 32 * (3 * 4096 * 14336 + 12 * 128 * 4096 + 2 * 4096) + 2 * 420 * 4096 + 4096
    assert f"needs about {n * 4 * 1.2 / 1e9:.1f} GB in float32 and 8.0 GB" in message


def test_nothing_is_refused_after_all_weights_were_hashed(
    llama: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(folder: Path, **options: Any) -> str:
        raise AssertionError("the weights were read")

    monkeypatch.setattr(sources, "folder_fingerprint", read)
    refusal(WrongModelKind, bert)
    with monkeypatch.context() as full:
        full.setattr(memory, "free_bytes", lambda device: 1)
        refusal(ModelTooLarge, llama)
    (llama / "tokenizer.json").write_text("{}")
    refusal(ModelError, llama)
    (bert / "config.json").write_text("{}")
    refusal(ModelError, bert)


def test_memory_that_runs_out_while_loading_is_said(
    llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("core.models.plan.AutoModelForCausalLM.from_pretrained", full)
    message = refusal(ModelTooLarge, llama)
    assert message.startswith("Memory ran out while llama was loaded; end other programs, or ")
    assert "quantization int8 or nf4" in message


def test_a_quantised_checkpoint_names_the_package_it_needs(llama: Path) -> None:
    edit_config(llama, quantization_config={"quant_method": "aqlm"})
    message = refusal(ModelError, llama)
    assert "needs a package that is not installed" in message
    assert "; install it, or name" in message


def test_a_quantisation_that_is_skipped_is_not_recorded(llama: Path) -> None:
    edit_config(llama, quantization_config={"quant_method": "unheard-of"})
    assert opened(llama).quantization == "none"
    plan = planned(llama)
    assert plan.described().quantization == "none"


# The config and its code


@pytest.mark.parametrize("content", ["{", "[]", '{"model_type": "unheard-of"}', "{}"])
def test_configs_that_describe_no_model_are_refused(llama: Path, content: str) -> None:
    (llama / "config.json").write_text(content)
    assert "The config of llama cannot be used: " in refusal(ModelError, llama)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"num_attention_heads": 5}, "is not a multiple of the number of attention heads (5)"),
        ({"num_hidden_layers": "two"}, "expected int, got str (value: 'two')"),
        ({"hidden_act": "nope"}, "knows no 'nope'"),
        ({"rope_parameters": {"rope_type": "nope", "rope_theta": 1e4}}, "knows no 'nope'"),
        ({"_attn_implementation": "flash_attention_2"}, "FlashAttention2 has been toggled on"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_configs_that_no_model_can_be_built_from_are_refused(
    llama: Path, changes: dict[str, Any], says: str
) -> None:
    edit_config(llama, **changes)
    message = refusal(ModelError, llama)
    assert message.startswith("The config of llama cannot be used: ")
    assert says in message
    assert "; correct its config.json" in message


OWN_CODE = """
from transformers import LlamaConfig, LlamaForCausalLM
class OwnConfig(LlamaConfig):
    model_type = "own"
class OwnForCausalLM(LlamaForCausalLM):
    config_class = OwnConfig
"""


def test_a_models_own_code_runs_only_when_allowed(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", tmp_path / "code")
    monkeypatch.syspath_prepend(tmp_path / "code")
    (llama / "own.py").write_text(OWN_CODE)
    edit_config(
        llama,
        model_type="own",
        architectures=["OwnForCausalLM"],
        auto_map={"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnForCausalLM"},
    )
    assert "allow it with trust_remote_code" in refusal(ModelError, llama)
    assert not (tmp_path / "code").exists()
    language_model = opened(llama, trust_remote_code=True)
    assert type(language_model.model).__name__ == "OwnForCausalLM"
    (llama / "own.py").write_text(OWN_CODE + "# changed\n")
    assert opened(llama, trust_remote_code=True).fingerprint != language_model.fingerprint


# The tokenizer


def test_a_slow_tokenizer_is_refused(llama: Path) -> None:
    for path in llama.glob("tokenizer*"):
        path.unlink()
    CanineTokenizer().save_pretrained(llama)
    assert "has a slow tokenizer (CanineTokenizer)" in refusal(ModelError, llama)


@pytest.mark.parametrize("content", ["", "{}", "404: not found"])
def test_a_broken_tokenizer_is_refused(llama: Path, content: str) -> None:
    (llama / "tokenizer.json").write_text(content)
    message = refusal(ModelError, llama)
    assert "tokenizer of llama cannot be opened" in message
    assert message.endswith("; copy or download its files again.")


def spaceless() -> PreTrainedTokenizerFast:
    """SentencePiece's way with spaces over a byte-level vocabulary, which has no "▁"."""
    state = json.loads(byte_level_bpe().backend_tokenizer.to_str())["model"]
    merges = [tuple(merge) for merge in state["merges"]]
    tokenizer = Tokenizer(models.BPE(state["vocab"], merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def test_a_tokenizer_that_loses_spaces_is_refused(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", "gpt2", spaceless())
    assert "'Hewashere.12x'" in refusal(CanaryFailed, folder)


@pytest.mark.parametrize("make", [byte_level_bpe, unigram_metaspace, word_piece])
def test_sound_tokenizers_pass(make: Any) -> None:
    check_round_trip(make())


def test_dropout_that_was_saved_is_switched_off(llama: Path) -> None:
    path = llama / "tokenizer.json"
    state = json.loads(path.read_text())
    text = "The nurse finished the night shift, and she was tired."
    expected = Tokenizer.from_file(str(path)).encode(text).ids
    state["model"]["dropout"] = 0.5
    path.write_text(json.dumps(state))
    saved = Tokenizer.from_file(str(path))
    assert len({tuple(saved.encode(text).ids) for _ in range(20)}) > 1
    tokenizer = opened(llama).tokenizer
    assert all(tokenizer(text).input_ids == expected for _ in range(20))


def test_sampling_of_unigram_is_switched_off() -> None:
    tokenizer = unigram_metaspace()
    expected = tokenizer.encode(MIXED_PROBE)
    model = tokenizer.backend_tokenizer.model
    model.alpha, model.nbest_size = 0.1, 64
    assert model.alpha is not None
    switch_sampling_off(tokenizer)
    assert all(tokenizer.encode(MIXED_PROBE) == expected for _ in range(20))
    assert (model.alpha, model.nbest_size) == (None, None)


def test_a_tokenizer_that_stays_random_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = byte_level_bpe()
    calls = itertools.count()
    monkeypatch.setattr(tokenizer, "encode", lambda text, **options: [next(calls) // 9])
    with pytest.raises(CanaryFailed, match="different ways from call to call"):
        switch_sampling_off(tokenizer)


def test_a_word_the_vocabulary_lacks_is_not_a_lost_space() -> None:
    tokenizer = Tokenizer(models.WordLevel({"He": 0, "was": 1, "[UNK]": 2}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    check_round_trip(PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]"))


# Where models come from


def test_names_of_nothing_are_refused_with_a_hint_where_one_is_close() -> None:
    message = refusal(ModelNotFound, "gpt2")
    assert 'There is no model "gpt2"' in message
    assert "org/name" in message
    assert "Did you mean" not in message
    for close in ("Demo", "dmeo", "smollm2-135m"):
        assert refusal(ModelNotFound, close).endswith('Did you mean "demo"?')
    for path in ("./nowhere", "/nowhere/at/all", "../a/b", ""):
        assert f'There is no model "{path}"' in refusal(ModelNotFound, path)


def test_folders_and_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    assert "holds no config.json" in refusal(ModelNotFound, tmp_path)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    assert "is a file" in refusal(ModelNotFound, file)


def hub_answers(monkeypatch: pytest.MonkeyPatch, answer: Exception) -> None:
    def snapshot_download(name: str, **options: Any) -> str:
        raise answer

    monkeypatch.setattr(sources, "snapshot_download", snapshot_download)


def http(kind: type[hub.HfHubHTTPError], status: int) -> hub.HfHubHTTPError:
    response = hub.Response(status, request=Request("GET", "https://huggingface.co"))
    return kind(f"{status} Client Error.\n\nhttps://...", response=response)


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (http(hub.GatedRepoError, 403), ModelGated, "accept its terms at https://huggingface.co/"),
        (http(hub.RepositoryNotFoundError, 401), ModelNotFound, 'no model "org/name" on the hub'),
        (http(hub.RevisionNotFoundError, 404), ModelNotFound, 'no revision "v9"'),
        (http(hub.HfHubHTTPError, 500), ModelNotFound, "give a local folder"),
        (hub.LocalEntryNotFoundError("offline\nagain"), ModelNotFound, "give a local folder"),
        (hub.HTTPError("connection lost"), ModelNotFound, "give a local folder"),
        (ConnectionError("refused"), ModelNotFound, "give a local folder"),
        (
            OSError(28, "No space left on device"),
            ModelError,
            "(No space left on device); make room",
        ),
        (hub.HFValidationError("bad name"), ModelNotFound, 'no model "org/name" on the hub'),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_the_hub_refuses_is_said_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch, answer: Exception, kind: type[ModelError], says: str
) -> None:
    hub_answers(monkeypatch, answer)
    assert says in refusal(kind, "org/name@v9")


def test_a_hub_name_close_to_the_demo_model_hints_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hub_answers(monkeypatch, hub.LocalEntryNotFoundError("offline"))
    message = refusal(ModelNotFound, "HuggingFaceTB/SmolLM2-135M-Instruct")
    assert message.endswith('Did you mean "demo"?')


@pytest.mark.parametrize("pickled", [False, True])
def test_a_hub_model_is_known_by_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pickled: bool
) -> None:
    folder = save_tiny(tmp_path / COMMIT, "llama", byte_level_bpe())
    (folder / "model.safetensors").rename(tmp_path / "kept")
    calls: list[dict[str, Any]] = []

    def snapshot_download(name: str, **options: Any) -> str:
        assert name == "org/name"
        calls.append(options)
        if not pickled:
            (tmp_path / "kept").rename(folder / "model.safetensors")
        elif len(calls) == 2:
            torch.save(load_file(tmp_path / "kept"), folder / "pytorch_model.bin")
        return str(folder)

    monkeypatch.setattr(sources, "snapshot_download", snapshot_download)
    language_model = opened("org/name@v1")
    assert language_model.label == "org/name@v1"
    assert language_model.fingerprint == f"hub:org/name@{COMMIT}"
    assert [call["revision"] for call in calls] == ["v1"] * (2 if pickled else 1)
    assert not any(".py" in pattern for pattern in calls[0]["allow_patterns"])
    assert not any(".bin" in pattern for pattern in calls[0]["allow_patterns"])


def test_a_hub_repository_without_a_config_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(sources, "snapshot_download", lambda name, **options: str(tmp_path))
    assert "holds no config.json" in refusal(ModelNotFound, "org/name")
