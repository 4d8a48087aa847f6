"""What arrays are computed from, in one short text: they count as done only for these sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from core.axes.axis import Axis, Pole
from core.axes.sentences import probe_sentences


@lru_cache(maxsize=1 << 14)  # all of WordNet's poles in both families
def pole_content(pole: Pole, family: str) -> str:
    """A hash of a pole's sentences."""
    return content_hash(probe_sentences(pole, family))


def axis_content(axis: Axis, family: str) -> str:
    """A hash of both poles' sentences."""
    return content_hash(pole_content(pole, family) for pole in (axis.negative, axis.positive))


def content_hash(parts: Iterable[str]) -> str:
    """32 hexadecimal digits over some texts in their order."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
