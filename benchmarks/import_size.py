"""Whether a large data set is imported in seconds, and in hardly more memory than a small one.

    python -m benchmarks.import_size [--pairs 50000] [--formats csv jsonl parquet]

Invented sentence pairs in the layout of CrowS-Pairs, a tenth of them and all, in each kind of file.
Each import is the whole command `python -m core import` in a process of its own on a new cache:
seconds from start to end, and the most memory that the process held. Prints a table and one JSON
line last; exit code 1 when not every pair is stored, an import takes longer than 15 s, or all pairs
take more than 1.5 times the memory of a tenth.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from core.settings import ROOT

SECONDS, MEMORY = 15.0, 1.5  # at most: of all pairs, and in proportion to a tenth
FORMATS = ("csv", "jsonl", "parquet")
GROUPS = ("young", "old", "poor", "rich", "rural", "urban")
WORDS = [
    *("painter", "baker", "sailor", "teacher", "walks", "speaks", "listens", "waits", "slowly"),
    *("never", "always", "near", "behind", "house", "river", "market", "although", "while"),
]


def made_pairs(n: int, seed: int = 1) -> list[dict[str, str]]:
    """Pairs of sentences of about 15 words that differ in one."""
    rng = random.Random(seed)
    pairs = []
    for number in range(n):
        more, less = rng.sample(GROUPS, 2)
        words = rng.choices(WORDS, k=14)
        at = rng.randrange(1, 14)
        one, other = (" ".join([*words[:at], w, *words[at:], f"{number}."]) for w in (more, less))
        pairs.append(
            {
                "id": str(number),
                "sent_more": one,
                "sent_less": other,
                "stereo_antistereo": rng.choice(("stereo", "antistereo")),
                "bias_type": rng.choice(("age", "socioeconomic", "region")),
            }
        )
    return pairs


def write(pairs: list[dict[str, str]], path: Path) -> None:
    """The pairs in a file of the kind that its name ends in."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(pairs), path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(f"{json.dumps(pair)}\n" for pair in pairs)
        else:
            writer = csv.DictWriter(file, list(pairs[0]))
            writer.writeheader()
            writer.writerows(pairs)


def measure(path: Path, cache: Path) -> dict[str, float]:
    """One import: items stored, seconds and peak memory of its process."""
    command = [sys.executable, "-m", "core", "import", str(path), "--cache", str(cache), "--json"]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        out.seek(0)
        said = json.load(out)
    return {"stored": said["stored"], "seconds": seconds, "peak_mb": used.ru_maxrss / 1024}


def compare(file_format: str, n_pairs: int, folder: Path) -> dict[str, float]:
    """A tenth of the pairs and all of them; how much memory grew."""
    rows = []
    for n in (n_pairs // 10, n_pairs):
        path = folder / f"pairs_{n}.{file_format}"
        write(made_pairs(n), path)
        rows.append(measure(path, folder / f"cache_{file_format}_{n}"))
        print(
            f"{file_format:9}{n:8}{rows[-1]['stored']:9}{rows[-1]['seconds']:9.2f}"
            f"{rows[-1]['peak_mb']:10.0f}",
            flush=True,
        )
    small, large = rows
    return {
        "missing": n_pairs // 10 + n_pairs - small["stored"] - large["stored"],
        "seconds": round(large["seconds"], 2),
        "peak_mb": round(large["peak_mb"]),
        "memory_ratio": round(large["peak_mb"] / small["peak_mb"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    options = parser.parse_args()
    print(f"{'format':9}{'pairs':>8}{'stored':>9}{'seconds':>9}{'peak MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        found = {f: compare(f, options.pairs, Path(folder)) for f in options.formats}
    met = all(
        row["missing"] == 0 and row["seconds"] <= SECONDS and row["memory_ratio"] <= MEMORY
        for row in found.values()
    )
    targets = {"seconds": SECONDS, "memory_ratio": MEMORY}
    print(json.dumps({"benchmark": "import_size"} | found | {"targets": targets, "met": met}))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
