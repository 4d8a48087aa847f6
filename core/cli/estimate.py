"""`score --dry-run`: what a job would take, said before it starts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from core.cli.terminal import out, print_json, say
from core.jobs.follow import opening_words
from core.score_request import ScoreRequest
from core.store.gate import Cache
from core.words import counted, duration_words, precision_words, size_words

if TYPE_CHECKING:
    from core.jobs.estimate import Estimate


def say_estimate(store: Cache, request: ScoreRequest, *, as_json: bool) -> None:
    """Print an estimate; that a model does not fit is an answer, not an error."""
    from core.jobs.estimate import estimate  # torch takes seconds

    found = estimate(store, request)
    if as_json:
        print_json(_as_json(found))
    else:
        for line in _lines(found):
            say(line, to=out)


def _as_json(found: Estimate) -> dict[str, Any]:
    scorer = asdict(found.scorer) | {"scorer_id": found.scorer.scorer_id}
    memory = asdict(found.memory) | {"fits": found.memory.fits}
    return asdict(found) | {"scorer": scorer, "memory": memory}


def _lines(found: Estimate) -> list[str]:
    scorer, memory = found.scorer, found.memory
    free = ", ".join(f"{size_words(size)} free on {p}" for p, size in memory.free_bytes.items())
    about = "" if found.tokens_counted else "about "
    precision = precision_words(scorer.dtype, scorer.quantization)
    lines = [
        f"{scorer.model} in {precision} on {scorer.device} (scorer {scorer.scorer_id}, "
        f"{scorer.batching}), data set {found.dataset}",
        f"Missing: {counted(found.texts, 'text')}, {counted(found.characters, 'character')}, "
        f"{about}{counted(found.tokens, 'token')}",
        f"Memory: {size_words(memory.needed_bytes)} needed, {free}: "
        f"{'fits' if memory.fits else 'does not fit'}",
        f"Disk: at most {size_words(found.disk_bytes)} for the scores, "
        f"{size_words(found.disk_free_bytes)} free",
        f"Time: {_time(found)}",
    ]
    if found.download_bytes:
        lines.append(f"Download first: about {size_words(found.download_bytes)} of weights")
    return lines


def _time(found: Estimate) -> str:
    if found.seconds is None or not found.texts:
        return found.speed_from
    opening = opening_words(found.opening_seconds)
    return (
        f"about {duration_words(found.seconds)} ({opening}), at the speed of run {found.speed_from}"
    )
