"""Planted worlds of identity pairs: do the intervals of bias (W) and (M) cover what is true?

    python -m benchmarks.identity_worlds [--worlds 1000] [--seed N]

In each world 164 predicates are drawn, each said of two of nine identities, in 10 to 40 pairs of
each. A pair's stereotypical sentence is preferred where the leaning of its identity, an effect that
all pairs of its predicate share (sd 0.7) and noise (sd 1) together exceed 0, so that the share of
identity i is Phi(leaning_i / sqrt(1 + 0.7^2)) over all predicates there might be. The interval over
predicates should cover it in 93 to 97 % of the worlds; the binomial one, for which every pair is a
new finding, covers far less. The leanings are planted so that the average is near 50 % while
identities are at 97 % and 6 %. A share so near 0 has skewed draws, so that the identity at 6 % is
held to 90 % only; the interval of the spread is simultaneous over the identities and may cover more
often than it says. In as many worlds again all identities are truly alike: there the spread's
interval should hold 0, and chance should rarely put identities clearly on opposite sides. Prints a
table and one JSON line last; exit code 1 when a row is outside its bounds. Beside it stands how
often the interval of one identity covers by how few predicates it has: said, and not gating.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from core.settings import DEFAULT_SEED
from core.stats.identity_bias import (
    Codes,
    Tally,
    interval_of_share,
    predicate_tallies,
    tally,
    with_choices,
)
from core.stats.identity_spread import clear_sides, spread_interval
from core.stats.shares import wilson_interval

Array = npt.NDArray[np.float64]

SHARES = np.array([0.97, 0.06, 0.52, 0.45, 0.55, 0.48, 0.6, 0.4, 0.5])  # of each identity
PAIRS_OF = np.array([40, 40, 20, 20, 20, 20, 20, 20, 10])  # of each, for each of its predicates
N_PREDICATES, IDENTITIES_OF = 164, 2
PREDICATE_SD = 0.7
N_RESAMPLES = 1_000
LEAST, MOST = 0.93, 0.97
LEAST_SKEWED = 0.90
MOST_BINOMIAL = 0.75  # what a binomial interval covers where it is far too narrow
ALIKE = "spread, all alike"
MEASURES = ("bias (W)", "bias (M)", "identity at 52 %", "identity at 6 %", "spread")
SKEWED = ("identity at 6 %",)
CONSERVATIVE = ("spread", ALIKE)
FEW, FEW_SHARES, FEW_PAIRS = (6, 12, 20, 36), (0.5, 0.9, 0.97), 60
MOST_OPPOSITE = 0.05  # of the worlds where all are alike
BINOMIAL = ("bias (W)", "identity at 52 %", "identity at 6 %")
_MIDDLE, _LOW = 2, 1  # the places of these identities


@dataclass(frozen=True)
class World:
    """The pairs of a world under one model."""

    choices: Array  # (1, P)
    identities: Codes  # (P,)
    predicates: Codes  # (P,)


def truth() -> dict[str, float]:
    """What is true over all predicates there might be; identities get equally many of them."""
    return {
        "bias (W)": float((SHARES * PAIRS_OF).sum() / PAIRS_OF.sum()),
        "bias (M)": float(SHARES.mean()),
        "identity at 52 %": float(SHARES[_MIDDLE]),
        "identity at 6 %": float(SHARES[_LOW]),
        "spread": float(np.ptp(SHARES)),
    }


def world(rng: np.random.Generator, shares: Array = SHARES) -> World:
    """Predicates with their shared effects, and choices."""
    n = len(shares)
    about = np.argsort(rng.random((N_PREDICATES, n)), axis=1)[:, :IDENTITIES_OF].ravel()
    predicate = np.repeat(np.arange(N_PREDICATES), IDENTITIES_OF)
    effects = rng.normal(0, PREDICATE_SD, N_PREDICATES)
    times = PAIRS_OF[about]
    identities, predicates = np.repeat(about, times), np.repeat(predicate, times)
    leaning = ndtri(shares) * np.sqrt(1 + PREDICATE_SD**2)
    latent = leaning[identities] + effects[predicates] + rng.normal(0, 1, len(identities))
    return World((latent > 0).astype(np.float64)[None], identities, predicates)


def covered(n_worlds: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Share of worlds whose interval covers the truth, by predicates and by the binomial."""
    hits = {
        "predicates": dict.fromkeys(MEASURES, 0.0),
        "binomial": dict.fromkeys(BINOMIAL, 0.0),
    }
    true = truth()
    for _ in range(n_worlds):
        for way, intervals in _intervals(world(rng), rng).items():
            for measure, (low, high) in intervals.items():
                hits[way][measure] += (low <= true[measure] <= high) / n_worlds
    return hits


def all_alike(n_worlds: int, rng: np.random.Generator) -> tuple[float, float]:
    """Of worlds of equal identities: the share whose spread's interval holds 0, and where some
    identities are taken to lie clearly on opposite sides.
    """
    held = opposite = 0
    for _ in range(n_worlds):
        data, drawn, n_of = _resampled(world(rng, np.full(len(SHARES), 0.5)), rng)
        of = (data.shares[0], drawn.shares[:, 0], n_of)
        held += spread_interval(*of).low == 0
        opposite += {-1, 1} <= set(clear_sides(*of).tolist())
    return held / n_worlds, opposite / n_worlds


