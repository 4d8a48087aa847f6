"""Token-budget batches keep every row once; halving loses nothing but what cannot fit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.models.batches import TokenBudget, is_out_of_memory, run_halving, token_budget_batches

FULL = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."),
    RuntimeError("could not create a primitive: not enough memory"),
    MemoryError(),
]


@given(st.lists(st.integers(0, 300)), st.integers(1, 500))
def test_every_row_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_budget_batches(lengths, TokenBudget(budget)))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget
    order = [lengths[i] for batch in batches for i in batch]
    assert order == sorted(order, reverse=True)


def test_a_budget_of_one_gives_rows_one_at_a_time() -> None:
    assert list(token_budget_batches([2, 2, 3], TokenBudget(1))) == [[2], [0], [1]]


def test_a_batch_is_as_large_as_the_budget_allows() -> None:
    assert list(token_budget_batches([4, 4, 4, 4, 5], TokenBudget(12))) == [[4, 0], [1, 2, 3]]


def test_padding_that_costs_more_than_a_batch_is_avoided() -> None:
    budget = TokenBudget(1000)
    assert list(token_budget_batches([100, 99, 20, 19], budget, 32)) == [[0, 1], [2, 3]]
    assert list(token_budget_batches([100, 99, 98, 97], budget, 32)) == [[0, 1, 2, 3]]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(1, 30), st.integers(0, 9))
def test_no_other_cut_of_the_sorted_rows_is_cheaper(lengths, tokens, batch_cost) -> None:
    falling = sorted(lengths, reverse=True)

    def cost(sizes: Sequence[int]) -> int:
        total, start = 0, 0
        for size in sizes:
            padded = size * falling[start]
            if size > 1 and padded > tokens:
                return 10**9
            total, start = total + padded + batch_cost, start + size
        return total

    def cuts(n: int) -> list[list[int]]:
        return [[]] if n == 0 else [[k, *rest] for k in range(1, n + 1) for rest in cuts(n - k)]

    found = token_budget_batches(lengths, TokenBudget(tokens), batch_cost)
    assert cost([len(batch) for batch in found]) == min(map(cost, cuts(len(lengths))))


def test_a_budget_that_shrinks_between_batches_holds_for_the_rest() -> None:
    budget = TokenBudget(40)
    batches = token_budget_batches([10] * 8, budget)
    sizes = [len(next(batches))]
    budget.lower(20)
    assert sizes + [len(batch) for batch in batches] == [4, 2, 2]


def doubling(limit: int, error: Exception, calls: list[int]) -> object:
    """Doubles numbers; memory holds `limit` in all."""

    def run(batch: Sequence[int]) -> list[int]:
        calls.append(len(batch))
        if sum(batch) > limit:
            raise error
        return [2 * number for number in batch]

    return run


@pytest.mark.parametrize("error", FULL, ids=lambda error: type(error).__name__)
def test_halves_until_it_fits(error: Exception) -> None:
    calls: list[int] = []
    assert run_halving(doubling(7, error, calls), [3, 1, 4, 1, 5]) == [6, 2, 8, 2, 10]
    assert calls[0] == 5


def test_only_the_element_that_never_fits_is_lost() -> None:
    run = doubling(10, FULL[0], [])
    assert run_halving(run, [1, 2, 99, 3]) == [2, 4, None, 6]


def test_other_errors_pass_through() -> None:
    run = doubling(0, RuntimeError("size mismatch"), [])
    with pytest.raises(RuntimeError, match="size mismatch"):
        run_halving(run, [1, 2])
    assert not is_out_of_memory(ValueError("not enough memory"))


def test_a_real_allocation_that_cannot_succeed() -> None:
    def run(batch: Sequence[int]) -> list[int]:
        return [torch.empty(size, dtype=torch.int8).numel() for size in batch]

    assert run_halving(run, [8, 2**60]) == [8, None]
