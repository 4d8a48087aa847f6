"""What opening a model would mean, found out before any weight is read.

Everything that can refuse a model without its weights is tried here: the spec, the kind of head,
the device, the tokenizer. Shapes come from the config on the meta device, which has no values.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from core.errors import InputError, ModelError
from core.models.canary import agrees_with_file, check_round_trip, switch_sampling_off
from core.models.config import check_kind, explaining_config, first_line, read_config, read_window
from core.models.fingerprint import file_states, weight_files
from core.models.language_model import Kind, LanguageModel
from core.models.memory import QUANTIZING_BYTES, ModelSize, Placement, dtype_name, place
from core.models.quantization import DEVICES as BITS_AND_BYTES_DEVICES
from core.models.quantization import (
    QUANTIZATIONS,
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

AUTO_CLASSES: dict[Kind, Any] = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
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

    def shapes(self) -> Any:
        """The model without values; ModelError where the config's settings allow none."""
        with explaining_config(self.source), torch.device("meta"):
            return AUTO_CLASSES[self.kind].from_config(
                self.config, trust_remote_code=self.trust_remote_code
            )

    def size(self) -> ModelSize:
        """Memory for the weights: as large as the files if saved quantised, else counted."""
        shapes = self.shapes()
        files = weight_files(self.source.folder)
        if files and saved_method(self.config) != "none":
            return ModelSize(sum(path.stat().st_size for path in files), 0)
        settings = self.bits_and_bytes
        layers = set(self._layers(shapes))
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

    def _layers(self, shapes: Any) -> list[str]:
        """The layers that will be quantised; CanaryFailed where some should be and none would."""
        if self.bits_and_bytes is None:
            return []
        layers = layers_to_quantize(shapes, self.bits_and_bytes)
        check_any(layers, self.source.label)
        return layers

    def placement(self) -> Placement:
        """Where the weights would lie, and what is free there."""
        straight = self.bits_and_bytes is not None
        return place(self.size().needed_bytes, self.device, straight=straight)

    def straight(self, placement: Placement) -> bool:
        """Whether weights go to their device one by one, as they are read."""
        return self.bits_and_bytes is not None or bool(placement.gpus)

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
        numbers = sum(weights.numel() for weights in self.shapes().parameters())
        return int(numbers * own.itemsize)

    def described(self) -> LanguageModel:
        """The language model as it would be recorded; it has shapes but cannot compute."""
        shapes = self.shapes()
        settings = self.bits_and_bytes
        quantization = (
            saved_method(self.config)
            if settings is None
            else describe(settings, shapes, self._layers(shapes))
        )
        return LanguageModel(
            model=shapes,
            tokenizer=self.tokenizer,
            label=self.source.label,
            fingerprint=self.fingerprint(),
            kind=self.kind,
            dtype=dtype_name(self.dtype),
            device=self.device,
            attention=shapes.config._attn_implementation,
            quantization=quantization,
            depends_on_batch=depends_on_batch(settings),
            window=read_window(shapes.config, shapes),
        )


def plan_model(
    spec: str,
    *,
    models_folder: Path,
    dtype: str = "auto",
    device: str = "auto",
    trust_remote_code: bool = False,
    kind: Kind | None = "causal",
    quantization: str = "none",
    compute_dtype: str = "auto",
    double_quant: bool = True,
    download: bool = True,
) -> ModelPlan:
    """Find a model and read what is small of it; parameters and errors as for `open_model`.

    Parameters
    ----------
    download
        Fetch a hub model's weights too; without, only what describes it.
    """
    device = _choose_device(device)
    _check_name("dtype", dtype, ["auto", *DTYPES])
    if kind is not None:
        _check_name("kind", kind, get_args(Kind))
    _check_name("quantization", quantization, QUANTIZATIONS)
    _check_name("compute dtype", compute_dtype, ["auto", *DTYPES])
    if quantization != "nf4" and (compute_dtype != "auto" or not double_quant):
        raise InputError(
            "The compute dtype and double quantisation belong to quantization nf4; leave them out, "
            "or choose nf4."
        )
    if quantization != "none":
        check_available(device)
    source = find_source(spec, models_folder, with_code=trust_remote_code, with_weights=download)
    if download:
        check_weights_exist(source)
    states = read_states(source)
    config = read_config(source, trust_remote_code=trust_remote_code)
    kind = check_kind(config, kind, source.label)
    if quantization != "none" and getattr(config, "quantization_config", None) is not None:
        raise ModelError(
            f"{source.label} was already quantised when it was saved; open it with quantization "
            "none, or name the model that it was made from."
        )
    chosen = _choose_dtype(dtype, device, config)
    settings = choose_settings(
        quantization, chosen, compute_dtype=DTYPES.get(compute_dtype), double_quant=double_quant
    )
    if saved_method(config) == "bitsandbytes":
        check_available(device)
        settings = saved_settings(config)
    return ModelPlan(
        source=source,
        config=config,
        tokenizer=load_tokenizer(source, trust_remote_code=trust_remote_code),
        kind=kind,
        dtype=chosen,
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


def load_tokenizer(source: Source, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The model's tokenizer, as its tokenizer.json has it; it must know spans and keep spaces.

    Raises
    ------
    ModelError
        When there is none, it is unreadable, or it is not a fast one.
    CanaryFailed
        When a plain sentence does not survive it, or comes out differently from call to call.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source.folder, trust_remote_code=trust_remote_code, local_files_only=True
        )
    except Exception as error:  # the tokenizers library raises nothing more precise
        raise ModelError(
            f"The tokenizer of {source.label} cannot be opened: {first_line(error)}"
        ) from error
    if not tokenizer.is_fast:
        raise ModelError(
            f"{source.label} has a slow tokenizer ({type(tokenizer).__name__}), which does not "
            "know which characters a token covers; add its tokenizer.json to the folder."
        )
    published = source.folder / "tokenizer.json"
    if published.is_file() and not agrees_with_file(tokenizer, published):
        # For some families transformers builds the tokenizer that the family usually has around
        # the vocabulary it finds, which is another one than a fine-tuned model was trained with.
        tokenizer = PreTrainedTokenizerFast.from_pretrained(source.folder, local_files_only=True)
    switch_sampling_off(tokenizer)
    # Also undoes truncation and padding that the tokenizer was saved with. Left for later, threads
    # that share the tokenizer would undo it for each other in the middle of their calls.
    check_round_trip(tokenizer)
    return tokenizer


def _choose_device(device: str) -> str:
    _check_name("device", device, ["auto", *DEVICES])
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


def _check_name(option: str, value: str, names: list[str] | tuple[str, ...]) -> None:
    if value not in names:
        raise InputError(f'{option} is "{value}", which is none of {", ".join(names)}.')


def applied_quantization(model: Any) -> str:
    """The method that a loaded model really is quantised with, whatever its config says."""
    quantizer = getattr(model, "hf_quantizer", None)
    return "none" if quantizer is None else method_name(quantizer.quantization_config.quant_method)
