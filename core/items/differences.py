"""In how much the two poles of an item differ, beyond the words that they are about."""

from __future__ import annotations

import re

from core.items.alignment import matching_blocks, split_words
from core.items.metadata import FILL_IN, FORM
from core.items.texts import visible
from core.types import Item

# How sentences show where a word is left out, in files of this field and in their translations.
_BLANKS = re.compile(r"(?<![A-Z])BLANK(?![A-Z])|[_＿]{2,}|\[(?:MASK|BLANK)\]|<(?:mask|blank)>")


def is_pair(item: Item) -> bool:
    """Whether an item is a pair of sentences: no context, and no other continuation."""
    return not item.context.strip() and item.unrelated is None and item.unknown is None


def is_fill_in(item: Item) -> bool:
    """Whether the item is said to be a sentence with a blank."""
    return item.metadata.get(FORM) == FILL_IN


def blanks_in(text: str) -> int:
    """How many blanks a text has, in any of the ways in which they are written."""
    return len(_BLANKS.findall(text))


def around_blanks(text: str) -> list[str]:
    """What stands before, between and behind the blanks of a text: one part more than blanks."""
    return _BLANKS.split(text)


def without_blanks(text: str) -> str:
    """The text around its blanks."""
    return _BLANKS.sub("", text)


def differing_places(item: Item) -> int:
    """In how many places the two sentences of a pair differ, by words without case."""
    more, less = (
        [word.casefold() for word in split_words(visible(text))]
        for text in (item.stereotype, item.anti_stereotype)
    )
    blocks = matching_blocks(more, less)
    ends = [(0, 0), *((b.start_a + b.length, b.start_b + b.length) for b in blocks)]
    starts = [*((b.start_a, b.start_b) for b in blocks), (len(more), len(less))]
    return sum(end != start for end, start in zip(ends, starts, strict=True))


def beyond_the_blank(item: Item) -> list[str]:
    """The poles of a fill-in item whose sentence is another one around the blank.

    White space and case do not count; without exactly one blank in the context nothing can be said.
    """
    parts = around_blanks(item.context)
    if len(parts) != 2:
        return []
    before, after = map(_plain, parts)
    return [
        role
        for role in ("stereotype", "anti_stereotype")
        if not _around(_plain(getattr(item, role)), before, after)
    ]


def _around(text: str, before: str, after: str) -> bool:
    return (
        len(text) >= len(before) + len(after) and text.startswith(before) and text.endswith(after)
    )


def _plain(text: str) -> str:
    return " ".join(visible(text).casefold().split())
