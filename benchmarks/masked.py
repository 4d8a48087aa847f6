"""Pseudo-log-likelihoods of a masked model beside minicons, on the same model and sentences.

    python -m benchmarks.masked [--sentences 24] [--pairs 24] [--repetitions 2]
    python -m benchmarks.masked --matmul    how much of our time is multiplication

A BERT of base size with random weights, float32, two threads. Two workloads: distinct sentences,
and pairs of template sentences, in which each occurs about three times and minicons scores every
occurrence. It runs in an environment of its own, warmed up, at the batch size that is fastest for
it. Every sentence's sum must agree, in both variants, or there are no ratios. Prints tables and one
JSON line last; exit code 1 when something does not agree or a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import torch

from benchmarks.counting import Work, counting
from benchmarks.demo import THREADS
from benchmarks.masked_texts import distinct_sentences, save_random_bert, template_pairs
from benchmarks.matmul import best_rate, matmul_share
from benchmarks.ours import Scores
from benchmarks.peer import PACKAGES, Peer
from benchmarks.scoring import keep_best, peer_difference
from core.items.texts import make_text
from core.models.language_model import LanguageModel
from core.models.opening import open_model
from core.scoring.masked import VARIANTS, Variant
from core.scoring.texts import score_texts
from core.settings import cache_folder
from core.types import Text, TokenScore

PEER = "minicons_masked"
# Its masked scorer calls `batch_encode_plus`, which transformers 5 no longer has.
PEER_PACKAGES = ["minicons==0.3.39", "transformers==4.57.6"]
BATCH_SIZES = (1, 2, 4, 8)  # sentences; each is as many rows as it has tokens
TRIED = 8  # sentences on which the peer's batch size is chosen, and the second variant compared
PER_PEER_TOKEN = 3e-5  # nats, of a sentence's sum
TARGETS = {"distinct": 0.9, "template_pairs": 3.0}


def our_scores(language_model: LanguageModel, texts: Sequence[Text], variant: Variant) -> Scores:
    """Our scores by text id; a text without one ends the program."""
    outcomes = [o for b in score_texts(language_model, texts, variant=variant) for o in b]
    scores = {o.text_id: o for o in outcomes if isinstance(o, TokenScore)}
    if left := [o for o in outcomes if o.text_id not in scores]:
        sys.exit(f"not scored: {left[0]}")
    return scores


def timed(language_model: LanguageModel, texts: Sequence[Text]) -> float:
    """Seconds of scoring the texts."""
    start = time.perf_counter()
    our_scores(language_model, texts, "original")
    return time.perf_counter() - start


def peer_scores(
    peer: Peer, texts: Sequence[Text], variant: Variant, batch_size: int
) -> tuple[float, list[float]]:
    """Seconds, and a sum for each text; the peer is told the variant in the context's place."""
    return peer.score([replace(text, context=variant) for text in texts], batch_size)


def fastest_batch_size(peer: Peer, texts: Sequence[Text]) -> int:
    """The best of a few."""
    seconds = {n: peer_scores(peer, texts, "original", n)[0] for n in BATCH_SIZES}
    return min(seconds, key=lambda n: seconds[n])


def difference(
    language_model: LanguageModel, peer: Peer, texts: Sequence[Text], variant: Variant
) -> float:
    """Largest difference of a sum per scored token; warms up both sides as well."""
    ours = our_scores(language_model, texts, variant)
    _, sums = peer_scores(peer, texts, variant, BATCH_SIZES[-1])
    return peer_difference(texts, ours, sums)


def variants_apart(language_model: LanguageModel, texts: Sequence[Text]) -> float:
    """Largest difference per token between our own variants: what a wrong mask would look like."""
    one, other = (our_scores(language_model, texts, variant) for variant in VARIANTS)
    return peer_difference(texts, one, [other[text.text_id].total for text in texts])


