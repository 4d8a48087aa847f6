"""The gate to the cache file: who may open it when, and what is said when it cannot be opened."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from core.errors import (
    CacheBusy,
    CacheError,
    CacheMissing,
    CacheNewer,
    CacheNotWritable,
    CacheUnreadable,
)
from core.store import migrations
from core.store.faults import cache_fault
from core.store.gate import CONFIG, Cache
from core.store.items import datasets
from core.store.scores import missing_texts, put_scores, scorers, token_scores
from core.store.verify import verify
from tests.store_samples import SCORER, filled, item, put, python, score_all

S = SCORER.scorer_id


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


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
        datasets(cache)
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
        assert con.execute("SELECT number FROM migration ORDER BY 1").fetchall() == [(1,), (2,)]
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
    assert cache_fault(duckdb.CatalogException("no such table"), file, writing=True) is None


# Who is inside


HOLD = """
import duckdb, sys
con = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "read")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_file_held_outside_the_gate_is_busy_and_free_afterwards(cache: Cache) -> None:
    filled(cache)
    holder = python(HOLD, cache.file, "write")
    assert holder.stdout.readline() == "held\n"
    for use in (datasets, filled):
        with pytest.raises(CacheBusy, match=f"process {holder.pid}"):
            use(cache)
    holder.kill()
    holder.communicate()
    assert datasets(cache).dataset.tolist() == ["d"]


def test_a_connection_of_this_process_outside_the_gate_is_busy(cache: Cache) -> None:
    filled(cache)
    with duckdb.connect(str(cache.file)), pytest.raises(CacheBusy, match="this program"):
        datasets(cache)
    assert datasets(cache).dataset.tolist() == ["d"]


def test_a_thread_inside_the_gate_may_not_wait_for_itself(cache: Cache) -> None:
    filled(cache)
    with cache.reading():
        with pytest.raises(RuntimeError, match="inside the gate"):
            datasets(cache)
        with pytest.raises(RuntimeError, match="inside the gate"), cache.writing():
            pass
    assert datasets(cache).dataset.tolist() == ["d"]


FORK = """
import os, signal, sys
from pathlib import Path
from core.store.locks import held
folder = Path(sys.argv[1])
with held(folder, exclusive=False):
    child = os.fork()
    if child == 0:
        signal.pause()
with held(folder, exclusive=True):
    print("inside")
os.kill(child, signal.SIGKILL)
"""


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    said, problem = python(FORK, tmp_path).communicate(timeout=60)
    assert said == "inside\n", problem


def test_threads_read_complete_batches_while_threads_write(cache: Cache) -> None:
    filled(cache)
    until = time.monotonic() + 2
    errors: list[BaseException] = []
    batches = [0] * 2

    def write(writer: int) -> None:
        while time.monotonic() < until:
            with cache.writing() as con:
                con.execute(
                    "INSERT INTO generation SELECT ?, ?, i FROM range(50) r(i)",
                    [f"w{writer}", str(batches[writer])],
                )
            batches[writer] += 1

    def read() -> None:
        seen = 0
        while time.monotonic() < until:
            with cache.reading() as con:
                ((n,),) = con.execute(
                    "SELECT count(*) FROM generation WHERE dataset != 'd'"
                ).fetchall()
            assert n % 50 == 0
            assert n >= seen
            seen = n

    run_threads([lambda: write(0), lambda: write(1), *[read] * 6], errors)
    assert errors == []
    with cache.reading() as con:
        ((n,),) = con.execute("SELECT count(*) FROM generation WHERE dataset != 'd'").fetchall()
    assert n == 50 * sum(batches) > 0


WRITE = """
import sys
from pathlib import Path
from core.store.gate import Cache
cache = Cache(Path(sys.argv[1]))
for batch in range(int(sys.argv[2])):
    with cache.writing() as con:
        con.execute("INSERT INTO generation SELECT 'w', ?, i FROM range(50) r(i)", [str(batch)])
"""


def test_sixteen_readers_let_a_writer_in(cache: Cache) -> None:
    filled(cache)
    writer = python(WRITE, cache.folder, 6)
    errors: list[BaseException] = []
    reads: list[int] = []

    def read() -> None:
        while writer.poll() is None:
            with cache.reading() as con:
                rows = con.execute("SELECT generation FROM generation WHERE scorer_id = 'w'").df()
            assert len(rows) % 50 == 0
            reads.append(len(rows))

    run_threads([read] * 16, errors)
    _, problem = writer.communicate()
    assert (errors, writer.returncode) == ([], 0), problem
    assert len(reads) >= 16
    with cache.reading() as con:
        assert con.execute("SELECT count(*) FROM generation WHERE scorer_id = 'w'").fetchall() == [
            (300,)
        ]


