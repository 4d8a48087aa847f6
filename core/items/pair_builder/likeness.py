"""When two texts of a folder are the same one to a reader, or to a model that compares them."""

from __future__ import annotations

from core.files.rows import folded
from core.items.texts import bare, visible


def as_read(text: str) -> str:
    """What two texts have in common that a reader takes for one: no case, nothing invisible."""
    return folded(visible(text))


def as_compared(text: str) -> str:
    """What two texts have in common that compare nothing: no punctuation and spaces either."""
    return bare(visible(text))
