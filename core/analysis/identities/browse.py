"""Which rows of an item table are the pairs that a reader of identity pairs asks for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.identities.panel import IdentityPanel, PairKey


@dataclass(frozen=True, kw_only=True)
class PairsWanted:
    """Values that pairs must have; an empty one asks for nothing."""

    identity: str = ""
    template: str = ""
    predicate: str = ""
    preferences: tuple[str, ...] = ()  # more, less, tie, uninformative


def pair_positions(
    panel: IdentityPanel,
    table: pd.DataFrame,
    wanted: PairsWanted,
    only: Collection[PairKey] | None = None,
) -> npt.NDArray[np.intp]:
    """Places in an item table of the pairs asked for, the largest difference of scores first.

    Parameters
    ----------
    table
        Of `item_table` with the columns of pairs, of the panel's data set under one scorer.
    only
        Where given, no other pairs than these.
    """
    facts = panel.facts
    keep = np.ones(len(facts), dtype=np.bool_)
    for column in ("identity", "template", "predicate"):
        if value := getattr(wanted, column):
            keep &= (facts[column] == value).to_numpy(np.bool_)
    ids = facts["item_id"][keep]
    if only is not None:
        here = (panel.dataset, panel.condition)
        ids = ids[ids.isin([item_id for *where, item_id in only if tuple(where) == here])]
    rows = (table["condition"] == panel.condition) & table["item_id"].isin(ids)
    if wanted.preferences:
        rows &= table["preferred"].isin(wanted.preferences)
    positions = np.flatnonzero(rows.to_numpy(np.bool_))
    sizes = table["difference"].iloc[positions].abs().fillna(-1.0).to_numpy(np.float64)
    return positions[np.argsort(-sizes, kind="stable")]
