"""Items that the models agree on moving otherwise than the others of their language.

Beside the item test of "Lost in Translation" (arXiv 2610.20479). Letters: M models, N items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.analysis.audit.item_changes import rewording_noise
from core.analysis.audit.names import NO_REWORDING
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.fragility import MODELS_OF_A_SPREAD, item_functioning
from core.stats.levels import LEVEL

FEW_MODELS = "The spread over models needs at least {} of them; there is no item with as many."
COUNT = "This row counts items; drop and test are in the rows of the items that are flagged."
INDEPENDENT = (
    "Single items are flagged as if the models were independent draws; models that share their "
    "training are not, and then fewer items are certain."
)


def differential_items(panel: Panel, request: AuditRequest) -> Iterator[dict[str, Any]]:
    """Items whose change, beyond rewording and the language's mean, is large over the models."""
    changes = panel.changes(request.kind)
    names, ids = panel.noise_rewordings(), panel.item_ids
    rewordings = changes[:, [panel.at(c) for c in names]].swapaxes(0, 1)  # (K, M, N)
    noise = rewording_noise(rewordings, complete=request.complete)
    few = FEW_MODELS.format(MODELS_OF_A_SPREAD) if names else NO_REWORDING
    for condition in panel.languages:
        found = item_functioning(changes[:, panel.at(condition)] - noise)
        tested = np.isfinite(found.pvalue)
        flagged = np.flatnonzero(np.where(tested, found.qvalue, 1.0) < LEVEL)
        any_tested = bool(tested.any())
        m = int(tested.sum())  # items of which q is
        row = {"condition": condition, "check": "item", "n_tests": m, "n_resamples": 0}
        yield row | {
            "choice": "count",
            "n": m,
            "n_items": len(flagged) if any_tested else np.nan,
            "share_items": len(flagged) / m if any_tested else np.nan,
            "reason": COUNT if any_tested else few,
        }
        for i in flagged[np.argsort(-np.abs(found.z[flagged]), kind="stable")]:
            yield row | {
                "choice": "flagged",
                "value": ids[i],
                "n": int(found.n[i]),
                "n_items": 1,
                "drop": -found.mean[i],
                "z": -found.z[i],
                "pvalue": found.pvalue[i],
                "qvalue": found.qvalue[i],
                "significant": True,
                "reason": "",
            }
