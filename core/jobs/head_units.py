"""What a job that reads heads stores at a time: the poles of a few axes, or a few concepts.

A unit's sentences are computed together and with no others, so that a job that was killed and
resumed leaves the same arrays, bit for bit, as one that ran through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.axes.axis import Axis
from core.axes.concepts import concept_prompt
from core.axes.content import axis_content, pole_content
from core.axes.sentences import probe_sentences
from core.errors import CanaryFailed
from core.heads.places import HeadPlaces
from core.heads.pool import Bos, Unpooled, pooled_outputs
from core.heads.sums import HeadSums, PoleResult, chance_grids, pole_sums
from core.models.batches import TokenBudget
from core.models.language_model import LanguageModel
from core.scoring.logprobs import Layout
from core.stats.probes.direction import PoleSums, separability
from core.store.axes import concept_id
from core.store.gate import Cache
from core.store.heads import (
    AXIS,
    CONCEPT,
    POLE,
    Source,
    get_outputs,
    put_unread,
    sample_concepts,
    write_arrays,
)
from core.store.unread import Unread
from core.types import POOLINGS, FloatArray, Reason

# How far outputs of the same concept may lie apart, as a share of their length.
IN_FLOAT32 = 1e-4
IN_LOWER_PRECISION = 0.05


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
class Stored:
    """What came of a unit."""

    n_read: int  # sentences whose outputs are stored
    unread: tuple[Unread, ...]  # those that have none
    left: tuple[str, ...] = ()  # axes or concepts that stay missing: memory ran out


def store_axes(cache: Cache, reading: Reading, family: str, axes: Sequence[Axis]) -> Stored:
    """Read the heads for a unit of axes and store its poles' sums and its axes' grids.

    Where memory runs out for a sentence nothing is stored, and the unit stays missing.
    """
    poles = {pole.key: pole for axis in axes for pole in (axis.negative, axis.positive)}
    contents = {key: pole_content(pole, family) for key, pole in poles.items()}
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
    unread = tuple(
        _unread(family, POLE, key, contents[key], template + 1, unpooled)
        for key, result in results.items()
        for template, unpooled in result.unpooled
    )
    # Memory may be free the next time; what is stored counts as done for good.
    if any(each.reason == Reason.OUT_OF_MEMORY for each in unread):
        return Stored(0, unread, tuple(axis.axis_id for axis in axes))
    pairs = [(results[axis.negative.key], results[axis.positive.key]) for axis in axes]
    arrays: dict[str, npt.NDArray[Any]] = {
        "sums": np.stack([r.halves.sums for r in found]).astype(np.float32),
        "squares": np.stack([r.halves.squares for r in found]),
        "n": np.stack([r.halves.n for r in found]),
        "separability": np.stack([_grids(*pair) for pair in pairs]),
        "chance": np.stack([chance_grids(*pair) for pair in pairs]).astype(np.float32),
    }
    rows = {
        POLE: contents,
        AXIS: {axis.axis_id: axis_content(axis, family) for axis in axes},
    }
    write_arrays(cache, Source(reading.reader_id, family), family, arrays, rows, unread)
    return Stored(sum(map(len, sentences)) - len(unread), unread)


def store_concepts(cache: Cache, reading: Reading, concepts: Sequence[str]) -> Stored:
    """Read the heads for a unit of concepts and store the outputs of those that can be read."""
    outputs, unread = _outputs(reading, concepts)
    full = [each for each in unread if each.reason == Reason.OUT_OF_MEMORY]
    for_good = [each for each in unread if each not in full]
    if outputs:
        # (C, P, L, H, D) -> (P, L, H, C, D)
        arrays = {"outputs": np.moveaxis(np.stack(list(outputs.values())), 0, 3)}
        rows = {CONCEPT: {concept: concept_id(concept) for concept in outputs}}
        write_arrays(cache, Source(reading.reader_id), "concepts", arrays, rows, for_good)
    elif for_good:
        put_unread(cache, reading.reader_id, for_good)
    return Stored(len(outputs), tuple(unread), tuple(each.of for each in full))


def check_known_outputs(cache: Cache, reading: Reading) -> None:
    """Read concepts again that the cache already holds for this reader; they must come out alike.

    Raises
    ------
    CanaryFailed
        When their outputs differ beyond rounding.
    CacheError
        A file of arrays is gone or damaged.
    """
    source = Source(reading.reader_id)
    known = sample_concepts(cache, source)
    if not known:
        return
    held = [get_outputs(cache, source, known, pooling) for pooling in range(len(POOLINGS))]
    fresh, _ = _outputs(replace(reading, layout=Layout.SINGLE), list(known))
    language_model = reading.language_model
    exact = language_model.dtype == "float32" and language_model.quantization == "none"
    for i, concept in enumerate(known):
        stored = np.stack([each[:, :, i] for each in held])
        error = np.linalg.norm(fresh[concept] - stored) if concept in fresh else np.inf
        if not error <= (IN_FLOAT32 if exact else IN_LOWER_PRECISION) * np.linalg.norm(stored):
            raise CanaryFailed(
                f"{language_model.label} no longer gives the head outputs that the cache holds for "
                f"it ({concept!r}); use another cache folder, or restore the software that filled "
                "this one."
            )


def _outputs(
    reading: Reading, concepts: Sequence[str]
) -> tuple[Mapping[str, FloatArray], list[Unread]]:
    """Both poolings of each concept's outputs, (P, L, H, D), in the order of the concepts."""
    prompts = [concept_prompt(concept) for concept in concepts]
    found: dict[str, FloatArray] = {}
    unread = []
    for indices, outcome in pooled_outputs(
        reading.language_model,
        prompts,
        places=reading.places,
        bos=reading.bos,
        share=reading.share,
        budget=reading.budget(),
    ):
        if isinstance(outcome, Unpooled):
            unread += [
                _unread("", CONCEPT, concepts[i], concept_id(concepts[i]), 0, outcome)
                for i in indices
            ]
        else:
            both = np.stack([getattr(outcome, name) for name in POOLINGS], axis=1)
            found |= {concepts[i]: both[k] for k, i in enumerate(indices)}
    return {concept: found[concept] for concept in concepts if concept in found}, unread


def _unread(
    family: str, kind: str, of: str, content_id: str, template: int, why: Unpooled
) -> Unread:
    return Unread(
        family=family,
        kind=kind,
        of=of,
        content_id=content_id,
        template=template,
        reason=str(why.reason),
        detail=why.detail,
    )


def _grids(negative: PoleResult, positive: PoleResult) -> FloatArray:
    """Separability from the first half of the templates, the second, and both. (P, 3, L, H)"""
    parts = [(_half(negative.halves, i), _half(positive.halves, i)) for i in range(2)]
    parts.append((negative.halves.whole(), positive.halves.whole()))
    return np.stack([separability(*part) for part in parts], axis=1).astype(np.float32)


def _half(halves: HeadSums, i: int) -> PoleSums:
    return PoleSums(halves.sums[:, i], halves.squares[:, i], int(halves.n[i]))
