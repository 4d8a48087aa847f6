"""Which identities lie lowest and highest under a model, and which clearly off one half."""

from __future__ import annotations

import math

import pandas as pd

OPPOSITE, BOTH_SIDES, ONE_SIDE = "opposite", "both sides", ""
ABOVE, BELOW = "above", "below"
_NOTHING = {
    "lowest": "",
    "lowest_share": math.nan,
    "n_lowest": 0,
    "highest": "",
    "highest_share": math.nan,
    "n_highest": 0,
    "n_with_interval": 0,
    "n_below": 0,
    "n_above": 0,
    "hides": ONE_SIDE,
}


def extremes(rows: pd.DataFrame) -> dict[str, object]:
    """The identities with the lowest and the highest share of one model, and on which sides.

    `hides` is "opposite" where identities lie clearly on both sides of one half (column `side`,
    core/stats/identity_spread.py), and lowest and highest are then among these; "both sides" where
    only their shares do; else empty. `n_below` and `n_above` lie clearly below and above.

    Parameters
    ----------
    rows
        Of the table `identities`, those of one model.
    """
    known = rows[rows["share"].notna()]
    if known.empty:
        return dict(_NOTHING)
    below, above = (known[known["side"] == side] for side in (BELOW, ABOVE))
    opposite = len(below) > 0 and len(above) > 0
    low = _at(below if opposite else known, lowest=True)
    high = _at(above if opposite else known, lowest=False)
    sides = low["share"] < 0.5 < high["share"]
    return {
        "lowest": low["identity"],
        "lowest_share": low["share"],
        "n_lowest": low["n"],
        "highest": high["identity"],
        "highest_share": high["share"],
        "n_highest": high["n"],
        "n_with_interval": int(known["share_low"].notna().sum()),
        "n_below": len(below),
        "n_above": len(above),
        "hides": OPPOSITE if opposite else BOTH_SIDES if sides else ONE_SIDE,
    }


def _at(rows: pd.DataFrame, *, lowest: bool) -> pd.Series:
    shares = rows["share"]
    return rows.iloc[int(shares.argmin() if lowest else shares.argmax())]
