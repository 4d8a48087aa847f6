"""How frequent an English word or phrase is: Zipf, log10 of its occurrences in a billion words.

Values are wordfreq's. It estimates the frequency f of several words together as
1 / f = 1 / f1 + 1 / f2 + ..., so that a phrase is a little rarer than its rarest word.
"""

from __future__ import annotations

NEAR = 0.1  # Zipf values that differ by no more count as equal
_ROUNDING = 1e-9


def zipf(text: str) -> float | None:
    """The Zipf value of a text, to two decimals; None where a word of it is not known."""
    from wordfreq import zipf_frequency

    return zipf_frequency(text, "en") or None


def are_near(one: float, other: float) -> bool:
    """Whether two Zipf values count as equal."""
    return abs(one - other) <= NEAR + _ROUNDING
