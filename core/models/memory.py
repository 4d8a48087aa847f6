"""Does a model fit, and on which GPUs? Estimated from its config before any weight is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psutil
import torch

from core.errors import ModelTooLarge

MARGIN = 1.2  # room beside the weights for buffers and activations
# For each weight of a layer while bitsandbytes quantises it: 10 measured, copies and indices.
QUANTIZING_BYTES = 12
GIGABYTE = 1e9


@dataclass(frozen=True)
class ModelSize:
    """What a model's weights take."""

    weight_bytes: int
    loading_bytes: int  # besides, for the largest layer while it is quantised or copied

    @property
    def needed_bytes(self) -> int:
        """The most that is needed at once: with a margin when scoring, or while loading."""
        return max(round(MARGIN * self.weight_bytes), self.weight_bytes + self.loading_bytes)


@dataclass(frozen=True)
class Placement:
    """The free memory that decides, the GPUs that share a model, and how it gets there."""

    free_bytes: dict[str, int]  # by kind of device
    gpus: tuple[int, ...] = ()  # more than one, or none
    loads_directly: bool = False  # weights go to their device one by one, as they are read


def place(needed: int, device: str, *, quantized: bool) -> Placement:
    """Where a model would lie, and what is free there, whether it fits or not.

    A model that is quantised or spread is loaded directly. Otherwise the whole of it passes through
    main memory on its way to a GPU, so both must hold it.
    """
    if device != "cuda":
        free_by_kind = {kind: free_bytes(kind) for kind in dict.fromkeys(["cpu", device])}
        return Placement(free_by_kind, loads_directly=quantized)
    free = gpu_free_bytes()
    gpus = choose_gpus(needed, free)
    if len(gpus) > 1:
        return Placement({"cuda": sum(free[i] for i in gpus)}, gpus, loads_directly=True)
    # One GPU holds it, or all together do not.
    on_gpus = free[0] if gpus else sum(free)
    if quantized:
        return Placement({"cuda": on_gpus}, loads_directly=True)
    return Placement({"cpu": free_bytes("cpu"), "cuda": on_gpus})


def choose_gpus(needed: int, free: Sequence[int]) -> tuple[int, ...]:
    """The first GPUs that hold a model: one if that is enough, else as few as are.

    Parameters
    ----------
    needed
        Bytes, with their margin.
    free
        Bytes free on each GPU.

    Returns
    -------
    tuple of int
        Indices from 0 on, because inputs go to the first; none where all together do not hold it.
    """
    for n in range(1, len(free) + 1):
        if needed <= sum(free[:n]):
            return tuple(range(n))
    return ()


def check_fits(
    size: ModelSize, placement: Placement, label: str, *, precision: str, advice: str
) -> None:
    """Refuse a model whose weights, with a margin, exceed the memory that is free.

    Parameters
    ----------
    precision, advice
        What the model would be opened in, and what could be chosen instead; words of the message.

    Raises
    ------
    ModelTooLarge
        With the numbers in gigabytes.
    """
    for kind, free in placement.free_bytes.items():
        if size.needed_bytes > free:
            raise ModelTooLarge(
                f"{label} needs about {size.needed_bytes / GIGABYTE:.1f} GB in {precision} and "
                f"{free / GIGABYTE:.1f} GB of memory are free on {kind}; choose {advice}."
            )


@dataclass(frozen=True)
class MemoryEstimate:
    """What a model will need to score, and what there is."""

    needed_bytes: int
    free_bytes: dict[str, int]  # by kind of device, wherever the whole model must have room

    @property
    def fits(self) -> bool:
        """Whether every place has room."""
        return self.needed_bytes <= min(self.free_bytes.values())


def estimate_memory(
    size: ModelSize, placement: Placement, *, batch_tokens: int, vocab_size: int, itemsize: int
) -> MemoryEstimate:
    """The weights with their margin, and the logits of the largest batch in the model's dtype.

    An upper bound: only the padded layout holds those, the packed one a small part at a time.
    """
    logits = batch_tokens * vocab_size * itemsize
    return MemoryEstimate(size.needed_bytes + logits, placement.free_bytes)


def free_bytes(device: str) -> int:
    """Memory that a program can still have on a kind of device (mps shares main memory)."""
    if device == "cuda":
        return gpu_free_bytes()[0]
    return int(psutil.virtual_memory().available)


def gpu_free_bytes() -> list[int]:
    """Free memory of each GPU."""
    return [torch.cuda.mem_get_info(i)[0] for i in range(torch.cuda.device_count())]
