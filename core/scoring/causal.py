"""Texts -> the log-probability of every scored token under a causal model.

    ids       <s>  The  nurse  left  He  was  tired        first = 4
    logits     0    1     2     3    4    5
                                |    |    |
    predicts                    He  was  tired             the logits at i - 1 predict the id at i

Texts are sorted by length and computed in right-padded batches: a causal model never looks to the
right, so padding cannot reach a real token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from core.models.batches import run_halving, token_budget_batches
from core.models.language_model import LanguageModel
from core.scoring.encoding import Encoded, encode
from core.types import FloatArray, Reason, Text, TokenScore, Unscored

TOKEN_BUDGET = 1024  # padded tokens of a batch: bounds the (B, T, V) logits
TEXTS_AT_A_TIME = 4096  # encoded and sorted together: bounds memory for large data sets

Outcome = TokenScore | Unscored


def score_texts(
    language_model: LanguageModel,
    texts: Sequence[Text],
    *,
    exact: bool = False,
    token_budget: int = TOKEN_BUDGET,
) -> Iterator[list[Outcome]]:
    """Score texts, yielding the outcomes batch by batch, of each few thousand the longest first.

    Parameters
    ----------
    exact
        One text at a time, so that not even rounding depends on its neighbours.
    token_budget
        Most padded tokens in a batch.

    Yields
    ------
    list of TokenScore or Unscored
        One outcome per text; every text has exactly one over the whole iteration.
    """
    n_embeddings = _n_embeddings(language_model)
    for start in range(0, len(texts), TEXTS_AT_A_TIME):
        chunk = texts[start : start + TEXTS_AT_A_TIME]
        encoded = [
            encode(language_model.tokenizer, t, language_model.window, n_embeddings) for t in chunk
        ]
        refused: list[Outcome] = [e for e in encoded if isinstance(e, Unscored)]
        if refused:
            yield refused
        ready = [e for e in encoded if isinstance(e, Encoded)]
        budget = 1 if exact else token_budget
        for rows in token_budget_batches([len(e.ids) for e in ready], budget):
            yield score_encoded(language_model, [ready[i] for i in rows])


def score_encoded(language_model: LanguageModel, batch: Sequence[Encoded]) -> list[Outcome]:
    """Score one batch of encoded texts, in smaller parts if memory runs out."""
    vectors = run_halving(lambda part: causal_logprobs(language_model, part), batch)
    return [_outcome(e, vector) for e, vector in zip(batch, vectors, strict=True)]


@torch.inference_mode()
def causal_logprobs(language_model: LanguageModel, batch: Sequence[Encoded]) -> list[FloatArray]:
    """Log-probabilities in nats of the scored tokens of each text, from float32 logits."""
    longest = max(len(e.ids) for e in batch)
    padded = [e.ids + [0] * (longest - len(e.ids)) for e in batch]
    real = [[1] * len(e.ids) + [0] * (longest - len(e.ids)) for e in batch]
    ids = torch.tensor(padded, device=language_model.device)  # (B, T)
    mask = torch.tensor(real, device=language_model.device)  # (B, T)
    logits = language_model.model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    vectors = []
    for row, e in enumerate(batch):
        predicting = logits[row, e.first - 1 : len(e.ids) - 1]  # (n_scored, V)
        targets = ids[row, e.first : len(e.ids)]  # (n_scored,)
        vectors.append(token_logprobs(predicting, targets).cpu().numpy())
    return vectors


def token_logprobs(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Log-probability of each target under its row of logits, in float32 whatever comes in.

    A log-softmax in bfloat16 is off by up to a tenth of a nat and ties what is not tied.
    """
    logprobs = logits.float().log_softmax(dim=-1)  # (n, V)
    return logprobs.gather(-1, targets[:, None])[:, 0]  # (n,)


def _n_embeddings(language_model: LanguageModel) -> int | None:
    """How many token ids the model knows; None where the model does not say."""
    if not hasattr(language_model.model, "get_input_embeddings"):
        return None
    return int(language_model.model.get_input_embeddings().weight.shape[0])


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
