"""Bias of sentence pairs by identity: over all pairs, over identities, and how far these lie apart.

After "WinoQueer-NL" (arXiv 2609.02651). A pair's choice is 1 where the stereotypical sentence is
preferred, 0 where the other one is and 1/2 on a tie; NaN where it has no score or is uninformative:
such a pair enters nothing. With s_i the share of the stereotypical choices among the pairs of
identity i, and n_i their number,

    bias (W) = sum_i n_i s_i / sum_i n_i,   bias (M) = mean_i s_i,   spread = max_i s_i - min_i s_i

over the identities that have a pair; 1/2 is neutral. bias (W) follows the identities with the most
pairs, and both hide identities that go opposite ways.

Pairs of one predicate say nearly the same thing, so that what is resampled is the predicate, with
all its pairs. Drawing them is one matrix product of weights and sums per predicate, never a list of
drawn pairs. The ends are quantiles of the draws, taken further out as Student's t asks for few
predicates (Hesterberg 2015, expanded percentiles); shares near 0 or 1 still have intervals that are
a little too narrow (benchmarks/identity_worlds.py). That of the spread is in identity_spread.py.

Letters: P pairs, M models, I identities, C predicates, R resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

from core.stats.intervals import Interval, percentile_interval
from core.stats.levels import CONFIDENCE, LEAST_ITEMS
from core.stats.resampling import bootstrap_weights
from core.stats.shares import wilson_interval

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

NEUTRAL = 0.5
FEW_PREDICATES = 20  # below, an interval over predicates covers less often than it says
LEAST_LEVELS = 5  # of a template or name: fewer are held as they are and not drawn
_AT_A_TIME = 4_000_000  # numbers of a block of resamples, 32 MB


@dataclass(frozen=True)
class Tally:
    """Choices by identity, of the data or of resamples. Arrays of shape (..., I)"""

    sums: Array  # of the choices
    counts: Array  # pairs with a choice

    @property
    def shares(self) -> Array:
        """Share of stereotypical choices of each identity; NaN without a pair. Shape (..., I)"""
        return _ratio(self.sums, self.counts)

    @property
    def weighted(self) -> Array:
        """Bias (W): the share over all pairs. Shape (...)"""
        return _ratio(self.sums.sum(axis=-1), self.counts.sum(axis=-1))

    @property
    def mean(self) -> Array:
        """Bias (M): the mean of the identities' shares, empty ones left out. Shape (...)"""
        there = self.counts > 0
        return _ratio(np.where(there, self.shares, 0.0).sum(axis=-1), there.sum(axis=-1))

    @property
    def spread(self) -> Array:
        """Largest less smallest share of an identity; NaN below two identities. Shape (...)"""
        there = self.counts > 0
        high = np.where(there, self.shares, -np.inf).max(axis=-1, initial=-np.inf)
        low = np.where(there, self.shares, np.inf).min(axis=-1, initial=np.inf)
        several = there.sum(axis=-1) > 1
        return np.asarray(np.subtract(high, low, out=np.full(high.shape, np.nan), where=several))


def tally(choices: Array, identities: Codes, n_identities: int) -> Tally:
    """Choices by identity.

    Parameters
    ----------
    choices : array, shape (M, P)
        1, 1/2 or 0; NaN where a pair has none.
    identities : array, shape (P,)
        Which identity a pair is about, from 0 on.
    """
    return _tally(*_summed(choices, identities, n_identities))


def predicate_tallies(
    choices: Array,
    identities: Codes,
    predicates: Codes,
    n_identities: int,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    weights: Array | None = None,
) -> Tally:
    """Tallies of resamples of the predicates, each with all its pairs. Shape (R, M, I)

    Models, identities and data sets share what is drawn, so that they may be compared draw by draw.

    Parameters
    ----------
    predicates : array, shape (P,)
        Which predicate a pair has, from 0 on.
    weights : array, shape (R, C)
        Draws to use, as of `bootstrap_weights`.
    """
    n_predicates = int(predicates.max(initial=-1)) + 1
    if weights is None:
        weights = bootstrap_weights(n_predicates, n_resamples, rng=rng)
    n_cells = weights.shape[1] * n_identities
    cells = predicates * n_identities + identities
    drawn = []
    for of in _summed(choices, cells, n_cells):
        by_predicate = of.reshape(len(of), weights.shape[1], n_identities).transpose(1, 0, 2)
        flat = weights @ by_predicate.reshape(weights.shape[1], len(of) * n_identities)
        drawn.append(flat.reshape(len(weights), len(of), n_identities))
    return _tally(*drawn)


def interval_over_predicates(
    value: float, draws: npt.ArrayLike, n: int, *, level: float = CONFIDENCE
) -> Interval:
    """Interval of a number from resamples of the n predicates behind it; NaN ends below five.

    The quantiles are those of Phi(-+ t sqrt(n / (n - 1))), with t of n - 1 degrees of freedom.
    """
    return percentile_interval(value, draws, n, level=expanded_level(n, level))


def interval_of_share(
    value: float, draws: npt.ArrayLike, n: int, *, level: float = CONFIDENCE
) -> Interval:
    """Interval of a share from resamples of the n predicates behind it; NaN ends below five.

    Where less than one predicate's worth of pairs goes against the others, draws hardly vary or not
    at all, which says little of the predicates that were not asked: the interval then holds at
    least Wilson's, of n predicates with this share.
    """
    found = interval_over_predicates(value, draws, n, level=level)
    agree = n >= LEAST_ITEMS and n * min(value, 1 - value) < 1
    if not agree or (math.isnan(found.low) and value not in (0.0, 1.0)):
        return found
    usual = wilson_interval(value * n, n, level=level)
    low, high = np.fmin(found.low, usual.low), np.fmax(found.high, usual.high)
    return replace(found, low=float(low), high=float(high))


