"""A run's folder: what a job leaves for whoever watches it, from this process or another.

::

    cache/runs/
      20261129-204512-3f9a/
        spec.json         what was asked for
        progress.jsonl    one line per report, each a whole picture; the last says how it ended
        log               what a job without a terminal wrote
        lock              locked as long as the job lives
        stop              its presence asks the job to stop
        dismissed         its presence says that nobody wants the run resumed
      score-<scorer>.lock   locked by the one job that fills this scorer; holds its run id

Whether a job lives is the lock alone: the system lets go of it however the job ends, while a
process id may belong to another program by now. The job may inherit the lock from whoever started
it, so that there is no moment at which it seems dead.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.errors import CacheNotWritable, InputError, NotNow
from core.jobs.spec import JobSpec, spec_from_json, spec_to_json
from core.store.gate import Cache, make_folder

RUNS = "runs"
RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
FILL_SCORER, FILL_READER = "score", "heads"  # kinds of jobs of which one runs at a time
HANDED_OVER = "STEREOSCOPE_RUN_LOCK"  # names the descriptor of a lock that a job inherits

_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
# What a job of a kind does, in the words of whoever has to wait.
_DOING = {FILL_SCORER: "filling the same scorer", FILL_READER: "reading the same heads"}
_PATIENCE = 50  # attempts at a lock, 10 ms apart: somebody may just be looking whether it is held


@dataclass(frozen=True)
class RunFolder:
    """The paths of one run."""

    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def started(self) -> datetime:
        """When it began, in UTC: the beginning of its name."""
        return _time_of(self.run_id)

    @property
    def spec(self) -> Path:
        return self.path / "spec.json"

    @property
    def progress(self) -> Path:
        return self.path / "progress.jsonl"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def stop(self) -> Path:
        return self.path / "stop"

    @property
    def dismissed(self) -> Path:
        return self.path / "dismissed"


def new_run_id() -> str:
    """A name for a run that sorts by time: 20261129-204512-3f9a."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def run_folders(cache: Cache) -> list[RunFolder]:
    """Every run of a cache, the latest first."""
    try:
        names = [entry.name for entry in os.scandir(cache.folder / RUNS) if entry.is_dir()]
    except OSError:
        return []
    folders = [RunFolder(cache.folder / RUNS / name) for name in names if _is_run_id(name)]
    return sorted(folders, key=_age, reverse=True)


def find_run(cache: Cache, run_id: str) -> RunFolder:
    """The folder of one run.

    Raises
    ------
    InputError
        When there is no such run.
    """
    folder = RunFolder(cache.folder / RUNS / run_id)
    if not _is_run_id(run_id) or not folder.path.is_dir():
        raise InputError(f"There is no run {run_id!r} in {cache.folder / RUNS}.")
    return folder


def create_run(cache: Cache, spec: JobSpec) -> tuple[RunFolder, int]:
    """Make the folder of a new run, locked.

    It appears under its name only when it is whole and locked, so that nobody takes it for dead.

    Returns
    -------
    RunFolder and int
        The descriptor of its lock: whoever closes the last copy of it lets go.

    Raises
    ------
    CacheNotWritable
    """
    try:
        fresh = _runs(cache) / f".{secrets.token_hex(8)}"
        fresh.mkdir()
        descriptor = os.open(fresh / "lock", _LOCK_FLAGS, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            (fresh / "spec.json").write_text(json.dumps(spec_to_json(spec)), encoding="utf-8")
            return _named(fresh), descriptor
        except BaseException:
            os.close(descriptor)
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    except OSError as error:
        raise not_writable(cache, error) from error


def take_over_run(cache: Cache, run_id: str) -> tuple[RunFolder, int]:
    """Enter the folder that was made for this job; returns what `create_run` does.

    Raises
    ------
    InputError
        When there is no such run, or it is another job's.
    """
    folder = find_run(cache, run_id)
    descriptor = _inherited(folder)
    if descriptor is None:
        descriptor = _locked(folder.lock)
    if descriptor is None:
        raise InputError(f"Run {run_id} is another job's; leave out --run.")
    if folder.progress.exists():
        release(descriptor)
        raise InputError(f"Run {run_id} is over; leave out --run.")
    return folder, descriptor


def is_held(folder: RunFolder) -> bool:
    """Whether the job of a run lives."""
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def release(descriptor: int) -> None:
    """Let go of a lock."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def read_spec(folder: RunFolder) -> JobSpec | None:
    """What was asked for; None where the file is missing or unreadable."""
    try:
        return spec_from_json(json.loads(folder.spec.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


@contextmanager
def one_at_a_time(cache: Cache, kind: str, scorer_id: str, run_id: str) -> Iterator[None]:
    """Be the only job of a kind that fills this scorer or reader, in whatever process.

    Raises
    ------
    NotNow
        When another one does; the message names its run.
    CacheNotWritable
    """
    try:
        path = _runs(cache) / f"{kind}-{scorer_id}.lock"
        descriptor = _locked(path, patience=1)
    except OSError as error:
        raise not_writable(cache, error) from error
    if descriptor is None:
        raise NotNow(
            f"Run {path.read_text() or 'of somebody else'} is {_DOING.get(kind, 'filling')} "
            f"{scorer_id}; wait until it ends, or stop it first."
        )
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, run_id.encode())
        yield
    finally:
        release(descriptor)


def _age(folder: RunFolder) -> tuple[str, int, str]:
    """Sorts by time; of two runs that began in the same second the file tells."""
    try:
        written = folder.spec.stat().st_mtime_ns
    except OSError:
        written = 0
    return folder.run_id[:15], written, folder.run_id


def _is_run_id(name: str) -> bool:
    try:
        return RUN_ID.fullmatch(name) is not None and _time_of(name) is not None
    except ValueError:
        return False


def _time_of(run_id: str) -> datetime:
    return datetime.strptime(run_id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)


def _runs(cache: Cache) -> Path:
    make_folder(cache)
    runs = cache.folder / RUNS
    runs.mkdir(exist_ok=True)
    return runs


def _named(fresh: Path) -> RunFolder:
    """Give a folder a free run id: another run may have begun in this second."""
    while True:
        path = fresh.with_name(new_run_id())
        try:
            return RunFolder(fresh.rename(path))
        except OSError:
            if not path.exists():
                raise


def _locked(path: Path, patience: int = _PATIENCE) -> int | None:
    """A descriptor that holds a lock file; None where somebody else holds it."""
    descriptor = os.open(path, _LOCK_FLAGS, 0o666)
    for attempt in range(patience):
        if attempt:
            time.sleep(0.01)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return descriptor
    os.close(descriptor)
    return None


def _inherited(folder: RunFolder) -> int | None:
    """The lock's descriptor, where whoever started this process has handed it over."""
    try:
        descriptor = int(os.environ.pop(HANDED_OVER, ""))
        same = os.path.samestat(os.fstat(descriptor), folder.lock.stat())
    except (ValueError, OSError):
        return None
    if not same:
        return None
    os.set_inheritable(descriptor, False)  # a program that the job starts must not keep it
    return descriptor


def not_writable(cache: Cache, error: OSError) -> CacheNotWritable:
    """The error for a run folder that cannot be written to."""
    return CacheNotWritable(
        f"{cache.folder} cannot be written to ({error.strerror}); "
        "choose another folder with --cache."
    )
