"""What reading a model's heads would take, before it starts; no weights are read (needs torch)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from core.axes.templates import N_TEMPLATES
from core.heads.places import find_heads
from core.heads_request import HeadsRequest
from core.jobs.follow import recorded_speed
from core.jobs.heads import reader_of
from core.jobs.heads_missing import (
    axes_missing,
    concepts_missing,
    concepts_of,
    count_poles,
    needed_bytes,
    parts_missing,
)
from core.jobs.run import plan_for
from core.store.axes import get_axes
from core.store.gate import Cache
from core.types import HeadReader


@dataclass(frozen=True, kw_only=True)
class HeadsEstimate:
    """What the job would take."""

    reader: HeadReader
    axes: str
    missing_axes: int  # counted in each family
    missing_concepts: int
    sentences: int  # to read
    disk_bytes: int
    disk_free_bytes: int
    seconds: float | None  # None: nobody knows
    speed_from: str  # the run whose speed was taken, or why the time is unknown

    @property
    def fits(self) -> bool:
        """Whether there is room on the disk."""
        return self.disk_bytes <= self.disk_free_bytes


def estimate_heads(cache: Cache, request: HeadsRequest) -> HeadsEstimate:
    """Find out what reading heads would take.

    Raises
    ------
    InputError, ModelError, CacheError
        As the job itself would, as far as can be told without the weights.
    """
    axes = get_axes(cache, request.axes)
    concepts = concepts_of(cache, request)
    model = plan_for(cache, request, download=False).described()
    places = find_heads(model.model, named=request.heads_at or None)
    reader = reader_of(model, places, request.bos, exact=model.depends_on_batch)
    missing = axes_missing(cache, reader.reader_id, request.families, axes)
    phrases = concepts_missing(cache, reader.reader_id, concepts)
    parts = parts_missing(axes, missing)
    sentences = N_TEMPLATES * sum(count_poles(part) for _, part in parts) + len(phrases)
    speed = recorded_speed(cache, reader.reader_id)
    unknown = "unknown: no earlier run of this kind tells its speed here"
    return HeadsEstimate(
        reader=reader,
        axes=request.axes,
        missing_axes=sum(map(len, missing.values())),
        missing_concepts=len(phrases),
        sentences=sentences,
        disk_bytes=needed_bytes(reader, parts, len(phrases)),
        disk_free_bytes=shutil.disk_usage(cache.folder).free,
        # These jobs count a sentence as one character: core/jobs/heads.py.
        seconds=sentences / speed.characters_per_second if speed else None,
        speed_from=speed.run_id if speed else unknown,
    )
