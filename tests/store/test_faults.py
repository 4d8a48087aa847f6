"""What is said when the cache cannot be used: missing, broken, newer, not writable, full."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from core.errors import (
    CacheError,
    CacheMissing,
    CacheNewer,
    CacheNotWritable,
    CacheUnreadable,
)
from core.store import migrations
from core.store.faults import cache_fault
from core.store.gate import Cache
from core.store.items import datasets
from core.store.scores import missing_texts
from core.store.verify import verify
from tests.store_samples import SCORER, filled, item, put, python

S = SCORER.scorer_id


def untouched(cache: Cache) -> tuple[int, int, int]:
    """What tells whether somebody wrote, moved or replaced the file."""
    stat = cache.file.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


# What is there


def test_a_missing_cache_is_said_and_not_created(cache: Cache) -> None:
    assert not cache.exists()
    with pytest.raises(CacheMissing, match="python -m core demo"):
        datasets(cache)
    assert not cache.folder.exists()


def test_writing_creates_the_folder_and_an_exception_stores_nothing(cache: Cache) -> None:
    with pytest.raises(ZeroDivisionError), cache.writing() as con:
        con.execute("INSERT INTO generation VALUES ('s', 'd', 7)")
        raise ZeroDivisionError
    with cache.reading() as con:
        assert con.execute("SELECT count(*) FROM generation").fetchall() == [(0,)]


@pytest.mark.parametrize("content", [b"", b"hi", b"\x00" * 5000, os.urandom(20_000)])
def test_a_file_that_is_not_duckdb_names_the_way_out_and_stays(
    cache: Cache, content: bytes
) -> None:
    cache.folder.mkdir()
    cache.file.write_bytes(content)
    before = untouched(cache)
    for use in (datasets, filled):
        with pytest.raises(CacheUnreadable, match="python -m core repair"):
            use(cache)
    assert untouched(cache) == before
    assert cache.file.read_bytes() == content


def test_a_file_of_sqlite_is_not_a_cache(cache: Cache) -> None:
    cache.folder.mkdir()
    with closing(sqlite3.connect(cache.file)) as con:
        con.execute("CREATE TABLE a (b)")
        con.commit()
    for use in (datasets, filled):
        with pytest.raises(CacheUnreadable, match="not a DuckDB file"):
            use(cache)


@pytest.mark.parametrize("keep", [9_000, 0.5])
def test_a_truncated_file_is_damaged(cache: Cache, keep: float) -> None:
    filled(cache)
    size = cache.file.stat().st_size
    os.truncate(cache.file, int(keep if keep > 1 else size * keep))
    with pytest.raises(CacheUnreadable, match="damaged"):
        verify(cache)


def test_a_damaged_block_is_damage_and_not_a_traceback(cache: Cache) -> None:
    filled(cache)
    with cache.file.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        for position in range(12_288, size, 512):
            file.seek(position)
            file.write(b"\xff" * 16)
    before = untouched(cache)
    for use in (datasets, filled):
        with pytest.raises(CacheUnreadable, match="python -m core repair"):
            use(cache)
    assert untouched(cache) == before


def test_folders_and_files_in_each_other_s_place_are_said(tmp_path: Path) -> None:
    (tmp_path / "folder" / "stereoscope.duckdb").mkdir(parents=True)
    (tmp_path / "file").write_text("x")
    for name, words in (("folder", "is a folder where"), ("file", "takes a folder")):
        for use in (datasets, filled):
            with pytest.raises(CacheError, match=words):
                use(Cache(tmp_path / name))
    with pytest.raises(CacheNotWritable, match="cannot be created"):
        filled(Cache(tmp_path / "file" / "below"))


def test_a_newer_duckdb_is_told_from_damage(cache: Cache) -> None:
    filled(cache)
    with cache.file.open("r+b") as file:
        header = bytearray(file.read(4096))
        header[12:20] = struct.pack("<Q", 2000)  # the storage version
        header[:8] = struct.pack("<Q", _checksum(header[8:]))
        file.seek(0)
        file.write(header)
    with pytest.raises(CacheNewer, match="newer version of DuckDB"):
        datasets(cache)


def _checksum(content: bytes) -> int:
    result = 5381
    for (word,) in struct.iter_unpack("<Q", content):
        result ^= word * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
    return result


def test_a_newer_schema_is_told_from_damage(cache: Cache) -> None:
    filled(cache)
    with cache.writing() as con:
        con.execute("INSERT INTO migration VALUES (99, NULL)")
    for use in (datasets, filled):
        with pytest.raises(CacheNewer, match="newer version of Stereoscope"):
            use(cache)


def test_tables_of_another_program_are_left_alone(cache: Cache) -> None:
    cache.folder.mkdir()
    with duckdb.connect(str(cache.file)) as con:
        con.execute("CREATE TABLE mine (a INTEGER)")
    for use in (datasets, filled):
        with pytest.raises(CacheError, match="another program"):
            use(cache)


def test_a_reader_brings_an_older_cache_up_to_date(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(cache)
    longer = (*migrations.MIGRATIONS, "CREATE TABLE later (a INTEGER)")
    monkeypatch.setattr(migrations, "MIGRATIONS", longer)
    monkeypatch.setattr("core.store.gate.MIGRATIONS", longer)
    with cache.reading() as con:
        assert con.execute("FROM later").fetchall() == []
        done = con.execute("SELECT number FROM migration ORDER BY 1").fetchall()
    assert [number for (number,) in done] == list(range(1, len(longer) + 1))
    assert datasets(cache).dataset.tolist() == ["d"]


def test_a_journal_without_its_file_is_not_replayed_into_a_new_cache(cache: Cache) -> None:
    cache.folder.mkdir()
    cache.journal.write_bytes(b"journal")
    with pytest.raises(CacheUnreadable, match="journal"):
        filled(cache)
    assert cache.journal.read_bytes() == b"journal"
    assert not cache.file.exists()


def test_a_creation_that_was_killed_leaves_nothing_in_the_way(cache: Cache) -> None:
    cache.folder.mkdir()
    (cache.folder / "stereoscope.duckdb.new").write_bytes(b"torn")
    (cache.folder / "stereoscope.duckdb.new.wal").write_bytes(b"torn")
    filled(cache)
    assert sorted(p.name for p in cache.folder.iterdir()) == [
        "stereoscope.duckdb",
        "stereoscope.rw.lock",
        "stereoscope.turnstile.lock",
    ]


# Who may not write


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder under an account whose permissions bind (root's do not)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize("keep_locks", [True, False])
def test_a_folder_without_write_permission_can_be_read(
    unprivileged: Path, keep_locks: bool
) -> None:
    cache = filled(Cache(unprivileged / "cache"))
    for path in cache.folder.iterdir():
        path.chmod(0o444)
        if not keep_locks and path.suffix == ".lock":
            path.unlink()
    cache.folder.chmod(0o555)
    assert datasets(cache).dataset.tolist() == ["d"]
    assert len(missing_texts(cache, S, "d")) == 6
    with pytest.raises(CacheNotWritable, match="cannot be written to"):
        put(cache, [item()], "e")
    with pytest.raises(CacheNotWritable, match="cannot be created"):
        filled(Cache(cache.folder / "below"))


def test_a_file_without_read_permission_is_not_damaged(unprivileged: Path) -> None:
    cache = filled(Cache(unprivileged / "cache"))
    cache.file.chmod(0)
    with pytest.raises(CacheError, match="permissions") as caught:
        datasets(cache)
    assert not isinstance(caught.value, CacheUnreadable)
    cache.folder.chmod(0)
    with pytest.raises(CacheError, match="cannot be read"):
        datasets(cache)


def test_a_read_only_disk_can_be_read(cache: Cache) -> None:
    filled(cache)
    for lock in cache.folder.glob("*.lock"):
        lock.unlink()
    mount = ["mount", "--bind", "-o", "ro", str(cache.folder), str(cache.folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a read-only disk takes root's rights")
    try:
        assert datasets(cache).dataset.tolist() == ["d"]
        with pytest.raises(CacheNotWritable):
            put(cache, [item()], "e")
    finally:
        subprocess.run(["umount", str(cache.folder)], check=True)
    put(cache, [item()], "e")


def test_a_full_disk_is_said_and_stores_nothing(cache: Cache) -> None:
    filled(cache)
    code = """
