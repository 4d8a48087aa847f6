"""Differences, intervals and p-values in words, the same in every sentence of an audit."""

from __future__ import annotations

import math

from core.stats.levels import LEVEL

SMALLEST_P = 0.0001  # that is shown
MOST_DIGITS = 8


def difference(what: str, original: str, drop: float, low: float, high: float) -> str:
    """How far the scores of a version lie from those of its original, without a full stop.

    Parameters
    ----------
    drop
        Of the score, from the original; with the interval `low` to `high`, NaN where there is none.
        The interval is shown in the direction that the sentence speaks of.
    """
    if is_nothing(drop):
        same = f"Scores in {what} and {original} are the same to three digits"
        if math.isnan(low):
            return f"{same} {bounds(low, high)}"
        return f"{same}, the drop is within {bounds(low, high)}"
    side, ends = ("below", (low, high)) if drop >= 0 else ("above", (-high, -low))
    return f"Scores in {what} lie {abs(drop):.3f} {side} {original} {bounds(*ends)}"


def is_nothing(drop: float) -> bool:
    """Whether a drop is 0 to three digits, and its sign says nothing."""
    return f"{abs(drop):.3f}" == "0.000"


def bounds(low: float, high: float, digits: int = 3) -> str:
    """An interval, or that there is none."""
    if math.isnan(low) or math.isnan(high):
        return "(no interval)"
    return f"[{number(low, digits)}, {number(high, digits)}]"


def bounds_beside(low: float, high: float, margin: float) -> str:
    """An interval, with more digits where rounding would put an end on the margin."""
    digits = max(_apart(abs(end), margin, 3) for end in (low, high))
    return bounds(low, high, digits)


def number(value: float, digits: int = 3) -> str:
    """So many digits with a true minus, thousands apart; rounded to zero it has no minus."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "\u2212")


def signed(value: float, digits: int = 3) -> str:
    """The same with a plus above zero; a zero has no sign."""
    return f"{'+' if round(value, digits) > 0 else ''}{number(value, digits)}"


def p_words(letter: str, value: float) -> str:
    """A p-value or q-value in words: p = 0.013, p < 0.0001."""
    if math.isnan(value):
        return f"{letter} unknown"
    digits = 4 if value < 0.001 else 3 if value < 0.1 else 2
    shown = p_number(value, digits)
    return f"{letter} {shown}" if shown.startswith("<") else f"{letter} = {shown}"


def p_number(value: float, digits: int = 4) -> str:
    """A p-value or q-value: 0.0130, < 0.0001; more digits where rounding makes it the level."""
    if math.isnan(value):
        return "–"
    if value < SMALLEST_P / 2:
        return f"< {SMALLEST_P:.4f}"
    return f"{value:.{_apart(value, LEVEL, digits)}f}"


def _apart(value: float, limit: float, digits: int) -> int:
    """How many digits tell a number from a limit that it is not."""
    while digits < MOST_DIGITS and value != limit and round(value, digits) == limit:
        digits += 1
    return digits


def lowered(text: str) -> str:
    """A sentence as the end of another."""
    return text[:1].lower() + text[1:] if text else "it has no number."
