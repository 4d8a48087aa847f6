"""Weights in 8 or 4 bits through bitsandbytes: what is asked for, and what is really used.

::

    int8    LLM.int8 (Dettmers et al. 2022, arXiv 2208.07339): weights and inputs as 8-bit integers
            with a scale per row; columns of inputs beyond a threshold stay as they are
    nf4     4-bit NormalFloat (Dettmers et al. 2023, arXiv 2305.14314): weights alone, in blocks of
            64 with a scale each; the scales are quantised once more ("double") unless asked not to

bitsandbytes takes seconds to import. This module describes and counts without it, and transformers
imports it when weights are read.
"""

from __future__ import annotations

import logging
import re
from importlib.util import find_spec
from typing import Any

import torch
from transformers import BitsAndBytesConfig, PreTrainedConfig
from transformers.pytorch_utils import Conv1D
from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING
from transformers.quantizers.base import HfQuantizer
from transformers.quantizers.quantizers_utils import should_convert_module

from core.errors import CanaryFailed, InputError, ModelError
from core.models.precision import DTYPES, Precision, dtype_name

DEVICES = ("cuda", "cpu")  # where bitsandbytes has kernels for both
PACKAGES = ("bitsandbytes", "accelerate")
QUANTIZED_LAYERS = ("Linear8bitLt", "Linear4bit")  # bitsandbytes' own, by name: see above
BLOCK = 64  # weights that share a scale in 4 bits
DOUBLE_BLOCK = 256  # scales that share a scale of their own


def choose_settings(precision: Precision, dtype: torch.dtype) -> BitsAndBytesConfig | None:
    """The settings that stand for what is asked; None where nothing is to be quantised.

    Parameters
    ----------
    dtype
        Of everything that is not quantised.
    """
    if precision.quantization == "none":
        return None
    if precision.quantization == "int8":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=DTYPES.get(precision.compute_dtype, dtype),
        bnb_4bit_use_double_quant=not precision.no_double_quant,
    )


def check_available(device: str) -> None:
    """Refuse where bitsandbytes cannot work.

    Raises
    ------
    InputError
        Naming the package or the kind of device that is missing.
    """
    for package in PACKAGES:
        if find_spec(package) is None:
            raise InputError(
                f"Quantised models need the package {package}, which is not installed; install the "
                "program's requirements again, or choose quantization none."
            )
    if device not in DEVICES:
        raise InputError(
            f"bitsandbytes has no tested kernels for {device}; choose the device cpu, or "
            "quantization none."
        )


def saved_settings(config: PreTrainedConfig) -> BitsAndBytesConfig | None:
    """The settings of a checkpoint that bitsandbytes quantised before it was saved."""
    if saved_method(config) != "bitsandbytes":
        return None
    settings = config.quantization_config
    settings = settings if isinstance(settings, dict) else settings.to_dict()
    try:
        saved: BitsAndBytesConfig = BitsAndBytesConfig.from_dict(settings)
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"The quantization settings in the checkpoint's config.json cannot be used: {error}; "
            "download it again."
        ) from error
    return saved


def saved_method(config: PreTrainedConfig) -> str:
    """The method that a checkpoint was saved quantised with, or "none".

    A method that transformers does not know is skipped when the weights are loaded.
    """
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return "none"
    settings = settings if isinstance(settings, dict) else settings.to_dict()
    method = method_name(settings.get("quant_method"))
    in_bits = settings.get("load_in_8bit") or settings.get("load_in_4bit")
    known = in_bits or method in AUTO_QUANTIZATION_CONFIG_MAPPING
    return method if known else "none"


def method_name(method: Any) -> str:
    """A method's name, however a config spells it."""
    return "bitsandbytes" if method is None else str(getattr(method, "value", method))


