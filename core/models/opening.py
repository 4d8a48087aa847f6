"""Spec -> an opened language model, checked and ready to score (ARCHITECTURE.md, decisions 8, 9).

Everything that can refuse a model is tried before its weights are read: the spec, the kind of
head, the tokenizer, the memory. What is recorded is read off the loaded model.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging

from core.errors import CanaryFailed, InputError, ModelError, ModelTooLarge
from core.models.batches import is_out_of_memory
from core.models.canary import agrees_with_file, check_round_trip
from core.models.config import check_kind, first_line, read_config, read_window
from core.models.fingerprint import weight_files
from core.models.language_model import Kind, LanguageModel
from core.models.memory import check_fits, dtype_name
from core.models.sources import Source, check_weights_exist, find_source

AUTO_CLASSES: dict[Kind, Any] = {"causal": AutoModelForCausalLM, "masked": AutoModelForMaskedLM}
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
DEVICES = ("cuda", "mps", "cpu")


def open_model(
    spec: str,
    *,
    models_folder: Path,
    dtype: str = "auto",
    device: str = "auto",
    trust_remote_code: bool = False,
    kind: Kind = "causal",
) -> LanguageModel:
    """Open a language model and check that it can be trusted.

    Parameters
    ----------
    spec
        "demo", a local folder, or "org/name[@revision]" on the hub.
    models_folder
        Where the demo model is kept once it is converted.
    dtype
        "float32", "bfloat16", "float16", or "auto": float32 on the CPU, elsewhere the
        checkpoint's own.
    device
        "cuda", "mps", "cpu", or "auto": the first of these that is there.
    trust_remote_code
        Run Python code that comes with the model.
    kind
        The head that the caller needs.

    Returns
    -------
    LanguageModel
        In eval mode, without gradients.

    Raises
    ------
    ModelError
        Or one of its kinds, each with one sentence that says what to do.
    InputError
        When an option is not one of the names above.
    """
    device = _choose_device(device)
    _check_name("dtype", dtype, ["auto", *DTYPES])
    _check_name("kind", kind, get_args(Kind))
    source = find_source(spec, models_folder, with_code=trust_remote_code)
    check_weights_exist(source)
    config = read_config(source, trust_remote_code=trust_remote_code)
    check_kind(config, kind, source.label)
    tokenizer = load_tokenizer(source, trust_remote_code=trust_remote_code)
    wanted = _choose_dtype(dtype, device, config)
    weight_bytes = _weight_bytes(source, config, kind, wanted, trust_remote_code)
    check_fits(weight_bytes, wanted, device, source.label)
    with _without_progress_bar():
        model = _load_weights(source, config, kind, wanted, trust_remote_code).to(device)
    return LanguageModel(
        model=model.eval().requires_grad_(False),
        tokenizer=tokenizer,
        label=source.label,
        fingerprint=source.fingerprint,
        kind=kind,
        dtype=_main_dtype(model),
        device=next(model.parameters()).device.type,
        attention=model.config._attn_implementation,
        quantization=_quantization(model.config),
        window=read_window(model.config, model),
    )


def load_tokenizer(source: Source, *, trust_remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The model's tokenizer, as its tokenizer.json has it; it must know spans and keep spaces.

    Raises
    ------
    ModelError
        When there is none, it is unreadable, or it is not a fast one.
    CanaryFailed
        When a plain sentence does not survive it.
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
    # Also undoes truncation and padding that the tokenizer was saved with. Left for later, threads
    # that share the tokenizer would undo it for each other in the middle of their calls.
    check_round_trip(tokenizer)
    return tokenizer


def _weight_bytes(
    source: Source, config: PreTrainedConfig, kind: Kind, dtype: torch.dtype, trust: bool
) -> int:
    """Memory for the weights: counted on the meta device, which has shapes without values."""
    if _quantization(config) != "none":
        return sum(path.stat().st_size for path in weight_files(source.folder))
    with torch.device("meta"):
        shapes = AUTO_CLASSES[kind].from_config(config, trust_remote_code=trust)
    return int(dtype.itemsize * sum(parameter.numel() for parameter in shapes.parameters()))


@contextmanager
def _without_progress_bar() -> Iterator[None]:
    """Loading takes seconds; it must not draw over the caller's own progress display."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _load_weights(
    source: Source, config: PreTrainedConfig, kind: Kind, dtype: torch.dtype, trust: bool
) -> Any:
    try:
        # Without a wish for an attention implementation transformers takes sdpa where the model
        # supports it exactly, and eager elsewhere.
        model, loading = AUTO_CLASSES[kind].from_pretrained(
            source.folder,
            config=config,
            dtype=dtype,
            trust_remote_code=trust,
            use_safetensors=weight_files(source.folder)[0].suffix != ".bin",
            output_loading_info=True,
            local_files_only=True,
        )
    except ImportError as error:  # a checkpoint that was saved quantised
        raise ModelError(
            f"{source.label} needs a package that is not installed: {first_line(error)}"
        ) from error
    except (
        OSError,
        ValueError,
        RuntimeError,
        KeyError,
        EOFError,
        SafetensorError,
        pickle.UnpicklingError,
    ) as error:
        if is_out_of_memory(error):
            raise ModelTooLarge(f"Memory ran out while {source.label} was loaded.") from error
        raise ModelError(
            f"The weights of {source.label} cannot be read, so copy or download them again: "
            f"{first_line(error)}"
        ) from error
    if missing := sorted(loading["missing_keys"]):
        raise CanaryFailed(
            f"{source.label} has no weights for {missing[0]} ({len(missing)} missing in all), so "
            "its scores would be random; open a checkpoint that holds its language-model head."
        )
    return model


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


def _quantization(config: PreTrainedConfig) -> str:
    """How a checkpoint was quantised by its authors; its fingerprint covers the details."""
    settings = getattr(config, "quantization_config", None)
    if settings is None:
        return "none"
    settings = settings if isinstance(settings, dict) else settings.to_dict()
    method = settings.get("quant_method", "unknown")
    return str(getattr(method, "value", method))


def _main_dtype(model: torch.nn.Module) -> str:
    """The dtype that most weights really have; a few layers may keep a wider one."""
    sizes: dict[str, int] = {}
    for parameter in model.parameters():
        name = dtype_name(parameter.dtype)
        sizes[name] = sizes.get(name, 0) + parameter.numel()
    return max(sizes, key=lambda name: sizes[name])
