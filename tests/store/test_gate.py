"""The gate to the cache file: who may open it when, and what a killed writer leaves."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from pathlib import Path

import duckdb
import pytest

from benchmarks import gate as benchmark
from core.errors import CacheBusy
from core.store import locks
from core.store.gate import CONFIG, Cache
from core.store.items import datasets
from core.store.scorers import scorers
from core.store.scores import missing_texts, put_scores, token_scores
from core.store.verify import verify
from tests.store_samples import SCORER, filled, python, score_all

S = SCORER.scorer_id


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


def test_a_cache_kept_open_is_opened_once(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(cache)
    opened: list[str] = []
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: opened.append(a[0]) or connect(*a, **k))
    with cache.kept_open() as same:
        assert same == cache
        assert [datasets(same).dataset.tolist() for _ in range(3)] == [["d"]] * 3
        assert len(opened) == 1
        with pytest.raises(RuntimeError, match="inside the gate"), same.writing():
            pass
    with pytest.raises(duckdb.ConnectionException):
        datasets(same)
    assert datasets(cache).dataset.tolist() == ["d"]


def test_a_thread_inside_the_gate_may_not_wait_for_itself(cache: Cache) -> None:
    filled(cache)
    with cache.reading():
        with pytest.raises(RuntimeError, match="inside the gate"):
            datasets(cache)
        with pytest.raises(RuntimeError, match="inside the gate"), cache.writing():
            pass
    assert datasets(cache).dataset.tolist() == ["d"]


INSIDE = """
import sys
from pathlib import Path
from core.store.locks import held
with held(Path(sys.argv[1]), exclusive=sys.argv[2] == "alone"):
    print("inside", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["alone", "together"])
def test_waiting_for_others_ends_and_names_them(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    filled(cache)
    holder = python(INSIDE, cache.folder, how)
    assert holder.stdout.readline() == "inside\n"
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    with pytest.raises(CacheBusy, match=f"in use for 0.1 s by process {holder.pid}; wait"):
        filled(cache)
    if how == "alone":
        with pytest.raises(CacheBusy, match="repair"):
            datasets(cache)
    else:
        assert datasets(cache).dataset.tolist() == ["d"]  # who gave up stands in nobody's way
    holder.communicate("")
    filled(cache)


def test_waiting_for_a_thread_of_this_program_says_so(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(cache)
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with cache.reading():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    try:
        inside.wait()
        with pytest.raises(CacheBusy, match="by another part of this program; wait"):
            filled(cache)
    finally:
        leave.set()
        thread.join()
    filled(cache)


@pytest.mark.parametrize(
    "listed", ["", "1: FLOCK  ADVISORY  WRITE 4711 08:02:131 0 EOF\n", "1: POSIX x\n"]
)
def test_who_is_inside_may_stay_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str
) -> None:
    (tmp_path / locks.RW).touch()
    monkeypatch.setattr(Path, "read_text", lambda self: listed)
    assert locks._holders(tmp_path) == "another program"


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
    reads: list[int] = []
    batches = [0] * 2

    def write(writer: int) -> None:
        while not batches[writer] or time.monotonic() < until:
            with cache.writing() as con:
                con.execute(
                    "INSERT INTO generation SELECT ?, ?, i FROM range(50) r(i)",
                    [f"w{writer}", str(batches[writer])],
                )
            batches[writer] += 1

    def read() -> None:
        seen: list[int] = []
        while not seen or time.monotonic() < until:
            with cache.reading() as con:
                ((n,),) = con.execute(
                    "SELECT count(*) FROM generation WHERE dataset != 'd'"
                ).fetchall()
            assert n % 50 == 0
            assert n >= max(seen, default=0)
            seen.append(n)
        reads.append(len(seen))

    run_threads([lambda: write(0), lambda: write(1), *[read] * 6], errors)
    assert errors == []
    assert len(reads) == 6
    with cache.reading() as con:
        ((n,),) = con.execute("SELECT count(*) FROM generation WHERE dataset != 'd'").fetchall()
    assert n == 50 * sum(batches)


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
        n_reads = 0
        while not n_reads or writer.poll() is None:
            with cache.reading() as con:
                rows = con.execute("SELECT generation FROM generation WHERE scorer_id = 'w'").df()
            assert len(rows) % 50 == 0
            n_reads += 1
        reads.append(n_reads)

    run_threads([read] * 16, errors)
    _, problem = writer.communicate()
    assert (errors, writer.returncode) == ([], 0), problem
    assert len(reads) == 16
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
from core.store.items import coverage, datasets
from core.store.query import query
from core.store.repair import repair
from core.store.scorers import scorers
from core.store.scores import item_scores, missing_texts, put_scores, sample_scores
from core.store.verify import verify
from tests.store_samples import SCORER, filled, item, put, score_all
cache = filled(Cache(Path(sys.argv[1])))
s = SCORER.scorer_id
put_scores(cache, s, score_all(missing_texts(cache, s, "d")))
put(cache, [item("x")], replace=True)
for look in (datasets, coverage, scorers, verify, repair):
    look(cache)
item_scores(cache, s, "d"), sample_scores(cache, s)
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


# The benchmark


def test_the_cache_that_the_benchmark_fills_keeps_all_rules(cache: Cache) -> None:
    benchmark.fill(cache, 24)
    assert verify(cache) == []
    with cache.reading() as con:
        assert len(con.execute(benchmark.READ).fetchall()) == 12


def test_the_benchmark_times_the_wait_of_the_commit_itself(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark.fill(cache, 1)
    monkeypatch.setattr(benchmark, "COMPUTING", 0)
    benchmark.write(benchmark.TimedCache(cache.folder), 0.2)
    written = json.loads(capsys.readouterr().out)
    assert written["errors"] == 0
    assert len(written["waits"]) == len(written["commits"]) > 0
    assert all(w < c for w, c in zip(written["waits"], written["commits"], strict=True))
    assert scored(cache) == 3 + benchmark.BATCH * len(written["commits"])


@pytest.mark.parametrize(
    ("write_wait", "read_wait", "errors", "met"),
    [(2.0, 2.0, 0, True), (2.1, 0.1, 0, False), (0.1, 2.1, 0, False), (0.1, 0.1, 1, False)],
)
def test_the_benchmark_fails_above_its_target_and_after_an_error(
    capsys: pytest.CaptureFixture[str], write_wait: float, read_wait: float, errors: int, met: bool
) -> None:
    written = {"waits": [0.1, write_wait], "commits": [3.0], "errors": 0}
    assert benchmark.report(written, [([read_wait], [3.0], errors), ([], [], 0)]) is met
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["met"] is met
