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
drawn pairs. Shares over a few predicates have intervals that are too narrow.

Letters: P pairs, M models, I identities, C predicates, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.stats.resampling import bootstrap_weights

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
        by_predicate = of.reshape(len(of), -1, n_identities).transpose(1, 0, 2)  # (C, M, I)
        flat = weights @ by_predicate.reshape(len(by_predicate), -1)
        drawn.append(flat.reshape(len(weights), len(of), n_identities))
    return _tally(*drawn)


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
        Predicate, template and name of each pair, from 0 on; -1 where it has none.
    """
    drawn = [_level_weights(codes, n_resamples, rng) for codes in factors]
    named = factors[2] >= 0
    sums = np.zeros((n_resamples, len(choices), n_identities))
    counts = np.zeros_like(sums)
    for part in (np.flatnonzero(~named), np.flatnonzero(named)):
        if part.size:
            predicate, template, name = (codes[part] for codes in factors)
            of_names = drawn[2] if named[part[0]] else None
            keys = (identities[part], predicate, template)
            found = _crossed(choices[:, part], keys, name, (drawn[0], drawn[1], of_names))
            _add_by_identity(found, sums, counts)
    return Tally(sums, counts)


_Drawn = tuple[Array, Array, Array | None]


def _crossed(
    choices: Array, keys: tuple[Codes, Codes, Codes], names: Codes, drawn: _Drawn
) -> tuple[Codes, Array, Array, Array | None]:
    """Cells of identity, predicate and template: identity, values, weights, and those of names."""
    of_predicates, of_templates, of_names = drawn
    shape = tuple(int(codes.max()) + 1 for codes in keys)
    distinct, cell = np.unique(np.ravel_multi_index(keys, shape), return_inverse=True)
    identity, predicate, template = np.unravel_index(distinct, shape)
    n_cells = len(distinct)
    weights = of_predicates[:, predicate] * of_templates[:, template]  # (R, K)
    n_names = 1 if of_names is None else of_names.shape[1]
    at = cell + (0 if of_names is None else names * n_cells)
    both = np.concatenate(_summed(choices, at, n_names * n_cells))  # (V, N K)
    values = both.reshape(len(both), n_names, n_cells).transpose(1, 2, 0)  # (N, K, V)
    return identity, np.ascontiguousarray(values), weights, of_names


def _add_by_identity(
    found: tuple[Codes, Array, Array, Array | None], sums: Array, counts: Array
) -> None:
    """Add the weighted values of the cells, identity by identity."""
    identity, values, weights, of_names = found
    n_models = sums.shape[1]
    for one in np.unique(identity).tolist():
        of = values[:, identity == one]  # (N, k, V)
        w = weights[:, identity == one]
        if of_names is None:
            total = w @ of[0]
        else:
            total = np.empty((len(w), of.shape[2]))
            flat = of.reshape(len(of), -1)
            size = max(1, _AT_A_TIME // flat.shape[1])
            for start in range(0, len(w), size):
                rows = slice(start, start + size)
                by_cell = (of_names[rows] @ flat).reshape(-1, *of.shape[1:])  # (r, k, V)
                total[rows] = np.matmul(w[rows, None], by_cell)[:, 0]
        sums[:, :, one] += total[:, :n_models]
        counts[:, :, one] += total[:, n_models:]


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
    sums_, counts_ = (np.array(of, dtype=np.float64).reshape(-1, n_codes) for of in (sums, counts))
    return sums_, counts_


def _tally(sums: Array, counts: Array) -> Tally:
    return Tally(sums, np.broadcast_to(counts, sums.shape))


def _ratio(a: Array, b: npt.ArrayLike) -> Array:
    b = np.asarray(b, dtype=np.float64)
    return np.asarray(np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0))
