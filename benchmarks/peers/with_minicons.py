"""Runs in the peer's environment: log-likelihoods of minicons' IncrementalLMScorer."""

import torch
from minicons.scorer import IncrementalLMScorer
from serve import Score, serve


def load(folder: str) -> Score:
    """The scorer in float32 on the CPU; it takes batches in the order in which they come."""
    scorer = IncrementalLMScorer(folder, "cpu", dtype=torch.float32)

    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        sums: list[float] = []
        for start in range(0, len(pairs), batch_size):
            contexts, continuations = zip(*pairs[start : start + batch_size], strict=True)
            sums += scorer.conditional_score(
                list(contexts), list(continuations), reduction=lambda x: x.sum().item()
            )
        return sums

    return score


serve(load)
