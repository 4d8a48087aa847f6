"""Semantic axes: two opposite poles, each a WordNet synset of adjectives or words of one's own."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_OWN_KEY = re.compile(r"user:[\w-]*:(.*?):[0-9a-f]{16}", re.DOTALL)
_USER_BIT = 1 << 62  # set in the offsets of one's own poles; WordNet's offsets have eight digits


@dataclass(frozen=True)
class Pole:
    """One end of an axis."""

    synset: str  # WordNet's name, "brave.a.01", or one's own words, "brave|gutsy"
    offset: int  # WordNet's; of one's own words a hash, which stays the same everywhere
    lemmas: tuple[str, ...]  # as they are put into sentences
    definition: str = ""
    language: str = "en"

    @property
    def is_own(self) -> bool:
        """Whether it is made of one's own words."""
        return self.offset >= _USER_BIT

    @property
    def key(self) -> str:
        """What tells a pole from every other: the synset's name, or "user:" with the hash."""
        if not self.is_own:
            return self.synset
        return f"user:{self.language}:{self.synset}:{self.offset:016x}"


@dataclass(frozen=True)
class Axis:
    """A pair of poles in a fixed orientation."""

    negative: Pole
    positive: Pole
    source: str  # "wordnet", "scm" or the name of a file
    dimension: str = ""
    facet: str = ""

    @property
    def axis_id(self) -> str:
        return f"{self.negative.key}~{self.positive.key}"


def user_pole(words: tuple[str, ...], definition: str = "", language: str = "en") -> Pole:
    """A pole of one's own words; the same words, definition and language give the same pole."""
    packed = "\0".join([language, definition, *words]).encode()
    hashed = int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big")
    return Pole("|".join(words), _USER_BIT | hashed >> 2, words, definition, language)


def plain_name(key: str, most: int = 80) -> str:
    """A pole's key or an axis's id without hashes, for a sentence; cut where it is long."""
    name = _OWN_KEY.sub(r"\1", key)
    return name if len(name) <= most else f"{name[:most]}…"