def few_predicates(n_worlds: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Coverage of one identity's share by how many predicates it has, and what is true."""
    found: dict[str, dict[str, float]] = {}
    for n in FEW:
        rates = found[f"{n} predicates"] = {}
        for share in FEW_SHARES:
            held = sum(_holds(n, share, rng) for _ in range(n_worlds))
            rates[f"at {100 * share:.0f} %"] = held / n_worlds
    return found


def _holds(n: int, share: float, rng: np.random.Generator) -> bool:
    predicates = np.repeat(np.arange(n), FEW_PAIRS)
    leaning = float(ndtri(share)) * np.sqrt(1 + PREDICATE_SD**2)
    effects = rng.normal(0, PREDICATE_SD, n)[predicates]
    choices = (leaning + effects + rng.normal(0, 1, len(predicates)) > 0).astype(np.float64)[None]
    of = (choices, np.zeros_like(predicates))
    drawn = predicate_tallies(*of, predicates, 1, n_resamples=N_RESAMPLES, rng=rng)
    value = float(tally(*of, 1).shares[0, 0])
    interval = interval_of_share(value, drawn.shares[:, 0, 0], n)
    return interval.low <= share <= interval.high


def _resampled(made: World, rng: np.random.Generator) -> tuple[Tally, Tally, Codes]:
    """Choices of the data and of resamples, and how many predicates each identity has."""
    of = (made.choices, made.identities)
    drawn = predicate_tallies(*of, made.predicates, len(SHARES), n_resamples=N_RESAMPLES, rng=rng)
    there = with_choices(*of, made.predicates, len(SHARES))
    return tally(*of, len(SHARES)), drawn, there[0].sum(axis=0)


def _intervals(made: World, rng: np.random.Generator) -> dict[str, dict[str, tuple[float, float]]]:
    data, drawn, n_of = _resampled(made, rng)
    values = {
        "bias (W)": (data.weighted[0], drawn.weighted[:, 0], N_PREDICATES),
        "bias (M)": (data.mean[0], drawn.mean[:, 0], N_PREDICATES),
    }
    totals = {"bias (W)": (data.sums.sum(), data.counts.sum())}
    for name, i in (("identity at 52 %", _MIDDLE), ("identity at 6 %", _LOW)):
        values[name] = (data.shares[0, i], drawn.shares[:, 0, i], int(n_of[i]))
        totals[name] = (data.sums[0, i], data.counts[0, i])
    found = {name: interval_of_share(*of) for name, of in values.items()}
    found["spread"] = spread_interval(data.shares[0], drawn.shares[:, 0], n_of)
    binomial = {name: wilson_interval(float(k), int(n)) for name, (k, n) in totals.items()}
    return {
        way: {name: (one.low, one.high) for name, one in intervals.items()}
        for way, intervals in (("predicates", found), ("binomial", binomial))
    }


def outside(rates: dict[str, dict[str, float]]) -> list[str]:
    """Names of the rows that are not within their bounds."""
    wrong = []
    for measure, rate in rates["predicates"].items():
        least = LEAST_SKEWED if measure in SKEWED else LEAST
        too_often = rate > MOST and measure not in CONSERVATIVE
        wrong += [measure] if rate < least or too_often else []
    return wrong + [f"{m}, binomial" for m, r in rates["binomial"].items() if r > MOST_BINOMIAL]


def main() -> None:
    """Read the options and run all worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    options = parser.parse_args()
    began = time.perf_counter()
    rng = np.random.default_rng([options.seed, *b"identities"])
    rates = covered(options.worlds, rng)
    print(f"Coverage in {options.worlds} worlds")
    print(f"{'':18}{'true':>8}{'predicates':>13}{'binomial':>11}")
    rates["predicates"][ALIKE], opposite = all_alike(options.worlds, rng)
    for measure, true in (truth() | {ALIKE: 0.0}).items():
        binomial = f"{rates['binomial'][measure]:11.3f}" if measure in BINOMIAL else ""
        print(f"{measure:18}{true:8.3f}{rates['predicates'][measure]:13.3f}{binomial}")
    print(f"Identities on opposite sides where all are alike: {opposite:.3f} of worlds")
    few = few_predicates(options.worlds, rng)
    for name, of in few.items():
        print(f"{name:>14}: " + ", ".join(f"{at} {rate:.3f}" for at, rate in of.items()))
    wrong = outside(rates) + (["opposite sides"] if opposite > MOST_OPPOSITE else [])
    line = {
        "benchmark": "identity_worlds",
        "worlds": options.worlds,
        "coverage": {way: {m: round(r, 4) for m, r in of.items()} for way, of in rates.items()},
        "opposite_of_alike": opposite,
        "few_predicates": few,
        "outside": wrong,
        "seconds": round(time.perf_counter() - began, 1),
        "met": not wrong,
    }
    print(json.dumps(line))
    sys.exit(0 if line["met"] else 1)


if __name__ == "__main__":
    main()
