"""A model of known axes, in numpy: which heads hold which axis, and how strongly, is planted.

A head's output is its own base, an effect of the template that both poles share, noise, and for
every axis planted in it a step along a direction of its own, at a right angle to the other axes'.
Probe sentences step to their pole: half of the way for the adjective and half for the definition,
so that sentences with swapped definitions stay in the middle. Phrases step as far as their place on
each axis says.

Letters: N sentences, C phrases, A axes, L layers, H heads, D head_dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.probes.direction import PoleSums, separability

Array = npt.NDArray[np.float64]
Outputs = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PlantedHeads:
    """What is planted; the outputs are drawn from the methods' generators."""

    base: Array  # (L, H, D)
    axes: Array  # (A, L * H, D): a unit vector in the heads that hold the axis, else 0
    templates: Array  # (N, L, H, D)
    strength: float  # from the middle to a pole, in standard deviations of the noise

    @property
    def heads(self) -> tuple[frozenset[int], ...]:
        """Flat indices of the heads that hold each axis."""
        held = (self.axes != 0).any(axis=-1)
        return tuple(frozenset(np.flatnonzero(row).tolist()) for row in held)

    def probes(
        self, axis: int, pole: int, *, rng: np.random.Generator, definition: int | None = None
    ) -> Outputs:
        """Pooled outputs of one pole's sentences, one per template. (N, L, H, D)

        `pole` is -1 or 1, `definition` the pole whose definition stands beside the adjective.
        """
        step = (pole + (pole if definition is None else definition)) / 2
        places = np.zeros((len(self.templates), len(self.axes)))
        places[:, axis] = step
        return self._outputs(places, rng, self.templates)

    def phrases(self, places: npt.ArrayLike, *, rng: np.random.Generator) -> Outputs:
        """Pooled outputs of phrases at places (C, A), 1 being the positive pole. (C, L, H, D)"""
        return self._outputs(np.asarray(places, dtype=np.float64), rng, np.zeros(1))

    def _outputs(self, places: Array, rng: np.random.Generator, templates: Array) -> Outputs:
        shape = (len(places), *self.base.shape)
        steps = np.einsum("na,ahd->nhd", places, self.axes).reshape(shape) * self.strength
        noise = rng.normal(size=shape)
        return (self.base + templates + steps + noise).astype(np.float32)


def planted_heads(
    *,
    n_layers: int = 4,
    n_heads: int = 6,
    head_dim: int = 16,
    n_axes: int = 8,
    heads_per_axis: int = 3,
    n_templates: int = 30,
    strength: float = 3.0,
    seed: int = 0,
) -> PlantedHeads:
    """A model with axes planted in heads drawn at random; at most head_dim axes."""
    rng = np.random.default_rng(seed)
    n = n_layers * n_heads
    bases = np.linalg.qr(rng.normal(size=(n, head_dim, head_dim)))[0]  # columns at right angles
    axes = np.zeros((n_axes, n, head_dim))
    for axis in range(n_axes):
        held = rng.choice(n, heads_per_axis, replace=False)
        axes[axis, held] = bases[held, :, axis]
    shape = (n_layers, n_heads, head_dim)
    base = rng.normal(0, 5, shape)
    return PlantedHeads(base, axes, rng.normal(size=(n_templates, *shape)), strength)


def pole_sums(outputs: Outputs, rows: slice | Sequence[int] = slice(None)) -> PoleSums:
    """What is kept of a pole's sentences, or of some of them."""
    x = outputs[rows].astype(np.float64)
    return PoleSums(x.sum(axis=0), (x**2).sum(axis=(0, -1)), len(x))


def swapped_grids(negative: Outputs, positive: Outputs, n_patterns: int, *, seed: int) -> Array:
    """R when the poles of randomly chosen templates trade places. (n_patterns, L, H)"""
    rng = np.random.default_rng(seed)
    grids = []
    for _ in range(n_patterns):
        swap = rng.permuted(np.arange(len(negative)) % 2 == 0)[:, None, None, None]
        poles = np.where(swap, positive, negative), np.where(swap, negative, positive)
        grids.append(separability(*map(pole_sums, poles)))
    return np.array(grids)
