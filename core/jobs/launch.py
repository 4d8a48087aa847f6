"""Starting a job that outlives whoever starts it, asking it to stop, starting it again or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import InputError, StereoscopeError
from core.jobs.folder import (
    HANDED_OVER,
    create_run,
    find_run,
    is_held,
    not_writable,
    read_spec,
)
from core.jobs.follow import view_job
from core.jobs.spec import JobSpec, anywhere
from core.score_request import ScoreRequest
from core.settings import ROOT
from core.store.gate import Cache

ESTIMATE_SECONDS = 180.0


def launch(cache: Cache, spec: JobSpec) -> str:
    """Start a job in a process of its own; returns its run id at once.

    The job is in its own session, so neither Ctrl-C nor the end of this process reaches it, and it
    inherits the lock of its run folder, so it is alive for everybody from the first moment.

    Raises
    ------
    InputError
        When it is not one of the jobs that can be started.
    CacheNotWritable
    """
    spec = replace(spec, request=anywhere(spec.request))
    words = spec.arguments()
    folder, lock = create_run(cache, spec)
    try:
        with folder.log.open("wb") as log:
            process = subprocess.Popen(
                _command([*words, "--run", folder.run_id], cache),
                cwd=ROOT,
                env=os.environ | {HANDED_OVER: str(lock)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[lock],
            )
    finally:
        os.close(lock)  # closed, not unlocked: the job holds it from here on
    threading.Thread(target=process.wait, name=f"job {folder.run_id}", daemon=True).start()
    return folder.run_id


def request_stop(cache: Cache, run_id: str) -> None:
    """Ask a job to stop after the batch in hand; nothing happens where it has ended.

    Raises
    ------
    InputError
        When there is no such run.
    """
    folder = find_run(cache, run_id)
    if is_held(folder):
        folder.stop.touch()


def dismiss(cache: Cache, run_id: str) -> None:
    """Note that an ended run is not to be offered for resuming; its folder and scores stay.

    Raises
    ------
    InputError
        When there is no such run, or it has not ended.
    CacheNotWritable
    """
    folder = find_run(cache, run_id)
    if is_held(folder):
        raise InputError(f"Run {run_id} has not ended; stop it first.")
    try:
        folder.dismissed.touch()
    except OSError as error:
        raise not_writable(cache, error) from error


def resume(cache: Cache, run_id: str) -> str:
    """Start what a run was asked for as a new run, which computes only what is missing.

    Raises
    ------
    InputError
        When there is no such run, it has not ended, or its folder does not tell what it was.
    CacheNotWritable
    """
    folder = find_run(cache, run_id)
    spec = read_spec(folder)
    if view_job(folder).alive:
        raise InputError(f"Run {run_id} has not ended; stop it first.")
    if spec is None:
        raise InputError(f"Run {run_id} does not tell what it was asked for; start it anew.")
    return launch(cache, replace(spec, resumes=run_id))


def estimate_apart(
    cache: Cache, request: ScoreRequest, *, timeout: float = ESTIMATE_SECONDS
) -> dict[str, Any]:
    """What `score --dry-run --json` says, from a process of its own: this one stays without torch.

    Raises
    ------
    StereoscopeError
        With the sentence that the command ends with, or when it takes longer than `timeout`
        seconds.
    """
    words = JobSpec(request=anywhere(request)).arguments()
    try:
        ended = subprocess.run(
            _command([*words, "--dry-run", "--json"], cache),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as error:
        raise StereoscopeError(
            f"The estimate took longer than {timeout:.0f} seconds and was given up."
        ) from error
    if ended.returncode:
        raise InputError(_last_sentence(ended.stderr.decode("utf-8", "replace")))
    result: dict[str, Any] = json.loads(ended.stdout)
    return result


def _command(words: Sequence[str], cache: Cache) -> list[str]:
    return [sys.executable, "-m", "core", *words, "--cache", str(Path(cache.folder).resolve())]


def _last_sentence(text: str) -> str:
    lines = text.strip().splitlines() or ["The estimate failed without a word."]
    return lines[-1].removeprefix("Error: ")
