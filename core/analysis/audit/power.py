"""How large a drop has to be to be noticed: by formula, and by running the test.

After "Lost in Translation" (arXiv 2610.20479), the section on sensitivity. Letters: N items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.item_changes import item_changes
from core.analysis.audit.names import FEW_ITEMS, POOLED
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable, margin_of
from core.stats.known import mean_of_known
from core.stats.levels import LEAST_ITEMS
from core.stats.power import item_level_power, items_needed, planning_sd, smallest_shift

Array = npt.NDArray[np.float64]

SHIFTS = (0.02, 0.04, 0.06)  # true drops in the power table
POWER_WORLDS, POWER_DRAWS = 400, 999

NO_SPREAD = "All items change alike, so nothing can be drawn anew: there is no power."
NO_MARGIN = (
    "Standardised scores have no unit of a score, so no drop of 0.02 that could be found; "
    "`smallest_shift` is in standard deviations."
)
_POWER = (
    *("condition", "n", "sd", "items_needed", "smallest_shift", "power_002", "power_002_error"),
    *("power_004", "power_004_error", "power_006", "power_006_error", "size", "size_error"),
    *("n_worlds", "n_resamples", "reason"),
)


def power(panel: Panel, request: AuditRequest, item_tests: AuditTable) -> AuditTable:
    """How large a drop of each language would have to be to be found with these items.

    Returns
    -------
    AuditTable
        Per language of `item_tests`, and pooled over them: `n` items with a D - R of this `sd`;
        `items_needed` to find a drop of 0.02 with a chance of 80 %, and the `smallest_shift` that
        the n items find so. `power_002`, `power_004` and `power_006`: the share of `n_worlds`
        resampled worlds in which the test finds a true drop of 0.02 and so on; `size`: the same
        without a drop, each by a test with `n_resamples` sign vectors. `*_error` are
        Monte-Carlo errors.
    """
    means = item_changes(panel, request.kind, complete=request.complete)
    of_condition = dict(zip(panel.languages, means.translated, strict=True))
    of_condition[POOLED] = mean_of_known(means.translated)
    rng = request.rng("power")
    has_unit = not np.isnan(margin_of(request))  # a drop of 0.02 of what
    rows = []
    tested = item_tests.rows[item_tests.rows["group_kind"] == "all"]
    for condition, n, sd, reason in zip(
        *(tested[name] for name in ("condition", "n", "sd", "reason")), strict=True
    ):
        size, *found = item_level_power(
            of_condition[condition] - means.reworded,
            (0.0, *SHIFTS),
            n_worlds=POWER_WORLDS,
            n_resamples=POWER_DRAWS,
            rng=rng,
        )
        row = {
            "condition": condition,
            "n": int(n),
            "sd": sd,
            "items_needed": items_needed(SHIFTS[0], planning_sd(sd, int(n)))
            if has_unit
            else np.nan,
            "smallest_shift": smallest_shift(int(n), sd),
        }
        for rate in found:
            name = f"power_{round(100 * rate.true_drop):03d}"
            row |= {
                name: rate.rate if has_unit else np.nan,
                f"{name}_error": rate.error if has_unit else np.nan,
            }
        row |= {"size": size.rate, "size_error": size.error, "n_worlds": size.n_worlds}
        row["n_resamples"] = POWER_DRAWS
        rows.append(row | {"reason": _no_power(row, str(reason), has_unit=has_unit)})
    notes = ["Power at 5 % of one language by itself, without adjustment for the others."]
    notes += [] if has_unit else [NO_MARGIN]
    return AuditTable(pd.DataFrame(rows, columns=list(_POWER)), (*notes, *panel.no_languages))


def _no_power(row: dict[str, Any], reason: str, *, has_unit: bool) -> str:
    """Why a row of `power` lacks numbers; `reason` of the item test."""
    if 1 < row["n"] < LEAST_ITEMS:
        return FEW_ITEMS
    if np.isnan(row["size"]):
        return reason or NO_SPREAD
    return "" if has_unit else NO_MARGIN
