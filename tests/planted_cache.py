"""A cache of planted heads: what is true of its axes is known, and no model stands behind it."""

from __future__ import annotations

import numpy as np

from core.axes.axis import Axis, Pole
from core.axes.concepts import Concept, ConceptSet
from core.axes.content import axis_content, pole_content
from core.stats.probes.direction import separability
from core.store.axes import concept_id, put_axes, put_concepts
from core.store.gate import Cache
from core.store.head_readers import put_reader
from core.store.heads import AXIS, CONCEPT, POLE, Source, put_arrays
from core.store.tensors import write_tensors
from core.types import HeadReader
from tests.planted_heads import PlantedHeads, pole_sums, swapped_grids

STEREOTYPED = (1, 4, 6)  # axes on which the concepts lie elsewhere than the reference
AXES, CONCEPTS, REFERENCE = "planted", "groups", "phrases"
N_CONCEPTS, N_PATTERNS = 40, 8
SHIFT = 0.8  # of the way from the middle to the positive pole
FAMILY = "simple"


def made_axes(n: int) -> tuple[Axis, ...]:
    poles = [Pole(f"word{i}.a.01", i, (f"word{i}",), f"number {i}") for i in range(2 * n)]
    return tuple(Axis(poles[2 * i], poles[2 * i + 1], source="made") for i in range(n))


def fill_planted(cache: Cache, model: PlantedHeads, *, seed: int = 0) -> HeadReader:
    """Store probes of every axis of a planted model, forty concepts and as many phrases.

    The concepts lie towards the positive pole of the axes in STEREOTYPED. What is pooled as "last"
    is drawn anew and just as true.
    """
    n_layers, n_heads, head_dim = model.base.shape
    reader = HeadReader(
        model="planted",
        fingerprint=f"planted:{seed}",
        dtype="float32",
        device="cpu",
        attention="none",
        bos="in",
        heads_version=1,
        n_layers=n_layers,
        n_heads=n_heads,
        head_dim=head_dim,
    )
    axes = made_axes(len(model.axes))
    put_reader(cache, reader)
    put_axes(cache, AXES, axes)
    _fill_axes(cache, reader, model, axes, np.random.default_rng(seed))
    _fill_phrases(cache, reader, model, np.random.default_rng(seed + 1))
    return reader


def _fill_axes(
    cache: Cache,
    reader: HeadReader,
    model: PlantedHeads,
    axes: tuple[Axis, ...],
    rng: np.random.Generator,
) -> None:
    half = len(model.templates) // 2
    halves = slice(half), slice(half, None)
    parts = (*halves, slice(None))
    # [axis][pooling][pole] -> outputs of its sentences
    outputs = [
        [[model.probes(i, pole, rng=rng) for pole in (-1, 1)] for _ in range(2)]
        for i in range(len(axes))
    ]
    sums = [  # by pole, then pooling, then half
        [[pole_sums(axis[p][k], rows) for rows in halves] for p in range(2)]
        for axis in outputs
        for k in range(2)
    ]
    arrays = {
        "sums": np.array([[[h.sums for h in p] for p in pole] for pole in sums], np.float32),
        "squares": np.array([[[h.squares for h in p] for p in pole] for pole in sums]),
        "n": np.array([[h.n for h in pole[0]] for pole in sums]),
        "separability": np.array(
            [
                [
                    [separability(*(pole_sums(x, rows) for x in pair)) for rows in parts]
                    for pair in a
                ]
                for a in outputs
            ],
            np.float32,
        ),
        "chance": np.array(
            [
                [swapped_grids(*pair, N_PATTERNS, seed=i) for pair in a]
                for i, a in enumerate(outputs)
            ],
            np.float32,
        ),
    }
    poles = [pole for axis in axes for pole in (axis.negative, axis.positive)]
    rows = {
        POLE: {pole.key: pole_content(pole, FAMILY) for pole in poles},
        AXIS: {axis.axis_id: axis_content(axis, FAMILY) for axis in axes},
    }
    written = write_tensors(cache, f"{reader.reader_id}/axes.safetensors", arrays)
    put_arrays(cache, Source(reader.reader_id, FAMILY), written, rows)


def _fill_phrases(
    cache: Cache, reader: HeadReader, model: PlantedHeads, rng: np.random.Generator
) -> None:
    for name, shift in ((CONCEPTS, SHIFT), (REFERENCE, 0.0)):
        texts = [f"{name} {i}" for i in range(N_CONCEPTS)]
        put_concepts(cache, ConceptSet(name, tuple(Concept(text) for text in texts)))
        places = rng.normal(0, 0.5, (N_CONCEPTS, len(model.axes)))
        places[:, STEREOTYPED] += shift
        both = np.stack([model.phrases(places, rng=rng) for _ in range(2)])  # (P, C, L, H, D)
        arrays = {"outputs": np.moveaxis(both, 1, 3)}
        written = write_tensors(cache, f"{reader.reader_id}/{name}.safetensors", arrays)
        contents = {text: concept_id(text) for text in texts}
        put_arrays(cache, Source(reader.reader_id), written, {CONCEPT: contents})
