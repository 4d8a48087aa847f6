"""Encoded texts -> the log-probability of every scored token under a causal model.

ids       <s>  The  nurse  left  He  was  tired        first = 4
logits     0    1     2     3    4    5
                            |    |    |
predicts                    He  was  tired             the logits at i - 1 predict the id at i
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.models.batches import TokenBudget, run_halving, token_budget_batches
from core.models.language_model import LanguageModel
from core.models.packing import Row, longest_row, pack
from core.models.parts import position_switch
from core.scoring.encoding import Encoded
from core.scoring.logprobs import Layout, Scored, packed_logprobs, padded_logprobs
from core.types import FloatArray


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
    whole = [e for e in texts if len(e.ids) > longest]
    switch = position_switch(language_model.model.config) or 0
    yield from _padded(language_model, [e for e in whole if len(e.ids) <= switch], budget)
    yield from _padded(language_model, [e for e in whole if len(e.ids) > switch], budget)


def _packed(
    language_model: LanguageModel, texts: Sequence[Encoded], budget: TokenBudget
) -> Iterator[list[Scored]]:
    # The last token of a text is no node: it is predicted and predicts nothing.
    inputs = [e.ids[:-1] for e in texts]
    rows = pack(inputs, min(longest_row(language_model), budget.tokens))
    for batch in token_budget_batches([len(row) for row in rows], budget):
        yield _packed_batch(language_model, texts, [rows[i] for i in batch], budget)


def _packed_batch(
    language_model: LanguageModel,
    texts: Sequence[Encoded],
    rows: Sequence[Row],
    budget: TokenBudget,
) -> list[Scored]:
    """Compute packed rows; texts of a row that does not fit into memory, one at a time.

    So are texts without finite numbers: where one branch has none, attention weights of zero spoil
    the others of its row too.
    """

    def logprobs(part: Sequence[Row]) -> Sequence[dict[int, FloatArray]]:
        return packed_logprobs(language_model, texts, part)

    found: list[Scored] = []
    for row, vectors in zip(rows, run_halving(logprobs, rows, budget), strict=True):
        if vectors is None:
            budget.lower(len(row) // 2)  # the rows of the next texts are made shorter
        for i in row.paths:
            if vectors is not None and np.isfinite(vectors[i]).all():
                found.append((texts[i], vectors[i]))
            else:
                found += _padded_batch(language_model, [texts[i]], budget)
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
