"""Changes of items under all models at once: what a language does, and what rewording does.

After "Lost in Translation" (arXiv 2610.20479), item-level test. D_i is the change of item i in a
language, mean over the models; R_i what rewording the English item does, mean over the models and
the rewordings that it has. Letters: L languages, K rewordings, N items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.audit.panel import Panel
from core.stats.known import mean_of_known
from core.stats.scores import ScoreKind

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ItemChanges:
    """Changes of items, mean over all models; NaN where one model lacks a score."""

    translated: Array  # D, (L, N)
    rewordings: Array  # one row per rewording behind R, (K, N)
    names: tuple[str, ...]  # of these rewordings, (K,)
    reworded: Array  # R, (N,)
    complete: Mask  # the item has all these rewordings, (N,)


def item_changes(panel: Panel, kind: ScoreKind, *, complete: bool = False) -> ItemChanges:
    """D of every language and R of English, over the items scored by every model.

    Parameters
    ----------
    complete
        R only of items that have all the rewordings, else of each with those that it has.
    """
    changes = panel.changes(kind).mean(axis=0)  # (K, N); NaN where a model has none
    names = panel.noise_rewordings()
    rewordings = changes[[panel.at(c) for c in names]]
    has_all = np.isfinite(rewordings).all(axis=0) & bool(names)
    reworded = rewording_noise(rewordings, complete=complete)
    translated = changes[[panel.at(c) for c in panel.languages]]
    return ItemChanges(translated, rewordings, tuple(names), reworded, has_all)


def rewording_noise(rewordings: Array, *, complete: bool) -> Array:
    """Mean over the rewordings, the first axis: of those known, or NaN unless all are."""
    noise = mean_of_known(rewordings)
    if complete:
        noise[~np.isfinite(rewordings).all(axis=0)] = np.nan
    return noise


def usable_versions(panel: Panel) -> Mask:
    """Which versions are there and did not collapse. (K, N)"""
    mask = np.zeros((len(panel.conditions), len(panel.items)), dtype=np.bool_)
    k, n, versions = _positions(panel, panel.conditions)
    mask[k, n] = ~versions["collapsed"].to_numpy(np.bool_)
    return mask


def _positions(
    panel: Panel, conditions: Sequence[str]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], pd.DataFrame]:
    """Where the versions with an English twin stand among these conditions and the items."""
    twins = panel.versions[~panel.versions["native"]]
    k = pd.Index(list(conditions), dtype=object).get_indexer(pd.Index(twins["condition"]))
    n = pd.Index(panel.item_ids).get_indexer(pd.Index(twins["item_id"]))
    known = (k >= 0) & (n >= 0)
    return k[known], n[known], twins[known]
