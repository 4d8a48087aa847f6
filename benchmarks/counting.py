"""What forward passes compute, read off the model and the packing while they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch

from core.heads import pool
from core.models.packing import Row, pack
from core.scoring import causal


@dataclass
class Work:
    """What forward passes computed."""

    batches: int = 0
    tokens: int = 0  # nodes of packed rows: no padding
    padded_tokens: int = 0  # what went through the linear layers
    projected: int = 0  # positions whose logits were computed


@contextmanager
def counting(model: Any) -> Iterator[Work]:
    """Count while the block runs; in one that packs nothing, padding counts as tokens."""
    work = Work()
    head = model.get_output_embeddings()
    first = next(m for m in model.modules() if isinstance(m, torch.nn.Linear) and m is not head)

    def through_layers(module: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        work.batches += 1
        work.padded_tokens += inputs[0][..., 0].numel()

    def through_head(module: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        work.projected += inputs[0][..., 0].numel()

    def counted_pack(*args: Any, **kwargs: Any) -> list[Row]:
        rows = pack(*args, **kwargs)
        work.tokens += sum(len(row.ids) for row in rows)
        return rows

    hooks = [
        first.register_forward_pre_hook(through_layers),
        head.register_forward_pre_hook(through_head),
    ]
    try:
        with patch.object(causal, "pack", counted_pack), patch.object(pool, "pack", counted_pack):
            yield work
    finally:
        for hook in hooks:
            hook.remove()
    work.tokens = work.tokens or work.padded_tokens
