"""How long readers and a writer wait for each other at the gate of the cache.

Sixteen threads of one process read a cache of about a million scores without pause for breath while
another process commits a batch of scores every half second. A wait is the time from asking for a
connection to having one: gate, opening and schema check. Target: no wait above 2 s, no error.

    python benchmarks/gate.py [--seconds 15] [--readers 16] [--items 350000]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

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
BATCH = 500
PAUSE = 0.5  # seconds of computing between two commits
READ = (
    "SELECT condition, count(*), avg(l_stereotype - l_anti), stddev(l_stereotype - l_anti) "
    "FROM item_score GROUP BY condition"
)


def fill(cache: Cache, n_items: int) -> None:
    """Items of three texts each, all scored, written as one batch without going through Python."""
    put_scorer(cache, SCORER)
    with cache.writing() as con:
        con.execute(
            "CREATE TEMP TABLE base AS SELECT i, i % 12 AS c, uuid() AS s, uuid() AS a, "
            "uuid() AS u, -2 - random() AS ls, -2 - random() AS la, -4 - random() AS lu "
            "FROM range(?) r(i)",
            [n_items],
        )
        con.execute(
            "INSERT INTO item SELECT 'd', i::VARCHAR, 'c' || c, '', '', '', '', '', false, "
            "'The nurse left.', 'She ' || i, 'He ' || i, 'Potato ' || i, NULL, [], '{}', false, '',"
            " s, a, u, NULL, i FROM base"
        )
        con.execute(
            "INSERT INTO token_score SELECT ?, t, range(10)::INTEGER[], [(x / 2)::FLOAT FOR _ IN "
            "range(10)], range(10)::INTEGER[], range(10)::INTEGER[], range(10)::INTEGER[], "
            "10 * x, 10, [] FROM (SELECT unnest([s, a, u]) AS t, unnest([ls, la, lu]) AS x "
            "FROM base)",
            [SCORER.scorer_id],
        )
        con.execute(
            "INSERT INTO item_score SELECT ?, 'd', i::VARCHAR, 'c' || c, ls, la, lu, NULL, 10 * ls,"
            " 10 * la, 10 * lu, NULL, 10, 10, 10, NULL, [] FROM base",
            [SCORER.scorer_id],
        )


def write(cache: Cache, seconds: float) -> None:
    """The writer process: prints its waits and the seconds of each whole commit as JSON."""
    waits: list[float] = []
    commits: list[float] = []
    errors = 0
    end = time.perf_counter() + seconds
    rng = np.random.default_rng(0)
    while time.perf_counter() < end:
        time.sleep(PAUSE)
        batch = [new_score(rng) for _ in range(BATCH)]
        start = time.perf_counter()
        try:
            with cache.writing():
                waits.append(time.perf_counter() - start)
            start = time.perf_counter()
            put_scores(cache, SCORER.scorer_id, batch)
        except Exception as error:
            errors += 1
            print(error, file=sys.stderr)
        commits.append(time.perf_counter() - start)
    print(json.dumps({"waits": waits, "commits": commits, "errors": errors}))


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
        time.sleep(0.1)
    return waits, reads, errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--items", type=int, default=350_000)
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        write(Cache(options.writer), options.seconds)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(Cache(Path(folder)), options.items, options.readers, options.seconds)


def measure(cache: Cache, n_items: int, n_readers: int, seconds: float) -> None:
    """Run the readers beside the writer and print the table and the JSON line."""
    fill(cache, n_items)
    size = cache.file.stat().st_size / 1e6
    print(f"{3 * n_items} scores, {n_items} items, {size:.0f} MB, {n_readers} reader threads")
    command = [sys.executable, __file__, "--seconds", str(seconds), "--writer", str(cache.folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
    report(written, results)


def report(written: dict, results: list[tuple[list[float], list[float], int]]) -> None:
    waits = [wait for part, _, _ in results for wait in part]
    reads = [seconds for _, part, _ in results for seconds in part]
    rows = {
        "reader waits": waits,
        "whole reads": reads,
        "writer waits": written["waits"],
        "whole commits": written["commits"],
    }
    print(f"{'':14}{'n':>7}{'median s':>10}{'worst s':>10}")
    for name, times in rows.items():
        print(f"{name:14}{len(times):7}{median(times):10.3f}{max(times):10.3f}")
    line = {
        "benchmark": "gate",
        "worst_write_wait_s": round(max(written["waits"]), 3),
        "worst_read_wait_s": round(max(waits), 3),
        "commits": len(written["commits"]),
        "errors": written["errors"] + sum(errors for _, _, errors in results),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
