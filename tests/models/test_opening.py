"""Models of every family open as what they are, in the dtype asked for, without a warning."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from core.errors import InputError, ModelError
from core.models import opening
from core.models.fingerprint import folder_fingerprint
from tests.models.test_gguf import TEXTS
from tests.tiny_models import (
    CAUSAL_FAMILIES,
    MASKED_FAMILIES,
    WINDOW,
    opened,
    save_tiny,
    tiny_model,
)
from tests.tiny_tokenizers import CORPUS, byte_level_bpe, unigram_metaspace, word_piece

FAMILIES = [*((f, "causal") for f in CAUSAL_FAMILIES), *((f, "masked") for f in MASKED_FAMILIES)]


def save(folder: Path, family: str, **options: object) -> Path:
    tokenizer = byte_level_bpe() if family in CAUSAL_FAMILIES else word_piece()
    return save_tiny(folder, family, tokenizer, **options)


@pytest.fixture
def transformers_log() -> Iterator[list[str]]:
    """What transformers logs at the level of warnings and above."""
    lines: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


@pytest.mark.parametrize(("family", "kind"), FAMILIES)
def test_every_family_opens(
    tmp_path: Path, transformers_log: list[str], family: str, kind: str
) -> None:
    folder = save(tmp_path / "model", family)
    language_model = opened(folder, kind=kind)
    assert transformers_log == []
    assert (language_model.kind, language_model.dtype, language_model.device) == (
        kind,
        "float32",
        "cpu",
    )
    assert language_model.attention == ("eager" if family in ("bloom", "gemma2") else "sdpa")
    assert not language_model.model.training
    assert not any(p.requires_grad for p in language_model.model.parameters())
    ids = torch.tensor([language_model.tokenizer("The nurse finished.").input_ids])
    vocab_size = len(byte_level_bpe() if kind == "causal" else word_piece())
    pad = language_model.model.config.pad_token_id
    expected = tiny_model(family, vocab_size, bos_token_id=None, pad_token_id=pad)
    torch.testing.assert_close(language_model.model(ids).logits, expected(ids).logits)


@pytest.mark.parametrize(("family", "kind"), FAMILIES)
def test_saved_in_bfloat16_opens_in_the_dtype_asked_for(
    tmp_path: Path, transformers_log: list[str], family: str, kind: str
) -> None:
    folder = save(tmp_path / "model", family, dtype=torch.bfloat16)
    for asked, found in (("auto", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16")):
        language_model = opened(folder, kind=kind, dtype=asked)
        assert language_model.dtype == found
        names = {str(p.dtype) for p in language_model.model.parameters()}
        assert names == {f"torch.{found}"}
    assert transformers_log == []


@pytest.mark.parametrize(("family", "kind"), FAMILIES)
def test_window_comes_from_the_config(tmp_path: Path, family: str, kind: str) -> None:
    folder = save(tmp_path / "model", family)
    settings = folder / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace('"model_max_length": ', '"x": '))
    special = {"bloom": None}
    # RoBERTa's positions start behind the padding id, which word_piece puts at 0.
    special |= dict.fromkeys(("roberta", "xlm-roberta", "camembert"), WINDOW - 0 - 1)
    assert opened(folder, kind=kind).window == special.get(family, WINDOW)


def test_a_roberta_of_514_positions_reads_512_tokens(tmp_path: Path) -> None:
    folder = save(tmp_path / "model", "roberta", max_position_embeddings=514, pad_token_id=1)
    language_model = opened(folder, kind="masked")
    assert language_model.window == 512
    language_model.model(torch.full((1, 512), 7))
    with pytest.raises((IndexError, RuntimeError)):
        language_model.model(torch.full((1, 513), 7))


def test_a_falcon_with_alibi_has_no_limit(tmp_path: Path) -> None:
    assert opened(save(tmp_path / "model", "falcon", alibi=True)).window is None


def test_the_tokenizers_own_limit_plays_no_part(tmp_path: Path) -> None:
    folder = save(tmp_path / "model", "llama")
    tokenizer = opened(folder).tokenizer
    tokenizer.model_max_length = 16
    tokenizer.save_pretrained(folder)
    assert opened(folder).window == WINDOW


@pytest.mark.parametrize("name", ["bart", "opt", "bert-base-uncased", "gpt2"])
def test_a_folders_name_changes_nothing(tmp_path: Path, name: str) -> None:
    save(tmp_path / "model", "llama")
    plain = opened(tmp_path / "model")
    shutil.move(tmp_path / "model", tmp_path / name)
    renamed = opened(tmp_path / name)
    assert renamed.label == name
    for field in ("kind", "fingerprint", "dtype", "attention", "window"):
        assert getattr(renamed, field) == getattr(plain, field)


def test_a_causal_model_may_have_a_mask_token(tmp_path: Path) -> None:
    language_model = opened(save(tmp_path / "model", "gpt2"))
    assert language_model.tokenizer.mask_token == "<mask>"
    assert language_model.kind == "causal"


def test_fingerprint_follows_what_moves_a_score(tmp_path: Path) -> None:
    folder = save(tmp_path / "model", "llama")
    first = folder_fingerprint(folder)
    (folder / "README.md").write_text("# A model")
    (folder / "generation_config.json").write_text("{}")
    (folder / "consolidated.safetensors").write_bytes(b"the same weights once more")
    (folder / "training.py").write_text("print()")
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "renamed")
    assert folder_fingerprint(folder) == folder_fingerprint(moved) == first
    assert opened(moved).fingerprint == first

    seen = {first, folder_fingerprint(folder, with_code=True)}
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
        changed = shutil.copytree(folder, tmp_path / name)
        content = bytearray((changed / name).read_bytes())
        content[-1] ^= 1
        (changed / name).write_bytes(content)
        seen.add(folder_fingerprint(changed))
    assert len(seen) == 6


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    one, other = (save(tmp_path / str(seed), "llama", seed=seed) for seed in (0, 1))
    assert folder_fingerprint(one) != folder_fingerprint(other)


def test_pickled_weights_count_only_where_there_are_no_others(tmp_path: Path) -> None:
    folder = save(tmp_path / "model", "llama")
    safe = opened(folder)
    pickled = folder / "pytorch_model.bin"
    torch.save(tiny_model("llama", len(byte_level_bpe()), seed=5).state_dict(), pickled)
    assert opened(folder).fingerprint == safe.fingerprint
    (folder / "model.safetensors").unlink()
    language_model = opened(folder)
    assert language_model.fingerprint != safe.fingerprint
    weights = language_model.model.lm_head.weight
    assert not torch.equal(weights, safe.model.lm_head.weight)


@pytest.mark.parametrize("pickled", [False, True])
def test_an_open_model_does_not_follow_its_files(tmp_path: Path, pickled: bool) -> None:
    folder = save(tmp_path / "model", "llama", tie_word_embeddings=True)
    weights = folder / "model.safetensors"
    if pickled:
        torch.save(load_file(weights), folder / "pytorch_model.bin")
        weights.unlink()
        weights = folder / "pytorch_model.bin"
    model = opened(folder).model
    before = {name: values.clone() for name, values in model.state_dict().items()}
    with weights.open("r+b") as file:  # in place, as cp and rsync --inplace write
        file.write(b"\x3f" * weights.stat().st_size)
    for name, values in model.state_dict().items():
        assert torch.equal(values, before[name])
    assert model.lm_head.weight is model.model.embed_tokens.weight
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(folder) not in maps.read_text()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_files_that_change_during_opening_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = save(tmp_path / "model", "llama")
    check_fits = opening.check_fits

    def rewritten(*arguments: object, **options: object) -> None:
        check_fits(*arguments, **options)
        path = folder / name
        path.write_bytes(path.read_bytes())
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))

    monkeypatch.setattr(opening, "check_fits", rewritten)
    with pytest.raises(ModelError, match="model changed while it was being opened; open it again"):
        opened(folder)


@pytest.mark.parametrize("option", ["dtype", "device", "kind"])
def test_unknown_options_are_named(tmp_path: Path, option: str) -> None:
    with pytest.raises(InputError, match=f'{option} is "tpu", which is none of'):
        opened(tmp_path, **{option: "tpu"})


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_not_replaced_in_silence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cuda device"):
        opened(tmp_path, device="cuda")


@pytest.mark.parametrize("make", [byte_level_bpe, unigram_metaspace, word_piece])
@pytest.mark.parametrize("family", CAUSAL_FAMILIES)
def test_the_tokenizer_is_the_one_that_was_saved(
    tmp_path: Path, family: str, make: Callable[[], PreTrainedTokenizerFast]
) -> None:
    tokenizer = opened(save_tiny(tmp_path / "model", family, make())).tokenizer
    for text in TEXTS:
        assert tokenizer(text).input_ids == make()(text).input_ids


@pytest.mark.parametrize(
    "make", [byte_level_bpe, unigram_metaspace], ids=lambda make: make.__name__
)
def test_one_tokenizer_serves_eight_threads(tmp_path: Path, make: object) -> None:
    folder = save_tiny(tmp_path / "model", "llama", make())
    shared = Tokenizer.from_file(str(folder / "tokenizer.json"))
    expected = [shared.encode(text).ids for text in CORPUS]
    shared.enable_truncation(3)
    shared.enable_padding(length=9)
    shared.save(str(folder / "tokenizer.json"))
    tokenizer = opened(folder).tokenizer
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda text: tokenizer(text).input_ids, CORPUS * 20)
        assert list(found) == expected * 20
