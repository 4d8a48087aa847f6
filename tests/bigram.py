"""A "language model" whose next token depends on the last one only: log P is known by hand.

Its masked twin looks at both neighbours.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from core.models.language_model import LanguageModel


class Body(torch.nn.Module):
    """The hidden states of a token are its row of the table; `calls` counts forward passes."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.embeddings = torch.nn.Embedding.from_pretrained(table)
        self.calls = 0

    def forward(self, input_ids: torch.Tensor, **options: Any) -> SimpleNamespace:
        self.calls += 1
        return SimpleNamespace(last_hidden_state=self.embeddings(input_ids))  # (B, T, V)


class Bigram(torch.nn.Module):
    """Logits of the next token are a fixed row of a table, which the head hands on as it is."""

    def __init__(self, table: np.ndarray) -> None:
        super().__init__()
        self.config = PreTrainedConfig()
        self.base_model = Body(torch.tensor(table, dtype=torch.float32))
        self.head = torch.nn.Linear(*table.shape, bias=False).requires_grad_(False)
        torch.nn.init.eye_(self.head.weight)

    def get_input_embeddings(self) -> torch.nn.Embedding:
        return self.base_model.embeddings

    def get_output_embeddings(self) -> torch.nn.Linear:
        return self.head

    def forward(self, input_ids: torch.Tensor, **options: Any) -> SimpleNamespace:
        hidden = self.base_model(input_ids, **options).last_hidden_state
        return SimpleNamespace(logits=self.head(hidden))  # (B, T, V)


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
        attention="sdpa",
        window=window,
    )


class MaskedBody(torch.nn.Module):
    """Hidden states of a token are what its two neighbours say; `copies` counts rows."""

    def __init__(self, table: np.ndarray, *, looks_ahead: bool) -> None:
        super().__init__()
        self.embeddings = torch.nn.Embedding.from_pretrained(torch.tensor(table).float())
        self.looks_ahead = looks_ahead
        self.copies = 0

    def forward(self, input_ids: torch.Tensor, **options: Any) -> SimpleNamespace:
        self.copies += len(input_ids)
        said = self.embeddings(input_ids)  # (B, T, V)
        nothing = torch.zeros_like(said[:, :1])
        before = torch.cat([nothing, said[:, :-1]], dim=1)
        after = torch.cat([said[:, 1:], nothing], dim=1) if self.looks_ahead else 0
        return SimpleNamespace(last_hidden_state=before + 2 * after)


class MaskedBigram(torch.nn.Module):
    """Logits of a token: its row of the table for the token before, and twice that for the next."""

    def __init__(self, table: np.ndarray, *, looks_ahead: bool) -> None:
        super().__init__()
        self.table = table
        self.base_model = MaskedBody(table, looks_ahead=looks_ahead)
        self.lm_head = torch.nn.Identity()

    def get_input_embeddings(self) -> torch.nn.Embedding:
        return self.base_model.embeddings

    def forward(self, input_ids: torch.Tensor, **options: Any) -> SimpleNamespace:
        return SimpleNamespace(logits=self.base_model(input_ids, **options).last_hidden_state)


def masked_bigram_logprob(table: np.ndarray, before: int, after: int, token: int) -> float:
    """Log P(token | before, after) in nats, in float64, straight from the definition."""
    logits = table[before].astype(np.float64) + 2 * table[after].astype(np.float64)
    return float(logits[token] - np.log(np.exp(logits).sum()))


def masked_bigram_model(
    tokenizer: PreTrainedTokenizerBase, *, looks_ahead: bool = True
) -> LanguageModel:
    """The masked twin over the tokenizer's vocabulary."""
    return LanguageModel(
        model=MaskedBigram(bigram_table(len(tokenizer)), looks_ahead=looks_ahead),
        tokenizer=tokenizer,
        label="masked bigram",
        fingerprint="test:masked-bigram",
        kind="masked",
        dtype="float32",
        device="cpu",
        attention="sdpa",
    )
