"""Texts as they are scored: folding, joining, identity, collapse and words."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache
from itertools import filterfalse

from core.types import Item, Role, Text

# Default-ignorable characters outside the category Cf (Unicode, DerivedCoreProperties).
_SHAPELESS = frozenset(
    map(
        chr,
        [
            *[0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0],
            *[*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)],
        ],
    )
)


def fold(context: str, continuation: str) -> tuple[str, str]:
    """Fold the white space at the context's end and the continuation's start into one joint.

    Only those two edges change: white space elsewhere is the author's.
    """
    return context.rstrip(), continuation.lstrip()


def join(context: str, continuation: str) -> str:
    """The scored string of a folded pair: joined by one ASCII space in every language."""
    return f"{context} {continuation}" if context else continuation


def continuation_start(context: str) -> int:
    """c0: index in the joined string of the continuation's first character."""
    return len(context) + 1 if context else 0


def make_text(context: str, continuation: str) -> Text:
    """Fold a pair and give it its identity: a 128-bit hash of both parts."""
    context, continuation = fold(context, continuation)
    packed = f"{len(context)}:{context}{continuation}".encode()
    return Text(hashlib.blake2b(packed, digest_size=16).hexdigest(), context, continuation)


def item_texts(item: Item) -> dict[Role, Text]:
    """The texts of an item by role."""
    return {role: make_text(item.context, text) for role, text in item.continuations().items()}


def bare(text: str) -> str:
    """The letters that a collapse check compares: NFKC, casefolded, no punctuation, no spaces."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)


class _Letters(dict[int, int | None]):
    """Every code point to itself, spaces and punctuation to nothing; filled as texts have them."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        left_out = character.isspace() or unicodedata.category(character)[0] in "PZ"
        self[code] = None if left_out else code
        return self[code]


_LETTERS = _Letters()


def is_collapsed(item: Item) -> bool:
    """Whether stereotype and anti-stereotype say the same, so that the item compares nothing."""
    return bare(item.stereotype) == bare(item.anti_stereotype)


@cache
def is_invisible(character: str) -> bool:
    """Whether a character has no shape of its own: joiners, direction marks, variation selectors.

    They are letters to some scripts (a zero-width joiner changes a Persian or Hindi word), so
    they are never removed from a text that is kept or scored.
    """
    return unicodedata.category(character) == "Cf" or character in _SHAPELESS


def visible(text: str) -> str:
    """The text without its invisible characters, to compare what a reader sees."""
    if text.isascii():
        return text
    return text if text.isascii() else "".join(filterfalse(is_invisible, text))


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words: white-space separated, punctuation at their edges split off.

    "(He left.)" has four: "(", "He", "left", ".)".
    """
    spans: list[tuple[int, int]] = []
    position = 0
    for chunk in text.split():
        start = text.index(chunk, position)
        position = start + len(chunk)
        if chunk.isalnum():
            spans.append((start, position))
            continue
        first, last = start, position
        while first < last and _is_punctuation(text[first]):
            first += 1
        while last > first and _is_punctuation(text[last - 1]):
            last -= 1
        edges = [(start, first), (first, last), (last, position)]
        spans += [(a, b) for a, b in edges if a < b]
    return spans


@cache
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
