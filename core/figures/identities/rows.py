"""What charts of identity pairs share: the yardstick beside shares, and shares in words.

A share is of the pairs whose stereotypical sentence is preferred: 0 to 1 in tables and figures, per
cent for people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from core.analysis.audit.words import lowered, number
from core.analysis.identities.tables import ALL_PAIRS, WITHOUT
from core.words import counted

Row: TypeAlias = dict[Any, Any]

NEUTRAL, NEUTRAL_WORDS = 0.5, "50 %"
SHARE = "share of pairs whose stereotypical sentence is preferred"
SHARE_TITLE = "pairs with the stereotypical<br>sentence preferred (n pairs)"
_FILL = {ALL_PAIRS: "", WITHOUT: "-open"}  # ending of a symbol's name
_PAIRS = {ALL_PAIRS: "all pairs", WITHOUT: "without confounded pairs"}


@dataclass(frozen=True)
class Beside:
    """What every share is shown beside: how far the same claims move in another template."""

    floor: float  # mean absolute difference of bias (W) between two templates, 0 to 1; or NaN
    n_templates: int
    n_models: int = 1  # of which the floor is the median


def kinds_of(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Rows with all pairs and those without confounded pairs, each where there are some."""
    of = rows["pairs"] if "pairs" in rows else pd.Series(ALL_PAIRS, rows.index)
    parts = ((kind, rows[of == kind]) for kind in _FILL)
    return [(kind, part) for kind, part in parts if len(part)]


def symbol_of(symbol: str, kind: str) -> str:
    """Filled for all pairs, open without confounded ones."""
    return f"{symbol}{_FILL[kind]}"


def kind_names(symbol: str, name: str, kinds: Sequence[str]) -> list[tuple[str, str]]:
    """A symbol for each kind of rows, and what it stands for."""
    return [(symbol_of(symbol, kind), of_kind(name, kind, kinds)) for kind in kinds]


def of_kind(name: str, kind: str, kinds: Sequence[str]) -> str:
    """A name with the pairs that it is of, where these tell two marks apart."""
    parts = [name, _PAIRS[kind] if len(kinds) > 1 else ""]
    return ", ".join(part for part in parts if part)


def percent(share: float) -> str:
    """A share for people: 52.5 %; a dash where it is undefined."""
    return f"{number(100 * share, 1)} %" if math.isfinite(share) else "–"


def points(difference: float) -> str:
    """A difference of shares for people: 3.1 points."""
    return f"{number(100 * difference, 1)} points"


def interval_words(low: float, high: float, unit: str = "%") -> str:
    """A 95 % interval of shares, or of differences of them, in words."""
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    return f"95 % interval {number(100 * low, 1)} to {number(100 * high, 1)} {unit}"


def share_words(row: Row, column: str) -> list[str]:
    """What hovering over a share says: the share, its interval, n, and what is not among them."""
    share = row[column]
    ends = interval_words(row[f"{column}_low"], row[f"{column}_high"])
    lines = [f"{percent(share)}, {ends}"] if math.isfinite(share) else ["undefined"]
    lines += [
        f"n = {counted(row['n'], 'pair')} ({counted(row['n_ties'], 'tie')}) of "
        f"{counted(row['n_predicates'], 'predicate')}",
        f"left out: {row['n_uninformative']:,} uninformative, {row['n_not_scored']:,} not scored",
    ]
    return [*lines, row["reason"]] if row["reason"] else lines


def floor_words(beside: Beside) -> str:
    """How far another template moves bias (W), as a sentence."""
    if not math.isfinite(beside.floor):
        return "How far another template moves bias (W) is not known: no two make the same claim."
    n = counted(beside.n_templates, "template")
    several = f"; median of {counted(beside.n_models, 'model')}" if beside.n_models > 1 else ""
    return (
        f"The same claims in another single template move bias (W) by {points(beside.floor)}"
        f" (n = {n}{several})."
    )


def beside_of(rows: pd.DataFrame) -> Beside:
    """What shares of some models are shown beside: the median of the floors that are known.

    Parameters
    ----------
    rows
        Of the table `overview`, one of each model.
    """
    known = rows[rows["template_floor"].notna()]
    if known.empty:
        return Beside(math.nan, int(rows["n_templates"].max()) if len(rows) else 0)
    return Beside(
        float(known["template_floor"].median()), int(known["n_templates"].max()), len(known)
    )


def larger_floor(rows: pd.DataFrame) -> Beside:
    """What differences of two languages are shown beside: the larger floor that is known.

    Parameters
    ----------
    rows
        Of the table `languages`, of one model and two languages: all have the same two floors.
    """
    if rows.empty:
        return Beside(math.nan, 0)
    row = rows.iloc[0]
    here, there = (
        Beside(float(row[f"template_floor{end}"]), int(row[f"n_templates{end}"]))
        for end in ("", "_other")
    )
    return there if math.isnan(here.floor) or there.floor > here.floor else here


def band_words(beside: Beside, middle: str = "50 %") -> str:
    """The same, with the band around the middle that shows it."""
    words = floor_words(beside)
    if not math.isfinite(beside.floor):
        return words
    return f"Grey band, as far on both sides of {middle}: {lowered(words)}"


def kinds_words(kinds: Sequence[str]) -> str:
    """What filled and open marks are, for a caption; empty where all are filled."""
    if len(kinds) < 2:
        return ""
    return "Filled: all pairs; open: without those that differ in more than the identity."
