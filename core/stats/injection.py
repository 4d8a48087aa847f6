"""Would a shift of a known size be noticed? It is put into real scores, and the test is rerun.

After "Lost in Translation" (arXiv 2610.20479). A pair is a model and one rewording of its English
items: there is nothing to find in it but noise. One pair at a time gets a shift, on the log-odds
u = l+ - l- of its reworded items, and the whole family is tested as ever: sign flips, all of them
where the items are few, then Benjamini-Hochberg over all pairs that have a test.

The signs are drawn anew in every run. The runs of one number are shared by all sizes of the shift:
each pair's unshifted null means then serve all of them, and a curve is smooth because its points
have their chance in common.

Letters: P pairs, N items, R resamples, S sizes of the shift.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from core.errors import InputError
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.power import check_draws
from core.stats.resampling import sign_flip_pvalues, sign_vectors

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
NAN = math.nan

DELTAS = (0.0, 0.1, 0.15, 0.2, 0.3, 0.5)  # published sizes, in nats of log-odds


@dataclass(frozen=True)
class InjectionPoint:
    """What became of one size of the shift; NaN where undefined, as everywhere without a run."""

    delta: float  # added to the log-odds, nats
    shift: float  # what that does to the mean score of the shifted pair, mean over runs
    detection: float  # share of runs in which the shifted pair was found at q < .05
    detection_error: float  # Monte-Carlo standard error of that share
    flags_among_rest: float  # pairs per run that were found without having been shifted
    exaggeration: float  # mean |estimate| among detections / |true shift|; NaN without either
    n_detected: int
    n_runs: int
    n_pairs: int  # of two items or more; one that does not change has no test, so no part in q


@dataclass
class _Tally:
    """Sums over the runs so far, each per size. (S,)"""

    n_runs: int
    shift: Array
    detected: Array
    flags: Array
    exaggerated: Array


def injection_runs(
    u_original: npt.ArrayLike,
    u_reworded: npt.ArrayLike,
    deltas: Sequence[float] = DELTAS,
    *,
    n_runs: int = 200,
    n_resamples: int = 2_000,
    share: float = 1.0,
    items: npt.ArrayLike | None = None,
    rng: np.random.Generator,
    report_every: int = 10,
) -> Iterator[tuple[InjectionPoint, ...]]:
    """Run the injections and yield what is known so far, the last time after all runs.

    In each run the signs are drawn anew, and one pair is shifted: each pair in turn, in a random
    order. d = sigmoid(u_reworded + delta) - sigmoid(u_original) of the shifted pair.

    Parameters
    ----------
    u_original, u_reworded : arrays, shape (P, N)
        Log-odds l+ - l- in nats; NaN where an item has none.
    deltas
        Added to the log-odds; may be negative.
    n_runs, n_resamples
        Runs of each size, and sign flips in each.
    share
        Share of the items that are shifted, drawn anew in each run; 1 shifts all.
    items : array of bool, shape (N,)
        The items that may be shifted, a subgroup say; the others stay as they are.
    report_every
        Runs between two yields. Stop iterating to stop.

    Yields
    ------
    tuple of InjectionPoint
        One per size. Pairs without two items are left out; without any pair, one tuple of points
        without a run. The data are the same in all runs, so `flags_among_rest` is what these data
        give, and no calibration of the test: that is `size_check`.

    Raises
    ------
    InputError
        A size is no number, the share or the subgroup leaves no item, or there is nothing to draw.
    """
    original, reworded = (np.asarray(u, dtype=np.float64) for u in (u_original, u_reworded))
    if original.ndim != 2 or original.shape != reworded.shape:
        raise ValueError(f"log-odds of the shapes {original.shape} and {reworded.shape}")
    sizes = np.asarray(deltas, dtype=np.float64)
    allowed = np.ones(original.shape[1], bool) if items is None else np.asarray(items, bool)
    _check(sizes, n_runs, n_resamples, share)
    known = np.isfinite(original) & np.isfinite(reworded)
    usable = known.sum(axis=1) >= 2
    original, reworded, known = original[usable], reworded[usable], known[usable]
    if not len(known):
        return iter([tuple(_point(float(x), None, 0, 0) for x in sizes)])
    shiftable = known & allowed
    if not shiftable.any():
        raise InputError("The subgroup to be shifted has no scored item; choose another one.")
    base = np.where(known, expit(reworded) - expit(original), 0.0)
    pairs = _Pairs(original, reworded, known, shiftable, base)
    return _runs(pairs, sizes, n_runs, n_resamples, share, rng, report_every)


def injection_curve(
    u_original: npt.ArrayLike,
    u_reworded: npt.ArrayLike,
    deltas: Sequence[float] = DELTAS,
    *,
    n_runs: int = 200,
    n_resamples: int = 2_000,
    share: float = 1.0,
    items: npt.ArrayLike | None = None,
    rng: np.random.Generator,
) -> tuple[InjectionPoint, ...]:
    """All runs of `injection_runs` at once: one point per size of the shift."""
    *_, last = injection_runs(
        u_original,
        u_reworded,
        deltas,
        n_runs=n_runs,
        n_resamples=n_resamples,
        share=share,
        items=items,
        rng=rng,
        report_every=n_runs,
    )
    return last


@dataclass(frozen=True)
class _Pairs:
    """The usable pairs. All (P, N)"""

    original: Array
    reworded: Array
    known: Mask
    shiftable: Mask
    base: Array  # changes without a shift, 0 where unknown


def _runs(
    pairs: _Pairs,
    sizes: Array,
    n_runs: int,
    n_resamples: int,
    share: float,
    rng: np.random.Generator,
    report_every: int,
) -> Iterator[tuple[InjectionPoint, ...]]:
    n_pairs, n_items = pairs.base.shape
    tally = _Tally(0, *(np.zeros(len(sizes)) for _ in range(4)))
    order = rng.permutation(np.flatnonzero(pairs.shiftable.any(axis=1)))
    for run in range(n_runs):
        at = int(order[run % len(order)])
        shifted = _shifted(pairs, at, sizes, share, rng)  # (S, N)
        signs = sign_vectors(n_items, n_resamples, rng=rng)
        changes = np.concatenate([pairs.base, shifted])
        known = np.concatenate([pairs.known, np.repeat(pairs.known[[at]], len(sizes), axis=0)])
        pvalues = sign_flip_pvalues(changes, known, signs=signs)
        _count(tally, pairs, at, shifted, pvalues)
        if (run + 1) % report_every == 0 or run + 1 == n_runs:
            yield tuple(_point(float(x), tally, s, n_pairs) for s, x in enumerate(sizes))


def _shifted(pairs: _Pairs, at: int, sizes: Array, share: float, rng: np.random.Generator) -> Array:
    """Changes of one pair under each size of the shift. (S, N)"""
    chosen = np.flatnonzero(pairs.shiftable[at])
    if share < 1:
        chosen = rng.choice(chosen, max(1, round(share * len(chosen))), replace=False)
    u = pairs.reworded[at, chosen]
    changes = np.tile(pairs.base[at], (len(sizes), 1))
    changes[:, chosen] = expit(u + sizes[:, None]) - expit(pairs.original[at, chosen])
    return changes


def _count(tally: _Tally, pairs: _Pairs, at: int, shifted: Array, pvalues: Array) -> None:
    """Add one run to the sums."""
    n_pairs = len(pairs.base)
    n = pairs.known[at].sum()
    estimate = shifted.sum(axis=1) / n
    tally.n_runs += 1
    tally.shift += estimate - pairs.base[at].sum() / n
    for s in range(len(shifted)):
        family = pvalues[:n_pairs].copy()
        family[at] = pvalues[n_pairs + s]
        found = benjamini_hochberg(family) < LEVEL
        tally.flags[s] += found.sum() - found[at]
        if found[at]:
            tally.detected[s] += 1
            tally.exaggerated[s] += abs(estimate[s])


def _point(delta: float, tally: _Tally | None, s: int, n_pairs: int) -> InjectionPoint:
    if tally is None:
        return InjectionPoint(delta, NAN, NAN, NAN, NAN, NAN, 0, 0, 0)
    runs, detected = tally.n_runs, int(tally.detected[s])
    shift, rate = float(tally.shift[s]) / runs, detected / runs
    ratio = float(tally.exaggerated[s]) / detected / abs(shift) if detected and delta else NAN
    return InjectionPoint(
        delta=delta,
        shift=shift,
        detection=rate,
        detection_error=math.sqrt(rate * (1 - rate) / runs),
        flags_among_rest=float(tally.flags[s]) / runs,
        exaggeration=ratio,
        n_detected=detected,
        n_runs=runs,
        n_pairs=n_pairs,
    )


def _check(sizes: Array, n_runs: int, n_resamples: int, share: float) -> None:
    if not len(sizes) or not np.isfinite(sizes).all():
        raise InputError("Each shift of the log-odds must be a finite number; give at least one.")
    if not 0 < share <= 1:
        raise InputError(f"The share of items to shift is {share}; give one above 0, at most 1.")
    check_draws(n_runs, n_resamples)
