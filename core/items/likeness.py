"""When two texts are the same one: to a reader, or to a model that compares them."""

from __future__ import annotations

from core.files.rows import folded
from core.items.texts import bare, visible


def as_read(text: str) -> str:
    """What two texts have in common that a reader takes for one.

    Neither case, invisible characters (a soft hyphen in a word), full-width or decomposed letters,
    nor how much white space there is tell them apart.
    """
    return " ".join(folded(visible(text)).split())


def as_compared(text: str) -> str:
    """What two texts have in common that compare nothing: no punctuation and spaces either."""
    return bare(visible(text))
