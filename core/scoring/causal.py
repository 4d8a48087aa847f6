"""Texts -> the log-probability of every scored token under a causal model.

ids       <s>  The  nurse  left  He  was  tired        first = 4
logits     0    1     2     3    4    5
                            |    |    |
predicts                    He  was  tired             the logits at i - 1 predict the id at i
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np

from core.models.batches import TokenBudget, first_budget, run_halving, token_budget_batches
from core.models.language_model import LanguageModel
from core.models.parts import can_branch, n_embeddings, smallest_sliding_window
from core.scoring.encoding import Encoded, encode
from core.scoring.logprobs import packed_logprobs, padded_logprobs
from core.scoring.packing import Row, pack
from core.types import FloatArray, Reason, Text, TokenScore, Unscored

TEXTS_AT_A_TIME = 4096  # encoded and packed together: bounds memory for large data sets
LONGEST_ROW = 4096  # bounds the (B, T, T) mask of packed rows
BATCHES_PER_ROW = 4

Outcome = TokenScore | Unscored


class Layout(StrEnum):
    """How texts lie in a batch (core/scoring/logprobs.py)."""

    PACKED = "packed"
    PADDED = "padded"
    SINGLE = "single"


def score_texts(
    language_model: LanguageModel,
    texts: Sequence[Text],
    *,
    layout: Layout = Layout.PACKED,
    budget: TokenBudget | None = None,
) -> Iterator[list[Outcome]]:
    """Score texts, yielding the outcomes batch by batch, of each few thousand the longest first.

    Parameters
    ----------
    texts
        Their order does not matter: they are put in one that brings common beginnings together.
    layout
        Packed texts are computed padded where the model's attention does not allow packing, or
        where they are longer than it looks back.
    budget
        Most tokens in a batch; left out, what the device usually holds. It is halved where memory
        runs out.

    Yields
    ------
    list of TokenScore or Unscored
        One outcome per text; every text has exactly one over the whole iteration.
    """
    budget = budget or first_budget(language_model.device)
    vocabulary = n_embeddings(language_model.model)
    ordered = sorted(texts, key=lambda text: (text.context, text.continuation))
    for start in range(0, len(ordered), TEXTS_AT_A_TIME):
        encoded = [
            encode(language_model.tokenizer, text, language_model.window, vocabulary)
            for text in ordered[start : start + TEXTS_AT_A_TIME]
        ]
        refused: list[Outcome] = [e for e in encoded if isinstance(e, Unscored)]
        if refused:
            yield refused
        ready = [e for e in encoded if isinstance(e, Encoded)]
        if layout is Layout.SINGLE:
            for e in ready:
                yield _score_padded(language_model, [e], budget)
            continue
        longest = longest_row(language_model) if layout is Layout.PACKED else 0
        yield from _packed(language_model, [e for e in ready if len(e.ids) <= longest], budget)
        yield from _padded(language_model, [e for e in ready if len(e.ids) > longest], budget)


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
) -> Iterator[list[Outcome]]:
    # Long texts that begin alike may fill more than a batch: computing them apart costs more.
    rows = pack(texts, min(longest_row(language_model), BATCHES_PER_ROW * budget.tokens))
    for batch in token_budget_batches([len(row) for row in rows], budget):
        yield _score_rows(language_model, texts, [rows[i] for i in batch], budget)


def _score_rows(
    language_model: LanguageModel,
    texts: Sequence[Encoded],
    rows: Sequence[Row],
    budget: TokenBudget,
) -> list[Outcome]:
    """Score packed rows; the texts of a row that does not fit into memory, one at a time."""

    def logprobs(part: Sequence[Row]) -> Sequence[dict[int, FloatArray]]:
        return packed_logprobs(language_model, texts, part)

    outcomes: list[Outcome] = []
    for row, vectors in zip(rows, run_halving(logprobs, rows, budget), strict=True):
        if vectors is None:
            budget.halve()  # the rows to come are made shorter
            for i in row.predictors:
                outcomes += _score_padded(language_model, [texts[i]], budget)
        else:
            outcomes += [_outcome(texts[i], vector) for i, vector in vectors.items()]
    return outcomes


def _padded(
    language_model: LanguageModel, texts: Sequence[Encoded], budget: TokenBudget
) -> Iterator[list[Outcome]]:
    for batch in token_budget_batches([len(e.ids) for e in texts], budget):
        yield _score_padded(language_model, [texts[i] for i in batch], budget)


def _score_padded(
    language_model: LanguageModel, batch: Sequence[Encoded], budget: TokenBudget
) -> list[Outcome]:
    vectors = run_halving(lambda part: padded_logprobs(language_model, part), batch, budget)
    return [_outcome(e, vector) for e, vector in zip(batch, vectors, strict=True)]


def _outcome(e: Encoded, vector: FloatArray | None) -> Outcome:
    if vector is None:
        detail = "The text alone does not fit into memory."
        return Unscored(e.text_id, Reason.OUT_OF_MEMORY, detail)
    if not all(map(math.isfinite, vector)):
        detail = "The model gave a log-probability that is not a finite number."
        return Unscored(e.text_id, Reason.NOT_FINITE, detail)
    return TokenScore(
        text_id=e.text_id,
        token_ids=np.array(e.ids[e.first :], dtype=np.int32),
        logprobs=vector.astype(np.float32),
        starts=np.array([start for start, _ in e.spans], dtype=np.int32),
        ends=np.array([end for _, end in e.spans], dtype=np.int32),
        words=np.array(e.words, dtype=np.int32),
        flags=e.flags,
    )
