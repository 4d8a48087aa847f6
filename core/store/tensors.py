"""Dense arrays beside the DuckDB file: safetensors files that never change once they have a name.

A file is written under another name, brought to the disk and renamed; its row in the `tensor` table
comes after that. So a file without a row is what a killed program left, and a row without a file is
damage. Arrays are read by slice: a row of a large one is a page of the disk, not the file.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from core.errors import CacheError, CacheNotWritable
from core.store.clock import utc_now
from core.store.fetch import frame
from core.store.gate import Cache, make_folder

TENSORS = "tensors"
_PIECE = 1 << 22  # bytes that a checksum reads at once


@dataclass(frozen=True)
class TensorFile:
    """A file of arrays that is on the disk and has no row yet."""

    path: str  # below the cache's folder of tensors
    n_bytes: int
    sha256: str


def write_tensors(cache: Cache, path: str, arrays: Mapping[str, npt.NDArray[Any]]) -> TensorFile:
    """Write arrays to a file; one that a killed program left under this name is replaced.

    Parameters
    ----------
    path
        Below the cache's folder of tensors, ending in ".safetensors".

    Raises
    ------
    CacheNotWritable
        The disk is full or cannot be written to.
    """
    make_folder(cache)
    file = cache.folder / TENSORS / path
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # safetensors writes an array's memory as it lies, whatever its strides say.
        save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, unfinished)
        _to_the_disk(unfinished)
        written = TensorFile(path, unfinished.stat().st_size, _sha256(unfinished))
        unfinished.rename(file)
        _to_the_disk(file.parent)
    except (OSError, SafetensorError) as error:
        unfinished.unlink(missing_ok=True)
        if getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error):
            raise CacheNotWritable(
                f"The disk of {file.parent} is full; free some space, then run the same command "
                "again: it goes on from here."
            ) from error
        raise CacheNotWritable(f"{file} cannot be written: {error}.") from error
    return written


def put_tensor(con: duckdb.DuckDBPyConnection, written: TensorFile) -> None:
    """Vouch for a file, inside the transaction that stores what it is good for."""
    con.execute("DELETE FROM tensor WHERE path = ?", [written.path])
    con.execute(
        "INSERT INTO tensor VALUES (?, ?, ?, ?)",
        [written.path, written.n_bytes, written.sha256, utc_now()],
    )


def read_rows(
    cache: Cache, path: str, names: Sequence[str], rows: Sequence[int]
) -> dict[str, npt.NDArray[Any]]:
    """These rows of some arrays of a file; nothing else of it is read.

    Raises
    ------
    CacheError
        The file is gone or damaged.
    """
    with _opened(cache, path) as held:
        slices = {name: held.get_slice(name) for name in names}
        return {
            name: np.concatenate([part[row : row + 1] for row in rows])
            for name, part in slices.items()
        }


def read_planes(
    cache: Cache, path: str, name: str, first: int, rows: Sequence[int]
) -> Iterator[npt.NDArray[Any]]:
    """Parts of an array (I, J, K, N, ...): [first, j, :, rows] for one j after another.

    Each is read where it is asked for; what lies between the rows is read too. Errors as
    `read_rows`.
    """
    low, high = min(rows), max(rows) + 1
    wanted = span([row - low for row in rows])
    with _opened(cache, path) as held:
        part = held.get_slice(name)
        for j in range(part.get_shape()[1]):
            yield part[first, j, :, low:high][:, wanted]


def array_shapes(cache: Cache, path: str) -> dict[str, tuple[int, ...]]:
    """The shapes of a file's arrays, which are not read; errors as `read_rows`."""
    with _opened(cache, path) as held:
        return {name: tuple(held.get_slice(name).get_shape()) for name in held.keys()}  # noqa: SIM118


def span(places: list[int]) -> slice | list[int]:
    """Places as a slice where they follow one another, which copies nothing; else as they are."""
    low, high = places[0], places[-1] + 1
    return slice(low, high) if places == list(range(low, high)) else places


def tensors(cache: Cache) -> pd.DataFrame:
    """Every file that the cache vouches for: path, n_bytes, sha256, created_at."""
    with cache.reading() as con:
        return frame(con, "FROM tensor ORDER BY path")


def broken_tensors(cache: Cache) -> dict[str, str]:
    """Files that are missing or not what was written: path -> what is wrong. Reads them all."""
    found: dict[str, str] = {}
    held = tensors(cache)
    for path, n_bytes, sha256 in zip(held["path"], held["n_bytes"], held["sha256"], strict=True):
        file = cache.folder / TENSORS / path
        if not file.is_file():
            found[path] = "is missing"
        elif file.stat().st_size != n_bytes or _sha256(file) != sha256:
            found[path] = "is not what was written"
    return found


def unclaimed_files(cache: Cache) -> list[Path]:
    """Files in the folder of tensors that no row vouches for: left by killed programs."""
    folder = cache.folder / TENSORS
    claimed = {folder / path for path in tensors(cache)["path"]}
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return [file for file in files if file not in claimed]


@contextmanager
def _opened(cache: Cache, path: str) -> Iterator[Any]:
    """A file of arrays; CacheError where it is gone or damaged."""
    file = cache.folder / TENSORS / path
    try:
        with safe_open(file, framework="np") as held:
            yield held
    except (OSError, SafetensorError, IndexError, ValueError) as error:
        raise CacheError(
            f"{file} is missing or damaged; `python -m core status --verify` names every such "
            "file, and `python -m core prune --broken` forgets them, so that the same command as "
            "before computes them again."
        ) from error


def _to_the_disk(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk and not only in memory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
