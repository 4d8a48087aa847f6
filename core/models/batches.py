"""Batches that fill a token budget, and what to do when one of them does not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch

T = TypeVar("T")
R = TypeVar("R")

# Tokens of a first batch by kind of device. A CPU is no faster with more; a GPU is, as long as its
# memory holds them.
FIRST_BUDGETS = {"cpu": 1024, "mps": 4096, "cuda": 65_536}
# Reading every weight once costs a CPU as much as this many tokens. It costs a GPU more, whose
# batches are few anyway.
BATCH_COST = 32

# How a full memory reads where torch raises a plain RuntimeError instead of OutOfMemoryError.
FULL_MEMORY = (
    "not enough memory",
    "DefaultCPUAllocator",
    "MPS backend out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


class TokenBudget:
    """How many tokens a batch may hold; lowered to what the device turns out to have room for."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def lower(self, tokens: int) -> None:
        """Ask for batches of no more than this many tokens from now on."""
        self.tokens = max(1, min(self.tokens, tokens))


def first_budget(device: str) -> TokenBudget:
    """The budget that a job on this kind of device starts with."""
    return TokenBudget(FIRST_BUDGETS[device])


def token_budget_batches(
    lengths: Sequence[int], budget: TokenBudget, batch_cost: int = BATCH_COST
) -> Iterator[list[int]]:
    """Group rows of similar length so that each padded batch stays within a token budget.

    Parameters
    ----------
    lengths
        Tokens of each row. Shape (N,)
    budget
        Most tokens in a batch: rows times the longest row. A row that is longer than the budget
        gets a batch of its own. Where the budget shrinks between two batches, those that follow
        keep to it.
    batch_cost
        What one more batch costs, in tokens of padding that are worth avoiding it.

    Yields
    ------
    list of int
        Indices into `lengths`, each once, longest rows first, so that what does not fit into memory
        shows at once and the time left is not guessed too short; equal lengths keep their order.
    """
    left = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    while left:
        planned_for = budget.tokens
        sizes = _batch_sizes([lengths[i] for i in left], planned_for, batch_cost)
        for size in sizes:
            yield left[:size]
            left = left[size:]
            if budget.tokens != planned_for:
                break


def _batch_sizes(lengths: Sequence[int], token_budget: int, batch_cost: int) -> list[int]:
    """Cut falling lengths into runs so that padding and the costs of batches are least."""
    n = len(lengths)
    cost = np.zeros(n + 1, dtype=np.int64)  # of the best way to cut lengths[i:]
    size = [0] * n  # of the first run in that way, the longest of several as good
    for i in reversed(range(n)):
        most = min(n - i, max(1, token_budget // max(1, lengths[i])))
        sizes = np.arange(most, 0, -1)
        costs = sizes * lengths[i] + cost[i + sizes]
        best = int(costs.argmin())
        size[i] = most - best
        cost[i] = batch_cost + costs[best]
    runs, i = [], 0
    while i < n:
        runs.append(size[i])
        i += size[i]
    return runs


def run_halving(
    run: Callable[[Sequence[T]], Sequence[R]],
    batch: Sequence[T],
    budget: TokenBudget | None = None,
) -> list[R | None]:
    """Compute a batch; where memory runs out, compute its halves, down to single elements.

    Parameters
    ----------
    run
        Returns one result per element, in order. It may be called again on parts of a batch that
        it failed on, so it must not have kept anything of the failed call.
    batch
        At least one element.
    budget
        Is lowered to what fitted, so that later batches fit at once.

    Returns
    -------
    list of R or None
        One result per element, in order; None for an element that does not fit even alone.
    """
    return _halving(run, batch, budget, 0 if budget is None else budget.tokens)


def _halving(
    run: Callable[[Sequence[T]], Sequence[R]],
    batch: Sequence[T],
    budget: TokenBudget | None,
    allowed: int,
) -> list[R | None]:
    """As `run_halving`; `allowed` is the budget that this part of the batch was made for."""
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
    if budget is not None:
        budget.lower(allowed // 2)
    middle = len(batch) // 2
    halves = (batch[:middle], batch[middle:])
    return [result for half in halves for result in _halving(run, half, budget, allowed // 2)]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on any kind of device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in FULL_MEMORY)
