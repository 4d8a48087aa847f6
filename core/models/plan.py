"""What opening a model would mean, found out before any weight is read.

Everything that can refuse a model without its weights is tried here: the spec, the kind of head,
the device, the tokenizer. Shapes come from the config on the meta device, which has no values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BitsAndBytesConfig,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
)

from core.errors import InputError, ModelError
from core.models.config import (
    attention_name,
    check_kind,
    explaining_config,
    read_config,
    read_window,
)
from core.models.fingerprint import file_states, weight_files
from core.models.language_model import Kind, LanguageModel
from core.models.memory import QUANTIZING_BYTES, ModelSize, Placement, place
from core.models.precision import AS_IT_COMES, DTYPES, Precision, check_name, dtype_name
from core.models.quantization import DEVICES as BITS_AND_BYTES_DEVICES
from core.models.quantization import (
    check_any,
    check_available,
    choose_settings,
    depends_on_batch,
    describe,
    layers_to_quantize,
    method_name,
    quantized_bytes,
    saved_method,
    saved_settings,
)
from core.models.sources import Source, check_weights_exist, find_source
from core.models.tokenizer import load_tokenizer

AUTO_CLASSES: dict[Kind, Any] = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
DEVICES = ("cuda", "mps", "cpu")


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelPlan:
    """A model that is found and readable, with what was decided about opening it."""

    source: Source
    config: PreTrainedConfig
    tokenizer: PreTrainedTokenizerBase
    kind: Kind
    dtype: torch.dtype
    device: str
    trust_remote_code: bool
    bits_and_bytes: BitsAndBytesConfig | None  # asked for, or as the checkpoint was saved
    file_states: dict[str, tuple[int, int, int]]  # of before anything was read

    @property
    def quantizes(self) -> bool:
        """Whether weights are quantised while they are read, and not before they were saved."""
        return self.bits_and_bytes is not None and saved_method(self.config) == "none"

    def fingerprint(self) -> str:
        """The fingerprint of what was read since the plan was made.

        Raises
        ------
        ModelError
            When the files have changed in the meantime.
        """
        fingerprint = self.source.fingerprint
        if read_states(self.source) != self.file_states:
            raise ModelError(
                f"{self.source.label} changed while it was being opened; open it again."
            )
        return fingerprint

    @cached_property
    def shapes(self) -> Any:
        """The model without values; ModelError where the config's settings allow none."""
        with explaining_config(self.source), torch.device("meta"):
            return AUTO_CLASSES[self.kind].from_config(
                self.config, trust_remote_code=self.trust_remote_code
            )

    def size(self) -> ModelSize:
        """Memory for the weights: as large as the files if saved quantised, else counted."""
        shapes = self.shapes  # refuses a config that allows none
        files = weight_files(self.source.folder)
        if files and saved_method(self.config) != "none":
            return ModelSize(sum(path.stat().st_size for path in files), 0)
        settings = self.bits_and_bytes
        layers = set(self._layers)
        held, loading = 0.0, 0
        for name, weights in shapes.named_parameters():
            if settings and name.removesuffix(".weight") in layers:
                held += quantized_bytes(weights.numel(), weights.shape[0], settings)
                loading = max(loading, QUANTIZING_BYTES * weights.numel())
            else:
                held += self.dtype.itemsize * weights.numel()
                loading = max(loading, self.dtype.itemsize * weights.numel())
        # Weights that are not quantised stay mapped from their file until they are copied.
        return ModelSize(round(held), loading if layers else 0)

    @cached_property
    def _layers(self) -> list[str]:
        """The layers that will be quantised; CanaryFailed where some should be and none would."""
        if self.bits_and_bytes is None:
            return []
        layers = layers_to_quantize(self.shapes, self.bits_and_bytes)
        check_any(layers, self.source.label)
        return layers

    def placement(self) -> Placement:
        """Where the weights would lie, and what is free there."""
        quantized = self.bits_and_bytes is not None
        return place(self.size().needed_bytes, self.device, quantized=quantized)

    def precision(self) -> str:
        """What the model would be opened in, for messages."""
        if self.bits_and_bytes is None:
            return dtype_name(self.dtype)
        bits = 8 if self.bits_and_bytes.load_in_8bit else 4
        return f"{bits} bits with the rest in {dtype_name(self.dtype)}"

    def smaller(self) -> str:
        """What could be chosen instead where this is too large, for messages."""
        choices = ["a smaller model"]
        if saved_method(self.config) == "none" and self.device in BITS_AND_BYTES_DEVICES:
            if self.bits_and_bytes is None:
                choices.append("quantization int8 or nf4")
            elif self.bits_and_bytes.load_in_8bit:
                choices.append("quantization nf4")
        if self.dtype == torch.float32:
            choices.append("a dtype of half the size such as bfloat16")
        return f"{', '.join(choices[:-1])} or {choices[-1]}" if choices[1:] else choices[0]

    def file_bytes(self) -> int:
        """About what the checkpoint's files take, where they are not on this machine yet."""
        own = checkpoint_dtype(self.config) or self.dtype
        numbers = sum(weights.numel() for weights in self.shapes.parameters())
        return int(numbers * own.itemsize)

    def described(self) -> LanguageModel:
        """The language model as it would be recorded; it has shapes but cannot compute."""
        shapes, settings = self.shapes, self.bits_and_bytes
        quantization = (
            saved_method(self.config)
            if settings is None
            else describe(settings, shapes, self._layers)
        )
        return LanguageModel(
            model=shapes,
            tokenizer=self.tokenizer,
            label=self.source.label,
            fingerprint=self.fingerprint(),
            kind=self.kind,
            dtype=dtype_name(self.dtype),
            device=self.device,
            attention=attention_name(shapes.config),
            quantization=quantization,
            depends_on_batch=depends_on_batch(settings),
            window=read_window(shapes.config, shapes),
        )


