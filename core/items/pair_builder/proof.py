"""Proof, on the sentences alone, that two of them differ in the identity and in nothing else.

Word boundaries are proved where a script has them. In Chinese, Japanese or Thai a surface form may
stand anywhere, and in Korean too, where a particle follows it without a space: a longer word that
holds the surface form is not told from it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.items.pair_builder.slots import capitalised
from core.items.word_characters import joins_words


def differ_only_in(more: str, less: str, surface: str, other: str) -> bool:
    """Whether one sentence becomes the other when one surface form takes the place of another.

    The surface forms have to be different, stand between word boundaries, and may begin with a
    capital where the sentence does. How the sentences were made plays no part.
    """
    return more != less and any(exchanged == less for exchanged in _exchanged(more, surface, other))


def _exchanged(text: str, surface: str, other: str) -> Iterator[str]:
    """The text with the other surface form at each place of the first."""
    begin = capitalised(surface)
    if text.startswith(begin) and not _in_word(text, 0, len(begin)):
        yield capitalised(other) + text[len(begin) :]
    start = text.find(surface)
    while surface and start >= 0:
        end = start + len(surface)
        if not _in_word(text, start, end):
            yield text[:start] + other + text[end:]
        start = text.find(surface, start + 1)


def _in_word(text: str, start: int, end: int) -> bool:
    """Whether the part from start to end is one word with what stands beside it."""
    return any(map(joins_words, text[max(start - 1, 0) : start] + text[end : end + 1]))
