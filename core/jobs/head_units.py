"""What a job that reads heads stores at a time: the poles of a few axes, or a few concepts.

A unit's sentences are computed together and with no others, so that a job that was killed and
resumed leaves the same arrays, bit for bit, as one that ran through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.axes.axis import Axis
from core.axes.concepts import concept_prompt
from core.axes.content import axis_content, pole_content
from core.axes.sentences import probe_sentences
from core.heads.places import HeadPlaces
from core.heads.pool import POOLINGS, Bos, Unpooled, pooled_outputs
from core.heads.sums import HeadSums, PoleResult, chance_grids, pole_sums
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.scoring.logprobs import Layout
from core.stats.probes.direction import PoleSums, separability
from core.store.axes import concept_id
from core.store.gate import Cache
from core.store.heads import AXIS, CONCEPT, POLE, Source, write_arrays
from core.types import FloatArray, Reason


@dataclass(frozen=True)
class Reading:
    """An opened model whose heads are known, and how they are read."""

    language_model: LanguageModel
    places: HeadPlaces
    bos: Bos
    layout: Layout  # the fastest in which the model gives the same as for one text at a time
    reader_id: str

    @property
    def share(self) -> bool:
        """Whether common beginnings are read once."""
        return self.layout is Layout.PACKED

    def budget(self) -> TokenBudget | None:
        """Most tokens in a batch, for one iteration; None for what the device usually holds."""
        return TokenBudget(1) if self.layout is Layout.SINGLE else None


@dataclass(frozen=True)
class Failure:
    """A sentence without head outputs."""

    of: str  # a pole's key, or a concept
    reason: str
    detail: str


def store_axes(cache: Cache, reading: Reading, family: str, axes: Sequence[Axis]) -> list[Failure]:
    """Read the heads for a unit of axes and store its poles' sums and its axes' grids.

    Returns
    -------
    list of Failure
        Sentences that the sums are without. Where memory ran out for one of them nothing is stored,
        and the unit stays missing.
    """
    poles = {pole.key: pole for axis in axes for pole in (axis.negative, axis.positive)}
    sentences = [probe_sentences(pole, family) for pole in poles.values()]
    found = pole_sums(
        reading.language_model,
        sentences,
        places=reading.places,
        bos=reading.bos,
        share=reading.share,
        budget=reading.budget(),
    )
    results = dict(zip(poles, found, strict=True))
    failures = [
        Failure(key, str(unpooled.reason), unpooled.detail)
        for key, result in results.items()
        for _, unpooled in result.unpooled
    ]
    # Memory may be free the next time; what is stored counts as done for good.
    if any(failure.reason == Reason.OUT_OF_MEMORY for failure in failures):
        return failures
    pairs = [(results[axis.negative.key], results[axis.positive.key]) for axis in axes]
    arrays: dict[str, npt.NDArray[Any]] = {
        "sums": np.stack([r.halves.sums for r in found]).astype(np.float32),
        "squares": np.stack([r.halves.squares for r in found]),
        "n": np.stack([r.halves.n for r in found]),
        "separability": np.stack([_grids(*pair) for pair in pairs]),
        "chance": np.stack([chance_grids(*pair) for pair in pairs]).astype(np.float32),
    }
    rows = {
        POLE: {key: pole_content(pole, family) for key, pole in poles.items()},
        AXIS: {axis.axis_id: axis_content(axis, family) for axis in axes},
    }
    write_arrays(cache, Source(reading.reader_id, family), family, arrays, rows)
    return failures


def store_concepts(cache: Cache, reading: Reading, concepts: Sequence[str]) -> list[Failure]:
    """Read the heads for a unit of concepts and store their outputs.

    Returns
    -------
    list of Failure
        Concepts that have none and are left out.
    """
    outputs, failures = _outputs(reading, concepts)
    if outputs:
        # (C, P, L, H, D) -> (P, L, H, C, D)
        stacked = np.moveaxis(np.stack(list(outputs.values())), 0, 3)
        contents = {concept: concept_id(concept) for concept in outputs}
        arrays = {"outputs": stacked}
        write_arrays(cache, Source(reading.reader_id), "concepts", arrays, {CONCEPT: contents})
    return failures


def _outputs(
    reading: Reading, concepts: Sequence[str]
) -> tuple[Mapping[str, FloatArray], list[Failure]]:
    """Both poolings of each concept's outputs, (P, L, H, D), in the order of the concepts."""
    prompts = [concept_prompt(concept) for concept in concepts]
    found: dict[str, FloatArray] = {}
    failures = []
    for indices, outcome in pooled_outputs(
        reading.language_model,
        prompts,
        places=reading.places,
        bos=reading.bos,
        share=reading.share,
        budget=reading.budget(),
    ):
        if isinstance(outcome, Unpooled):
            failures += [Failure(concepts[i], str(outcome.reason), outcome.detail) for i in indices]
        else:
            both = np.stack([getattr(outcome, name) for name in POOLINGS], axis=1)
            found |= {concepts[i]: both[k] for k, i in enumerate(indices)}
    return {concept: found[concept] for concept in concepts if concept in found}, failures


def _grids(negative: PoleResult, positive: PoleResult) -> FloatArray:
    """Separability from the first half of the templates, the second, and both. (P, 3, L, H)"""
    parts = [(_half(negative.halves, i), _half(positive.halves, i)) for i in range(2)]
    parts.append((negative.halves.whole(), positive.halves.whole()))
    return np.stack([separability(*part) for part in parts], axis=1).astype(np.float32)


def _half(halves: HeadSums, i: int) -> PoleSums:
    return PoleSums(halves.sums[:, i], halves.squares[:, i], int(halves.n[i]))