import resource, sys
from pathlib import Path
from core.errors import CacheNotWritable
from core.store.gate import Cache
cache = Cache(Path(sys.argv[1]))
limit = cache.file.stat().st_size + 100_000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with cache.writing() as con:
        con.execute("INSERT INTO generation SELECT uuid(), uuid(), i FROM range(500_000) r(i)")
except CacheNotWritable as error:
    print(error)
"""
    process = python(code, cache.folder)
    said, problem = process.communicate()
    assert "is full" in said, problem
    assert verify(cache) == []
    with cache.reading() as con:
        assert con.execute("SELECT count(*) FROM generation").fetchall() == [(1,)]


def test_duckdb_s_words_are_told_apart() -> None:
    file = Path("c.duckdb")
    for words, kind in {
        'Could not write file "c.duckdb": No space left on device': CacheNotWritable,
        'Cannot open file "c.duckdb": Permission denied': CacheNotWritable,
        'Cannot open file "c.duckdb": Read-only file system': CacheNotWritable,
        'Could not read from file "c.duckdb": Input/output error': CacheError,
    }.items():
        assert type(cache_fault(duckdb.IOException(words), file, writing=True)) is kind


@pytest.mark.parametrize(
    "kind", [duckdb.CatalogException, duckdb.ConversionException, duckdb.InvalidInputException]
)
def test_only_errors_of_the_disk_are_about_the_file_once_it_is_open(kind: type) -> None:
    file = Path("c.duckdb")
    for words in ("Corrupt database file", "No space left on device", "Could not set lock"):
        assert cache_fault(kind(words), file, writing=True) is None
        assert cache_fault(kind(words), file, writing=True, opening=True) is not None
