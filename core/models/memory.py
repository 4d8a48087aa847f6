"""Does a model fit? Estimated from its config before any weight is read."""

from __future__ import annotations

import psutil
import torch

from core.errors import ModelTooLarge

MARGIN = 1.2  # room beside the weights for buffers, activations and logits
GIGABYTE = 1e9


def check_fits(weight_bytes: int, dtype: torch.dtype, device: str, label: str) -> None:
    """Refuse a model whose weights, with a margin, exceed the memory that is free.

    On its way to a GPU a model passes through main memory, so both must hold it.

    Raises
    ------
    ModelTooLarge
        With the numbers in gigabytes.
    """
    needed = MARGIN * weight_bytes
    for place in dict.fromkeys(["cpu", device]):
        free = free_bytes(place)
        if needed > free:
            raise ModelTooLarge(
                f"{label} needs about {needed / GIGABYTE:.1f} GB in {dtype_name(dtype)} and "
                f"{free / GIGABYTE:.1f} GB of memory are free on {place}; choose a smaller model, "
                "or a dtype of half the size such as bfloat16."
            )


def free_bytes(device: str) -> int:
    """Memory that a program can still have on a kind of device (mps shares main memory)."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    return int(psutil.virtual_memory().available)


def dtype_name(dtype: torch.dtype) -> str:
    """Torch's name of a dtype without the "torch." in front."""
    return str(dtype).removeprefix("torch.")
