"""Files of arrays: whole or not there, read by row, vouched for by a checksum."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from core.errors import CacheError, CacheNotWritable
from core.store import tensors as module
from core.store.gate import Cache
from core.store.tensors import (
    TENSORS,
    broken_tensors,
    put_tensor,
    read_planes,
    read_rows,
    tensors,
    unclaimed_files,
    write_tensors,
)

FILE = "reader/part.safetensors"


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def put(cache: Cache, **arrays: np.ndarray) -> Path:
    written = write_tensors(cache, FILE, arrays)
    with cache.writing() as con:
        put_tensor(con, written)
    return cache.folder / TENSORS / FILE


def test_rows_come_back_bit_for_bit_in_the_order_asked_for(cache: Cache) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((5, 2, 3)), rng.standard_normal((5, 7)).astype(np.float32)
    a[1, 0, 0] = np.nan
    put(cache, a=a, b=b.T.copy().T)  # the second does not lie in memory as its shape says
    found = read_rows(cache, FILE, ["a", "b"], [3, 1, 3])
    np.testing.assert_array_equal(found["a"], a[[3, 1, 3]])
    np.testing.assert_array_equal(found["b"], b[[3, 1, 3]])
    assert (found["a"].dtype, found["b"].dtype) == (np.float64, np.float32)


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [1, 2], [3, 0, 4], [2]])
def test_planes_come_one_after_another_with_the_rows_asked_for(cache: Cache, rows) -> None:
    a = np.random.default_rng(0).standard_normal((2, 3, 4, 5, 6)).astype(np.float32)
    put(cache, a=a)
    found = list(read_planes(cache, FILE, "a", 1, rows))
    np.testing.assert_array_equal(np.stack(found), a[1][:, :, rows])


def test_planes_of_a_lost_file_are_an_error(cache: Cache) -> None:
    put(cache, a=np.zeros((1, 1, 1, 1))).unlink()
    with pytest.raises(CacheError, match="missing or damaged"):
        next(read_planes(cache, FILE, "a", 0, [0]))


def test_a_file_is_vouched_for_once(cache: Cache) -> None:
    file = put(cache, a=np.zeros(3))
    put(cache, a=np.ones(3))
    (row,) = tensors(cache).to_dict("records")
    assert (row["path"], row["n_bytes"]) == (FILE, file.stat().st_size)
    assert broken_tensors(cache) == {}
    assert unclaimed_files(cache) == []


def test_what_a_killed_program_leaves_is_found_and_replaced(cache: Cache) -> None:
    write_tensors(cache, FILE, {"a": np.zeros(3)})
    with cache.writing():
        pass
    left = cache.folder / TENSORS / "reader" / ".other.safetensors.unfinished"
    left.write_bytes(b"half")
    assert unclaimed_files(cache) == [left, cache.folder / TENSORS / FILE]
    put(cache, a=np.ones(3))
    assert unclaimed_files(cache) == [left]
    assert read_rows(cache, FILE, ["a"], [0])["a"].tolist() == [1]


def test_a_changed_or_missing_file_is_named(cache: Cache) -> None:
    file = put(cache, a=np.arange(100.0))
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert broken_tensors(cache) == {FILE: "is not what was written"}
    file.write_bytes(whole[:-9])
    assert broken_tensors(cache) == {FILE: "is not what was written"}
    with pytest.raises(CacheError, match=r"missing or damaged; .*--verify"):
        read_rows(cache, FILE, ["a"], [0])
    file.unlink()
    assert broken_tensors(cache) == {FILE: "is missing"}
    with pytest.raises(CacheError, match="missing or damaged"):
        read_rows(cache, FILE, ["a"], [0])


def test_a_row_or_an_array_that_is_not_there_is_an_error(cache: Cache) -> None:
    put(cache, a=np.zeros(3))
    for names, rows in (["a"], [3]), (["b"], [0]):
        with pytest.raises(CacheError, match="missing or damaged"):
            read_rows(cache, FILE, names, rows)


def test_a_full_disk_leaves_no_file(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(arrays: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "save_file", full)
    with pytest.raises(CacheNotWritable, match="is full; free some space, then run the same"):
        write_tensors(cache, FILE, {"a": np.zeros(3)})
    assert list((cache.folder / TENSORS / "reader").iterdir()) == []
