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
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING

from core.errors import InputError, ModelError
from core.models.canary import agrees_with_file, check_round_trip, switch_sampling_off
from core.models.config import check_kind, explaining_config, first_line, read_config, read_window
from core.models.fingerprint import file_states, weight_files
from core.models.language_model import Kind, LanguageModel
from core.models.memory import dtype_name
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
    file_states: dict[str, tuple[int, int, int]]  # of before anything was read

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

    def weight_bytes(self) -> int:
        """Memory for the weights: counted on the shapes; as large as the files where quantised."""
        numbers = sum(parameter.numel() for parameter in self.shapes().parameters())
        files = weight_files(self.source.folder)
        if files and quantization(self.config) != "none":
            return sum(path.stat().st_size for path in files)
        return int(self.dtype.itemsize * numbers)

    def described(self) -> LanguageModel:
        """The language model as it would be recorded; it has shapes but cannot compute."""
        shapes = self.shapes()
        return LanguageModel(
            model=shapes,
            tokenizer=self.tokenizer,
            label=self.source.label,
            fingerprint=self.fingerprint(),
            kind=self.kind,
            dtype=dtype_name(self.dtype),
            device=self.device,
            attention=shapes.config._attn_implementation,
            quantization=quantization(self.config),
            window=read_window(shapes.config, shapes),
        )


def plan_model(
    spec: str,
    *,
    models_folder: Path,
    dtype: str = "auto",
    device: str = "auto",
    trust_remote_code: bool = False,
    kind: Kind = "causal",
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
    _check_name("kind", kind, get_args(Kind))
    source = find_source(spec, models_folder, with_code=trust_remote_code, with_weights=download)
    if download:
        check_weights_exist(source)
    states = read_states(source)
    config = read_config(source, trust_remote_code=trust_remote_code)
    check_kind(config, kind, source.label)
    return ModelPlan(
        source=source,
        config=config,
        tokenizer=load_tokenizer(source, trust_remote_code=trust_remote_code),
        kind=kind,
        dtype=_choose_dtype(dtype, device, config),
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
    own = getattr(config, "dtype", None) or getattr(config.get_text_config(), "dtype", None)
    if device == "cpu" or own is None:
        return torch.float32
    return own if isinstance(own, torch.dtype) else DTYPES[str(own)]


def _check_name(option: str, value: str, names: list[str] | tuple[str, ...]) -> None:
    if value not in names:
        raise InputError(f'{option} is "{value}", which is none of {", ".join(names)}.')


def quantization(config: PreTrainedConfig) -> str:
    """How a checkpoint will open quantised; its fingerprint covers the details.

    A method that transformers does not know is skipped when the weights are loaded.
    """
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return "none"
    settings = settings if isinstance(settings, dict) else settings.to_dict()
    method = _method(settings.get("quant_method"))
    in_bits = settings.get("load_in_8bit") or settings.get("load_in_4bit")
    known = in_bits or method in AUTO_QUANTIZATION_CONFIG_MAPPING
    return method if known else "none"


def applied_quantization(model: Any) -> str:
    """How a loaded model really is quantised, whatever its config says."""
    quantizer = getattr(model, "hf_quantizer", None)
    return "none" if quantizer is None else _method(quantizer.quantization_config.quant_method)


def _method(method: Any) -> str:
    return "bitsandbytes" if method is None else str(getattr(method, "value", method))
