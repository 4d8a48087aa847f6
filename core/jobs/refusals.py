"""What a job leaves when a model fails one of its self-checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from core.errors import CacheError, CanaryFailed
from core.store.gate import Cache
from core.store.runs import end_run


@contextmanager
def refusal_recorded(cache: Cache, run_id: str, start: Callable[[str], None]) -> Iterator[None]:
    """Enter a model that fails a self-check among the runs: the next reader should know.

    `start` enters the run, and is told how the checks came out.
    """
    try:
        yield
    except CanaryFailed as refusal:
        with suppress(CacheError):  # the refusal matters more than its record
            start(f"refused: {refusal}")
            end_run(cache, run_id, status="failed")
        raise
