"""A "language model" whose next token depends on the last one only: log P is known by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from core.models.language_model import LanguageModel


class Bigram(torch.nn.Module):
    """Logits of the next token are a fixed row of a table; `calls` counts forward passes."""

    def __init__(self, table: np.ndarray) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.tensor(table, dtype=torch.float32), False)  # (V, V)
        self.calls = 0

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, use_cache: bool = False
    ) -> SimpleNamespace:
        self.calls += 1
        return SimpleNamespace(logits=self.table[input_ids])  # (B, T, V)


def bigram_table(vocabulary_size: int) -> np.ndarray:
    """A table without random numbers: every pair has its own value. Shape (V, V)."""
    before, after = np.indices((vocabulary_size, vocabulary_size))
    return np.sin(1.0 + before * 0.7 + after * 1.3) * 3.0


def bigram_logprob(table: np.ndarray, before: int, after: int) -> float:
    """Log P(after | before) in nats, in float64, straight from the definition."""
    row = table[before].astype(np.float64)
    return float(row[after] - np.log(np.exp(row).sum()))


def bigram_model(
    tokenizer: PreTrainedTokenizerBase, window: int | None = None, table: np.ndarray | None = None
) -> LanguageModel:
    """A bigram model over the tokenizer's vocabulary."""
    table = bigram_table(len(tokenizer)) if table is None else table
    return LanguageModel(
        model=Bigram(table),
        tokenizer=tokenizer,
        label="bigram",
        fingerprint="test:bigram",
        kind="causal",
        dtype="float32",
        device="cpu",
        attention="none",
        window=window,
    )
