"""Batches that fill a token budget, and what to do when one of them does not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")

# How a full memory reads where torch raises a plain RuntimeError instead of OutOfMemoryError.
FULL_MEMORY = (
    "not enough memory",
    "DefaultCPUAllocator",
    "MPS backend out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def token_budget_batches(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """Group rows of similar length so that each padded batch stays within a token budget.

    Parameters
    ----------
    lengths
        Tokens of each row. Shape (N,)
    token_budget
        Most tokens in a batch: rows times the longest row. A row that is longer than the budget
        gets a batch of its own.

    Returns
    -------
    list of list of int
        Indices into `lengths`, each once, longest rows first, so that what does not fit into memory
        shows at once and the time left is not guessed too short; equal lengths keep their order.
    """
    batches: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= token_budget:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


def run_halving(run: Callable[[Sequence[T]], Sequence[R]], batch: Sequence[T]) -> list[R | None]:
    """Compute a batch; where memory runs out, compute its halves, down to single elements.

    Parameters
    ----------
    run
        Returns one result per element, in order. It may be called again on parts of a batch that
        it failed on, so it must not have kept anything of the failed call.
    batch
        At least one element.

    Returns
    -------
    list of R or None
        One result per element, in order; None for an element that does not fit even alone.
    """
    try:
        return list(run(batch))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    # Outside the handler, because the traceback kept the tensors of the failed batch alive.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if len(batch) == 1:
        return [None]
    middle = len(batch) // 2
    return run_halving(run, batch[:middle]) + run_halving(run, batch[middle:])


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on any kind of device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in FULL_MEMORY)
