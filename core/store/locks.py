"""The gate: two lock files beside the cache that let readers and one writer take turns.

Everybody takes `turnstile` exclusively, then `rw` (shared to read, exclusively to write), then lets
`turnstile` go. A waiting writer stands in the turnstile, so no reader overtakes it; readers that
are inside leave, the writer goes in, and the next in line takes the turnstile. Every operation has
descriptors of its own, because a lock belongs to the open file: one gate serves threads and
processes. The lock files are never deleted: whoever held the deleted one would be outside.

Nobody waits for ever: whoever stays inside for longer than a minute (a repair or an import of
millions of items can) is named to those who wait.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import CacheBusy, CacheError, CacheNotWritable

TURNSTILE = "stereoscope.turnstile.lock"
RW = "stereoscope.rw.lock"
PATIENCE = 60.0  # seconds of waiting before an operation gives up
LOOK_AGAIN = 0.005  # seconds between two looks; flock itself can wait for ever only

_CANNOT_CREATE = {errno.EROFS, errno.EACCES, errno.EPERM}
_inside = threading.local()


@contextmanager
def held(folder: Path, *, exclusive: bool) -> Iterator[None]:
    """Stand inside the gate of a cache folder until the block ends.

    Parameters
    ----------
    folder : Path
        An existing folder.
    exclusive : bool
        Alone, to write; otherwise together with other readers.

    Raises
    ------
    CacheBusy
        Others have been inside for longer than `PATIENCE`.
    CacheNotWritable
        The lock files cannot be created and `exclusive` is asked for. A reader then goes in without
        the gate: on a read-only disk nobody writes.
    CacheError
        The disk knows no file locks.
    RuntimeError
        This thread is inside already: waiting for itself it would wait for ever.
    """
    with (
        _once_per_thread(folder),
        _opened(folder / TURNSTILE) as turnstile,
        _opened(folder / RW) as rw,
    ):
        if turnstile is not None and rw is not None:
            deadline = time.monotonic() + PATIENCE
            _lock(turnstile, fcntl.LOCK_EX, folder, deadline)
            _lock(rw, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH, folder, deadline)
            fcntl.flock(turnstile, fcntl.LOCK_UN)
        elif exclusive:
            raise CacheNotWritable(
                f"{folder} cannot be written to; choose another folder with --cache."
            )
        yield


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """A descriptor of the lock file, created if need be; None where that is not possible."""
    descriptor = _open(path)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            # Unlocked by name: a forked child shares the lock and would keep it when we close.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _open(path: Path) -> int | None:
    for mode in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):
        try:
            return os.open(path, mode | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno not in _CANNOT_CREATE:
                raise CacheError(f"{path} cannot be opened: {error.strerror}.") from error
    return None


def _lock(descriptor: int, operation: int, folder: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise CacheBusy(
                    f"{folder} has been in use for {PATIENCE:g} s by {_holders(folder)}; wait for "
                    "it (a repair, a large import, a long query) or end it, then try again."
                ) from error
        except OSError as error:
            raise CacheError(
                f"{folder} is on a disk without file locks ({error.strerror}); "
                "choose a folder on a local disk with --cache."
            ) from error
        time.sleep(LOOK_AGAIN)


def _holders(folder: Path) -> str:
    """Who is inside, as far as the system tells (Linux does)."""
    try:
        inode = (folder / RW).stat().st_ino
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return "another program"
    # A line is: 1: FLOCK ADVISORY WRITE 4711 08:02:131 0 EOF
    holders = {int(line[4]) for line in lines if line[1] == "FLOCK" and _inode(line[5]) == inode}
    processes = sorted(n for n in holders if n > 0 and n != os.getpid())
    if processes:
        return " and ".join(f"process {process}" for process in processes)
    return "another part of this program" if holders else "another program"


def _inode(place: str) -> int:
    return int(place.rsplit(":", 1)[1])


@contextmanager
def _once_per_thread(folder: Path) -> Iterator[None]:
    folders: set[Path] = _inside.__dict__.setdefault("folders", set())
    if folder in folders:
        raise RuntimeError(f"this thread is inside the gate of {folder} already")
    folders.add(folder)
    try:
        yield
    finally:
        folders.discard(folder)