def expanded_level(n: int, level: float) -> float:
    """The level of the quantiles that an interval over n predicates has at its ends."""
    if n < 2:
        return level
    z = float(stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(n / (n - 1))
    return 2 * float(ndtr(z)) - 1


def with_choices(
    choices: Array,
    identities: Codes,
    predicates: Codes,
    n_identities: int,
    n_predicates: int | None = None,  # as many as there are in `predicates`
) -> npt.NDArray[np.bool_]:
    """Which predicates have a choice about which identity. Shape (M, C, I)"""
    if n_predicates is None:
        n_predicates = int(predicates.max(initial=-1)) + 1
    cells = predicates * n_identities + identities
    _, counts = _summed(choices, cells, n_predicates * n_identities)
    there = (counts > 0).reshape(len(counts), n_predicates, n_identities)
    return np.broadcast_to(there, (len(choices), *there.shape[1:]))


def multiway_tallies(
    choices: Array,
    identities: Codes,
    factors: tuple[Codes, Codes, Codes],
    n_identities: int,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> Tally:
    """Tallies of resamples of predicates, templates and names at once. Shape (R, M, I)

    The pigeonhole bootstrap (Owen 2007): a pair weighs as often as its predicate was drawn, times
    as often as its template, times as often as its name. A factor with fewer than five levels is
    held as it is, and so is a pair without a name.

    Parameters
    ----------
    factors : three arrays, shape (P,)
        Predicate, template and name of each pair, from 0 on; -1 where it has no template or name.
    """
    of_predicates, of_templates, of_names = (_level_weights(c, n_resamples, rng) for c in factors)
    predicates, templates, names = factors
    shape = (n_resamples, len(choices), n_identities)
    sums, counts = np.zeros(shape), np.zeros(shape)
    for template in np.unique(templates).tolist():
        here = templates == template
        parts = []
        if (plain := here & (names < 0)).any():
            of = (choices[:, plain], identities[plain], predicates[plain], n_identities)
            parts.append(
                predicate_tallies(*of, n_resamples=n_resamples, rng=rng, weights=of_predicates)
            )
        if (named := here & (names >= 0)).any():
            keys = (identities[named], predicates[named], names[named])
            parts.append(_named(choices[:, named], keys, n_identities, of_predicates, of_names))
        times = of_templates[:, template, None, None]
        for part in parts:
            sums += times * part.sums
            counts += times * part.counts
    return Tally(sums, counts)


def _named(
    choices: Array,
    keys: tuple[Codes, Codes, Codes],
    n_identities: int,
    of_predicates: Array,
    of_names: Array,
) -> Tally:
    """Tallies of resamples of predicates and names at once.

    The names are contracted first, over cells of an identity and a predicate: few of all that
    there might be.
    """
    identities, predicates, names = keys
    distinct, cell = np.unique(predicates * n_identities + identities, return_inverse=True)
    n_cells, n_names = len(distinct), of_names.shape[1]
    both = np.concatenate(_summed(choices, names * n_cells + cell, n_names * n_cells))
    values = both.reshape(len(both), n_names, n_cells).transpose(1, 2, 0)  # (N, K, V)
    flat = np.ascontiguousarray(values).reshape(n_names, -1)
    weights = of_predicates[:, distinct // n_identities]  # (R, K)
    total = np.zeros((len(weights), len(both), n_identities))
    size = max(1, _AT_A_TIME // flat.shape[1])
    for start in range(0, len(weights), size):
        rows = slice(start, start + size)
        by_cell = (of_names[rows] @ flat).reshape(-1, n_cells, len(both))
        for one in np.unique(distinct % n_identities).tolist():
            at = np.flatnonzero(distinct % n_identities == one)
            total[rows, :, one] = np.matmul(weights[rows][:, None, at], by_cell[:, at])[:, 0]
    return _tally(total[:, : len(choices)], total[:, len(choices) :])


def _level_weights(codes: Codes, n_resamples: int, rng: np.random.Generator) -> Array:
    """How often each level is drawn, and 1 behind the last for a pair that has none."""
    n = int(codes.max(initial=-1)) + 1
    fixed = np.unique(codes[codes >= 0]).size < LEAST_LEVELS
    weights = np.ones((n_resamples, n)) if fixed else bootstrap_weights(n, n_resamples, rng=rng)
    return np.column_stack([weights, np.ones(n_resamples)])


def _summed(choices: Array, codes: Codes, n_codes: int) -> tuple[Array, Array]:
    """Sum and number of the known choices of each code, model by model. Shape (M, codes)

    Where all models have the same pairs, their number stands there once. Shape (1, codes)
    """
    known = np.isfinite(choices)
    filled = np.where(known, choices, 0.0)
    sums = [np.bincount(codes, weights=row, minlength=n_codes) for row in filled]
    if (known == known[:1]).all():
        known = known[:1]
    counts = [np.bincount(codes, weights=row, minlength=n_codes) for row in known]
    total = np.array(sums, dtype=np.float64).reshape(len(sums), n_codes)
    return total, np.array(counts, dtype=np.float64).reshape(len(counts), n_codes)


def _tally(sums: Array, counts: Array) -> Tally:
    return Tally(sums, np.broadcast_to(counts, sums.shape))


def _ratio(a: Array, b: npt.ArrayLike) -> Array:
    b = np.asarray(b, dtype=np.float64)
    return np.asarray(np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0))
