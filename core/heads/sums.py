"""Sums over a pole's probe sentences, which are all that is kept of them.

For each pole, pooling and head: sum x, and sum |x|^2, over the first and the second half of its
sentences, so that fewer sentences, all of them and the halves' difference come from one pass.

How large separability gets where there is nothing to separate is seen under swapped labels: a
pattern of signs says for each template whether the two poles' sentences trade places. A pole's sums
under the signs s, A = sum s_t x_t, make up the swapped poles of any pair that it is part of,

    sum over the swapped pole + = ((S+ + A+) + (S- - A-)) / 2        S = sum x_t

and likewise for |x|^2 and for the number of sentences, so single sentences need not be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from core.heads.places import HeadPlaces
from core.heads.pool import Bos, Unpooled, pooled_outputs
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.stats.probes.direction import PoleSums, separability
from core.types import N_PATTERNS, POOLINGS, FloatArray

PATTERN_SEED = 42

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeadSums:
    """Weighted sums over a pole's sentences, in float64; W is 2 halves, or S patterns of signs."""

    sums: Array  # of x, (P, W, L, H, D)
    squares: Array  # of |x|^2, (P, W, L, H)
    n: Counts  # sum of the weights, (W,): for halves the number of sentences

    def whole(self) -> PoleSums:
        """The sums over both halves: (P, L, H, D), (P, L, H) and the number of sentences."""
        return PoleSums(self.sums.sum(axis=1), self.squares.sum(axis=1), int(self.n.sum()))


@dataclass(frozen=True, eq=False)
class PoleResult:
    """What a pole's sentences came to."""

    halves: HeadSums
    signed: HeadSums  # under the patterns of signs
    unpooled: tuple[tuple[int, Unpooled], ...]  # templates whose sentence has no output, and why


def sign_patterns(n_templates: int) -> npt.NDArray[np.int8]:
    """The fixed patterns of swapped labels, -1 where a template's sentences trade places. (S, N)

    Their bits come from a hash, which no version of a library changes; N is at most 512.
    """
    seeds = (f"{PATTERN_SEED} {pattern}".encode() for pattern in range(N_PATTERNS))
    digests = np.stack([np.frombuffer(blake2b(seed).digest(), dtype=np.uint8) for seed in seeds])
    bits = np.unpackbits(digests, axis=1)[:, :n_templates]  # (S, N)
    return 1 - 2 * bits.astype(np.int8)


def pole_sums(
    language_model: LanguageModel,
    poles: Sequence[Sequence[str]],
    *,
    places: HeadPlaces,
    bos: Bos = "in",
    share: bool = False,
    budget: TokenBudget | None = None,
) -> list[PoleResult]:
    """Sums of poles whose sentences are computed together and with no others.

    Batches hold sentences of these poles alone, so the same poles give the same sums to the last
    bit, whatever was computed before. The outputs of all their sentences are in memory at once.

    Parameters
    ----------
    poles
        The sentences of each, of the same templates in the same order; a whole number of pairs.
    places, bos, share, budget
        As for `pooled_outputs`.

    Returns
    -------
    list of PoleResult
        One per pole.

    Raises
    ------
    ValueError
        When the poles do not have the same even number of sentences.
    """
    n_templates = len(poles[0]) if poles else 0
    if n_templates % 2 or any(len(pole) != n_templates for pole in poles):
        raise ValueError("all poles need the same even number of sentences")
    shape = (len(POOLINGS), places.n_layers, places.n_heads, places.head_dim)
    outputs = np.zeros((len(poles), n_templates, *shape), dtype=np.float32)
    unpooled: dict[int, Unpooled] = {}
    texts = [sentence for pole in poles for sentence in pole]
    for indices, found in pooled_outputs(
        language_model, texts, places=places, bos=bos, share=share, budget=budget
    ):
        if isinstance(found, Unpooled):
            unpooled |= dict.fromkeys(indices.tolist(), found)
        else:
            pole, template = np.divmod(indices, n_templates)
            outputs[pole, template, 0], outputs[pole, template, 1] = found.mean, found.last
    results = []
    for k in range(len(poles)):
        own = range(k * n_templates, (k + 1) * n_templates)
        left_out = tuple((t, unpooled[i]) for t, i in enumerate(own) if i in unpooled)
        results.append(_pole_result(outputs[k], left_out))
    return results


def chance_grids(negative: PoleResult, positive: PoleResult) -> Array:
    """Separability of a pair of poles under each pattern of swapped labels. (P, S, L, H)

    NaN where it is undefined.
    """
    plain = negative.halves.whole(), positive.halves.whole()
    grids = []
    for s in range(N_PATTERNS):
        signed = [
            PoleSums(p.signed.sums[:, s], p.signed.squares[:, s], int(p.signed.n[s]))
            for p in (negative, positive)
        ]
        grids.append(separability(_swapped(plain, signed), _swapped(plain[::-1], signed[::-1])))
    return np.stack(grids, axis=1)


def _swapped(plain: Sequence[PoleSums], signed: Sequence[PoleSums]) -> PoleSums:
    """The first pole of a pair once labels are swapped: where the sign is -, the other's."""
    (own, other), (own_signed, other_signed) = plain, signed
    return PoleSums(
        (own.sums + own_signed.sums + other.sums - other_signed.sums) / 2,
        (own.squares + own_signed.squares + other.squares - other_signed.squares) / 2,
        (own.n + own_signed.n + other.n - other_signed.n) // 2,
    )


def _pole_result(outputs: FloatArray, unpooled: tuple[tuple[int, Unpooled], ...]) -> PoleResult:
    """Add up one pole's sentences; those without outputs are zeros. (N, P, L, H, D)"""
    n_templates = len(outputs)
    there = np.ones(n_templates, dtype=np.int64)
    there[[template for template, _ in unpooled]] = 0
    x = outputs.astype(np.float64)
    squares = np.square(x).sum(axis=-1)  # (N, P, L, H)
    halves, signed = (
        HeadSums(_weighted(weights, x), _weighted(weights, squares), weights @ there)
        for weights in (
            np.repeat(np.eye(2, dtype=np.int64), n_templates // 2, axis=1),
            sign_patterns(n_templates).astype(np.int64),
        )
    )
    return PoleResult(halves, signed, unpooled)


def _weighted(weights: Counts, values: Array) -> Array:
    """Sum values (N, P, ...) with each row of weights (W, N), into (P, W, ...)."""
    sums = np.tensordot(weights.astype(np.float64), values, axes=1)  # (W, P, ...)
    return np.ascontiguousarray(np.moveaxis(sums, 0, 1))
