"""Texts -> what every scored token of each got from a model, or why a text has no score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from core.models.batches import TokenBudget, first_budget
from core.models.language_model import LanguageModel
from core.scoring.causal import score_causal
from core.scoring.encoding import Encoded, encode_for
from core.scoring.logprobs import Layout
from core.scoring.masked import Variant, score_masked
from core.types import FloatArray, Reason, Text, TokenScore, Unscored

TEXTS_AT_A_TIME = 4096  # encoded and packed together: bounds memory for large data sets

Outcome = TokenScore | Unscored


def score_texts(
    language_model: LanguageModel,
    texts: Sequence[Text],
    *,
    layout: Layout = Layout.PACKED,
    variant: Variant = "original",
    budget: TokenBudget | None = None,
) -> Iterator[list[Outcome]]:
    """Score texts, yielding the outcomes batch by batch, of each few thousand the longest first.

    Parameters
    ----------
    texts
        Their order does not matter: they are put in one that brings common beginnings together.
    layout
        How they are computed.
    variant
        What else a masked model does not see when it is asked for a token.
    budget
        Most tokens in a batch; left out, what the device usually holds. It is halved where memory
        runs out.

    Yields
    ------
    list of TokenScore or Unscored
        One outcome per text; every text has exactly one over the whole iteration.
    """
    budget = budget or first_budget(language_model.device)
    masked = language_model.kind == "masked"
    ordered = sorted(texts, key=lambda text: (text.context, text.continuation))
    for start in range(0, len(ordered), TEXTS_AT_A_TIME):
        some = ordered[start : start + TEXTS_AT_A_TIME]
        encoded = [encode_for(language_model, text) for text in some]
        refused: list[Outcome] = [e for e in encoded if isinstance(e, Unscored)]
        if refused:
            yield refused
        ready = [e for e in encoded if isinstance(e, Encoded)]
        scored = (
            score_masked(language_model, ready, variant, layout, budget)
            if masked
            else score_causal(language_model, ready, layout, budget)
        )
        for batch in scored:
            yield [_outcome(e, logprobs) for e, logprobs in batch]


def _outcome(e: Encoded, logprobs: FloatArray | None) -> Outcome:
    if logprobs is None:
        detail = "The text alone does not fit into memory."
        return Unscored(e.text_id, Reason.OUT_OF_MEMORY, detail)
    if not all(map(math.isfinite, logprobs)):
        detail = "The model gave a log-probability that is not a finite number."
        return Unscored(e.text_id, Reason.NOT_FINITE, detail)
    return TokenScore(
        text_id=e.text_id,
        token_ids=np.array(e.targets, dtype=np.int32),
        logprobs=logprobs.astype(np.float32),
        starts=np.array([start for start, _ in e.spans], dtype=np.int32),
        ends=np.array([end for _, end in e.spans], dtype=np.int32),
        words=np.array(e.words, dtype=np.int32),
        flags=e.flags,
    )
