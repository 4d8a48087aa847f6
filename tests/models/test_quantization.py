"""Models in 8 and 4 bits: computed as they say, recorded in full, refused where they cannot be."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import torch

from core.errors import CanaryFailed, InputError, ModelError
from core.models import quantization
from core.models.language_model import LanguageModel
from core.models.opening import open_model
from core.models.precision import Precision
from core.settings import ROOT
from tests.models.test_demo_model import installed
from tests.tiny_models import (
    CAUSAL_FAMILIES,
    MASKED_FAMILIES,
    QUANTIZED,
    opened,
    planned,
    save_tiny,
)
from tests.tiny_tokenizers import byte_level_bpe, word_piece

# Dettmers et al. 2023, appendix E: the 16 values of NF4.
NF4 = np.array(
    [
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ]
)
LAYER = "model.layers.0.mlp.down_proj"
NOT_LINEAR = ("falcon",)  # its linear layers are of a class of its own
RECORDED = [f.name for f in fields(LanguageModel) if f.name not in ("model", "tokenizer")]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def saved(tmp_path_factory, llama) -> dict[str, Path]:
    """Checkpoints that were quantised before they were saved."""
    folders = {}
    for name in QUANTIZED:
        folders[name] = tmp_path_factory.mktemp("saved") / name
        language_model = opened(llama, quantization=name)
        language_model.model.save_pretrained(folders[name])
        language_model.tokenizer.save_pretrained(folders[name])
    return folders


def logits(language_model: LanguageModel, text: str = "The nurse finished.") -> torch.Tensor:
    ids = torch.tensor([language_model.tokenizer(text).input_ids])
    with torch.inference_mode():
        return language_model.model(ids).logits


def original(llama: Path) -> torch.Tensor:
    """The weights of LAYER before they were quantised: (out, in)."""
    return opened(llama).model.get_submodule(LAYER).weight


# What is computed


def nf4_by_hand(weights: np.ndarray) -> np.ndarray:
    """Each weight as the nearest NF4 value times the largest weight of its block of 64."""
    blocks = weights.astype(np.float64).reshape(-1, 64)
    largest = np.abs(blocks).max(axis=1, keepdims=True)
    nearest = np.abs((blocks / largest)[:, :, None] - NF4).argmin(axis=2)
    return (NF4[nearest] * largest).reshape(weights.shape)


def inputs(llama: Path, n: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(n, original(llama).shape[1], generator=generator)


def test_nf4_is_the_nearest_of_16_values_and_computes_in_float32(llama):
    layer = opened(llama, quantization="nf4", no_double_quant=True).model.get_submodule(LAYER)
    x = inputs(llama)
    expected = x.double().numpy() @ nf4_by_hand(original(llama).numpy()).T
    with torch.inference_mode():
        found = layer(x).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)  # bfloat16 would be off by 1e-2


def test_double_quantisation_moves_scales_a_little(llama):
    layer = opened(llama, quantization="nf4").model.get_submodule(LAYER)
    x = inputs(llama)
    expected = x.double().numpy() @ nf4_by_hand(original(llama).numpy()).T
    with torch.inference_mode():
        difference = np.abs(layer(x).numpy() - expected).max()
    assert 1e-5 < difference < 0.02 * np.abs(expected).max()


def test_nf4_computes_in_the_dtype_asked_for(llama):
    language_model = opened(
        llama, quantization="nf4", compute_dtype="bfloat16", no_double_quant=True
    )
    assert (language_model.dtype, "compute bfloat16" in language_model.quantization) == (
        "float32",
        True,
    )
    x = inputs(llama)
    weights = torch.from_numpy(nf4_by_hand(original(llama).numpy())).to(torch.bfloat16)
    with torch.inference_mode():
        found = language_model.model.get_submodule(LAYER)(x)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, (x.to(torch.bfloat16) @ weights.T).float())


def test_int8_rounds_weights_and_inputs_by_row_in_float16(llama):
    layer = opened(llama, quantization="int8").model.get_submodule(LAYER)
    x = inputs(llama)

    def rounded(values: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        halves = values.half().float().numpy()
        scale = np.abs(halves).max(axis=1, keepdims=True) / 127
        return np.round(halves / scale), scale

    a, a_scale = rounded(x)
    b, b_scale = rounded(original(llama))
    expected = (a @ b.T) * a_scale * b_scale.T
    with torch.inference_mode():
        found = layer(x).numpy()
    scale = np.abs(expected).max()
    # A rounding of one input may fall the other way in float16.
    assert np.abs(found - expected).mean() < 2e-3 * scale
    inputs_kept = x.numpy() @ (b * b_scale).T
    assert np.abs(found - inputs_kept).mean() > np.abs(found - expected).mean()


def test_one_large_input_of_a_batch_moves_int8_for_the_others(llama):
    """Why a text of an int8 model is scored alone, and one of an nf4 model need not be."""
    x = inputs(llama, 2)
    x[1, 3] = 50.0
    for name, moves in (("int8", True), ("nf4", False)):
        language_model = opened(llama, quantization=name)
        layer = language_model.model.get_submodule(LAYER)
        with torch.inference_mode():
            together, alone = layer(x)[0], layer(x[:1])[0]
        assert ((together - alone).abs().max() > 1e-3) == moves
        assert language_model.depends_on_batch == moves


@pytest.mark.parametrize("name", QUANTIZED)
def test_the_same_batch_gives_the_same_bits(llama, name):
    first = opened(llama, quantization=name)
    expected = logits(first)
    assert torch.isfinite(expected).all()
    assert torch.equal(logits(first), expected)
    assert torch.equal(logits(opened(llama, quantization=name)), expected)
    difference = (expected - logits(opened(llama))).abs().max()
    assert 1e-3 < difference < 20


# What is recorded


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize(
    ("family", "kind"),
    [
        *((f, "causal") for f in CAUSAL_FAMILIES if f not in NOT_LINEAR),
        *((f, "masked") for f in MASKED_FAMILIES),
    ],
)
def test_what_is_planned_is_what_is_loaded(tmp_path, family, kind, name):
    tokenizer = byte_level_bpe() if kind == "causal" else word_piece()
    save_tiny(tmp_path / family, family, tokenizer)
    loaded = opened(tmp_path / family, kind=kind, quantization=name)
    expected = planned(tmp_path / family, kind=kind, quantization=name).described()
    for field in RECORDED:
        assert getattr(expected, field) == getattr(loaded, field), field
    assert loaded.quantization.startswith(name)
    assert loaded.fingerprint == planned(tmp_path / family, kind=kind).described().fingerprint


def test_a_description_holds_all_that_moves_a_score(llama):
    kept = "kept lm_head, model.embed_tokens)"
    rounding = "(bitsandbytes LLM.int8, weights and inputs cast to float16; "
    assert opened(llama).quantization == "none"
    assert opened(llama, quantization="int8").quantization == f"int8 threshold 6 {rounding}{kept}"
    names = [
        opened(llama, quantization="nf4", dtype=dtype, **options).quantization.partition(" (")[0]
        for dtype in ("float32", "bfloat16")
        for options in ({}, {"no_double_quant": True}, {"compute_dtype": "float16"})
    ]
    assert names == [
        "nf4 double compute float32",
        "nf4 single compute float32",
        "nf4 double compute float16",
        "nf4 double compute bfloat16",
        "nf4 single compute bfloat16",
        "nf4 double compute float16",
    ]
    assert opened(llama, quantization="nf4").quantization.endswith(f"blocks of 64; {kept}")


def test_experts_that_are_no_linear_layers_are_named_as_kept(tmp_path):
    save_tiny(tmp_path / "m", "mixtral", byte_level_bpe())
    assert (
        "model.layers.*.mlp.experts.down_proj"
        in opened(tmp_path / "m", quantization="nf4").quantization
    )


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_dtype_is_that_of_the_other_weights(llama, name, dtype):
    language_model = opened(llama, quantization=name, dtype=dtype)
    assert language_model.dtype == dtype
    assert str(language_model.model.lm_head.weight.dtype) == f"torch.{dtype}"
    assert torch.isfinite(logits(language_model)).all()


# Checkpoints that were saved quantised


@pytest.mark.parametrize("name", QUANTIZED)
def test_a_checkpoint_saved_quantised_scores_as_before(llama, saved, name):
    fresh, again = opened(llama, quantization=name), opened(saved[name])
    assert torch.equal(logits(fresh), logits(again))
    assert again.quantization == fresh.quantization == planned(saved[name]).described().quantization
    assert again.depends_on_batch == fresh.depends_on_batch
    assert again.fingerprint != fresh.fingerprint
    assert again.dtype == "float32"


@pytest.mark.parametrize("name", QUANTIZED)
def test_an_open_quantised_model_does_not_follow_its_files(saved, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    for path in saved[name].iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    language_model = opened(folder)
    weights = folder / "model.safetensors"
    with weights.open("r+b") as file:
        file.write(b"\x3f" * weights.stat().st_size)
    assert torch.equal(logits(language_model), logits(opened(saved[name])))


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantising_once_more_is_refused(saved, name):
    with pytest.raises(ModelError, match=r"was already quantised .* quantization none"):
        planned(saved["nf4"], quantization=name)


# What is refused


@pytest.mark.parametrize("package", ["bitsandbytes", "accelerate"])
def test_a_missing_package_is_named(llama, monkeypatch, package):
    monkeypatch.setattr(quantization, "find_spec", lambda name: name != package or None)
    with pytest.raises(InputError, match=f"need the package {package}, which is not installed"):
        opened(llama, quantization="nf4")
    assert opened(llama).quantization == "none"


def test_a_device_without_kernels_is_named(llama, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(InputError, match="no tested kernels for mps; choose the device cpu"):
        planned(llama, device="mps", quantization="int8")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"quantization": "int4"}, 'quantization is "int4", which is none of none, int8, nf4'),
        ({"quantization": "nf4", "compute_dtype": "int8"}, 'compute dtype is "int8"'),
        ({"quantization": "int8", "compute_dtype": "float32"}, "belong to quantization nf4"),
        ({"no_double_quant": True}, "belong to quantization nf4"),
    ],
)
def test_options_that_mean_nothing_are_refused(llama, options, says):
    with pytest.raises(InputError, match=says):
        planned(llama, **options)


@pytest.mark.parametrize("name", QUANTIZED)
def test_a_model_of_which_nothing_can_be_quantised_is_refused(tmp_path, name):
    save_tiny(tmp_path / "falcon", "falcon", byte_level_bpe())
    with pytest.raises(CanaryFailed, match="No layer of falcon would be quantised"):
        opened(tmp_path / "falcon", quantization=name)
    with pytest.raises(CanaryFailed, match="No layer of falcon would be quantised"):
        planned(tmp_path / "falcon", quantization=name).described()


def test_layers_that_stay_as_they_were_are_noticed_after_loading(llama, monkeypatch):
    monkeypatch.setattr(
        "transformers.integrations.replace_with_bnb_linear", lambda model, **options: model
    )
    with pytest.raises(CanaryFailed, match="No layer of llama would be quantised"):
        opened(llama, quantization="nf4")


def test_nothing_is_imported_before_it_is_needed(llama):
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from tests.tiny_models import opened, planned\n"
        f"opened(Path({str(llama)!r}))\n"
        f"planned(Path({str(llama)!r}), quantization='nf4').described()\n"
        "assert 'bitsandbytes' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


# With real weights


@pytest.mark.demo
@pytest.mark.skipif(not installed(), reason="the demo model is not installed")
@pytest.mark.parametrize(("name", "largest"), [("int8", 0.2), ("nf4", 0.6)])
def test_the_demo_model_moves_a_little(models_folder, name, largest):
    plain, moved = (
        open_model(
            "demo",
            models_folder=models_folder,
            precision=Precision(quantization=q),
            device="cpu",
        )
        for q in ("none", name)
    )
    texts = (
        "The nurse finished the night shift. She was tired.",
        "The engineer drew the plans for the new bridge, and the council agreed.",
        "La enfermera terminó el turno de noche.",
    )

    def mean(language_model: LanguageModel, text: str) -> float:
        ids = torch.tensor([language_model.tokenizer(text).input_ids])
        logprobs = logits(language_model, text)[0].log_softmax(-1)[:-1]
        return float(logprobs.gather(-1, ids[0, 1:, None]).mean())

    differences = [abs(mean(plain, text) - mean(moved, text)) for text in texts]
    assert max(differences) > 1e-4
    assert np.mean(differences) < largest
