"""A cache of planted heads whose axes speak of warmth and competence, with labels of the groups.

The labels of warmth are the groups' true side on the first axis, those of competence take turns and
mean nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.analysis.heads.question import HeadsQuestion
from core.axes.concepts import Concept, ConceptSet
from core.store.axes import put_axes, put_concepts
from core.store.gate import Cache
from tests.planted_cache import CONCEPTS, N_CONCEPTS, REFERENCE, fill_planted, made_axes
from tests.planted_heads import PlantedHeads

TRUE_AXIS = 0
N_WARMTH = 4  # the first axes; the others speak of competence, and the last one of nothing
AXES, LABELLED = "dimensions", "labelled"


def true_places(n_axes: int, *, seed: int = 0) -> np.ndarray:
    """Where `fill_planted` puts the groups on the axes, but for the shift of some. (C, A)"""
    return np.random.default_rng(seed + 1).normal(0, 0.5, (N_CONCEPTS, n_axes))


def fill_labelled(cache: Cache, model: PlantedHeads, *, seed: int = 0) -> HeadsQuestion:
    """As `fill_planted`, with the sets of axes and groups that have dimensions and labels."""
    reader = fill_planted(cache, model, seed=seed)
    n = len(model.axes)
    dimensions = ["warmth"] * N_WARMTH + ["competence"] * (n - N_WARMTH - 1) + [""]
    axes = [replace(a, dimension=d) for a, d in zip(made_axes(n), dimensions, strict=True)]
    put_axes(cache, AXES, axes)
    places = true_places(n)[:, TRUE_AXIS]
    labels = np.where(places > np.median(places), 1, -1)
    groups = [
        Concept(f"{CONCEPTS} {i}", warmth=int(label), competence=1 if i % 2 else -1)
        for i, label in enumerate(labels)
    ]
    put_concepts(cache, ConceptSet(LABELLED, tuple(groups)))
    return HeadsQuestion(
        reader_id=reader.reader_id, axes=AXES, concepts=LABELLED, reference=REFERENCE, k=3
    )
