"""How often a shift of a known size is found among 30 pairs of a model and a rewording.

Every run draws scores of its own: 360 items per pair, changes of a standard deviation of .196, and
in the second world a mean effect of each rewording, of sd .008. One pair is shifted, on the
log-odds, by what moves its mean score by .02, .04 or .06; all pairs are tested as in an audit (sign
flips, Benjamini-Hochberg). Beside it stands what "Lost in Translation" (arXiv 2610.20479) reports
for real scores. Then the whole curve of six sizes with 200 runs each is timed on one set of scores.
The exit code is 1 when a rate is off by more than 5 points or the curve takes more than 15 s.

    python -m benchmarks.detection [--runs 400] [--seed 20260928]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from core.settings import DEFAULT_SEED
from core.stats.injection import DELTAS, injection_curve

N_PAIRS, N_ITEMS = 30, 360
ITEM_SD = 0.196  # of a change
WORDING_SD = 0.008  # of a rewording's mean effect
SPREAD = 1.0  # sd of the items' log-odds, nats
SHIFTS = (0.02, 0.04, 0.06)
EXPECTED = {"without": (0.11, 0.73, 0.99), "with": (0.18, 0.73, 0.99)}
PUBLISHED = (0.19, 0.70, 0.94)
TOLERANCE = 0.05
EXAGGERATION = 1.8  # about, at a shift of .02
CURVE_RUNS = 200
CURVE_TARGET = 15.0  # seconds
N_RESAMPLES = 2_000
_SAMPLE = 200_000  # items by which log-odds are matched to scores


@dataclass(frozen=True)
class Scale:
    """Log-odds that give the changes and the shifts of scores that are asked for."""

    noise: float  # sd of one version's log-odds about the item's
    slope: float  # change of the mean score per nat, for small changes
    deltas: tuple[float, ...]  # of SHIFTS


@dataclass(frozen=True)
class Found:
    """What the runs of one shift came to."""

    shift: float  # true, mean over runs
    detection: float
    error: float  # Monte-Carlo standard error
    flags_among_rest: float
    exaggeration: float


def matched_scale() -> Scale:
    """Find the scale on one large sample of items."""
    rng = np.random.default_rng(0)
    item, one, other = rng.standard_normal((3, _SAMPLE))

    def excess(noise: float) -> float:
        change = expit(SPREAD * item + noise * one) - expit(SPREAD * item + noise * other)
        return float(change.std() - ITEM_SD)

    noise = float(brentq(excess, 0.01, 5.0))
    u = SPREAD * item + noise * one

    def moved(delta: float) -> float:
        return float((expit(u + delta) - expit(u)).mean())

    deltas = tuple(float(brentq(lambda d, x=x: moved(d) - x, 0.0, 3.0)) for x in SHIFTS)
    return Scale(noise, moved(1e-3) / 1e-3, deltas)


def pairs(rng: np.random.Generator, scale: Scale, wording_sd: float) -> tuple[np.ndarray, ...]:
    """Log-odds of originals and rewordings. (P, N) each"""
    item, one, other = rng.standard_normal((3, N_PAIRS, N_ITEMS))
    effect = rng.normal(0, wording_sd / scale.slope, (N_PAIRS, 1))
    original = SPREAD * item + scale.noise * one
    return original, SPREAD * item + scale.noise * other + effect


def detections(rng: np.random.Generator, scale: Scale, wording_sd: float, n_runs: int):
    """Runs with new scores each: what became of every shift."""
    points = [
        injection_curve(
            *pairs(rng, scale, wording_sd),
            scale.deltas,
            n_runs=1,
            n_resamples=N_RESAMPLES,
            rng=rng,
        )
        for _ in range(n_runs)
    ]
    return [found([run[s] for run in points]) for s in range(len(SHIFTS))]


def found(points) -> Found:
    """One shift over its runs."""
    rate = float(np.mean([p.detection for p in points]))
    shift = float(np.mean([p.shift for p in points]))
    estimates = [p.exaggeration * abs(p.shift) for p in points if p.n_detected]
    return Found(
        shift=shift,
        detection=rate,
        error=math.sqrt(rate * (1 - rate) / len(points)),
        flags_among_rest=float(np.mean([p.flags_among_rest for p in points])),
        exaggeration=float(np.mean(estimates)) / shift if estimates else math.nan,
    )


def print_table(worlds: dict[str, list[Found]]) -> None:
    """Rates beside what was expected and what is published."""
    print(
        f"{'wording variance':18}{'shift':>7}{'found':>8}{'+-':>7}{'expected':>10}{'published':>11}"
        f"{'flags':>7}{'exaggerated':>13}"
    )
    for name, rows in worlds.items():
        for row, expected, published in zip(rows, EXPECTED[name], PUBLISHED, strict=True):
            print(
                f"{name:18}{row.shift:7.4f}{row.detection:8.1%}{row.error:7.1%}{expected:10.0%}"
                f"{published:11.0%}{row.flags_among_rest:7.2f}{row.exaggeration:12.2f}x"
            )


def timed_curve(rng: np.random.Generator, scale: Scale) -> float:
    """Seconds of the whole curve on one set of scores, the better of two."""
    original, reworded = pairs(rng, scale, 0.0)
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        injection_curve(
            original, reworded, DELTAS, n_runs=CURVE_RUNS, n_resamples=N_RESAMPLES, rng=rng
        )
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    options = parser.parse_args()
    sys.exit(0 if measure(options.runs, options.seed) else 1)


def measure(n_runs: int, seed: int) -> bool:
    """Simulate, time, print table and JSON line; whether everything is as expected."""
    rng, scale = np.random.default_rng(seed), matched_scale()
    deltas = ", ".join(f"{delta:.3f}" for delta in scale.deltas)
    print(f"{N_PAIRS} pairs, {N_ITEMS} items, sd {ITEM_SD}, {n_runs} runs; log-odds {deltas} nats")
    worlds, seconds = {}, {}
    for name, wording_sd in (("without", 0.0), ("with", WORDING_SD)):
        start = time.perf_counter()
        worlds[name] = detections(rng, scale, wording_sd, n_runs)
        seconds[name] = round(time.perf_counter() - start, 2)
    print_table(worlds)
    seconds["curve"] = round(timed_curve(rng, scale), 2)
    print(
        f"{len(DELTAS)} sizes x {CURVE_RUNS} runs x {N_PAIRS} pairs x {N_RESAMPLES} sign vectors: "
        f"{seconds['curve']:.2f} s (target {CURVE_TARGET:.0f} s)"
    )
    off = {
        name: [abs(row.detection - x) for row, x in zip(rows, EXPECTED[name], strict=True)]
        for name, rows in worlds.items()
    }
    line = {
        "benchmark": "detection",
        "detection": {name: [round(r.detection, 4) for r in rows] for name, rows in worlds.items()},
        "expected": EXPECTED,
        "published": PUBLISHED,
        "exaggeration": {
            name: [round(r.exaggeration, 2) for r in rows] for name, rows in worlds.items()
        },
        "exaggeration_expected": EXAGGERATION,
        "runs": n_runs,
        "seconds": seconds,
        "met": max(max(values) for values in off.values()) <= TOLERANCE
        and seconds["curve"] <= CURVE_TARGET,
    }
    print(json.dumps(line))
    return bool(line["met"])


if __name__ == "__main__":
    main()
