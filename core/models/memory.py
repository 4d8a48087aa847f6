"""Does a model fit? Estimated from its config before any weight is read."""

from __future__ import annotations

from dataclasses import dataclass

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
    for place, free in _free(device).items():
        if needed > free:
            raise ModelTooLarge(
                f"{label} needs about {needed / GIGABYTE:.1f} GB in {dtype_name(dtype)} and "
                f"{free / GIGABYTE:.1f} GB of memory are free on {place}; choose a smaller model, "
                "or a dtype of half the size such as bfloat16."
            )


@dataclass(frozen=True)
class MemoryEstimate:
    """What a model will need to score, and what there is."""

    needed_bytes: int
    free_bytes: dict[str, int]  # by kind of device; on its way to a GPU a model passes the cpu

    @property
    def fits(self) -> bool:
        """Whether every place has room."""
        return self.needed_bytes <= min(self.free_bytes.values())


def estimate_memory(
    weight_bytes: int, device: str, *, batch_tokens: int, vocab_size: int, itemsize: int
) -> MemoryEstimate:
    """The weights with their margin, and the logits of the largest batch in the model's dtype."""
    logits = batch_tokens * vocab_size * itemsize
    return MemoryEstimate(round(MARGIN * weight_bytes) + logits, _free(device))


def free_bytes(device: str) -> int:
    """Memory that a program can still have on a kind of device (mps shares main memory)."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    return int(psutil.virtual_memory().available)


def _free(device: str) -> dict[str, int]:
    return {place: free_bytes(place) for place in dict.fromkeys(["cpu", device])}


def dtype_name(dtype: torch.dtype) -> str:
    """Torch's name of a dtype without the "torch." in front."""
    return str(dtype).removeprefix("torch.")
