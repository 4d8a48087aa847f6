"""Which versions pass as good translations: by similarity, fluency, blank and judgment.

After "Lost in Translation" (arXiv 2610.20479), the filters of its section on translation quality.
Letters: M models, K conditions, N items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.analysis.audit.metadata import (
    judgments,
    metadata_numbers,
    metadata_truths,
    metadata_values,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.unknown_fluency import fluency_besides_bbq
from core.items.metadata import BLANK_SURVIVED, FILL_IN, FORM, JUDGMENTS, SIMILARITY

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]

PRESERVED = "judged preserved"  # name of the filter that takes the judgment alone
SIMILAR, VERY_SIMILAR = 0.8, 0.9
FLUENCY_CHANGE = 0.1


@dataclass(frozen=True)
class Known:
    """What is said of each version."""

    judged: Objects  # (K, N), empty where it is not
    similarity: Array  # (K, N)
    survived: Array  # the blank of fill-in items: 1, 0 or NaN, (K, N)
    fluency_change: Array  # since English, without BBQ, (M, K, N)


def known_of(panel: Panel) -> Known:
    similarity = metadata_numbers(panel, SIMILARITY)
    survived = metadata_truths(panel, BLANK_SURVIVED)
    form = metadata_values(panel, FORM)[panel.english]
    survived[:, [f not in (None, FILL_IN) for f in form]] = np.nan
    values = fluency_besides_bbq(panel)
    change = values - values[:, [panel.english]]
    return Known(judgments(panel), similarity, survived, change)


def filter_masks(panel: Panel) -> dict[str, tuple[Mask, Mask]]:
    """Which versions pass each filter, and which it can decide, by its name. (M, K, N) each"""
    return masks_of(known_of(panel))


def masks_of(known: Known) -> dict[str, tuple[Mask, Mask]]:
    similarity, change = known.similarity, known.fluency_change
    similar = similarity >= VERY_SIMILAR
    filters = {
        f"similarity >= {VERY_SIMILAR}": (similar, np.isfinite(similarity)),
        f"similarity >= {VERY_SIMILAR} and |fluency change| < {FLUENCY_CHANGE}": (
            similar & (np.abs(change) < FLUENCY_CHANGE),
            np.isfinite(similarity) & np.isfinite(change),
        ),
        "blank survived": (known.survived == 1, np.isfinite(known.survived)),
        PRESERVED: (known.judged == JUDGMENTS[0], known.judged != ""),
    }
    return {
        name: (np.broadcast_to(passes, change.shape), np.broadcast_to(decided, change.shape))
        for name, (passes, decided) in filters.items()
    }
