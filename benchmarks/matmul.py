"""How much of a run is the multiplication with the model's weight matrices, which nobody avoids.

share = 2 x (linear weights x tokens + V x d x projected positions) / seconds
        over the FLOP/s that torch reaches on these multiplications alone, best of 5
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.counting import Work

BEST_OF = 5

Shapes = Counter[tuple[int, int]]  # how many linear layers there are of each (out, in)


def linear_shapes(model: Any) -> Shapes:
    """Shapes of the linear layers, quantised ones included, the vocabulary projection left out."""
    head = model.get_output_embeddings()
    layers = [m for m in model.modules() if isinstance(m, torch.nn.Linear) and m is not head]
    return Counter((layer.out_features, layer.in_features) for layer in layers)


def head_shape(model: Any) -> tuple[int, int]:
    """(V, d) of the vocabulary projection."""
    head = model.get_output_embeddings()
    return head.out_features, head.in_features


def flops(model: Any, tokens: float, projected: float) -> float:
    """Floating-point operations of the multiplications with weight matrices."""
    weights = sum(count * rows * columns for (rows, columns), count in linear_shapes(model).items())
    v, d = head_shape(model)
    return 2 * (weights * tokens + v * d * projected)


def best_rate(model: Any, work: Work, dtype: torch.dtype, device: str) -> float:
    """FLOP/s of the same multiplications alone, at the mean batch's token count, best of five."""
    tokens = max(1, work.tokens // work.batches)
    projected = max(1, work.projected // work.batches)
    inputs = {
        (n, width): torch.randn(n, width, dtype=dtype, device=device)
        for n, width in {(projected, head_shape(model)[1])}
        | {(tokens, columns) for _, columns in linear_shapes(model)}
    }
    products = [((tokens, shape[1]), shape, n) for shape, n in linear_shapes(model).items()]
    products.append(((projected, head_shape(model)[1]), head_shape(model), 1))
    weights = {shape: torch.randn(shape, dtype=dtype, device=device) for _, shape, _ in products}
    seconds = []
    for _ in range(BEST_OF + 1):  # the first one warms up
        synchronize(device)
        start = time.perf_counter()
        for size, shape, count in products:
            for _ in range(count):
                F.linear(inputs[size], weights[shape])
        synchronize(device)
        seconds.append(time.perf_counter() - start)
    return flops(model, tokens, projected) / min(seconds[1:])


def matmul_share(model: Any, work: Work, seconds: float, rate: float) -> float:
    """Share of the seconds in which the work would be done at that rate."""
    return flops(model, work.tokens, work.projected) / seconds / rate


def synchronize(device: str) -> None:
    """Wait until the device has done what it was asked to."""
    if device == "cuda":
        torch.cuda.synchronize()
