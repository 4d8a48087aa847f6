"""Sign-flip tests beside scipy's, cell by cell, and how long an injection curve takes.

    python -m benchmarks.resampling [--cells 70] [--items 360] [--draws 20000] [--peer-cells 7]

Ours tests all cells with the same signs; `scipy.stats.permutation_test` tests one cell at a time.
P-values are compared first: equal where all sign vectors are enumerated, within Monte-Carlo error
where they are drawn; there are no ratios otherwise. scipy is timed on a few whole cells, at the
batch size that is fastest for it, and its seconds are multiplied up to all of them. Then the whole
injection curve: 6 shifts, 200 runs each, 30 model-rewording pairs, 2,000 draws. Prints tables and
one JSON line last; exit code 1 when something does not agree or a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.metadata import version

import numpy as np
import numpy.typing as npt
from scipy.stats import permutation_test

from core.settings import DEFAULT_SEED
from core.stats.injection import DELTAS, injection_curve
from core.stats.resampling import sign_flip_test

Array = npt.NDArray[np.float64]

SECONDS, RATIO, CURVE_SECONDS, SHIFT_SECONDS = 1.0, 30.0, 15.0, 2.0
BATCHES = (None, 500, 2_000)  # resamples that scipy holds at once; None: all
REPETITIONS = 5
PAIRS, RUNS, RUN_DRAWS = 30, 200, 2_000  # of an injection curve
SD = 0.2  # of a change, SS
EXACT_ITEMS = 12
STANDARD_ERRORS = 5  # of the difference of two Monte-Carlo p-values, as far apart as they may be


def simulated_changes(cells: int, items: int, rng: np.random.Generator) -> Array:
    """Changes of scores; half of the cells have a shift. A twentieth is missing. (C, N)"""
    shifts = np.where(np.arange(cells) % 2, 0.02, 0.0)
    changes = rng.normal(shifts[:, None], SD, (cells, items))
    return np.where(rng.random((cells, items)) < 0.05, np.nan, changes)


def scipy_pvalue(
    changes: Array, draws: float, rng: np.random.Generator, batch: int | None = None
) -> float:
    """Two-sided p-value of one cell, over the changes that it has."""
    known = changes[np.isfinite(changes)]
    found = permutation_test(
        (known,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=draws,
        batch=batch,
        rng=rng,
    )
    return float(found.pvalue)


def exact_difference(rng: np.random.Generator) -> float:
    """Largest difference between p-values over all sign vectors; it should be none."""
    cells = simulated_changes(20, EXACT_ITEMS, rng)
    ours = sign_flip_test(cells, n_resamples=2**EXACT_ITEMS, rng=rng)
    theirs = np.array([scipy_pvalue(cell, np.inf, rng) for cell in cells])
    return float(np.abs(ours.pvalue - theirs).max()) if ours.exact.all() else np.inf


def worst_standard_errors(ours: Array, theirs: Array, draws: int) -> float:
    """Largest difference of two drawn p-values over its standard error."""
    p = (ours + theirs) / 2
    error = np.sqrt(2 * p * (1 - p) / draws) + 1 / draws
    return float((np.abs(ours - theirs) / error).max())


def fastest_batch(changes: Array, draws: int, rng: np.random.Generator) -> int | None:
    """The batch size at which scipy is fastest on one cell."""
    seconds = {}
    for batch in BATCHES:
        began = time.perf_counter()
        scipy_pvalue(changes, draws, rng, batch)
        seconds[batch] = time.perf_counter() - began
    return min(seconds, key=lambda batch: seconds[batch])


def injection_seconds(items: int, rng: np.random.Generator) -> tuple[float, float]:
    """Seconds of the whole injection curve, and of one size of the shift."""
    original = rng.normal(0.1, 1.0, (PAIRS, items))
    reworded = 0.75 * original + rng.normal(0, 0.66, (PAIRS, items))
    seconds = []
    for deltas in (DELTAS, (0.2,)):
        began = time.perf_counter()
        injection_curve(original, reworded, deltas, n_runs=RUNS, n_resamples=RUN_DRAWS, rng=rng)
        seconds.append(time.perf_counter() - began)
    return seconds[0], seconds[1]


def compare(options: argparse.Namespace) -> int:
    """The whole comparison; 1 when something does not agree or a target is missed."""
    rng = np.random.default_rng(DEFAULT_SEED)
    cells, items, draws = options.cells, options.items, options.draws
    exact = exact_difference(rng)
    print(f"all sign vectors of {EXACT_ITEMS} items, 20 cells: p-values {exact:.1e} apart")
    changes = simulated_changes(cells, items, rng)
    timed = np.linspace(0, cells - 1, min(options.peer_cells, cells)).astype(int)
    batch = fastest_batch(changes[0], draws, rng)
    ours_seconds, scipy_seconds = [], []
    for repetition in range(REPETITIONS):
        began = time.perf_counter()
        ours = sign_flip_test(changes, n_resamples=draws, rng=rng)
        ours_seconds.append(time.perf_counter() - began)
        if repetition < 2:
            began = time.perf_counter()
            theirs = np.array([scipy_pvalue(changes[cell], draws, rng, batch) for cell in timed])
            scipy_seconds.append(time.perf_counter() - began)
    apart = worst_standard_errors(ours.pvalue[timed], theirs, draws)
    print(f"{draws} draws, {len(timed)} cells of {items} items: {apart:.1f} standard errors apart")
    if exact > 1e-12 or apart > STANDARD_ERRORS:
        print("scipy does not agree, so there are no ratios")
        problem = {"benchmark": "resampling", "problem": "no agreement", "met": False}
        print(json.dumps(problem | {"exact": exact, "standard_errors": apart}))
        return 1
    best = min(ours_seconds)
    scipy_best = min(scipy_seconds) * cells / len(timed)
    ratio = scipy_best / best
    print(f"\n{cells} cells x {items} items x {draws} draws{'seconds':>12}{'ours is':>10}")
    print(f"{'ours, with maxT':34}{best:12.3f}")
    print(f"{'scipy, cell by cell':34}{scipy_best:12.3f}{ratio:9.1f}x  (target {RATIO:.0f}x)")
    print(f"  from {len(timed)} whole cells at batch size {batch or draws}, times {cells}", end="")
    print(f"/{len(timed)}; best of {len(scipy_seconds)}, ours of {REPETITIONS}")
    curve, one_shift = injection_seconds(items, rng)
    print(
        f"\ninjection curve, {len(DELTAS)} shifts x {RUNS} runs x {PAIRS} pairs x {RUN_DRAWS} draws"
    )
    print(f"  {curve:.2f} s (target {CURVE_SECONDS:.0f} s)", end="")
    print(f", one shift {one_shift:.2f} s (target {SHIFT_SECONDS:.0f} s)")
    met = best <= SECONDS and ratio >= RATIO
    met = met and curve <= CURVE_SECONDS and one_shift <= SHIFT_SECONDS
    line = {
        "benchmark": "resampling",
        "seconds": {
            "ours": round(best, 3),
            "scipy": round(scipy_best, 2),
            "injection_curve": round(curve, 2),
            "injection_one_shift": round(one_shift, 2),
        },
        "ratios": {"scipy": round(ratio, 1)},
        "standard_errors_apart": round(apart, 2),
        "exact_apart": exact,
        "scipy_cells_timed": len(timed),
        "versions": {p: version(p) for p in ("numpy", "scipy")},
        "met": bool(met),
    }
    print(json.dumps(line))
    return 0 if met else 1


def main() -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=70)
    parser.add_argument("--items", type=int, default=360)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--peer-cells", type=int, default=7)
    sys.exit(compare(parser.parse_args()))


if __name__ == "__main__":
    main()
