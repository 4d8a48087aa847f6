"""Is the shift of a language shown to be too small to matter?

The margin is fixed before looking, and never taken from the noise floor (`core.stats.equivalence`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable, margin_of
from core.stats.equivalence import check_margin, equivalence_n, is_equivalent
from core.stats.power import planning_sd

NO_TEST = "No item-level interval: {}"
NO_MARGIN = "Standardised scores have no margin in the unit of a score, so none is equivalent."
_COLUMNS = (
    *("condition", "t", "t90_low", "t90_high", "margin", "equivalent", "sd", "n_needed", "n"),
    *("pvalue", "qvalue", "n_tests", "reason"),
)


def equivalence(panel: Panel, request: AuditRequest, item_tests: AuditTable) -> AuditTable:
    """Which languages' shifts are shown to be smaller than a margin fixed before looking.

    Returns
    -------
    AuditTable
        Per language of `item_tests`: `equivalent` if the 90 % interval of T lies inside +-`margin`;
        `n_needed` items would show that of a true shift of 0 with a chance of 80 %, at this `sd`
        of D - R. `n`, q and its `n_tests` as there. Missing where there is no interval, and for
        standardised scores, which have no margin.

    Raises
    ------
    InputError
        The margin is not a positive number.
    """
    check_margin(request.margin)
    margin = margin_of(request)
    has_margin = not np.isnan(margin)
    rows = []
    tested = item_tests.rows[item_tests.rows["group_kind"] == "all"]
    for row in tested.to_dict("records"):
        equivalent, needed, unknown = None, np.nan, NO_MARGIN
        if has_margin:
            unknown = NO_TEST.format(row["reason"])
            equivalent = is_equivalent(row["t90_low"], row["t90_high"], margin)
            needed = equivalence_n(planning_sd(row["sd"], row["n"]), margin)
        rows.append(
            {name: row[name] for name in _COLUMNS if name in row}
            | {
                "margin": margin,
                "equivalent": equivalent,
                "n_needed": needed,
                "reason": "" if equivalent is not None else unknown,
            }
        )
    table = pd.DataFrame(rows, columns=list(_COLUMNS))
    table["equivalent"] = table["equivalent"].astype("boolean")
    note = (
        f"The margin is {margin:g}; it must be fixed before looking, and not be taken from "
        "the noise floor. A language that is not equivalent is not thereby shown to differ."
        if has_margin
        else NO_MARGIN
    )
    return AuditTable(table, (note, *panel.no_languages))
