"""A job's own side of its run folder: it holds the lock, reports, and looks whether to stop."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime

from core.errors import (
    HubUnreachable,
    InputError,
    ModelNotFound,
    NotNow,
    StereoscopeError,
    WrongModelKind,
)
from core.jobs.folder import RunFolder, create_run, release, take_over_run
from core.jobs.progress import Progress
from core.jobs.spec import JobSpec
from core.store.gate import Cache

SECONDS_BETWEEN_LINES = 0.5


class RunningJob:
    """The run folder of a job that lives."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._latest = Progress("starting")
        self._phase_began = time.monotonic()
        self._written = 0.0
        self._ended = False

    @property
    def run_id(self) -> str:
        return self.folder.run_id

    def report(self, progress: Progress) -> None:
        """Note how far the job has come; a new phase at once, the rest about twice a second."""
        now = time.monotonic()
        new_phase = progress.phase != self._latest.phase
        if new_phase:
            self._phase_began = now
        self._latest = progress
        if new_phase or now - self._written >= SECONDS_BETWEEN_LINES:
            self._written = now
            self._write()

    def stop_asked(self) -> bool:
        """Whether somebody wants the job to stop."""
        return self.folder.stop.exists()

    def end(self, state: str, error: str = "", *, hopeless: bool = False) -> None:
        """Write the last line; the first ending counts.

        Parameters
        ----------
        state
            "finished", "stopped" or "failed".
        error
            For "failed": one sentence.
        hopeless
            The same would fail again: what was asked for does not exist or makes no sense.
        """
        if not self._ended:
            self._ended = True
            self._write(state, error, hopeless)

    def _write(self, ended: str = "", error: str = "", hopeless: bool = False) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "seconds": round(time.monotonic() - self._phase_began, 3),
            **asdict(self._latest),
            "ended": ended,
            "error": error,
            "hopeless": hopeless,
        }
        text = json.dumps(line, ensure_ascii=True) + "\n"
        # A full disk must not end a job for the sake of its progress: the scores report it too.
        with suppress(OSError):
            path = self.folder.progress
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)


@contextmanager
def running_job(cache: Cache, spec: JobSpec, run_id: str | None = None) -> Iterator[RunningJob]:
    """Be a job: in a new run folder, or in the one that was made for it.

    An exception ends the run as failed with its sentence, Ctrl-C ends it as stopped, and the end of
    the block as finished, unless it has ended before.

    Raises
    ------
    InputError
        When `run_id` names no run that waits for its job.
    CacheNotWritable
    """
    folder, lock = create_run(cache, spec) if run_id is None else take_over_run(cache, run_id)
    job = RunningJob(folder)
    try:
        yield job
        job.end("finished")
    except KeyboardInterrupt:
        job.end("stopped")
        raise
    except BaseException as error:
        job.end("failed", sentence(error), hopeless=is_hopeless(error))
        raise
    finally:
        release(lock)


def is_hopeless(error: BaseException) -> bool:
    """Whether what was asked for does not exist or makes no sense: trying again is of no use."""
    wrong = isinstance(error, ModelNotFound | WrongModelKind | InputError)
    return wrong and not isinstance(error, HubUnreachable | NotNow)


def sentence(error: BaseException) -> str:
    """An error in one sentence; one that nobody foresaw with its kind."""
    if isinstance(error, StereoscopeError):
        return str(error)
    lines = str(error).strip().splitlines() or [""]
    return f"The program failed: {type(error).__name__}: {lines[0]}"
