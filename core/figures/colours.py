"""One colour and symbol per language everywhere, and the two diverging scales.

The colours were searched for: every one has a contrast of at least 3 to both backgrounds, and any
two stay apart (CIE 1976 distance above 20) for people with protanopia or deuteranopia, as simulated
by Machado, Oliveira and Fernandes (2009). Where languages outnumber colours the symbol tells them
apart.
"""

from __future__ import annotations

import zlib
from typing import Any

from core.items.conditions import is_rewording, language_of

ENGLISH = "#787878"  # what everything else is compared with
COLOURS = (
    *("#bc3527", "#696dfc", "#c307b2", "#059bec"),
    *("#1daa62", "#ab9406", "#8320ff", "#c87ab7"),
)
_LANGUAGES = dict(zip(("es", "fr", "zh", "ko", "ar", "hi", "sw", "nl"), COLOURS, strict=True))
_SYMBOLS = ("square", "triangle-up", "pentagon", "star", "hexagram")

# What rewording or noise does, behind the marks: seen on white and on black.
BAND = "rgba(140, 140, 140, 0.38)"

STEREOTYPE = "#c4580a"
ANTI_STEREOTYPE = "#2f74b8"
SHARED = "#8c8c8c"  # what both poles have in common

NEGATIVE_POLE = "#7a6bb5"  # of an axis; neither colour reads as good or bad
POSITIVE_POLE = "#c4700f"
REFERENCE = "rgba(140, 140, 140, 0.5)"  # phrases that concepts are held against

# By how sure a difference is, never by its sign.
EVIDENCE = {"shown": "#7c4dff", "small": "#2f83c4", "open": "#787878"}

# Purple and orange (ColorBrewer PuOr): no colour that reads as good or bad.
_DIVERGING = (
    *("#542788", "#8073ac", "#b2abd2", "#d8daeb", "#f7f7f7"),
    *("#fee0b6", "#fdb863", "#e08214", "#b35806"),
)
CHANGE_SCALE = [[i / (len(_DIVERGING) - 1), colour] for i, colour in enumerate(_DIVERGING)]


def language_colour(condition: str) -> str:
    """The colour of a condition's language; a rewording has the colour of what it rewords."""
    language = language_of(condition)
    if language == "en":
        return ENGLISH
    return _LANGUAGES.get(language) or COLOURS[_number(language) % len(COLOURS)]


def condition_symbol(condition: str) -> str:
    """Plotly's marker symbol of a condition: filled for a version, open diamond for a rewording."""
    if is_rewording(condition):
        return "diamond-open"
    language = language_of(condition)
    if language == "en" or language in _LANGUAGES:
        return "circle"
    return _SYMBOLS[_number(language) // len(COLOURS) % len(_SYMBOLS)]


def score_colours() -> dict[str, Any]:
    """The colour axis of scores: all of 0 to 1, pale at 0.5, where neither pole is preferred."""
    return {"colorscale": CHANGE_SCALE, "cmin": 0.0, "cmid": 0.5, "cmax": 1.0}


def change_colours(limit: float) -> dict[str, Any]:
    """The colour axis of changes up to +-limit, pale at 0."""
    return {"colorscale": CHANGE_SCALE, "cmin": -limit, "cmid": 0.0, "cmax": limit}


def _number(language: str) -> int:
    """The same number for a language in every process, unlike hash()."""
    return zlib.crc32(language.encode())
