"""Three tests of a translation where wordings move all items alike and the language moves nothing.

In each world, one original, K rewordings and one translation of the same items have noise of their
own on every item, and each version but the original a shift of all its items, drawn from one normal
distribution. So the translation is just one more wording. The item test (sign flips of its change
minus the mean of the rewordings') and the exchange test take the shift for an effect of the
language; the prediction interval allows for it. The exit code is 1 when one of them rejects
otherwise than expected.

    python -m benchmarks.wording_worlds [--worlds 4000]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

import numpy as np

from core.stats.power import LEVEL, RejectionRate, rejection_rate
from core.stats.resampling import sign_flip_test
from core.stats.wording import exchange_test, prediction_pvalue, wording_variance

EXPECTED = {
    "item test": (0.26, 0.32),
    "exchange test": (0.26, 0.32),
    "prediction interval": (0.035, 0.065),
}
N_ITEMS, N_REWORDINGS = 360, 3
EFFECT = 0.01  # sd over wordings of what each does to all its items
NOISE = 0.12  # sd of one version's items; of a change, which has two, 0.17


def rejections(
    *,
    n_worlds: int,
    effect: float = EFFECT,
    noise: float = NOISE,
    n_items: int = N_ITEMS,
    n_rewordings: int = N_REWORDINGS,
    n_resamples: int = 2_000,
    rng: np.random.Generator,
) -> dict[str, RejectionRate]:
    """How often each test calls the translation a shift at p < .05, though it is none."""
    k = n_rewordings + 1
    versions = rng.normal(0, noise, (n_worlds, k, n_items))
    versions += rng.normal(0, effect, (n_worlds, k, 1)) - rng.normal(
        0, noise, (n_worlds, 1, n_items)
    )
    # Items come in an order of their own in each world, so worlds may share their draws.
    differences = versions[:, 0] - versions[:, 1:].mean(axis=1)
    pvalues = {
        "item test": sign_flip_test(differences, n_resamples=n_resamples, rng=rng).pvalue,
        "exchange test": exchange_test(versions, n_resamples=n_resamples, rng=rng),
        "prediction interval": np.array(
            [prediction_pvalue(float(v[0].mean()), wording_variance(v[1:])) for v in versions]
        ),
    }
    return {
        name: rejection_rate(0.0, int((p < LEVEL).sum()), n_worlds, n_items)
        for name, p in pvalues.items()
    }


def normal_rate(effect: float = EFFECT, noise: float = NOISE, n_items: int = N_ITEMS) -> float:
    """What a test over items comes to by the normal formula, for any number of rewordings."""
    inflated = math.sqrt(1 + n_items * effect**2 / noise**2)
    return math.erfc(1.959964 / inflated / math.sqrt(2))


def print_table(found: dict[str, RejectionRate]) -> None:
    """Rates of rejection with their Monte-Carlo errors, and what was expected."""
    print(f"{'':20}{'worlds':>8}{'rejects':>9}{'+-':>7}   expected")
    for name, rate in found.items():
        low, high = EXPECTED[name]
        print(
            f"{name:20}{rate.n_worlds:8}{rate.rate:9.1%}{rate.error:7.1%}   {low:.1%} to {high:.1%}"
        )


def met(found: dict[str, RejectionRate]) -> bool:
    """Whether every test rejects as often as expected."""
    return all(low <= found[name].rate <= high for name, (low, high) in EXPECTED.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=20260928)
    options = parser.parse_args()
    start = time.perf_counter()
    found = rejections(n_worlds=options.worlds, rng=np.random.default_rng(options.seed))
    seconds = time.perf_counter() - start
    print(
        f"{N_ITEMS} items, {N_REWORDINGS} rewordings, a shift of all items of sd {EFFECT}, no"
        f" language effect; by the normal formula a test over items rejects {normal_rate():.1%}"
    )
    print_table(found)
    line = {
        "benchmark": "wording_worlds",
        "rates": {name: round(rate.rate, 4) for name, rate in found.items()},
        "errors": {name: round(rate.error, 4) for name, rate in found.items()},
        "n_worlds": options.worlds,
        "seconds": round(seconds, 2),
        "met": met(found),
    }
    print(json.dumps(line))
    sys.exit(0 if line["met"] else 1)


if __name__ == "__main__":
    main()
