"""How often the lab's tests would find a shift, and how many items that takes.

After "Lost in Translation" (arXiv 2610.20479), section on sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.audit.injection import INJECTION_DRAWS
from core.analysis.audit.lab import Lab
from core.analysis.audit.lab_shift import Shift
from core.analysis.audit.names import FEW_ITEMS, NO_ITEM, ONE_ITEM
from core.analysis.audit.request import AuditTable
from core.stats.equivalence import equivalence_n
from core.stats.injection import DELTAS, injection_runs
from core.stats.levels import LEAST_ITEMS
from core.stats.power import items_needed, planning_sd, smallest_shift

N_RUNS = 200  # published
ALIKE = "All items change alike, so nothing is known of how much others vary."
NO_UNIT = (
    "Standardised scores have no unit in which a shift of 0.02 would be one, so no number of items "
    "is told."
)
TARGETS = (0.01, 0.02, 0.03, 0.04, 0.06)  # shifts of the table of items needed


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


@dataclass(frozen=True)
class Change:
    """What a test is planned for."""

    what: str
    n: int  # items that it has
    sd: float  # of one item's change
    margin: float  # of equivalence; NaN where its scores have no unit that a shift could be in


def needed(changes: list[Change], shifts: list[float]) -> AuditTable:
    """Items that a test of each of these changes would need.

    Parameters
    ----------
    shifts
        True shifts to find, in the unit of a score from 0 to 1.

    Returns
    -------
    AuditTable
        One row per change and shift: `items_needed` to find it 8 times in 10 at 5 %.
        The same on all rows of a change: `smallest_shift` that its n items find so, and
        `equivalence_n` items that show equivalence within the margin where there is no shift.
        NaN with a `reason` where the items tell nothing of others, or a shift has no unit.
    """
    return AuditTable(pd.DataFrame([_planned(c, shift) for c in changes for shift in shifts]))


def _planned(change: Change, shift: float) -> dict[str, Any]:
    has_unit = not math.isnan(change.margin)
    sd = planning_sd(change.sd, change.n) if has_unit else math.nan
    smallest = smallest_shift(change.n, sd)
    return {
        **asdict(change),
        "shift": shift,
        "items_needed": items_needed(shift, sd),
        "smallest_shift": smallest,
        "equivalence_n": equivalence_n(sd, change.margin) if has_unit else math.nan,
        "reason": _unknown(change, has_unit=has_unit) if math.isnan(smallest) else "",
    }


def _unknown(change: Change, *, has_unit: bool) -> str:
    if not has_unit:
        return NO_UNIT
    if change.n >= LEAST_ITEMS:
        return ALIKE
    return FEW_ITEMS if change.n > 1 else ONE_ITEM if change.n else NO_ITEM