def compare(options: argparse.Namespace, folder: Path) -> int:
    """The whole comparison; 1 when something does not agree or a target is missed."""
    pairs = [sentence for pair in template_pairs(options.pairs) for sentence in pair]
    workloads = {
        "distinct": [make_text("", s) for s in distinct_sentences(options.sentences)],
        "template_pairs": [make_text("", s) for s in pairs],
    }
    distinct = workloads["distinct"]
    save_random_bert(folder, [t.continuation for texts in workloads.values() for t in texts])
    models = cache_folder() / "models"  # float32, because the device is a CPU
    language_model = open_model(str(folder), models_folder=models, device="cpu", kind="masked")
    for name, texts in workloads.items():
        print(f"{name}: {len(texts)} sentences, {len({t.text_id for t in texts})} different ones")
    PACKAGES[PEER] = PEER_PACKAGES
    differences, sizes = {}, {}
    best: dict[str, dict[str, float]] = {name: {} for name in workloads}
    with Peer(PEER, folder, THREADS) as peer:
        for variant, name, texts in (
            ("within_word_l2r", "distinct", distinct[:TRIED]),
            *(("original", name, texts) for name, texts in workloads.items()),
        ):
            found = difference(language_model, peer, texts, variant)
            differences[f"{name}, {variant}"] = found
            print(f"{name}, {variant}: minicons against ours {found:.1e} per scored token")
            if found > PER_PEER_TOKEN:
                print("minicons does not agree, so nothing is timed")
                problem = {"benchmark": "masked", "problem": "no agreement", "met": False}
                print(json.dumps(problem | {"max_difference": found}))
                return 1
        apart = variants_apart(language_model, distinct[:TRIED])
        print(f"our own two variants: {apart:.1e} apart")
        for name, texts in workloads.items():
            sizes[name] = fastest_batch_size(peer, texts[:TRIED])
        for _ in range(options.repetitions):
            for name, texts in workloads.items():
                keep_best(best[name], "ours", timed(language_model, texts))
                seconds, _ = peer_scores(peer, texts, "original", sizes[name])
                keep_best(best[name], "minicons", seconds)
    ratios = {name: found["minicons"] / found["ours"] for name, found in best.items()}
    print_table(best, sizes, {name: len(texts) for name, texts in workloads.items()})
    line = {
        "benchmark": "masked",
        "ratios": {name: round(ratio, 2) for name, ratio in ratios.items()},
        "max_difference": max(differences.values()),
        "max_differences": differences,
        "variants_apart": apart,
        "sentences": {name: len(texts) for name, texts in workloads.items()},
        "different": {name: len({t.text_id for t in texts}) for name, texts in workloads.items()},
        "seconds": {name: {k: round(s, 2) for k, s in own.items()} for name, own in best.items()},
        "batch_sizes": sizes,
        "versions": {p: version(p) for p in ("torch", "transformers")}
        | {"minicons": PEER_PACKAGES[0].split("==")[1]}
        | {"minicons' transformers": PEER_PACKAGES[1].split("==")[1]},
        "met": all(ratios[name] >= target for name, target in TARGETS.items()),
    }
    if options.matmul:
        works = {name: work_of(language_model, texts) for name, texts in workloads.items()}
        line |= matmul_line(
            language_model, works, {name: own["ours"] for name, own in best.items()}
        )
    print(json.dumps(line))
    return 0 if line["met"] else 1


def work_of(language_model: LanguageModel, texts: Sequence[Text]) -> Work:
    """What scoring the texts computes."""
    with counting(language_model.model) as work:
        our_scores(language_model, texts, "original")
    return work


def matmul_line(
    language_model: LanguageModel, works: dict[str, Work], seconds: dict[str, float]
) -> dict[str, dict[str, float]]:
    """Share of multiplications in each workload, printed and for the line.

    The transform in front of the vocabulary counts for every token, though it is computed at masked
    positions only; it is 0.7 % of the weights.
    """
    shares = {}
    for name, work in works.items():
        rate = best_rate(language_model.model, work, torch.float32, "cpu")
        shares[name] = round(matmul_share(language_model.model, work, seconds[name], rate), 3)
        print(f"{name}: matmul share {shares[name]:.1%} of {rate / 1e9:.0f} GFLOP/s")
    return {
        "matmul_share": shares,
        "tokens_computed": {name: work.tokens for name, work in works.items()},
        "projected": {name: work.projected for name, work in works.items()},
        "batches": {name: work.batches for name, work in works.items()},
    }


def print_table(
    best: dict[str, dict[str, float]], sizes: dict[str, int], counts: dict[str, int]
) -> None:
    """Seconds and sentences per second of both, and how many times as fast ours is."""
    print(f"{'':16}{'ours':>8}{'minicons':>10}{'per s':>8}{'per s':>8}{'batch':>7}{'ours is':>9}")
    for name, own in best.items():
        ours, theirs = own["ours"], own["minicons"]
        print(
            f"{name:16}{ours:7.2f}s{theirs:9.2f}s{counts[name] / ours:8.2f}"
            f"{counts[name] / theirs:8.2f}{sizes[name]:7}{theirs / ours:8.2f}x"
            f"  (target {TARGETS[name]:.1f}x)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--matmul", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        code = compare(options, Path(folder))
    sys.exit(code)


if __name__ == "__main__":
    main()