def run_threads(tasks: list, errors: list[BaseException]) -> None:
    def guarded(task: object) -> None:
        try:
            task()  # type: ignore[operator]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# Who was killed


KILLED = """
import os, signal, sys
from pathlib import Path
from core.store import derive, gate
from core.store.gate import Cache
from core.store.scores import missing_texts, put_scores, token_scores
from tests.store_samples import SCORER, score_all
cache = Cache(Path(sys.argv[1]))
moment = sys.argv[2]
die = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
if moment == "transaction":
    import core.store.scores
    core.store.scores.refresh = die
if moment == "committed":
    import contextlib
    within = gate.transaction
    @contextlib.contextmanager
    def transaction(con):
        with within(con):
            yield
        die()
    gate.transaction = transaction
s = SCORER.scorer_id
texts = missing_texts(cache, s, "d")
print("ready", flush=True)
for start in range(0, len(texts), 6):
    put_scores(cache, s, score_all(texts[start : start + 6]))
"""


def scored(cache: Cache) -> int:
    with cache.reading() as con:
        ((n,),) = con.execute("SELECT count(*) FROM token_score").fetchall()
    return int(n)


@pytest.mark.parametrize(("moment", "kept"), [("transaction", 0), ("committed", 6)])
def test_a_writer_killed_at_a_moment_loses_at_most_its_batch(
    cache: Cache, moment: str, kept: int
) -> None:
    filled(cache, 10)
    process = python(KILLED, cache.folder, moment)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert cache.journal.exists() == (moment == "committed")
    assert scored(cache) == kept  # read-only, with the journal still there
    assert verify(cache) == []
    texts = missing_texts(cache, S, "d")
    assert len(texts) == 20 - kept
    assert put_scores(cache, S, score_all(texts)) == 20 - kept
    assert (scored(cache), verify(cache)) == (20, [])
    assert not cache.journal.exists()


def test_a_writer_killed_again_and_again_leaves_nothing_half_and_nothing_twice(
    cache: Cache,
) -> None:
    filled(cache, 300)
    all_texts = missing_texts(cache, S, "d")
    rng = random.Random(5)
    before = 0
    for _ in range(3):
        process = python(KILLED, cache.folder, "any")
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.01, 0.4))  # the moment of death; nothing is asserted about it
        process.kill()
        process.communicate()
        assert scored(cache) % 6 == 0
        assert scored(cache) >= before
        assert verify(cache) == []
        before = scored(cache)
    assert 0 < before < len(all_texts)
    missing = missing_texts(cache, S, "d")
    assert put_scores(cache, S, score_all(missing)) == len(all_texts) - before
    assert (scored(cache), verify(cache)) == (len(all_texts), [])
    assert set(token_scores(cache, S, [t.text_id for t in all_texts])) == {
        t.text_id for t in all_texts
    }


# Who opens the file


AUDITED = """
import sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from core.store.gate import Cache
from core.store.items import coverage, datasets, items_table
from core.store.query import query
from core.store.repair import repair
from core.store.scores import item_scores, missing_texts, put_scores, sample_scores, scorers
from core.store.verify import verify
from tests.store_samples import SCORER, filled, item, put, score_all
cache = filled(Cache(Path(sys.argv[1])))
s = SCORER.scorer_id
put_scores(cache, s, score_all(missing_texts(cache, s, "d")))
put(cache, [item("x")], replace=True)
for look in (datasets, coverage, scorers, verify, repair):
    look(cache)
items_table(cache, "d"), item_scores(cache, s, "d"), sample_scores(cache, s)
query(cache, "FROM item")
assert any(name.endswith(".lock") for name in opened)
print(*[name for name in opened if "stereoscope.duckdb" in name])
"""


def test_nothing_but_duckdb_opens_the_cache_file(cache: Cache) -> None:
    said, problem = python(AUDITED, cache.folder).communicate()
    assert said == "\n", problem


def test_every_connection_has_the_same_options(cache: Cache) -> None:
    filled(cache)
    with cache.reading() as con:
        reader = con.execute("SELECT name, value FROM duckdb_settings()").fetchall()
    with cache.writing() as con:
        writer = con.execute("SELECT name, value FROM duckdb_settings()").fetchall()
    differing = {name for (name, value) in set(reader) ^ set(writer)}
    assert differing <= {"access_mode"}
    assert {(n, v) for n, v in CONFIG.items()} <= set(reader)
    assert scorers(cache).scorer_id.tolist() == [S]