def layers_to_quantize(model: Any, settings: BitsAndBytesConfig) -> list[str]:
    """Names of the linear layers that loading would replace, found on a model without values."""
    kept = HfQuantizer.get_modules_to_not_convert(
        model, settings.llm_int8_skip_modules, model._keep_in_fp32_modules
    )
    return [
        name
        for name, module in model.named_modules()
        if (type(module) is torch.nn.Linear or isinstance(module, Conv1D))
        and should_convert_module(name, kept)
    ]


def quantized_layers(model: torch.nn.Module) -> list[str]:
    """Names of the layers of a loaded model that really are quantised by bitsandbytes."""
    return [
        name for name, module in model.named_modules() if type(module).__name__ in QUANTIZED_LAYERS
    ]


def describe(settings: BitsAndBytesConfig, model: torch.nn.Module, layers: list[str]) -> str:
    """Everything about a quantisation that can move a score; part of the scorer's identity.

    Two names come first, then a parenthesis with the details; the weights that are kept as they
    were are named with their layers' numbers left out.
    """
    if settings.load_in_8bit:
        # bitsandbytes casts the weights before it rounds them, and the inputs at every call, on
        # the CPU as on a GPU, in eval mode. What exceeds the threshold is computed as it came.
        name = f"int8 threshold {settings.llm_int8_threshold:g}"
        details = "bitsandbytes LLM.int8, weights and inputs cast to float16"
    else:
        double = "double" if settings.bnb_4bit_use_double_quant else "single"
        compute = dtype_name(settings.bnb_4bit_compute_dtype)
        name = f"{settings.bnb_4bit_quant_type} {double} compute {compute}"
        details = f"bitsandbytes 4-bit, blocks of {BLOCK}"
    kept = {
        re.sub(r"\.\d+(?=\.)", ".*", name.removesuffix(".weight"))
        for name, parameter in model.named_parameters()
        if parameter.dim() > 1 and name.removesuffix(".weight") not in layers
    }
    return f"{name} ({details}; kept {', '.join(sorted(kept)) or 'nothing'})"


def depends_on_batch(settings: BitsAndBytesConfig | None) -> bool:
    """Whether a text's numbers depend on the other texts of its batch.

    LLM.int8 takes a whole column of inputs out of the 8-bit product as soon as one token of the
    batch exceeds the threshold there.
    """
    return settings is not None and settings.load_in_8bit and settings.llm_int8_threshold > 0


def quantized_bytes(n_weights: int, n_rows: int, settings: BitsAndBytesConfig) -> float:
    """Memory for one quantised layer's weights and scales.

    One byte a weight and four a row in 8 bits; in 4 bits half a byte a weight, and for each block a
    scale of four bytes, or of one and a share of the scales' scale.
    """
    if settings.load_in_8bit:
        return n_weights + 4 * n_rows
    scale = 1 + 4 / DOUBLE_BLOCK if settings.bnb_4bit_use_double_quant else 4
    return n_weights * (0.5 + scale / BLOCK)


def silence_bitsandbytes() -> None:
    """Keep its log to errors: it says at every call that inputs are cast, which is recorded."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def check_any(layers: list[str], label: str) -> None:
    """Refuse a model of which nothing is quantised.

    Raises
    ------
    CanaryFailed
        When there is no such layer.
    """
    if not layers:
        raise CanaryFailed(
            f"No layer of {label} would be quantised, because bitsandbytes replaces plain linear "
            "layers only; choose quantization none."
        )


def finish_loading(model: torch.nn.Module, label: str) -> list[str]:
    """Check that layers really are quantised, and make them compute in the dtype they name.

    On CPUs with AVX-512 for bfloat16 bitsandbytes would compute 4-bit layers in bfloat16 whatever
    their settings say, and refuse layers whose size is no multiple of 32.

    Returns
    -------
    list of str
        Names of the quantised layers.

    Raises
    ------
    CanaryFailed
        When there is none.
    """
    layers = quantized_layers(model)
    check_any(layers, label)
    for name in layers:
        layer: Any = model.get_submodule(name)
        layer.support_avx512bf16_for_cpu = False
    return layers
