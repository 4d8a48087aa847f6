"""Which model's heads, which axes and phrases, and how values are made of them."""

from __future__ import annotations

from dataclasses import dataclass

from core.axes.templates import N_TEMPLATES
from core.errors import InputError
from core.settings import DEFAULT_SEED
from core.stats.probes.projection import TOP_HEADS
from core.types import POOLINGS, Pooling

BOTH = 2  # of the halves of the templates; 0 and 1 are one of them
HALVES = {N_TEMPLATES // 2: 0, N_TEMPLATES: BOTH}  # which of the stored separabilities
NO_REFERENCE = "no reference phrases were chosen"


@dataclass(frozen=True, kw_only=True)
class HeadsQuestion:
    """Which model's heads, which axes and phrases, and how values are made of them."""

    reader_id: str
    axes: str  # a set of axes
    concepts: str  # a set of concepts
    reference: str  # a set of reference phrases; "" for none
    family: str = "simple"
    pooling: Pooling = "mean"
    n_templates: int = N_TEMPLATES  # or the first half of them
    k: int | None = TOP_HEADS  # heads; None for all
    seed: int = DEFAULT_SEED

    @property
    def half(self) -> int:
        """Which of the stored separabilities: 0 for the first half of the templates, 2 for all.

        Raises
        ------
        InputError
            Another number of templates is asked for.
        """
        if self.n_templates not in HALVES:
            raise InputError(f"Directions come from {' or '.join(map(str, HALVES))} templates.")
        return HALVES[self.n_templates]

    @property
    def place(self) -> int:
        """Where the pooling lies in the arrays; InputError for another."""
        if self.pooling not in POOLINGS:
            raise InputError(f"{self.pooling!r} is no pooling; choose {' or '.join(POOLINGS)}.")
        return POOLINGS.index(self.pooling)