def plan_model(
    spec: str,
    *,
    models_folder: Path,
    precision: Precision = AS_IT_COMES,
    device: str = "auto",
    trust_remote_code: bool = False,
    kind: Kind | None = "causal",
    download: bool = True,
) -> ModelPlan:
    """Find a model and read what is small of it; parameters and errors as for `open_model`.

    Parameters
    ----------
    download
        Fetch a hub model's weights too; without, only what describes it.
    """
    device = choose_device(device)
    precision.check()
    if kind is not None:
        check_name("kind", kind, get_args(Kind))
    if precision.quantization != "none":
        check_available(device)
    source = find_source(spec, models_folder, with_code=trust_remote_code, with_weights=download)
    if download:
        check_weights_exist(source)
    states = read_states(source)
    config = read_config(source, trust_remote_code=trust_remote_code)
    kind = check_kind(config, kind, source.label)
    was_quantized = getattr(config, "quantization_config", None) is not None
    if precision.quantization != "none" and was_quantized:
        raise ModelError(
            f"{source.label} was already quantised when it was saved; open it with quantization "
            "none, or name the model that it was made from."
        )
    dtype = _choose_dtype(precision.dtype, device, config)
    settings = choose_settings(precision, dtype)
    if saved_method(config) == "bitsandbytes":
        check_available(device)
        settings = saved_settings(config)
    return ModelPlan(
        source=source,
        config=config,
        tokenizer=load_tokenizer(source, trust_remote_code=trust_remote_code),
        kind=kind,
        dtype=dtype,
        bits_and_bytes=settings,
        device=device,
        trust_remote_code=trust_remote_code,
        file_states=states,
    )


def read_states(source: Source) -> dict[str, tuple[int, int, int]]:
    """What tells whether a source's files were written to; files that vanish count as changed."""
    try:
        return file_states(source.folder, with_code=source.with_code)
    except OSError:
        return {}


def choose_device(device: str) -> str:
    """The device that is meant; InputError for one that is not known or not there."""
    check_name("device", device, ["auto", *DEVICES])
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if device == "auto":
        return next(name for name in DEVICES if there[name])
    if not there[device]:
        raise InputError(f"This machine has no {device} device that torch can use; use cpu.")
    return device


def _choose_dtype(dtype: str, device: str, config: PreTrainedConfig) -> torch.dtype:
    if dtype != "auto":
        return DTYPES[dtype]
    own = checkpoint_dtype(config)
    return torch.float32 if device == "cpu" or own is None else own


def checkpoint_dtype(config: PreTrainedConfig) -> torch.dtype | None:
    """The dtype that a checkpoint was saved in, where its config says so."""
    own = getattr(config, "dtype", None) or getattr(config.get_text_config(), "dtype", None)
    return own if isinstance(own, torch.dtype) else DTYPES.get(str(own))


def applied_quantization(model: Any) -> str:
    """The method that a loaded model really is quantised with, whatever its config says."""
    quantizer = getattr(model, "hf_quantizer", None)
    return "none" if quantizer is None else method_name(quantizer.quantization_config.quant_method)
