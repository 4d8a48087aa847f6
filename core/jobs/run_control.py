"""The positive control is scored: one model after the other, as each did before (needs torch)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.errors import InputError, ModelError
from core.jobs.progress import Progress, Stop, Watch
from core.jobs.run import ScoreResult, score_dataset
from core.score_request import ScoreRequest
from core.store.gate import Cache


def score_control(
    cache: Cache, requests: Mapping[str, ScoreRequest], *, run_id: str, watch: Watch, stop: Stop
) -> list[ScoreResult]:
    """Score what is missing of a data set under each scorer.

    A model that cannot be opened does not keep the others from being scored.

    Parameters
    ----------
    requests
        What the scorer of each id was asked for.
    run_id
        Of the first model; that of the n-th has a point and n behind it.

    Returns
    -------
    list of ScoreResult
        One per model that was begun; where the job was stopped, the last says so, or some lack.

    Raises
    ------
    ModelError
        After the rest was scored: why some could not be.
    CacheError
        When the cache cannot be read or written.
    """
    results: list[ScoreResult] = []
    problems: list[str] = []
    for n, (scorer_id, request) in enumerate(requests.items(), start=1):
        if stop():
            break
        part = f"model {n} of {len(requests)}" if len(requests) > 1 else ""

        def tell(progress: Progress, part: str = part) -> None:
            watch(replace(progress, part=part))

        own_id = run_id if n == 1 else f"{run_id}.{n}"
        try:
            results.append(
                score_dataset(
                    cache, request, run_id=own_id, watch=tell, stop=stop, scorer_id=scorer_id
                )
            )
        except (ModelError, InputError) as error:
            problems.append(str(error))
    if problems:
        raise ModelError(" ".join(problems))
    return results
