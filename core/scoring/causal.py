"""Encoded texts -> the log-probability of every scored token under a causal model.

ids       <s>  The  nurse  left  He  was  tired        first = 4
logits     0    1     2     3    4    5
                            |    |    |
predicts                    He  was  tired             the logits at i - 1 predict the id at i
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.models.batches import TokenBudget, run_halving, token_budget_batches
from core.models.language_model import LanguageModel
from core.models.parts import can_branch, smallest_sliding_window
from core.scoring.encoding import Encoded
from core.scoring.logprobs import Layout, Scored, packed_logprobs, padded_logprobs
from core.scoring.packing import Row, pack
from core.types import FloatArray

LONGEST_ROW = 4096  # bounds the (B, T, T) mask of packed rows
BUDGETS_PER_ROW = 4


def score_causal(
    language_model: LanguageModel, texts: Sequence[Encoded], layout: Layout, budget: TokenBudget
) -> Iterator[list[Scored]]:
    """Log-probabilities in nats of the scored tokens of texts, batch by batch, the longest first.

    Packed texts are computed padded where the model's attention does not allow packing, or where
    they are longer than it looks back.
    """
    if layout is Layout.SINGLE:
        for e in texts:
            yield _padded_batch(language_model, [e], budget)
        return
    longest = longest_row(language_model) if layout is Layout.PACKED else 0
    yield from _packed(language_model, [e for e in texts if len(e.ids) <= longest], budget)
    yield from _padded(language_model, [e for e in texts if len(e.ids) > longest], budget)


def longest_row(language_model: LanguageModel) -> int:
    """Most tokens that a packed row may hold; 0 where the model takes none.

    Every layer sees the whole row, so a row must not be longer than the most short-sighted one
    looks back.
    """
    if not can_branch(language_model):
        return 0
    sliding = smallest_sliding_window(language_model.model.config)
    return min(LONGEST_ROW, sliding or LONGEST_ROW)


def _packed(
    language_model: LanguageModel, texts: Sequence[Encoded], budget: TokenBudget
) -> Iterator[list[Scored]]:
    # Long texts that begin alike may fill more than a batch: computing them apart costs more.
    rows = pack(texts, min(longest_row(language_model), BUDGETS_PER_ROW * budget.tokens))
    for batch in token_budget_batches([len(row) for row in rows], budget):
        yield _packed_batch(language_model, texts, [rows[i] for i in batch], budget)


def _packed_batch(
    language_model: LanguageModel,
    texts: Sequence[Encoded],
    rows: Sequence[Row],
    budget: TokenBudget,
) -> list[Scored]:
    """Compute packed rows; the texts of a row that does not fit into memory, one at a time."""

    def logprobs(part: Sequence[Row]) -> Sequence[dict[int, FloatArray]]:
        return packed_logprobs(language_model, texts, part)

    found: list[Scored] = []
    for row, vectors in zip(rows, run_halving(logprobs, rows, budget), strict=True):
        if vectors is None:
            budget.lower(len(row) // 2)  # the rows of the next texts are made shorter
            for i in row.predictors:
                found += _padded_batch(language_model, [texts[i]], budget)
        else:
            found += [(texts[i], vector) for i, vector in vectors.items()]
    return found


def _padded(
    language_model: LanguageModel, texts: Sequence[Encoded], budget: TokenBudget
) -> Iterator[list[Scored]]:
    for batch in token_budget_batches([len(e.ids) for e in texts], budget):
        yield _padded_batch(language_model, [texts[i] for i in batch], budget)


def _padded_batch(
    language_model: LanguageModel, batch: Sequence[Encoded], budget: TokenBudget
) -> list[Scored]:
    vectors = run_halving(lambda part: padded_logprobs(language_model, part), batch, budget)
    return list(zip(batch, vectors, strict=True))
