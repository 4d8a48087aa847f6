"""Which rows of an item table are the pairs that a reader of identity pairs asks for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.identities.panel import IdentityPanel, PairKey

Places = npt.NDArray[np.intp]
FACTS = ["identity", "counterfactual", "predicate", "template", "name", "tier", "harmfulness"]


@dataclass(frozen=True, kw_only=True)
class PairsWanted:
    """Values that pairs must have; an empty one asks for nothing."""

    identity: str = ""
    counterfactual: str = ""
    template: str = ""
    predicate: str = ""
    preferences: tuple[str, ...] = ()  # more, less, tie, uninformative


def pair_places(panel: IdentityPanel, table: pd.DataFrame) -> Places:
    """Place of each pair in an item table, -1 where it is not there. Shape (P,)

    Parameters
    ----------
    table
        Of `item_table`, of the panel's data set.
    """
    rows = np.flatnonzero((table["condition"] == panel.condition).to_numpy(np.bool_))
    found = pd.Index(table["item_id"].iloc[rows]).get_indexer(pd.Index(panel.facts["item_id"]))
    places = np.full(len(found), -1, dtype=np.intp)
    places[found >= 0] = rows[found[found >= 0]]
    return places


def facts_of_rows(panel: IdentityPanel, table: pd.DataFrame, places: Places) -> pd.DataFrame:
    """What each pair is about (FACTS), in the rows of an item table; missing for other items.

    Parameters
    ----------
    table, places
        As of `pair_positions`.
    """
    row = np.full(len(table), -1)
    there = np.flatnonzero(places >= 0)
    row[places[there]] = there
    return panel.facts[FACTS].reindex(row).set_axis(table.index)


def pair_positions(
    panel: IdentityPanel,
    table: pd.DataFrame,
    places: Places,
    wanted: PairsWanted,
    only: Collection[PairKey] | None = None,
) -> Places:
    """Places in an item table of the pairs asked for, the largest difference of scores first.

    Parameters
    ----------
    table
        Of `item_table` with the columns of pairs, of the panel's data set under one scorer.
    places
        Of `pair_places`.
    only
        Where given, no other pairs than these.
    """
    facts = panel.facts
    keep = places >= 0
    for column in ("identity", "counterfactual", "template", "predicate"):
        if value := getattr(wanted, column):
            keep &= (facts[column] == value).to_numpy(np.bool_)
    if only is not None:
        keep &= panel.among(only)
    positions = np.sort(places[keep])
    if wanted.preferences:
        preferred = table["preferred"].iloc[positions].isin(wanted.preferences)
        positions = positions[preferred.to_numpy(np.bool_)]
    sizes = table["difference"].iloc[positions].abs().fillna(-1.0).to_numpy(np.float64)
    return positions[np.argsort(-sizes, kind="stable")]
