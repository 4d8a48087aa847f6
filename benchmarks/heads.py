"""Head outputs of 300 sentences beside other programs, on the same model; and memory.

    python -m benchmarks.heads [--sentences 300] [--texts probes] [--rounds 3] [--peers ...]
                               [--poles 33 333]

Demo model, float32, two threads. Token means of every head's output for probe sentences of
WordNet's antonyms, of both families, which often begin alike (`--texts made`: for others, which
seldom do), by TransformerLens, nnsight and plain transformers one sentence at a time. Peers run in
environments of their own, warmed up, each at the batch size that is fastest for it, and pool within
their hooks as we do. Every number must agree with each peer's, or nothing is timed. Rounds are
interleaved and the best of each counts. Then the sums of so many poles of 30 sentences, in
processes of their own: peak memory must not grow with the number of sentences. Probes are to be
read twice as fast as by either other program, other sentences 1.8 times. Prints tables and one JSON
line last, which says which targets are met; exit code 1 when something does not agree or a target
is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from benchmarks.counting import Work, counting
from benchmarks.demo import THREADS, demo_folder, open_demo
from benchmarks.masked_texts import SLOTS
from benchmarks.matmul import best_rate, matmul_share
from benchmarks.peer import PACKAGES, TRANSFORMERS, Peer
from benchmarks.questions import STEP
from benchmarks.scoring import keep_best
from core.axes.antonyms import antonym_axes
from core.axes.sentences import probe_sentences
from core.axes.templates import FAMILIES
from core.axes.wordnet import open_wordnet
from core.heads.places import find_heads
from core.heads.pool import PooledOutputs, pooled_outputs
from core.heads.sums import pole_sums
from core.models.language_model import LanguageModel
from core.scoring.canaries import choose_layout
from core.scoring.logprobs import Layout
from core.settings import ROOT
from core.types import FloatArray, Text

PEER_PACKAGES = {
    "transformer_lens": ["transformer-lens==4.3.0", TRANSFORMERS],
    "nnsight": ["nnsight==0.8.1", TRANSFORMERS, "accelerate"],
}
PEERS = (*PEER_PACKAGES, "heads_one_at_a_time")
BATCH_SIZES = (8, 16, 32, 64)
TRIED = 64  # sentences on which each peer's batch size is chosen
LARGEST_DIFFERENCE = 1e-4  # of a mean; the largest of them are about 10
TARGETS = {"probes": 2.0, "made": 1.8}  # by kind of text: probes share their beginnings
MEMORY_TARGET = 1.1  # peak memory at the larger number of poles over that at the smaller

FORMS = (  # about 25 tokens each
    "{weather} The {who} waited for the {other} in front of the {place} {when}, but nobody had "
    "heard of {talk}.",
    "The {who} had promised the {other} to talk about {talk}, but {when} nobody came to the "
    "{place} at all.",
    "{weather} The {who} behind the {place} heard from a {other} about {talk} and wrote it down "
    "{when}.",
)
POLE = 30  # sentences
POLE_STEP = 97  # between the poles that are taken
POLES_AT_A_TIME = 10


def sentences(n: int) -> list[str]:
    """Sentences that are all different."""
    found: dict[str, None] = {}
    number = 0
    while len(found) < n:
        rest, filled = number * STEP, {}
        for slot, choices in SLOTS.items():
            rest, index = divmod(rest, len(choices))
            filled[slot] = choices[index]
        found[FORMS[number % len(FORMS)].format(**filled)] = None
        number += 1
    return list(found)


def probes(n: int) -> list[str]:
    """Probe sentences of poles from all over WordNet, their families in turns."""
    axes = antonym_axes(open_wordnet())
    poles = [axes[at * POLE_STEP % len(axes)].positive for at in range(-(-n // POLE))]
    found = [
        sentence
        for at, pole in enumerate(poles)
        for sentence in probe_sentences(pole, FAMILIES[at % len(FAMILIES)])
    ]
    return found[:n]


TEXTS = {"probes": probes, "made": sentences}


def our_means(language_model: LanguageModel, texts: Sequence[str]) -> FloatArray:
    """Token means of every head, (N, L, H * D); a text without one ends the program."""
    places = find_heads(language_model.model)
    means = np.empty((len(texts), places.n_layers, places.n_heads * places.head_dim), np.float32)
    for indices, outcome in pooled_outputs(language_model, texts, places=places, share=True):
        if not isinstance(outcome, PooledOutputs):
            sys.exit(f"not computed: {outcome}")
        means[indices] = outcome.mean.reshape(len(indices), *means.shape[1:])
    return means


def timed(language_model: LanguageModel, texts: Sequence[str]) -> float:
    """Seconds of our extraction."""
    start = time.perf_counter()
    our_means(language_model, texts)
    return time.perf_counter() - start


def asked(texts: Sequence[str], file: str = "") -> list[Text]:
    """What a peer is asked: the sentences, and where to save their means."""
    return [Text(str(i), file, text) for i, text in enumerate(texts)]


def peer_difference(peer: Peer, texts: Sequence[str], ours: FloatArray) -> float:
    """Largest difference of a mean; warms up the peer as well."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "means.npy")
        peer.score(asked(texts, file), BATCH_SIZES[1])
        return float(np.abs(np.load(file) - ours).max())


def fastest_batch_size(peer: Peer, texts: Sequence[str]) -> int:
    """The best of a few; one at a time has no choice."""
    if peer.name == "heads_one_at_a_time":
        return 1
    seconds = {n: peer.score(asked(texts), n)[0] for n in BATCH_SIZES}
    return min(seconds, key=lambda n: seconds[n])


