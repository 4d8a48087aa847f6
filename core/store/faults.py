"""What DuckDB says went wrong, as one sentence that names the way out.

The class of an error decides whether the cache file can be to blame, and only then its words: the
words of a conversion or of `error('...')` are those of whoever wrote the query. Lock, permission,
full-disk and newer-version errors are not damage and never suggest `repair`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from core.errors import CacheBusy, CacheError, CacheNewer, CacheNotWritable, CacheUnreadable

_FULL = ("No space left on device", "Disk quota exceeded", "File too large")
_FORBIDDEN = ("Permission denied", "Read-only file system", "Operation not permitted")
_DAMAGED = (
    "Corrupt database file",
    "Could not read enough bytes",
    "Failure while replaying WAL",
    "Failed to deserialize",
)


# What DuckDB raises about its file once that is open; a commit wraps what the disk said.
_OF_THE_FILE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.InternalException,
    duckdb.FatalException,
    duckdb.TransactionException,
)


@contextmanager
def translated(file: Path, *, writing: bool, opening: bool = False) -> Iterator[None]:
    """Raise a CacheError for every DuckDB error that is about the cache file itself."""
    try:
        yield
    except duckdb.Error as error:
        fault = cache_fault(error, file, writing=writing, opening=opening)
        if fault is None:
            raise
        raise fault from error


def cache_fault(
    error: duckdb.Error, file: Path, *, writing: bool, opening: bool = False
) -> CacheError | None:
    """The CacheError that a DuckDB error means, or None where the file is not to blame.

    Parameters
    ----------
    opening
        The error came while the file was opened, when no query can have caused it.
    """
    if isinstance(error, duckdb.OutOfMemoryException):
        return CacheError(f"There is not enough memory for this: {first_sentence(error)}")
    # A checksum that is wrong comes as the plain base class.
    about_file = opening or type(error) is duckdb.Error or isinstance(error, _OF_THE_FILE)
    if not about_file:
        return None
    text = str(error)
    if "Could not set lock" in text or "different configuration" in text:
        return CacheBusy(
            f"{file} is held open by {_holder(text)}; close that program, then try again."
        )
    if any(words in text for words in _FULL):
        return CacheNotWritable(
            f"The disk of {file} is full; free some space, then try again: nothing was stored."
        )
    if "created with a newer version of DuckDB" in text:
        return newer(
            f"{file} was written by a newer version of DuckDB than {duckdb.__version__}",
            "upgrade with `pip install -U duckdb`",
        )
    if "not a valid DuckDB database file" in text:
        return not_duckdb(file)
    if any(words in text for words in _DAMAGED):
        return CacheUnreadable(
            f"{file} is damaged and was left as it is; `python -m core repair` sets it aside. "
            f"(DuckDB: {first_sentence(error)})",
            f"{file} is damaged",
        )
    if isinstance(error, duckdb.IOException):
        return _disk_fault(error, file, writing=writing)
    return None


def not_duckdb(file: Path) -> CacheUnreadable:
    """The error for a file that DuckDB does not know as its own, an empty one included."""
    return CacheUnreadable(
        f"{file} is not a DuckDB file and was left as it is; "
        "`python -m core repair` sets it aside and starts an empty cache.",
        f"{file} is not a DuckDB file",
    )


def newer(finding: str, upgrade: str) -> CacheNewer:
    """The error for a healthy file of a newer program."""
    return CacheNewer(
        f"{finding}; {upgrade} or choose another folder with --cache.", finding, upgrade
    )


def first_sentence(error: duckdb.Error) -> str:
    """DuckDB's own words without the drawing of the query and without further advice."""
    return str(error).strip().split("\n")[0].split(" See also ")[0]


def _disk_fault(error: duckdb.Error, file: Path, *, writing: bool) -> CacheError:
    if any(words in str(error) for words in _FORBIDDEN):
        if writing:
            return CacheNotWritable(
                f"{file} cannot be written to; check its permissions or choose another folder "
                "with --cache."
            )
        return CacheError(f"{file} cannot be read; check its permissions.")
    return CacheError(f"{file} cannot be used: {first_sentence(error)}")


def _holder(text: str) -> str:
    process = re.search(r"PID (\d+)", text)
    return f"another program (process {process[1]})" if process else "another part of this program"
