"""One shift, put in by hand: would the test of all pairs notice it?

After "Lost in Translation" (arXiv 2610.20479), section on sensitivity. A pair is a model and one
rewording of its English items: there is nothing to find in it but noise. A shift is added to the
log-odds u = l+ - l- of the reworded items of one pair, or of all; then the family is tested as
ever. The sign vectors come from one seed, so pairs that are not shifted keep the p they had.

Letters: P pairs, N items.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from core.analysis.audit.audit import State, audit_panel, state_of
from core.analysis.audit.floors import floors_by_model
from core.analysis.audit.injection import INJECTION_DRAWS, NO_PAIR, injection_pairs, pair_log_odds
from core.analysis.audit.lab_words import headline, sentence
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.verdicts import verdict
from core.stats.equivalence import equivalence_n
from core.stats.injection import DELTAS, injection_runs
from core.stats.intervals import percentile_interval
from core.stats.levels import LEVEL
from core.stats.multiple import benjamini_hochberg
from core.stats.power import items_needed, smallest_shift
from core.stats.resampling import bootstrap_means, sign_flip_test
from core.store.gate import Cache
from core.words import short_labels

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ALL_PAIRS = "all"
N_RUNS = 200  # published
N_DRAWS = 5_000  # sign vectors of one interaction
EDGE = 0.01  # a score closer than this to 0 or 1 has no room left
LARGEST = 1.0  # |delta| that can be put in, nats
TARGETS = (0.01, 0.02, 0.03, 0.04, 0.06)  # shifts of the table of items needed
NO_BEFORE = "No item of this pair is scored in both versions."
ONE_ITEM = "One item has no spread, so there is no interval."
_PAIR = ("pair", "model", "short", "scorer_id", "condition", "floor")
_COLUMNS = (
    *("pair", "model", "scorer_id", "condition", "shifted", "n", "n_shifted", "n_at_edge"),
    *("put_in",),
    *("mean_before", "low_before", "high_before", "pvalue_before", "qvalue_before"),
    *("verdict_before", "mean", "low", "high", "low90", "high90", "sd", "pvalue", "qvalue"),
    *("verdict", "floor", "margin", "n_tests", "reason"),
)


@dataclass(frozen=True)
class Shift:
    """What is put in."""

    pair: str = ""  # "scorer id|condition", or ALL_PAIRS; empty for the first
    delta: float = 0.0  # added to the log-odds, nats
    share: float = 1.0  # of the items that may be shifted
    subgroup: str = ""  # the items of this category alone


@dataclass(frozen=True, eq=False)  # a lab is equal to itself alone: what it finds is remembered
class Lab:
    """The family of pairs as it is, and what every shift is compared with."""

    request: AuditRequest
    # pair, model, short (its name), scorer_id, condition, floor (of the model), (P,)
    pairs: pd.DataFrame
    items: pd.DataFrame  # item_id and category, (N,)
    original: Array  # log-odds, nats, (P, N)
    reworded: Array
    base: pd.DataFrame  # what `_tested` says of the unshifted pairs, (P,)
    order: npt.NDArray[np.intp]  # in which items are shifted: a larger share holds the smaller
    notes: tuple[str, ...]

    @property
    def changes(self) -> Array:
        """Change of every item of the unshifted pairs. (P, N)"""
        return np.asarray(expit(self.reworded) - expit(self.original))


@dataclass(frozen=True)
class Injected:
    """A shift and what became of it."""

    shift: Shift  # as it was put in: a pair that is there, a delta within the limits
    rows: pd.DataFrame  # one row per pair of the family
    shown: dict[str, Any]  # the row of the shifted pair; of all pairs, of the first
    items: pd.DataFrame  # of the shown pair: item_id, category, before, after, shifted
    problems: tuple[str, ...]  # what could not be done as asked
    headline: str  # what came of it, in a few words
    sentence: str  # the same with every number


def open_lab(cache: Cache, request: AuditRequest) -> Lab:
    """The pairs of an audit, tested as they are; remembered until their scores change.

    Raises
    ------
    InputError
        As `load_panel`.
    """
    return _lab(cache, state_of(cache, request), request)


@lru_cache(maxsize=4)
def _lab(cache: Cache, state: State, request: AuditRequest) -> Lab:
    del state  # part of the key alone
    return make_lab(audit_panel(cache, request), request)


def make_lab(panel: Panel, request: AuditRequest) -> Lab:
    """The same from a panel."""
    at = injection_pairs(panel)
    floors = floors_by_model(panel, request).rows["floor"].to_numpy(np.float64)
    names = short_labels(panel.models)
    rows = [
        {
            "pair": f"{panel.scorers[m]}|{panel.conditions[k]}",
            "model": panel.models[m],
            "short": names[m],
            "scorer_id": panel.scorers[m],
            "condition": panel.conditions[k],
            "floor": floors[m],
        }
        for m, k in at
    ]
    pairs = pd.DataFrame(rows, columns=list(_PAIR))
    original, reworded = pair_log_odds(panel, request.kind, at)
    order = request.rng("lab items").permutation(len(panel.items))
    changes = expit(reworded) - expit(original)
    notes = [] if at else [NO_PAIR]
    if request.kind in ("binary", "standardised"):
        notes.append(f"Of mean scores: {request.kind} ones have no log-odds to shift.")
    base = _tested(changes, request)
    base["qvalue"] = benjamini_hochberg(base["pvalue"])
    items = panel.items[["item_id", "category"]]
    return Lab(request, pairs, items, original, reworded, base, order, tuple(notes))


@lru_cache(maxsize=32)
def inject(lab: Lab, shift: Shift, margin: float) -> Injected:
    """Put a shift in and test the family again; remembered, so not to be changed.

    Parameters
    ----------
    margin
        Within +-margin a shift is too small to matter.

    Returns
    -------
    Injected
        `put_in` is what the shift did to the mean of a pair, `mean` the mean change with it, with
        95 % (`low`, `high`) and 90 % percentile bootstrap intervals over items; `n_at_edge` counts
        shifted items that end within 0.01 of 0 or 1, where a shift does less.

    Raises
    ------
    InputError
        The margin is not a positive number.
    ValueError
        There is no pair.
    """
    if lab.pairs.empty:
        raise ValueError("a shift needs a pair")
    shift, problems = _possible(lab, shift)
    chosen = [*range(len(lab.pairs))] if shift.pair == ALL_PAIRS else [_at(lab, shift.pair)]
    masks = np.array([_shifted_items(lab, p, shift) for p in chosen])  # (C, N)
    if not masks.any():
        problems.append(
            f"No item of the category {shift.subgroup!r} has a score in this pair, so nothing is "
            "shifted."
        )
    u = lab.reworded[chosen] + np.where(masks, shift.delta, 0.0)
    after = expit(u) - expit(lab.original[chosen])
    edge = masks & (np.minimum(expit(u), expit(-u)) < EDGE)
    none = np.zeros(len(lab.pairs), dtype=np.int64)
    rows = _family(lab, chosen, after, margin).assign(
        n_shifted=_in_place(none, chosen, masks.sum(axis=1)),
        n_at_edge=_in_place(none, chosen, edge.sum(axis=1)),
    )
    rows["delta"] = np.where(rows["n_shifted"] > 0, shift.delta, 0.0)
    rows["shifted"] = rows["n_shifted"] > 0
    shown = {str(name): value for name, value in rows.loc[chosen[0]].items()}
    items = pd.DataFrame(
        {
            "item_id": lab.items["item_id"],
            "category": lab.items["category"],
            "before": lab.changes[chosen[0]],
            "after": after[0],
            "shifted": masks[0],
        }
    )
    items = items[items["after"].notna()].reset_index(drop=True)
    of_all = shift.pair == ALL_PAIRS
    words = headline(shown, rows, of_all), sentence(shown, rows, of_all)
    return Injected(shift, rows[list(_COLUMNS)], shown, items, tuple(problems), *words)


def runs(lab: Lab, shift: Shift, *, n_runs: int = N_RUNS) -> Iterator[AuditTable]:
    """Injections of growing sizes with the share, subgroup and direction of a shift.

    Yields
    ------
    AuditTable
        One row per `delta`, as of the table `injection`, over the runs so far.

    Raises
    ------
    InputError
        The subgroup has no scored item.
    """
    sign = -1.0 if shift.delta < 0 else 1.0
    items = None
    if shift.subgroup:
        items = (lab.items["category"] == shift.subgroup).to_numpy(np.bool_)
    found = injection_runs(
        lab.original,
        lab.reworded,
        [sign * delta + 0.0 for delta in DELTAS],
        n_runs=n_runs,
        n_resamples=INJECTION_DRAWS,
        share=shift.share,
        items=items,
        rng=lab.request.rng("lab runs"),
        report_every=2,
    )
    return (AuditTable(pd.DataFrame([asdict(point) for point in points])) for points in found)


def needed(named: list[tuple[str, int, float]], shifts: list[float], margin: float) -> AuditTable:
    """Items that a test of each of these kinds of change would need.

    Parameters
    ----------
    named
        What changes, how many items it has, and the standard deviation of one item's change.
    shifts
        True shifts to find.

    Returns
    -------
    AuditTable
        One row per kind of change and shift: `items_needed` to find it 8 times in 10 at 5 %.
        The same on all rows of a kind: `smallest_shift` that its n items find so, and
        `equivalence_n` items that show equivalence within the margin where there is no shift.
    """
    rows = [
        {
            "what": what,
            "n": n,
            "sd": sd,
            "shift": shift,
            "items_needed": items_needed(shift, sd),
            "smallest_shift": smallest_shift(n, sd),
            "margin": margin,
            "equivalence_n": equivalence_n(sd, margin),
        }
        for what, n, sd in named
        for shift in shifts
    ]
    return AuditTable(pd.DataFrame(rows))


def _possible(lab: Lab, shift: Shift) -> tuple[Shift, list[str]]:
    """The shift that can be put in, and what of the asked one cannot."""
    problems = []
    pair, delta, subgroup = shift.pair, shift.delta, shift.subgroup
    if pair != ALL_PAIRS and pair not in set(lab.pairs["pair"]):
        if pair:
            problems.append(f"The pair {pair} is not here; the first one is shifted instead.")
        pair = str(lab.pairs["pair"].iloc[0])
    if abs(delta) > LARGEST:
        problems.append(
            f"A shift of {delta:+g} would push nearly every score to 0 or 1; "
            f"{math.copysign(LARGEST, delta):+g} is put in."
        )
        delta = math.copysign(LARGEST, delta)
    share = min(max(shift.share, 0.0), 1.0)
    if not 0 < shift.share <= 1:
        problems.append(f"A share of {shift.share:g} leaves no item to shift.")
    return Shift(pair, delta, share, subgroup), problems


def _at(lab: Lab, pair: str) -> int:
    return int(np.flatnonzero(lab.pairs["pair"] == pair)[0])


def _shifted_items(lab: Lab, p: int, shift: Shift) -> Mask:
    """The items of a pair that are shifted. (N,)"""
    may = np.isfinite(lab.reworded[p]) & np.isfinite(lab.original[p])
    if shift.subgroup:
        may &= (lab.items["category"] == shift.subgroup).to_numpy(np.bool_)
    mask = np.zeros(len(may), dtype=np.bool_)
    if shift.share > 0 and may.any():
        first = [i for i in lab.order.tolist() if may[i]]
        mask[first[: max(1, round(shift.share * len(first)))]] = True
    return mask


def _family(lab: Lab, chosen: list[int], after: Array, margin: float) -> pd.DataFrame:
    """All pairs, some of them with other changes. (P rows)"""
    tested = _tested(after, lab.request)
    now = {name: _in_place(lab.base[name], chosen, tested[name]) for name in tested}
    now["qvalue"] = benjamini_hochberg(now["pvalue"])
    verdicts = {
        f"verdict{suffix}": [
            verdict(q, low, high, margin)
            for q, low, high in zip(of["qvalue"], of["low90"], of["high90"], strict=True)
        ]
        for suffix, of in (("_before", lab.base), ("", now))
    }
    others = {
        "n_tests": int(np.isfinite(now["qvalue"]).sum()),
        "put_in": now["mean"] - lab.base["mean"].to_numpy(),
        "margin": margin,
        "reason": [{0: NO_BEFORE, 1: ONE_ITEM}.get(n, "") for n in now["n"].tolist()],
    }
    found = pd.DataFrame(now | verdicts | others, index=lab.pairs.index)
    return pd.concat([lab.pairs, lab.base.add_suffix("_before"), found], axis=1)


def _in_place(values: npt.ArrayLike, chosen: list[int], new: npt.ArrayLike) -> npt.NDArray[Any]:
    """The same values with other ones at some places. (P,)"""
    replaced = np.array(values)
    replaced[chosen] = new
    return replaced


def _tested(changes: Array, request: AuditRequest) -> pd.DataFrame:
    """Mean, intervals and p of every row of changes, always from the same draws."""
    found = sign_flip_test(changes, n_resamples=N_DRAWS, rng=request.rng("lab signs"))
    draws = bootstrap_means(changes, n_resamples=request.n_bootstrap, rng=request.rng("lab draws"))
    rows = []
    for c, (mean, n) in enumerate(zip(found.mean, found.n, strict=True)):
        wide, narrow = (
            percentile_interval(float(mean), draws[:, c], int(n), level=level)
            for level in (1 - LEVEL, 1 - 2 * LEVEL)
        )
        rows.append((wide.low, wide.high, narrow.low, narrow.high))
    table = pd.DataFrame(rows, columns=["low", "high", "low90", "high90"], dtype=np.float64)
    return table.assign(n=found.n, mean=found.mean, sd=found.sd, pvalue=found.pvalue)
