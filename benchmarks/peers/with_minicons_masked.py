"""Runs in the peer's environment: pseudo-log-likelihoods of minicons' MaskedLMScorer."""

import torch
from minicons.scorer import MaskedLMScorer
from serve import Score, serve


def load(folder: str) -> Score:
    """The scorer in float32 on the CPU; it takes batches in the order in which they come."""
    scorer = MaskedLMScorer(folder, "cpu", dtype=torch.float32)

    def score(pairs: list[list[str]], batch_size: int) -> list[float]:
        """In the place of a context stands the metric; it is the same in all of a request."""
        sums: list[float] = []
        for start in range(0, len(pairs), batch_size):
            metrics, sentences = zip(*pairs[start : start + batch_size], strict=True)
            sums += scorer.sequence_score(
                list(sentences), reduction=lambda x: x.sum().item(), PLL_metric=metrics[0]
            )
        return sums

    return score


serve(load)
