"""Planted worlds: do the intervals cover what is true, and do the tests leave alone what is not?

    python -m benchmarks.worlds [--coverage 1000] [--null 2000] [--seed N]

Each analysis draws its intervals in 1,000 worlds whose truth is known; a 95 % interval should cover
it in 93 to 97 %. Each test is run in 2,000 worlds where nothing is to be found and may reject in at
most 6.5 %. Bootstraps take 1,000 draws in a world, sign flips 999, which is fewer than an audit
takes and changes neither rate. A row that cannot keep its bounds says why and is held to the number
that it has. Last, worlds in which every rewording moves all its items by an effect of sd .01 and
the language does nothing, five times as many: the tests over items reject much more often than 5 %
there, and only the prediction interval does not. Prints tables and one JSON line last; exit code 1
when a row is outside its bounds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np

from benchmarks.coverage import ANALYSES, covered
from benchmarks.false_alarms import (
    ITEMS,
    MOST,
    SHARED_EFFECT_BOUNDS,
    TAU,
    TESTS,
    shared_effect_rates,
)
from core.settings import DEFAULT_SEED

REWORDINGS = (3, 5)
SHARED_TIMES = 5  # as many worlds, for bounds that are narrow on both sides


def print_coverage(n: int, seed: int) -> dict[str, float]:
    """One row per analysis, and which are outside."""
    print(f"Coverage in {n} worlds\n{'analysis':38}{'covered':>9}{'none':>6}  design")
    found = {}
    for analysis in ANALYSES:
        rate, undefined = covered(analysis, n, _rng(seed, analysis.name))
        found[analysis.name] = rate
        ok = analysis.least <= rate <= analysis.most
        mark = "" if ok else f"  OUTSIDE {analysis.least:.2f}-{analysis.most:.2f}"
        print(f"{analysis.name:38}{rate:9.3f}{undefined:6}  {analysis.design}{mark}", flush=True)
        if analysis.because:
            print(f"{'':55}held to {analysis.least:.2f}-{analysis.most:.2f}: {analysis.because}")
    return found


def print_false_alarms(n: int, seed: int) -> dict[str, float]:
    """One row per test."""
    print(f"\nFalse alarms in {n} null worlds\n{'test':38}{'rejected':>9}{'at most':>9}  design")
    found = {}
    for test in TESTS:
        rate = float(test.worlds(_rng(seed, test.name), n).mean())
        found[test.name] = rate
        mark = "" if rate <= MOST else "  OUTSIDE"
        print(f"{test.name:38}{rate:9.4f}{MOST:9.3f}  {test.design}{mark}", flush=True)
    return found


def print_shared_effects(n: int, seed: int) -> dict[str, dict[str, float]]:
    """Three tests in the same worlds, for each number of rewordings."""
    print(f"\nRejections in {n} worlds without a language effect, in which each rewording moves")
    print(f"all its {ITEMS} items by an effect of sd {TAU}")
    print(f"{'rewordings':12}" + "".join(f"{name:>22}" for name in SHARED_EFFECT_BOUNDS))
    found = {}
    for k in REWORDINGS:
        rng = _rng(seed, f"shared {k}")
        found[str(k)] = shared_effect_rates(rng, n, rewordings=k)
        print(
            f"{k:<12}" + "".join(f"{found[str(k)][name]:22.3f}" for name in SHARED_EFFECT_BOUNDS),
            flush=True,
        )
    bounds = (f"{low:.3f} to {high:.3f}" for low, high in SHARED_EFFECT_BOUNDS.values())
    print(f"{'expected':12}" + "".join(f"{text:>22}" for text in bounds))
    return found


def outside(
    coverage: dict[str, float],
    alarms: dict[str, float],
    shared: dict[str, dict[str, float]],
) -> list[str]:
    """Names of the rows that are not within their bounds."""
    wrong = [a.name for a in ANALYSES if not a.least <= coverage[a.name] <= a.most]
    wrong += [name for name, rate in alarms.items() if not rate <= MOST]
    for k, rates in shared.items():
        wrong += [
            f"{name}, {k} rewordings with shared effects"
            for name, (low, high) in SHARED_EFFECT_BOUNDS.items()
            if not low <= rates[name] <= high
        ]
    return wrong


def _rng(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])


def main() -> None:
    """Read the options and run all worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", type=int, default=1_000)
    parser.add_argument("--null", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    options = parser.parse_args()
    began = time.perf_counter()
    coverage = print_coverage(options.coverage, options.seed)
    alarms = print_false_alarms(options.null, options.seed)
    shared = print_shared_effects(SHARED_TIMES * options.null, options.seed)
    wrong = outside(coverage, alarms, shared)
    line = {
        "benchmark": "worlds",
        "worlds": options.coverage,
        "null_worlds": options.null,
        "coverage": {name: round(rate, 4) for name, rate in coverage.items()},
        "false_alarms": {name: round(rate, 4) for name, rate in alarms.items()},
        "shared_effects": shared,
        "outside": wrong,
        "seconds": round(time.perf_counter() - began, 1),
        "met": not wrong,
    }
    print(json.dumps(line))
    sys.exit(0 if line["met"] else 1)


if __name__ == "__main__":
    main()
