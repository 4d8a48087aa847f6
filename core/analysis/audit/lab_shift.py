"""One shift, put in by hand: would the test of all pairs notice it?

After "Lost in Translation" (arXiv 2610.20479), section on sensitivity. A shift is added to the
log-odds u = l+ - l- of the reworded items of one pair, or of all; then the family is tested as
ever.

Letters: P pairs, N items, C pairs that get the shift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from core.analysis.audit.lab import Lab, tested
from core.analysis.audit.lab_words import headline, sentence
from core.analysis.audit.names import ALIKE, FEW_ITEMS, NO_ITEM, ONE_ITEM
from core.analysis.audit.verdicts import verdict
from core.stats.levels import LEAST_ITEMS
from core.stats.multiple import benjamini_hochberg

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ALL_PAIRS = "all"
EDGE = 0.01  # a score closer than this to 0 or 1 has no room left
LARGEST = 1.0  # |delta| that can be put in, nats
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
    changed = tested(after, lab.request)
    now = {name: _in_place(lab.base[name], chosen, changed[name]) for name in changed}
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
        "reason": [_reason(n, low) for n, low in zip(now["n"], now["low"], strict=True)],
    }
    found = pd.DataFrame(now | verdicts | others, index=lab.pairs.index)
    return pd.concat([lab.pairs, lab.base.add_suffix("_before"), found], axis=1)


def _in_place(values: npt.ArrayLike, chosen: list[int], new: npt.ArrayLike) -> npt.NDArray[Any]:
    """The same values with other ones at some places. (P,)"""
    replaced = np.array(values)
    replaced[chosen] = new
    return replaced


def _reason(n: int, low: float) -> str:
    """Why a pair of n items has no interval."""
    if n >= LEAST_ITEMS:
        return ALIKE if math.isnan(low) else ""
    return FEW_ITEMS if n > 1 else ONE_ITEM if n else NO_ITEM
