"""Spec -> an opened language model, checked and ready to score.

Everything that can refuse a model is tried before its weights are read: the spec, the kind of
head, the tokenizer, the memory. What is recorded is read off the loaded model.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from core.errors import CanaryFailed, ModelError, ModelTooLarge
from core.models.batches import is_out_of_memory
from core.models.config import attention_name, first_line, is_block_sparse, read_window
from core.models.fingerprint import weight_files
from core.models.language_model import Kind, LanguageModel
from core.models.memory import Placement, check_fits, gpu_free_bytes
from core.models.plan import AUTO_CLASSES, ModelPlan, applied_quantization, plan_model
from core.models.precision import AS_IT_COMES, Precision, dtype_name
from core.models.quantization import (
    depends_on_batch,
    describe,
    finish_loading,
    silence_bitsandbytes,
)
from core.models.quiet import without_progress_bar


def open_model(
    spec: str,
    *,
    models_folder: Path,
    precision: Precision = AS_IT_COMES,
    device: str = "auto",
    trust_remote_code: bool = False,
    kind: Kind | None = "causal",
) -> LanguageModel:
    """Open a language model and check that it can be trusted.

    Parameters
    ----------
    spec
        "demo", a local folder, or "org/name[@revision]" on the hub.
    models_folder
        Where the demo model is kept once it is converted.
    precision
        What it computes in.
    device
        "cuda", "mps", "cpu", or "auto": the first of these that is there. A model that is too
        large for the first GPU is spread over as many as it takes.
    trust_remote_code
        Run Python code that comes with the model.
    kind
        The head that the caller needs; None for the one that the checkpoint has.

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
    return open_planned(
        plan_model(
            spec,
            models_folder=models_folder,
            precision=precision,
            device=device,
            trust_remote_code=trust_remote_code,
            kind=kind,
        )
    )


def open_planned(plan: ModelPlan) -> LanguageModel:
    """Open a model as planned; result and errors as for `open_model`."""
    placement = plan.placement()
    check_fits(
        plan.size(),
        placement,
        plan.source.label,
        precision=plan.precision(),
        advice=plan.smaller(),
    )
    with without_progress_bar():
        model = _load_weights(plan, placement)
    if plan.bits_and_bytes is None:
        quantized = applied_quantization(model)
    else:
        layers = finish_loading(model, plan.source.label)
        quantized = describe(model.hf_quantizer.quantization_config, model, layers)
    if is_block_sparse(model.config):
        model.base_model.set_attention_type("original_full")
    _own_memory(model)
    return LanguageModel(
        model=model.eval().requires_grad_(False),
        tokenizer=plan.tokenizer,
        label=plan.source.label,
        fingerprint=plan.fingerprint(),
        kind=plan.kind,
        dtype=_main_dtype(model),
        device=next(model.parameters()).device.type,
        attention=attention_name(model.config),
        quantization=quantized,
        depends_on_batch=depends_on_batch(plan.bits_and_bytes),
        window=read_window(model.config, model),
    )


def _load_weights(plan: ModelPlan, placement: Placement) -> Any:
    source = plan.source
    if plan.bits_and_bytes is not None:
        silence_bitsandbytes()
    try:
        # Without a wish for an attention implementation transformers takes sdpa where the model
        # supports it exactly, and eager elsewhere.
        model, loading = AUTO_CLASSES[plan.kind].from_pretrained(
            source.folder,
            config=plan.config,
            dtype=plan.dtype,
            # A checkpoint that was saved quantised brings its own settings.
            quantization_config=plan.bits_and_bytes if plan.quantizes else None,
            **_device_map(plan, placement),
            trust_remote_code=plan.trust_remote_code,
            use_safetensors=weight_files(source.folder)[0].suffix != ".bin",
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused by name afterwards
            local_files_only=True,
        )
    except ImportError as error:  # a checkpoint that was saved quantised
        raise ModelError(
            f"{source.label} needs a package that is not installed: {first_line(error)}; install "
            "it, or name a checkpoint that was not quantised when it was saved."
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
            raise ModelTooLarge(
                f"Memory ran out while {source.label} was loaded; end other programs, or choose "
                f"{plan.smaller()}."
            ) from error
        raise ModelError(
            f"The weights of {source.label} cannot be read: {first_line(error)}; copy or download "
            "them again."
        ) from error
    _check_loaded(model, loading, source.label)
    if placement.gpus:
        _check_all_on_gpus(model, source.label)
    return model if placement.loads_directly else model.to(plan.device)


def _check_loaded(model: torch.nn.Module, loading: dict[str, Any], label: str) -> None:
    """Refuse a model whose config and weights do not belong together.

    Parameters
    ----------
    loading
        What transformers says about the names and shapes that it found.
    """
    if mismatched := sorted(loading["mismatched_keys"]):
        name, held, expected = mismatched[0]
        raise ModelError(
            f"The config and the weights of {label} do not fit together: {name} has shape "
            f"{tuple(held)} in the weights and {tuple(expected)} by the config; use the "
            "config.json that was saved with these weights."
        )
    if missing := sorted(loading["missing_keys"]):
        raise CanaryFailed(
            f"{label} has no weights for {missing[0]} ({len(missing)} missing in all), so "
            "its scores would be random; open a checkpoint that holds its language-model head."
        )
    if beyond := _beyond_config(model, loading["unexpected_keys"]):
        raise ModelError(
            f"The config of {label} leaves out a part of its weights such as {beyond[0]} "
            f"({len(beyond)} in all); use the config.json that was saved with these weights."
        )


def _device_map(plan: ModelPlan, placement: Placement) -> dict[str, Any]:
    """Where transformers is to put weights one by one, if it is; it spreads layers evenly."""
    if placement.gpus:
        free = gpu_free_bytes()
        return {"device_map": "auto", "max_memory": {gpu: free[gpu] for gpu in placement.gpus}}
    return {"device_map": {"": plan.device}} if placement.loads_directly else {}


def _check_all_on_gpus(model: Any, label: str) -> None:
    """Refuse a model of which accelerate would keep a part in main memory or on the disk."""
    if {str(where) for where in model.hf_device_map.values()} & {"cpu", "disk"}:
        raise ModelTooLarge(
            f"{label} fits into the GPUs by its size, but its layers cannot be shared out among "
            "them; free memory on them, or choose quantization nf4."
        )


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
            _own_scales(tensor)


def _own_scales(tensor: Any) -> None:
    """The same for what bitsandbytes keeps beside a quantised weight."""
    if getattr(tensor, "CB", None) is not None:
        tensor.CB, tensor.SCB = tensor.data, tensor.SCB.clone()  # CB is the weight once more
    state = getattr(tensor, "quant_state", None)
    while state is not None:
        for name in ("absmax", "code", "offset"):
            if isinstance(getattr(state, name, None), torch.Tensor):
                setattr(state, name, getattr(state, name).clone())
        state = state.state2 if state.nested else None


def _main_dtype(model: torch.nn.Module) -> str:
    """The dtype that most weights really have; a few layers may keep a wider one.

    Quantised weights are integers and do not count.
    """
    sizes: dict[str, int] = {}
    for parameter in model.parameters():
        if parameter.is_floating_point():
            name = dtype_name(parameter.dtype)
            sizes[name] = sizes.get(name, 0) + parameter.numel()
    return max(sizes, key=lambda name: sizes[name])
