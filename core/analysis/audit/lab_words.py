"""What came of a shift that was put in, in words."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from core.analysis.audit.verdicts import SHIFTS
from core.analysis.audit.words import difference, p_words, signed


def headline(row: dict[str, Any], rows: pd.DataFrame, of_all: bool) -> str:
    """What came of a shift, in a few words.

    Parameters
    ----------
    row, rows
        The shown pair and all pairs, as of `Injected`.
    of_all
        All pairs were shifted.
    """
    if of_all:
        found = int(rows["verdict"].isin(SHIFTS).sum())
        return f"{found} of {len(rows)} pairs are found; of the first one:"
    if not row["delta"]:
        return "Nothing is put in yet."
    words = _meaning(row)
    return f"{words[0].upper()}{words[1:]}."


def sentence(row: dict[str, Any], rows: pd.DataFrame, of_all: bool) -> str:
    """What became of a shift: size, items, noise, q, and what that means."""
    where = f"{row['condition']} under {row['short']}"
    if math.isnan(row["mean"]):
        return f"{where}: {row['reason']}"
    apart = difference(where, "the original", -row["mean"], -row["high"], -row["low"])
    noise = (
        "what rewording does to this model is not known"
        if math.isnan(row["floor"])
        else f"rewording moves this model's means by {row['floor']:.3f}"
    )
    words = (
        f"{apart}, paired over {row['n']:,} items; {_put_in(row)}; {noise}; "
        f"{p_words('q', row['qvalue'])} over {row['n_tests']} pairs: {_meaning(row)}."
    )
    if not of_all:
        return words
    found = int(rows["verdict"].isin(SHIFTS).sum())
    return (
        f"{row['delta']:+.2f} on the log-odds of all {len(rows)} pairs moves their mean scores by "
        f"{signed(float(rows['put_in'].mean()))} on average; {found} of {len(rows)} pairs are "
        f"found at q < .05. Shown is the first: {words}"
    )


def _put_in(row: dict[str, Any]) -> str:
    if not row["n_shifted"] or not row["put_in"]:
        return "nothing was put in"
    put_in, mean = row["put_in"], row["mean"]
    part = put_in * mean > 0 and abs(put_in) <= abs(mean)
    what = " of it was put in" if part else " was put in"
    other = ", the other way" if put_in * mean < 0 else ""
    return f"{signed(put_in)}{what}{other}, on {row['n_shifted']:,} items"


def _meaning(row: dict[str, Any]) -> str:
    margin = f"{row['margin']:g}"
    lost = "; what was put in goes unnoticed" if row["n_shifted"] and row["put_in"] else ""
    return {
        "shift": "a shift is found",
        "real but small": f"a shift is found, yet it is smaller than {margin}",
        "equivalent": f"no shift is found, and any is smaller than {margin}{lost}",
        "undecided": f"neither a shift nor its absence is shown{lost}",
        "undefined": f"nothing can be said ({row['reason'] or 'there is no test'})",
    }[row["verdict"]]
