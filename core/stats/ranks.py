"""Do groups of models differ? Kruskal-Wallis on one number per model, and its exact twin.

After "Lost in Translation" (arXiv 2610.20479). Models are few, so an exact permutation of their
labels stands beside the approximation by chi-square. Letters: M models, G groups, R resamples.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.known import varies

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankTest:
    """Kruskal-Wallis; NaN below two groups and where the values do not vary."""

    statistic: float  # H, corrected for ties
    pvalue: float  # of chi-square with G - 1 degrees of freedom
    pvalue_permutation: float  # of H under other labels
    n_labelings: int  # that it is from
    exact: bool  # these are all there are
    n: int
    sizes: dict[str, int]  # values by group


def rank_test(
    values: npt.ArrayLike,
    groups: Sequence[str],
    *,
    n_resamples: int = 20_000,
    rng: np.random.Generator,
) -> RankTest:
    """Kruskal-Wallis test of whether groups of models differ, and its exact twin.

    The permutation p is the share of all distinct labelings (M! / prod of n_g!) whose H is at least
    the observed one; where there are more than R, R are drawn and p = (1 + #) / (R + 1).

    Parameters
    ----------
    values : array, shape (M,)
        One per model; NaN is left out.
    groups
        Of each model; one with an empty label is left out.
    """
    from scipy.stats import kruskal, rankdata  # takes a second

    x, names = np.asarray(values, dtype=np.float64), np.asarray(groups, dtype=object)
    known = np.isfinite(x) & np.array([bool(g) for g in groups], dtype=bool)
    x, names = x[known], names[known]
    sizes = dict(Counter(sorted(names.tolist())))
    if len(sizes) < 2 or not varies(x):
        return RankTest(math.nan, math.nan, math.nan, 0, False, len(x), sizes)
    found = kruskal(*(x[names == name] for name in sizes))
    ranks = rankdata(x)
    n_distinct = math.factorial(len(x)) // math.prod(map(math.factorial, sizes.values()))
    exact = n_distinct <= n_resamples
    counts = list(sizes.values())
    if exact:
        codes = np.array(list(_labelings(counts, tuple(range(len(x))))))
    else:
        codes = rng.permuted(
            np.tile(np.repeat(np.arange(len(counts)), counts), (n_resamples, 1)), axis=1
        )
    order = {name: at for at, name in enumerate(sizes)}
    observed = _between(np.array([[order[name] for name in names]]), ranks, counts)[0]
    above = int((_between(codes, ranks, counts) >= observed * (1 - 1e-12)).sum())
    return RankTest(
        statistic=float(found.statistic),
        pvalue=float(found.pvalue),
        pvalue_permutation=above / n_distinct if exact else (1 + above) / (n_resamples + 1),
        n_labelings=len(codes),
        exact=exact,
        n=len(x),
        sizes=sizes,
    )


def _labelings(sizes: Sequence[int], places: tuple[int, ...]) -> Iterator[list[int]]:
    """Every way to deal places out to groups of these sizes: the group of each place."""

    def deal(group: int, free: tuple[int, ...], codes: list[int]) -> Iterator[list[int]]:
        if group == len(sizes) - 1:
            yield [group if place in free else code for place, code in enumerate(codes)]
            return
        for chosen in itertools.combinations(free, sizes[group]):
            taken = set(chosen)
            dealt = [group if place in taken else code for place, code in enumerate(codes)]
            yield from deal(group + 1, tuple(p for p in free if p not in taken), dealt)

    return deal(0, places, [0] * len(places))


def _between(codes: npt.NDArray[np.int64], ranks: Array, sizes: Sequence[int]) -> Array:
    """Sum over groups of (rank sum)^2 / size, which H rises with. Shape (labelings,)"""
    sums = [((codes == g) * ranks).sum(axis=1) ** 2 / size for g, size in enumerate(sizes)]
    return np.asarray(np.sum(sums, axis=0), dtype=np.float64)
