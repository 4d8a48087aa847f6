"""Numbers in cells: as they were written, why they are no score, and what they give an item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.files.places import printable, shown
from core.imported_scores.layout import LOG_SCALES, Scale
from core.types import ROLE_SUFFIXES, Role

LONGEST = 300  # of a message


def number_in(value: Any) -> float:
    """The number in a cell; NaN where there is none.

    Raises
    ------
    ValueError
        The cell holds something else.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{shown(value)} is no number")
    if isinstance(value, str) and "_" in value:  # which Python reads past
        raise ValueError(f"{shown(value)} is no number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{shown(value)} is no number") from None


def sentence(error: Exception) -> str:
    """What an error says of a row, with a full stop, however long its values are."""
    return printable(f"{str(error).rstrip('.')[:LONGEST]}.")


def why_no_score(value: float, scale: Scale) -> str:
    """What is wrong with a number as a score on a scale; empty where nothing is."""
    if math.isnan(value):
        return "there is no number"
    if math.isinf(value):
        return f"{value} is not finite"
    if scale in LOG_SCALES and value > 0:
        return f"{value:g} is above 0, so it is no log-probability"
    return ""


def columns_of(
    values: Mapping[str, float], n_tokens: Mapping[str, int], scale: Scale
) -> dict[str, float | int]:
    """The numbers of an item by the columns of `item_score` that its scale gives.

    A mean and a number of tokens give the sum, and a sum and that number the mean. Without a mean
    there is at least an order. Sums over what the sentences of a pair share are no sums of a
    sentence: of them there is nothing else.

    Parameters
    ----------
    values, n_tokens
        By role.
    """
    columns: dict[str, float | int] = {}
    for role, value in values.items():
        suffix, n = ROLE_SUFFIXES[Role(role)], n_tokens.get(role)
        if n is not None and scale in (Scale.MEAN, Scale.SUM):
            mean, total = (value, value * n) if scale is Scale.MEAN else (value / n, value)
            columns |= {f"l_{suffix}": mean, f"sum_{suffix}": total, f"n_{suffix}": n}
        elif scale is Scale.MEAN:
            columns[f"l_{suffix}"] = value
        else:
            columns[f"order_{suffix}"] = value
            columns |= {f"sum_{suffix}": value} if scale is Scale.SUM else {}
    return columns