def work_of(language_model: LanguageModel, texts: Sequence[str]) -> Work:
    """What our extraction computes, without padding and with common beginnings once."""
    with counting(language_model.model) as work:
        our_means(language_model, texts)
    return work


def compare(options: argparse.Namespace) -> dict[str, object]:
    """Agreement, then times; the line's part that tells them."""
    language_model = open_demo()
    if choose_layout(language_model)[0] is not Layout.PACKED:
        sys.exit("the demo model's self-check finds that shared beginnings move its numbers")
    texts = TEXTS[options.texts](options.sentences)
    whole = sum(map(len, language_model.tokenizer(texts).input_ids))
    work = work_of(language_model, texts)  # warms up as well
    print(
        f"{len(texts)} sentences, {whole} tokens, {work.tokens} with common beginnings once, "
        f"{work.padded_tokens} with padding"
    )
    ours = our_means(language_model, texts)
    differences, best = {}, {}
    PACKAGES.update(PEER_PACKAGES)
    with ExitStack() as stack:
        peers = [stack.enter_context(Peer(p, demo_folder(), THREADS)) for p in options.peers]
        for peer in peers:
            differences[peer.name] = peer_difference(peer, texts, ours)
            print(f"{peer.name} against ours: {differences[peer.name]:.1e}", flush=True)
        if max(differences.values(), default=0.0) > LARGEST_DIFFERENCE:
            print("the means do not agree, so nothing is timed")
            return {"problem": "no agreement", "max_differences": differences, "met": False}
        sizes = {peer.name: fastest_batch_size(peer, texts[:TRIED]) for peer in peers}
        for _ in range(options.rounds):
            keep_best(best, "ours", timed(language_model, texts))
            for peer in peers:
                keep_best(best, peer.name, peer.score(asked(texts), sizes[peer.name])[0])
    rate = best_rate(language_model.model, work, torch.float32, "cpu")
    share = matmul_share(language_model.model, work, best["ours"], rate)
    ratios = {name: best[name] / best["ours"] for name in options.peers}
    target = TARGETS[options.texts]
    targets_met = {name: ratios[name] >= target for name in PEER_PACKAGES if name in ratios}
    print_table(best, sizes, len(texts), target)
    print(f"matmul share {share:.1%} of {rate / 1e9:.0f} GFLOP/s")
    return {
        "ratios": {name.removeprefix("heads_"): round(r, 2) for name, r in ratios.items()},
        "matmul_share": round(share, 3),
        "max_differences": differences,
        "texts": options.texts,
        "sentences": len(texts),
        "tokens": whole,
        "tokens_shared": work.tokens,
        "tokens_with_padding": work.padded_tokens,
        "batches": work.batches,
        "seconds": {name: round(seconds, 2) for name, seconds in best.items()},
        "batch_sizes": sizes,
        "matmul_gflops": round(rate / 1e9, 1),
        "versions": {p: version(p) for p in ("torch", "transformers")}
        | {p: PEER_PACKAGES[p][0].split("==")[1] for p in options.peers if p in PEER_PACKAGES},
        "target": target,
        "targets_met": targets_met,
        "met": all(targets_met.values()),
    }


def print_table(best: dict[str, float], sizes: dict[str, int], n_texts: int, target: float) -> None:
    """Seconds and sentences per second, and how many times as fast ours is."""
    print(f"{'':21}{'seconds':>9}{'per s':>8}{'batch':>7}{'ours is':>9}{'target':>8}")
    for name, seconds in best.items():
        wanted = f"{target:.1f}x" if name in PEER_PACKAGES else ""
        print(
            f"{name:21}{seconds:9.2f}{n_texts / seconds:8.1f}{sizes.get(name, ''):>7}"
            f"{seconds / best['ours']:8.2f}x{wanted:>8}"
        )


def add_up(n_poles: int) -> None:
    """Sums of poles, a few at a time and none of them kept; prints the peak in MB.

    The peak counts from when the model is open, since opening takes more than reading does.
    """
    language_model = open_demo()
    Path("/proc/self/clear_refs").write_text("5")  # of Linux: forgets the peak so far
    places = find_heads(language_model.model)
    texts = sentences(n_poles * POLE)
    poles = [texts[start : start + POLE] for start in range(0, len(texts), POLE)]
    for start in range(0, len(poles), POLES_AT_A_TIME):
        some = poles[start : start + POLES_AT_A_TIME]
        for result in pole_sums(language_model, some, places=places, share=True):
            assert result.halves.n.sum() == POLE
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(int(peak) / 1024)


def peak_memory(sizes: Sequence[int]) -> dict[str, object]:
    """Peaks of processes that add up so many poles, and whether the largest grew."""
    peaks: dict[str, int] = {}
    for n_poles in sizes:
        command = [sys.executable, "-m", "benchmarks.heads", "--add-up", str(n_poles)]
        done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        peaks[str(n_poles * POLE)] = round(float(done.stdout.splitlines()[-1]))
        print(f"{n_poles * POLE} sentences: at most {peaks[str(n_poles * POLE)]} MB", flush=True)
    grew = max(peaks.values()) / min(peaks.values()) if peaks else 1.0
    return {"peak_mb": peaks, "memory_ratio": round(grew, 3), "met": grew <= MEMORY_TARGET}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=300, help="compared; 0: none")
    parser.add_argument("--texts", choices=TEXTS, default="probes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS)
    parser.add_argument("--poles", nargs="*", type=int, default=(33, 333), help="for memory")
    parser.add_argument("--add-up", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.add_up:
        add_up(options.add_up)
        return
    speed = compare(options) if options.sentences else {"met": True}
    memory = peak_memory(options.poles)
    met = bool(speed["met"]) and bool(memory["met"])
    print(json.dumps({"benchmark": "heads"} | speed | memory | {"met": met}))
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
