"""How long readers and a writer wait for each other at the gate of the cache.

Sixteen threads of one process read a cache of about a million scores, one read after the other,
while another process computes for half a second and commits a batch of scores, over and over. A
wait is the time from asking for a connection to having one: gate, opening and schema check. The
exit code is 1 when a wait was above the target of 2 s or anything failed.

    python -m benchmarks.gate [--seconds 15] [--readers 16] [--items 350000]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import duckdb
import numpy as np

from core.settings import ROOT
from core.store.gate import Cache
from core.store.scorers import put_scorer
from core.store.scores import put_scores
from core.types import Scorer, TokenScore

SCORER = Scorer(
    model="benchmark",
    fingerprint="benchmark",
    dtype="float32",
    device="cpu",
    attention="sdpa",
    method="causal",
    bos="none",
    batching="batched",
    scoring_version=1,
)
TARGET = 2.0  # seconds
BATCH = 500
COMPUTING = 0.5  # seconds between two commits
READ = (
    "SELECT condition, count(*), avg(l_stereotype - l_anti), stddev(l_stereotype - l_anti) "
    "FROM item_score GROUP BY condition"
)


@dataclass(frozen=True)
class TimedCache(Cache):
    """A cache that notes how long each of its writers waited."""

    waits: list[float] = field(default_factory=list)

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection as a cache gives it."""
        start = time.perf_counter()
        with super().writing() as con:
            self.waits.append(time.perf_counter() - start)
            yield con


def fill(cache: Cache, n_items: int) -> None:
    """Items of three texts each, all scored, written as one batch without going through Python."""
    put_scorer(cache, SCORER)
    with cache.writing() as con:
        con.execute(
            "CREATE TEMP TABLE base AS SELECT i, i % 12 AS c, uuid() AS s, uuid() AS a, "
            "uuid() AS u, (-2 - random())::FLOAT::DOUBLE AS ls, "
            "(-2 - random())::FLOAT::DOUBLE AS la, (-4 - random())::FLOAT::DOUBLE AS lu "
            "FROM range(?) r(i)",
            [n_items],
        )
        con.execute(
            "INSERT INTO item BY NAME SELECT 'd' AS dataset, i::VARCHAR AS item_id, "
            "'c' || c AS condition, '' AS language, '' AS source, '' AS category, '' AS dimension, "
            "'' AS resource_level, false AS native, 'The nurse left.' AS context, "
            "'She ' || i AS stereotype, 'He ' || i AS anti_stereotype, 'Potato ' || i AS unrelated,"
            " [] AS answer_order, '{}' AS metadata, false AS collapsed, '' AS content_hash, "
            "s AS text_stereotype, a AS text_anti, u AS text_unrelated, i AS row_order FROM base"
        )
        con.execute(
            "INSERT INTO token_score BY NAME SELECT ? AS scorer_id, t AS text_id, "
            "range(10)::INTEGER[] AS token_ids, [x::FLOAT FOR _ IN range(10)] AS logprobs, "
            "range(10)::INTEGER[] AS starts, range(10)::INTEGER[] AS ends, "
            "range(10)::INTEGER[] AS words, 10 * x AS sum, 10 AS n_scored, [] AS flags "
            "FROM (SELECT unnest([s, a, u]) AS t, unnest([ls, la, lu]) AS x FROM base)",
            [SCORER.scorer_id],
        )
        con.execute(
            "INSERT INTO item_score BY NAME SELECT ? AS scorer_id, 'd' AS dataset, "
            "i::VARCHAR AS item_id, 'c' || c AS condition, ls AS l_stereotype, la AS l_anti, "
            "lu AS l_unrelated, 10 * ls AS sum_stereotype, 10 * la AS sum_anti, "
            "10 * lu AS sum_unrelated, 10 AS n_stereotype, 10 AS n_anti, 10 AS n_unrelated, "
            "[] AS flags FROM base",
            [SCORER.scorer_id],
        )


