"""A simulated cache of heads: two models, thousands of axes, and known places of groups on them.

Each axis lives in a home: an eighth of the heads, a block of layers in one half of each layer's
heads, where the poles lie on either side along a direction of the axis's own; elsewhere there is
noise. A phrase's output is the sum of its steps along all axes of a head, and noise. Groups and
phrases have standard normal places on every axis, but for these plans:

- on axes planted as stereotypical (every twentieth), groups lie 1.5 standard deviations above
  phrases; on every second of these so do phrases for people
- axes of one cluster (the rest of their number by twenty) share most of the groups' places
- the first fifty axes are of warmth and the next forty-two of competence; there groups lie where
  their labels say, more often than not
- in the second model every fourth axis lives in another home, and every second planted one is not
  stereotypical

What is kept of probe sentences is drawn from its exact distribution, without the sentences: sums
are normal, squares about them are chi-square. Names and notes say that all is simulated.

Letters: A axes, C phrases, P poolings, L layers, H heads, D head_dim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from core.analysis.heads.stored import compute_and_store, usual_questions
from core.axes.axis import Axis, Pole
from core.axes.concepts import Concept, ConceptSet
from core.axes.content import axis_content, pole_content
from core.axes.templates import FAMILIES, N_TEMPLATES
from core.settings import DEFAULT_SEED
from core.stats.probes.direction import PoleSums, separability
from core.store.axes import concept_id, put_axes, put_concepts
from core.store.gate import Cache
from core.store.head_readers import put_reader
from core.store.heads import AXIS, CONCEPT, POLE, Source, put_arrays
from core.store.tensors import write_tensors
from core.types import N_PATTERNS, POOLINGS, HeadReader

Array = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

AXES, GROUPS = "simulated-axes", "simulated-groups"
REFERENCES = (f"{GROUPS}-phrases", f"{GROUPS}-people")  # named as sets that are matched
N_AXES, N_CONCEPTS, N_MODELS = 2_000, 100, 2
N_WARMTH, N_COMPETENCE, N_CLUSTERS = 50, 42, 20
BANDS, SIDES = 4, 2  # of layers, of heads in a layer: eight homes
STEREOTYPED, MOVED = 20, 4  # every so manieth axis
SHIFT, SHARED, FOLLOWED = 1.5, 0.8, 0.8  # places: of groups, with the cluster, with the label
STRENGTH = (2.0, 4.0)  # from the middle to a pole in a head, in standard deviations of its noise
HALF = N_TEMPLATES // 2
AT_A_TIME = 50  # axes in a file
FAMILY = FAMILIES[0]


@dataclass(frozen=True)
class HeadsPlan:
    """What is true of every model."""

    n_layers: int
    n_heads: int
    head_dim: int
    axes: tuple[Axis, ...]
    groups: ConceptSet
    references: tuple[ConceptSet, ...]
    places: Array  # of groups, then references, without what is planted as stereotypical, (C, A)
    seed: int

    def home(self, model: int) -> npt.NDArray[np.int64]:
        """The number of each axis's home. (A,)"""
        number = np.arange(len(self.axes))
        moved = (number % MOVED == MOVED - 1) if model else np.zeros_like(number, dtype=bool)
        return (number // N_CLUSTERS + 3 * moved) % (BANDS * SIDES)

    def stereotyped(self, model: int) -> npt.NDArray[np.int64]:
        """Places of the axes on which the groups lie elsewhere than the phrases."""
        return np.arange(STEREOTYPED - 1, len(self.axes), STEREOTYPED * (1 + model))

    def shifted(self, model: int) -> Array:
        """Places with what is planted as stereotypical. (C, A)"""
        places, n = self.places.copy(), len(self.groups.concepts)
        planted = self.stereotyped(model)
        places[:n, planted] += SHIFT
        places[2 * n :, planted[1::2]] += SHIFT
        return places

    def heads_of(self, home: int) -> npt.NDArray[np.int64]:
        """Flat indices l * H + h of a home's heads: 128 of 32 x 32."""
        band, side = divmod(home, SIDES)
        layers = np.array_split(np.arange(self.n_layers), BANDS)[band]
        heads = np.array_split(np.arange(self.n_heads), SIDES)[side]
        return (layers[:, None] * self.n_heads + heads).ravel()


def heads_plan(
    *,
    n_axes: int = N_AXES,
    n_layers: int = 32,
    n_heads: int = 32,
    head_dim: int = 8,
    n_concepts: int = N_CONCEPTS,
    seed: int = DEFAULT_SEED,
) -> HeadsPlan:
    """Axes, groups and phrases, and where these lie."""
    rng = np.random.default_rng([seed, *AXES.encode()])
    labels = rng.permuted(np.tile([-1, 1], (2, n_concepts // 2 + 1)), axis=1)[:, :n_concepts]
    groups = tuple(
        Concept(f"simulated group {i}", warmth=int(warmth), competence=int(competence))
        for i, (warmth, competence) in enumerate(labels.T)
    )
    references = tuple(
        ConceptSet(name, tuple(Concept(f"simulated {word} {i}") for i in range(n_concepts)))
        for name, word in zip(REFERENCES, ("phrase", "person"), strict=True)
    )
    places = rng.normal(size=(3 * n_concepts, n_axes))
    # The same numbers in every set, in another order: what a cluster shares differs nowhere.
    factors = rng.permuted(
        np.tile(ndtri((np.arange(n_concepts) + 0.5) / n_concepts), (3, N_CLUSTERS, 1)), axis=2
    )
    factors = np.moveaxis(factors, 2, 1).reshape(3 * n_concepts, N_CLUSTERS)
    places *= np.sqrt(1 - SHARED**2)
    places += SHARED * factors[:, np.arange(n_axes) % N_CLUSTERS]
    ends = np.cumsum([0, min(n_axes, N_WARMTH), min(max(n_axes - N_WARMTH, 0), N_COMPETENCE)])
    for label, start, end in zip(labels, ends, ends[1:], strict=False):
        own = rng.normal(size=(n_concepts, end - start))
        followed = FOLLOWED * label[:, None] + np.sqrt(1 - FOLLOWED**2) * own
        places[:n_concepts, start:end] = followed
    return HeadsPlan(
        n_layers,
        n_heads,
        head_dim,
        tuple(_axis(i) for i in range(n_axes)),
        ConceptSet(GROUPS, groups),
        references,
        places,
        seed,
    )


def fill_heads(cache: Cache, plan: HeadsPlan) -> dict[str, object]:
    """Write axes, phrases, both models and the usual results; returns what is planted."""
    put_axes(cache, AXES, plan.axes, replace=True)
    for concepts in (plan.groups, *plan.references):
        put_concepts(cache, concepts, replace=True)
    readers = [_reader(plan, model) for model in range(N_MODELS)]
    for model, reader in enumerate(readers):
        put_reader(cache, reader)
        directions = _directions(plan, model)
        _fill_axes(cache, reader, plan, model, directions)
        _fill_phrases(cache, reader, plan, model, directions)
        for question in usual_questions(
            cache, reader.reader_id, AXES, [GROUPS], REFERENCES, [FAMILY]
        ):
            compute_and_store(cache, question)
    ids = [axis.axis_id for axis in plan.axes]
    return {
        "note": "SIMULATED heads of no model, to try out the app",
        "seed": plan.seed,
        "axes": AXES,
        "concepts": GROUPS,
        "references": list(REFERENCES),
        "readers": {reader.model: reader.reader_id for reader in readers},
        "stereotyped": {
            reader.model: [ids[i] for i in plan.stereotyped(model)]
            for model, reader in enumerate(readers)
        },
        "people_too": {
            reader.model: [ids[i] for i in plan.stereotyped(model)[1::2]]
            for model, reader in enumerate(readers)
        },
        "homes": [_rectangle(plan, home) for home in range(BANDS * SIDES)],
        "home_of": {reader.model: plan.home(m).tolist() for m, reader in enumerate(readers)},
    }


def _rectangle(plan: HeadsPlan, home: int) -> str:
    """A home as a choice of heads: rect:layer,head,layer,head, both corners inclusive."""
    corners = plan.heads_of(home)[[0, -1]]
    return "rect:" + ",".join(
        f"{layer},{head}" for layer, head in np.array(np.divmod(corners, plan.n_heads)).T
    )


def _axis(number: int) -> Axis:
    low, high = (
        Pole(
            f"simulated-{end}-{number:04d}.a.01",
            2 * number + i,
            (f"simulated {end} {number}",),
            f"at the {end} end of simulated axis {number}",
        )
        for i, end in enumerate(("low", "high"))
    )
    if number < N_WARMTH:
        return Axis(low, high, source="simulated", dimension="warmth", facet="sociability")
    if number < N_WARMTH + N_COMPETENCE:
        return Axis(low, high, source="simulated", dimension="competence", facet="ability")
    return Axis(low, high, source="simulated")


def _reader(plan: HeadsPlan, model: int) -> HeadReader:
    shape = f"{plan.n_layers}x{plan.n_heads}x{plan.head_dim}"
    return HeadReader(
        model=f"simulated-heads-{model + 1:02d}",
        fingerprint=f"simulated:{model}:{shape}:{len(plan.axes)}:{plan.seed}",
        dtype="float32",
        device="none",
        attention="none",
        bos="in",
        heads_version=0,
        n_layers=plan.n_layers,
        n_heads=plan.n_heads,
        head_dim=plan.head_dim,
    )


def _directions(plan: HeadsPlan, model: int) -> list[tuple[npt.NDArray[np.int64], Singles]]:
    """For each home the axes that live there and their steps in its heads, (axes, heads, D)."""
    rng = np.random.default_rng([plan.seed, model, 1])
    home = plan.home(model)
    found = []
    for number in range(BANDS * SIDES):
        axes, heads = np.flatnonzero(home == number), plan.heads_of(number)
        steps = rng.normal(size=(len(axes), len(heads), plan.head_dim))
        steps /= np.linalg.norm(steps, axis=-1, keepdims=True)
        steps *= rng.uniform(*STRENGTH, size=(len(axes), len(heads), 1))
        found.append((axes, steps.astype(np.float32)))
    return found


def _fill_phrases(
    cache: Cache, reader: HeadReader, plan: HeadsPlan, model: int, directions: list[Any]
) -> None:
    """Outputs for groups and phrases: steps along all axes of a head, and noise."""
    rng = np.random.default_rng([plan.seed, model, 2])
    places = plan.shifted(model)
    n_heads = plan.n_layers * plan.n_heads
    shape = (len(POOLINGS), n_heads, len(places), plan.head_dim)
    outputs = rng.standard_normal(shape, dtype=np.float32)
    for number, (axes, steps) in enumerate(directions):
        heads = plan.heads_of(number)
        outputs[:, heads] += np.einsum("ca,ahd->hcd", places[:, axes].astype(np.float32), steps)
    arrays = {"outputs": outputs.reshape(len(POOLINGS), plan.n_layers, plan.n_heads, *shape[2:])}
    texts = [c.text for held in (plan.groups, *plan.references) for c in held.concepts]
    contents = {text: concept_id(text) for text in texts}
    written = write_tensors(cache, f"{reader.reader_id}/concepts.safetensors", arrays)
    put_arrays(cache, Source(reader.reader_id), written, {CONCEPT: contents})


def _fill_axes(
    cache: Cache, reader: HeadReader, plan: HeadsPlan, model: int, directions: list[Any]
) -> None:
    """Sums of both poles of every axis, and its grids."""
    for start, steps in _blocks(plan, directions):
        axes = plan.axes[start : start + len(steps)]
        rng = np.random.default_rng([plan.seed, model, 3, start])
        poles = [pole for axis in axes for pole in (axis.negative, axis.positive)]
        rows = {
            POLE: {pole.key: pole_content(pole, FAMILY) for pole in poles},
            AXIS: {axis.axis_id: axis_content(axis, FAMILY) for axis in axes},
        }
        path = f"{reader.reader_id}/{FAMILY}-{start:05d}.safetensors"
        arrays = _probes(plan, steps, rng)
        source = Source(reader.reader_id, FAMILY)
        put_arrays(cache, source, write_tensors(cache, path, arrays), rows)


def _blocks(plan: HeadsPlan, directions: list[Any]) -> Iterator[tuple[int, Singles]]:
    """Steps of some axes in all heads, 0 outside their homes. (A, L * H, D)"""
    shape = (plan.n_layers * plan.n_heads, plan.head_dim)
    for start in range(0, len(plan.axes), AT_A_TIME):
        n = min(AT_A_TIME, len(plan.axes) - start)
        steps = np.zeros((n, *shape), dtype=np.float32)
        for number, (axes, own) in enumerate(directions):
            inside = (axes >= start) & (axes < start + n)
            places = np.ix_(axes[inside] - start, plan.heads_of(number))
            steps[places] = own[inside]
        yield start, steps


def _probes(plan: HeadsPlan, steps: Singles, rng: np.random.Generator) -> dict[str, Any]:
    """The arrays of poles and axes: sums and squares over each half's sentences, R, chance."""
    n_axes, dim = len(steps), plan.head_dim
    grid = (plan.n_layers, plan.n_heads)
    poles = np.stack([-steps, steps], axis=1).reshape(2 * n_axes, 1, 1, *grid, dim)
    noise = rng.standard_normal((2 * n_axes, len(POOLINGS), 2, *grid, dim), dtype=np.float32)
    means = poles + noise / np.float32(np.sqrt(HALF))
    within = rng.chisquare((HALF - 1) * dim, means.shape[:-1])
    sums, squares = HALF * means, HALF * np.square(means).sum(axis=-1, dtype=np.float64) + within
    parts = [[_pole(sums, squares, end, half) for half in (0, 1)] for end in (0, 1)]
    parts = [[*halves, halves[0] + halves[1]] for halves in parts]
    grids = [separability(low, high) for low, high in zip(*parts, strict=True)]
    swapped = rng.chisquare(dim, (n_axes, len(POOLINGS), N_PATTERNS, *grid))
    return {
        "sums": sums,
        "squares": squares,
        "n": np.full((2 * n_axes, 2), HALF),
        "separability": np.stack(grids, axis=2).astype(np.float32),
        "chance": (swapped / (2 * dim * (N_TEMPLATES - 1))).astype(np.float32),
    }


def _pole(sums: Singles, squares: Array, end: int, half: int) -> PoleSums:
    """One half of one end's sentences, of all axes. (A, P, L, H, D)"""
    return PoleSums(sums[end::2, :, half].astype(np.float64), squares[end::2, :, half], HALF)
