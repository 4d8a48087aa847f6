"""How often the lab's tests would find a shift, and how many items that takes.

After "Lost in Translation" (arXiv 2610.20479), section on sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pandas as pd

from core.analysis.audit.injection import INJECTION_DRAWS
from core.analysis.audit.lab import Lab
from core.analysis.audit.lab_shift import Shift
from core.analysis.audit.request import AuditTable
from core.stats.equivalence import equivalence_n
from core.stats.injection import DELTAS, injection_runs
from core.stats.power import items_needed, planning_sd, smallest_shift

N_RUNS = 200  # published
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
            "items_needed": items_needed(shift, planning_sd(sd, n)),
            "smallest_shift": smallest_shift(n, sd),
            "margin": margin,
            "equivalence_n": equivalence_n(planning_sd(sd, n), margin),
        }
        for what, n, sd in named
        for shift in shifts
    ]
    return AuditTable(pd.DataFrame(rows))
