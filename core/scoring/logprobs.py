"""Log-probabilities out of a model, in three layouts that agree but for rounding."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import torch

from core.models.language_model import LanguageModel
from core.models.packing import Row, packed_hidden_states
from core.models.parts import head_logits, n_embeddings
from core.scoring.encoding import Encoded
from core.types import FloatArray, IntArray

# A text and the log-probabilities of its scored tokens; None where it does not fit into memory.
Scored = tuple[Encoded, FloatArray | None]

PROJECTION_BYTES = 64_000_000  # of float32 logits at a time


class Layout(StrEnum):
    """How texts lie in a batch.

    PACKED
        Texts that begin alike in one row (core/models/packing.py), logits only where a scored
        token is predicted. Of a masked model: many copies at once, logits only where they are
        masked.
    PADDED
        Whole texts under each other, filled up on the right, where a causal model never looks;
        logits everywhere, by the model's own forward. Of a masked model: copies of one length.
    SINGLE
        One text (or masked copy) per call of the model's own forward: what the others are compared
        with.
    """

    PACKED = "packed"
    PADDED = "padded"
    SINGLE = "single"


@torch.inference_mode()
def padded_logprobs(language_model: LanguageModel, batch: Sequence[Encoded]) -> list[FloatArray]:
    """Log-probabilities in nats of the scored tokens of each text; of one, the single layout.

    Raises
    ------
    RuntimeError
        Whatever the model raises, running out of memory included.
    """
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
        positions = torch.arange(len(targets), device=ids.device)
        vectors.append(token_logprobs(predicting, positions, targets).cpu().numpy())
    return vectors


@torch.inference_mode()
def packed_logprobs(
    language_model: LanguageModel, texts: Sequence[Encoded], rows: Sequence[Row]
) -> list[dict[int, FloatArray]]:
    """Log-probabilities in nats of the scored tokens of each row's texts, by the text's index.

    Raises
    ------
    RuntimeError
        Whatever the model raises, running out of memory included.
    """
    hidden = packed_hidden_states(language_model, rows)
    owners = [(b, i) for b, row in enumerate(rows) for i in row.paths]
    # The token at `first` is predicted by the node before it, and so on to the last node.
    predicting = [(b, rows[b].paths[i][texts[i].first - 1 :]) for b, i in owners]
    nodes = [b * hidden.shape[1] + node for b, path in predicting for node in path]
    targets = [token for _, i in owners for token in texts[i].targets]
    values = _projected(language_model, hidden.flatten(0, 1), np.array(nodes), np.array(targets))
    found: list[dict[int, FloatArray]] = [{} for _ in rows]
    at = 0
    for b, i in owners:
        n_scored = len(texts[i].targets)
        found[b][i] = values[at : at + n_scored]
        at += n_scored
    return found


def _projected(
    language_model: LanguageModel, hidden: torch.Tensor, nodes: IntArray, targets: IntArray
) -> FloatArray:
    """Log-probability of each target as predicted at its node; logits only of some nodes at a time.

    Parameters
    ----------
    hidden
        Shape (n_nodes, hidden)
    nodes, targets
        Shape (n_scored,); texts that share a beginning share nodes.
    """
    order = np.argsort(nodes, kind="stable")
    wanted, positions = np.unique(nodes[order], return_inverse=True)  # positions never fall
    values = np.empty(len(nodes), dtype=np.float32)
    step = max(1, PROJECTION_BYTES // (4 * n_embeddings(language_model.model)))
    for start in range(0, len(wanted), step):
        part = slice(*np.searchsorted(positions, (start, start + step)))
        at = torch.from_numpy(wanted[start : start + step]).to(hidden.device)
        logits = head_logits(language_model.model, hidden[at])  # (n, V)
        logprobs = token_logprobs(
            logits,
            torch.from_numpy(positions[part] - start).to(logits.device),
            torch.from_numpy(targets[order[part]]).to(logits.device),
        )
        values[order[part]] = logprobs.cpu().numpy()
    return values


def token_logprobs(
    logits: torch.Tensor, positions: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Log-probability of each target under the logits at its position, in float32 always.

    A log-softmax in bfloat16 is off by up to a tenth of a nat and ties what is not tied.

    Parameters
    ----------
    logits
        Shape (n, V)
    positions, targets
        Shape (n_scored,)
    """
    return logits.float().log_softmax(dim=-1)[positions, targets]