def write(cache: TimedCache, seconds: float) -> None:
    """The writer process: prints its waits and the seconds of each whole commit as JSON."""
    commits: list[float] = []
    errors = 0
    end = time.perf_counter() + seconds
    rng = np.random.default_rng(0)
    while time.perf_counter() < end:
        time.sleep(COMPUTING)
        batch = [new_score(rng) for _ in range(BATCH)]
        start = time.perf_counter()
        try:
            put_scores(cache, SCORER.scorer_id, batch)
        except Exception as error:
            errors += 1
            print(error, file=sys.stderr)
        commits.append(time.perf_counter() - start)
    print(json.dumps({"waits": cache.waits, "commits": commits, "errors": errors}))


def new_score(rng: np.random.Generator) -> TokenScore:
    """A score of a text that nobody has."""
    position = np.arange(10, dtype=np.int32)
    return TokenScore(
        text_id=rng.bytes(16).hex(),
        token_ids=position,
        logprobs=-rng.exponential(2, 10).astype(np.float32),
        starts=position,
        ends=position,
        words=position,
    )


def read(cache: Cache, process: subprocess.Popen[str]) -> tuple[list[float], list[float], int]:
    """A reader thread until the writer ends: its waits, its whole reads and its errors."""
    waits: list[float] = []
    reads: list[float] = []
    errors = 0
    while process.poll() is None:
        start = time.perf_counter()
        try:
            with cache.reading() as con:
                waits.append(time.perf_counter() - start)
                rows = con.execute(READ).fetchall()
            errors += len(rows) != 12
        except Exception as error:
            errors += 1
            print(error, file=sys.stderr)
        reads.append(time.perf_counter() - start)
    return waits, reads, errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--items", type=int, default=350_000)
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        write(TimedCache(options.writer), options.seconds)
        return
    with tempfile.TemporaryDirectory() as folder:
        met = measure(Cache(Path(folder)), options.items, options.readers, options.seconds)
    sys.exit(0 if met else 1)


def measure(cache: Cache, n_items: int, n_readers: int, seconds: float) -> bool:
    """Run the readers beside the writer, print table and JSON line; whether the target is met."""
    fill(cache, n_items)
    size = cache.file.stat().st_size / 1e6
    print(f"{3 * n_items} scores, {n_items} items, {size:.0f} MB, {n_readers} reader threads")
    options = ["--seconds", str(seconds), "--writer", str(cache.folder)]
    command = [sys.executable, "-m", "benchmarks.gate", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    results: list[tuple[list[float], list[float], int]] = []
    threads = [
        threading.Thread(target=lambda: results.append(read(cache, process)))
        for _ in range(n_readers)
    ]
    for thread in threads:
        thread.start()
    written = json.loads(process.communicate()[0])
    for thread in threads:
        thread.join()
    return report(written, results)


def report(written: dict, results: list[tuple[list[float], list[float], int]]) -> bool:
    """Print what was measured; whether there was no error and no wait above the target."""
    waits = [wait for part, _, _ in results for wait in part]
    reads = [seconds for _, part, _ in results for seconds in part]
    rows = {
        "reader waits": waits,
        "whole reads": reads,
        "writer waits": written["waits"],
        "whole commits": written["commits"],
    }
    print(f"{'':14}{'n':>7}{'median s':>10}{'worst s':>10}")
    for name, times in ((name, times) for name, times in rows.items() if times):
        print(f"{name:14}{len(times):7}{median(times):10.3f}{max(times):10.3f}")
    errors = written["errors"] + sum(part for _, _, part in results)
    line = {
        "benchmark": "gate",
        "worst_write_wait_s": round(max(written["waits"], default=0), 3),
        "worst_read_wait_s": round(max(waits, default=0), 3),
        "commits": len(written["commits"]),
        "errors": errors,
        "target_s": TARGET,
        "met": not errors and max([*written["waits"], *waits], default=0) <= TARGET,
    }
    print(json.dumps(line))
    return bool(line["met"])


if __name__ == "__main__":
    main()
