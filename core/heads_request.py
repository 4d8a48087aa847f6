"""Which model's heads to read for what, and what to make of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class HeadsRequest:
    """Which model's heads to read for what."""

    model: str  # a spec, as for scoring
    axes: str  # a stored set
    concepts: tuple[str, ...] = ()  # stored sets
    reference: tuple[str, ...] = ()  # stored sets of reference phrases
    # Of templates.
    families: tuple[str, ...] = field(default=("simple",), metadata={"option": "family"})
    bos: Literal["in", "out"] = "in"  # whether special tokens count in the mean
    heads_at: str = ""  # where the heads are, in an architecture that is not known
    dtype: str = "auto"
    device: str = "auto"
    trust_remote_code: bool = False
    quantization: str = "none"
    compute_dtype: str = "auto"  # of nf4
    no_double_quant: bool = False  # of nf4

    @property
    def phrases(self) -> tuple[str, ...]:
        """The sets of concepts and of reference phrases, each once."""
        return tuple(dict.fromkeys((*self.concepts, *self.reference)))

    @property
    def dataset(self) -> str:
        """What the job is about: where a scoring job has a data set, this one has axes."""
        return self.axes


@dataclass(frozen=True, kw_only=True)
class ProjectionsRequest:
    """Which concepts to project onto which axes, and how; the options of `stereotypes`."""

    reader: str  # id of what read the model's heads
    axes: str  # a stored set
    concepts: str  # a stored set
    reference: tuple[str, ...] = ()  # stored sets of reference phrases
    family: str
    pooling: str
    templates: int
    k: int  # heads of highest R; 0 for all
    seed: int

    @property
    def model(self) -> str:
        """No model is opened."""
        return ""

    @property
    def dataset(self) -> str:
        """What the job is about, as of `HeadsRequest`."""
        return self.axes


@dataclass(frozen=True, kw_only=True)
class AtlasRequest(ProjectionsRequest):
    """Which map to draw of what is projected; the options of `atlas`."""

    of: str  # "axes" or "concepts"
    neighbors: int
    min_dist: float
