"""Spec -> an opened language model, checked and ready to score.

Everything that can refuse a model is tried before its weights are read: the spec, the kind of
head, the tokenizer, the memory. What is recorded is read off the loaded model.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers.utils import logging

from core.errors import CanaryFailed, ModelError, ModelTooLarge
from core.models.batches import is_out_of_memory
from core.models.config import first_line, read_window
from core.models.fingerprint import weight_files
from core.models.language_model import Kind, LanguageModel
from core.models.memory import check_fits, dtype_name
from core.models.plan import AUTO_CLASSES, ModelPlan, applied_quantization, plan_model


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
    plan = plan_model(
        spec,
        models_folder=models_folder,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        kind=kind,
    )
    check_fits(plan.weight_bytes(), plan.dtype, plan.device, plan.source.label)
    with _without_progress_bar():
        model = _load_weights(plan).to(plan.device)
    _own_memory(model)
    return LanguageModel(
        model=model.eval().requires_grad_(False),
        tokenizer=plan.tokenizer,
        label=plan.source.label,
        fingerprint=plan.fingerprint(),
        kind=kind,
        dtype=_main_dtype(model),
        device=next(model.parameters()).device.type,
        attention=model.config._attn_implementation,
        quantization=applied_quantization(model),
        window=read_window(model.config, model),
    )


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


def _load_weights(plan: ModelPlan) -> Any:
    source = plan.source
    try:
        # Without a wish for an attention implementation transformers takes sdpa where the model
        # supports it exactly, and eager elsewhere.
        model, loading = AUTO_CLASSES[plan.kind].from_pretrained(
            source.folder,
            config=plan.config,
            dtype=plan.dtype,
            trust_remote_code=plan.trust_remote_code,
            use_safetensors=weight_files(source.folder)[0].suffix != ".bin",
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
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
    if mismatched := sorted(loading["mismatched_keys"]):
        name, held, expected = mismatched[0]
        raise ModelError(
            f"The config and the weights of {source.label} do not fit together: {name} has shape "
            f"{tuple(held)} in the weights and {tuple(expected)} by the config; use the "
            "config.json that was saved with these weights."
        )
    if missing := sorted(loading["missing_keys"]):
        raise CanaryFailed(
            f"{source.label} has no weights for {missing[0]} ({len(missing)} missing in all), so "
            "its scores would be random; open a checkpoint that holds its language-model head."
        )
    if beyond := _beyond_config(model, loading["unexpected_keys"]):
        raise ModelError(
            f"The config of {source.label} leaves out a part of its weights such as {beyond[0]} "
            f"({len(beyond)} in all); use the config.json that was saved with these weights."
        )
    return model


def _beyond_config(model: torch.nn.Module, unexpected: Iterable[str]) -> list[str]:
    """Weights that were not loaded though they differ from loaded ones in a number only.

    They are layers beyond the config's count. Others may stay: a vision tower, one more head.
    """
    prefix = f"{getattr(model, 'base_model_prefix', '')}."

    def pattern(name: str) -> str:
        return re.sub(r"(^|\.)\d+(?=\.|$)", r"\1#", name.removeprefix(prefix))

    loaded = {pattern(name) for name in model.state_dict()}
    return sorted(name for name in unexpected if pattern(name) in loaded)


def _own_memory(model: torch.nn.Module) -> None:
    """Copy what is still mapped from the weights' files, so that writing to them changes nothing.

    One tensor at a time, because reading whole files instead would need twice the memory.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.device.type == "cpu":
            tensor.data = tensor.data.clone()


def _main_dtype(model: torch.nn.Module) -> str:
    """The dtype that most weights really have; a few layers may keep a wider one."""
    sizes: dict[str, int] = {}
    for parameter in model.parameters():
        name = dtype_name(parameter.dtype)
        sizes[name] = sizes.get(name, 0) + parameter.numel()
    return max(sizes, key=lambda name: sizes[name])
