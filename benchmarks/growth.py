"""Whether time per text and memory stay the same when there are ten times as many texts.

    python -m benchmarks.growth [--demo 10000] [--tiny 100000]

The demo model at a tenth of 10,000 texts and at all of them, a tiny random model likewise up to
100,000. Every size is a scoring job of its own process on a new cache that was filled by another
process, so that its peak memory is the job's alone and the store's growth counts. Time per text
runs from the first computed batch to the end of the job, because what a job does once would weigh
more on the smaller one and flatter the ratio; the seconds before that batch stand beside it. Prints
a table and one JSON line last; exit code 1 when a text is not scored, or time per text or peak
memory grew by more than a fifth. A size of 0 leaves a model out.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.demo import THREADS
from benchmarks.questions import generated_items
from core.items.texts import item_texts
from core.jobs.progress import Progress
from core.jobs.run import score_dataset
from core.score_request import ScoreRequest
from core.settings import ROOT, cache_folder
from core.store.gate import Cache
from core.store.items import put_dataset
from tests.tiny_models import save_tiny
from tests.tiny_tokenizers import byte_level_bpe

TARGET = 1.2
DATASET = "growth"
WINDOW = 512


def fill(folder: Path, n_texts: int) -> None:
    """A new cache with the items; run in a process of its own."""
    items = generated_items(n_texts)
    texts = {text.text_id for item in items for text in item_texts(item).values()}
    assert len(texts) == 3 * len(items)
    put_dataset(Cache(folder), DATASET, items, path="", format="simulated", sha256="")


def score(folder: Path, model: str) -> None:
    """The job; prints its seconds per text and its peak memory as JSON."""
    torch.set_num_threads(THREADS)
    began: list[float] = []  # of scoring, then of what is timed
    untimed = 0  # texts of the first batch

    def watch(progress: Progress) -> None:
        nonlocal untimed
        if progress.phase == "scoring" and not began:
            began.append(time.perf_counter())
        elif len(began) == 1 and progress.done_texts:
            began.append(time.perf_counter())
            untimed = progress.done_texts

    cache = Cache(folder)
    (folder / "models").symlink_to(cache_folder().resolve() / "models")
    request = ScoreRequest(model=model, dataset=DATASET, dtype="float32", device="cpu")
    result = score_dataset(cache, request, watch=watch)
    seconds = time.perf_counter() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = {
        "texts": result.computed,
        "failed": result.failed,
        "start_s": began[1] - began[0],
        "ms_per_text": 1000 * seconds / (result.computed - untimed),
        "peak_mb": peak,
        "cache_mb": cache.file.stat().st_size / 1e6,
    }
    print(json.dumps(row))


def measure(model: str, n_texts: int) -> dict[str, float]:
    """One size, filled and scored in two fresh processes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.growth", "--in-cache", folder]
        subprocess.run([*command, "--fill", str(n_texts)], check=True, cwd=ROOT)
        done = subprocess.run(
            [*command, "--score", model], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
    row: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return row


def compare(name: str, model: str, n_texts: int) -> dict[str, float]:
    """A tenth of the texts and all of them; how much time per text and memory grew."""
    small, large = [measure(model, n) for n in (n_texts // 10, n_texts)]
    for row in (small, large):
        print(
            f"{name:6}{row['texts']:9}{row['failed']:8}{row['start_s']:9.2f}"
            f"{row['ms_per_text']:13.3f}{row['peak_mb']:10.0f}{row['cache_mb']:10.1f}",
            flush=True,
        )
    return {
        "texts": large["texts"],
        "failed": small["failed"] + large["failed"],
        "ms_per_text": round(large["ms_per_text"], 3),
        "peak_mb": round(large["peak_mb"]),
        "time_ratio": round(large["ms_per_text"] / small["ms_per_text"], 3),
        "memory_ratio": round(large["peak_mb"] / small["peak_mb"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=int, default=10_000, help="texts under the demo model")
    parser.add_argument("--tiny", type=int, default=100_000, help="texts under the tiny model")
    parser.add_argument("--in-cache", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fill", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--score", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        fill(options.in_cache, options.fill)
        return
    if options.score:
        score(options.in_cache, options.score)
        return
    print(
        f"{'model':6}{'texts':>9}{'failed':>8}{'start s':>9}{'ms per text':>13}{'peak MB':>10}"
        f"{'cache MB':>10}"
    )
    models: dict[str, dict[str, float]] = {}
    if options.demo:
        models["demo"] = compare("demo", "demo", options.demo)
    if options.tiny:
        with tempfile.TemporaryDirectory() as folder:
            path = save_tiny(
                Path(folder), "llama", byte_level_bpe(), max_position_embeddings=WINDOW
            )
            models["tiny"] = compare("tiny", str(path), options.tiny)
    ratios = [m[r] for m in models.values() for r in ("time_ratio", "memory_ratio")]
    met = max(ratios, default=0.0) <= TARGET and not any(m["failed"] for m in models.values())
    print(json.dumps({"benchmark": "growth"} | models | {"target": TARGET, "met": met}))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
