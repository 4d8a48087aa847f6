"""How far scores move when only the wording does.

After "Lost in Translation" (arXiv 2610.20479).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RewordingNoise:
    """What rewording does to one model's scores."""

    floor: float  # F_m: mean over the full-coverage rewordings of |mean change|; NaN without one
    item_sd: float  # sd of single items' changes, over all rewordings; NaN below two changes
    n_changes: int  # item changes behind item_sd
    n_rewordings: int  # rewordings behind the floor


def rewording_noise(changes: Mapping[str, npt.ArrayLike], n_usable: int) -> RewordingNoise:
    """Noise floor and typical item change of one model.

    A rewording that covers only some of the usable items is left out of the floor, because its mean
    is over other items than the rest; its single changes do count for the typical item change.

    Parameters
    ----------
    changes
        Per rewording of the original, SS - SS_original of its items, NaN where undefined.
    n_usable
        Items that are usable in the original: a rewording that covers them all has full coverage.
    """
    finite = {name: _finite(values) for name, values in changes.items()}
    means = [abs(d.mean()) for d in finite.values() if len(d) == n_usable and n_usable > 0]
    pooled = np.concatenate([*finite.values(), np.empty(0)])
    return RewordingNoise(
        floor=float(np.mean(means)) if means else float("nan"),
        item_sd=float(pooled.std(ddof=1)) if len(pooled) > 1 else float("nan"),
        n_changes=len(pooled),
        n_rewordings=len(means),
    )


def _finite(values: npt.ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    return array[np.isfinite(array)]
