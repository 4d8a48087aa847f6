"""How often tests at 5 % reject in worlds where nothing is to be found, one test a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.coverage import over_items
from benchmarks.planted import NOISE, planted_changes, shared_effects, version_noise
from core.stats.equivalence import is_equivalent
from core.stats.fragility import item_functioning
from core.stats.groups import Factor, clustered_ols
from core.stats.multiple import benjamini_hochberg
from core.stats.ranks import rank_test
from core.stats.resampling import sign_flip_test
from core.stats.wording import exchange_test, prediction_pvalue, wording_variance

Array = npt.NDArray[np.float64]
Rejections = npt.NDArray[np.bool_]

LEVEL, MOST = 0.05, 0.065
R = 999  # sign vectors in each world: 50 of 1,000 is 5 % exactly
BLOCK = 100  # worlds that share their sign vectors
MARGIN = 0.02
TAU = 0.01  # sd of the effect that all items of a rewording share
ITEMS = 360
SHARED_EFFECT_BOUNDS = {
    "prediction interval": (0.035, 0.065),
    "item test": (0.26, 0.33),
    "exchange test": (0.26, 0.33),
}


@dataclass(frozen=True)
class NullTest:
    """A test and the null worlds that it is tried in."""

    name: str
    worlds: Callable[[np.random.Generator, int], Rejections]
    design: str


def sign_flip(rng: np.random.Generator, n: int) -> Rejections:
    """One cell: changes of one model."""
    return _by_block(
        rng, n, lambda k: NOISE * np.sqrt(2) * rng.standard_normal((k, 60)), _sign_flips
    )


def sign_flip_heavy(rng: np.random.Generator, n: int) -> Rejections:
    """Changes with heavy tails."""
    return _by_block(rng, n, lambda k: 0.1 * rng.standard_t(3, (k, 60)), _sign_flips)


def sign_flip_binary(rng: np.random.Generator, n: int) -> Rejections:
    """Changes of a binary choice: -1, 0 or 1."""
    return _by_block(rng, n, lambda k: rng.integers(-1, 2, (k, 60)).astype(float), _sign_flips)


def sign_flip_exact(rng: np.random.Generator, n: int) -> Rejections:
    """Few changes, all sign vectors."""
    return _by_block(rng, n, lambda k: rng.standard_normal((k, 9)), _sign_flips)


def max_t(rng: np.random.Generator, n: int) -> Rejections:
    """Any of 20 cells that share their items, by step-down maxT."""
    return np.array([(_family(rng).pvalue_maxt < LEVEL).any() for _ in range(n)])


def false_discovery(rng: np.random.Generator, n: int) -> Rejections:
    """Any of the same cells at q < .05."""
    return np.array([(benjamini_hochberg(_family(rng).pvalue) < LEVEL).any() for _ in range(n)])


def _family(rng: np.random.Generator):
    """20 cells: five models in four languages that share the noise of the original."""
    noise = version_noise(rng, 5, 5, 80)
    changes = (noise[:, 1:] - noise[:, :1]).reshape(20, 80)
    return sign_flip_test(changes, n_resamples=R, rng=rng)


def item_test(rng: np.random.Generator, n: int) -> Rejections:
    """Item-level T of four models against three rewordings."""

    def beyond(_: int) -> Array:
        changes, reworded = planted_changes(rng, models=4, items=100, rewordings=3)
        return changes.mean(axis=0) - reworded.mean(axis=(0, 1))

    return _by_block(rng, n, lambda k: np.array([beyond(i) for i in range(k)]), _sign_flips)


def exchange(rng: np.random.Generator, n: int) -> Rejections:
    """Exchange of a translation with three rewordings that act on items independently."""
    return _by_block(
        rng,
        n,
        lambda k: shared_effects(rng, worlds=k, items=100, rewordings=3, tau=0.0),
        lambda rng, versions: exchange_test(versions, n_resamples=R, rng=rng) < LEVEL,
    )


def prediction(k: int, tau: float) -> Callable[[np.random.Generator, int], Rejections]:
    """A translation that is one more rewording, against the interval of k of them."""

    def worlds(rng: np.random.Generator, n: int) -> Rejections:
        return _by_block(
            rng,
            n,
            lambda size: shared_effects(rng, worlds=size, items=100, rewordings=k, tau=tau),
            lambda _, versions: _outside(versions),
        )

    return worlds


def equivalence(rng: np.random.Generator, n: int) -> Rejections:
    """Called equivalent though the true drop is the margin itself."""

    def world() -> bool:
        changes, reworded = planted_changes(rng, models=4, items=200, rewordings=3, drop=MARGIN)
        beyond = changes.mean(axis=0) - reworded.mean(axis=(0, 1))
        found = over_items(-beyond, rng, level=0.90, n_resamples=500)
        return bool(is_equivalent(found.low, found.high, MARGIN))

    return np.array([world() for _ in range(n)])


def functioning(rng: np.random.Generator, n: int) -> Rejections:
    """One item that the eight models do not agree on moving."""
    return item_functioning(NOISE * rng.standard_normal((8, n))).pvalue < LEVEL


def ranks(rng: np.random.Generator, n: int) -> Rejections:
    """Kruskal-Wallis of two groups of five models, p from all their labels."""
    return _rank_pvalues(rng, n, "pvalue_permutation") < LEVEL


def ranks_chi_square(rng: np.random.Generator, n: int) -> Rejections:
    """The same, p from chi-square."""
    return _rank_pvalues(rng, n, "pvalue") < LEVEL


def _rank_pvalues(rng: np.random.Generator, n: int, name: str) -> Array:
    labels = ["a"] * 5 + ["b"] * 5
    found = (rank_test(rng.standard_normal(10), labels, rng=rng) for _ in range(n))
    return np.array([getattr(test, name) for test in found])


def least_squares(rng: np.random.Generator, n: int) -> Rejections:
    """One coefficient of clustered least squares: a level that the items differ in."""
    items = np.repeat(np.arange(80), 4)
    level = np.where(items % 2, "odd", "even")

    def world() -> bool:
        values = rng.normal(0, 0.1, 80)[items] + rng.normal(0, NOISE, len(items))
        fit = clustered_ols(values, items, [Factor("level", level.tolist(), "even")])
        return fit.terms[1].pvalue < LEVEL

    return np.array([world() for _ in range(n)])


TESTS: tuple[NullTest, ...] = (
    NullTest("sign flip", sign_flip, "60 items"),
    NullTest("sign flip, heavy tails", sign_flip_heavy, "60 items, t with 3 df"),
    NullTest("sign flip, binary", sign_flip_binary, "60 items"),
    NullTest("sign flip, all sign vectors", sign_flip_exact, "9 items"),
    NullTest("maxT, any of 20 cells", max_t, "5 models x 4 languages, 80 items"),
    NullTest("BH at 5 %, any of 20 cells", false_discovery, "5 models x 4 languages, 80 items"),
    NullTest("item-level T", item_test, "4 models, 100 items, 3 rewordings"),
    NullTest("exchange test", exchange, "100 items, 3 rewordings"),
    NullTest("prediction interval, no effect", prediction(3, 0.0), "100 items, 3 rewordings"),
    NullTest("prediction interval, 5 rewordings", prediction(5, TAU), "100 items, tau .01"),
    NullTest("item functioning, one item", functioning, "8 models"),
    NullTest("Kruskal-Wallis, label permutation", ranks, "2 groups of 5 models"),
    NullTest("Kruskal-Wallis, chi-square", ranks_chi_square, "2 groups of 5 models"),
    NullTest("clustered OLS, one level", least_squares, "80 items x 4 rows"),
    NullTest("equivalence at the margin", equivalence, "4 models, 200 items, drop .02"),
)


def shared_effect_rates(
    rng: np.random.Generator, n: int, *, rewordings: int, items: int = ITEMS, tau: float = TAU
) -> dict[str, float]:
    """Rejections where every version has an effect on all its items and the language has none.

    The tests over items take that effect for the language's; only the prediction interval knows
    that a rewording has one too. By the normal formula they reject with the probability that
    |z| sqrt(1 + items tau^2 / noise^2) > 1.96, whatever the number of rewordings: .295.
    """
    found: dict[str, list[Rejections]] = {name: [] for name in SHARED_EFFECT_BOUNDS}
    for start in range(0, n, BLOCK):
        versions = shared_effects(
            rng, worlds=min(BLOCK, n - start), items=items, rewordings=rewordings, tau=tau
        )
        beyond = versions[:, 0] - versions[:, 1:].mean(axis=1)
        found["prediction interval"].append(_outside(versions))
        found["item test"].append(_sign_flips(rng, beyond))
        found["exchange test"].append(exchange_test(versions, n_resamples=R, rng=rng) < LEVEL)
    return {name: float(np.concatenate(parts).mean()) for name, parts in found.items()}


def _outside(versions: Array) -> Rejections:
    """Whether the first version lies outside the prediction interval of the others. (W,)"""
    pvalues = [prediction_pvalue(float(v[0].mean()), wording_variance(v[1:])) for v in versions]
    return np.array(pvalues) < LEVEL


def _sign_flips(rng: np.random.Generator, changes: Array) -> Rejections:
    return sign_flip_test(changes, n_resamples=R, rng=rng).pvalue < LEVEL


def _by_block(
    rng: np.random.Generator,
    n: int,
    drawn: Callable[[int], Array],
    rejected: Callable[[np.random.Generator, Array], Rejections],
) -> Rejections:
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    return np.concatenate([rejected(rng, drawn(size)) for size in sizes])
