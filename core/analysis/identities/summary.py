"""What the averages of several models hide, in a sentence above their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.analysis.identities.extremes import OPPOSITE
from core.words import counted


def hidden_sentence(rows: pd.DataFrame) -> str:
    """Under how many models an average hides opposite identities; empty where under none.

    Parameters
    ----------
    rows
        Of the table `overview`: one of each model.
    """
    hiding = rows[rows["hides"] == OPPOSITE]
    if hiding.empty:
        return ""
    apart = hiding["highest_share"] - hiding["lowest_share"]
    widest = hiding.iloc[int(apart.to_numpy().argmax())].to_dict()
    if len(rows) == 1:
        return f"The average hides identities that go opposite ways: {_example(widest)}."
    where = f"Under {len(hiding):,} of {counted(len(rows), 'model')} the average hides identities"
    return f"{where} that go opposite ways; the widest is {widest['model']}, {_example(widest)}."


def _example(row: Mapping[Any, Any]) -> str:
    return (
        f"{100 * row['bias_w']:.1f} % over all {row['n']:,} pairs,"
        f" {100 * row['lowest_share']:.1f} % for {row['lowest']} (n {row['n_lowest']:,}) and"
        f" {100 * row['highest_share']:.1f} % for {row['highest']} (n {row['n_highest']:,})"
    )
