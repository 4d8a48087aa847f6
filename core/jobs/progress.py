"""What a running job tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SCORING, READING = "scoring", "reading heads"
OF_TEXTS = (SCORING, READING)  # the phases in which texts are computed
PROJECTING, PLACING = "projecting", "placing points"


@dataclass(frozen=True)
class Progress:
    """How far a job has come. Work is counted in characters, because long texts take longer."""

    phase: str  # one of a few words for a person: "opening the model", "scoring"
    done_texts: int = 0
    total_texts: int = 0
    done_characters: int = 0
    total_characters: int = 0
    computed: int = 0  # texts whose scores are stored
    failed: int = 0  # texts that cannot be scored
    scorer_id: str = ""  # known once the model is opened
    part: str = ""  # which part of the job this is, "model 2 of 3"; empty where it is all of it
    checks: str = ""  # how the self-checks came out: "passed", "slow path: ...", "refused: ..."


Watch = Callable[[Progress], None]
Stop = Callable[[], bool]


def unwatched(progress: Progress) -> None:
    """Watch for callers that show nothing."""


def never() -> bool:
    """Stop for callers that always run to the end."""
    return False
