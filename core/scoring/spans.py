"""Which tokens of a joined text belong to its continuation.

    context         " "  continuation
    The nurse left  ·    He was tired.
    0          len(c)    c0

A token is scored iff its character span ends after c0: " He" starts at the joint and ends inside
the continuation, so it is scored; a lone "·" ends at c0, so it is not. Counting the tokens of
context + " " instead leaves the first word of the continuation unscored with most tokenizers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from core.items.alignment import common_beginning

Span = tuple[int, int]

# A tokenizer's normaliser may drop these: marks, control and format characters, spaces.
_DROPPABLE = frozenset("MCZ")


def spans_cover(text: str, spans: Sequence[Span]) -> bool:
    """Whether the spans run forward through the text and leave out nothing that can be read."""
    covered = [False] * len(text)
    previous: Span = (0, 0)
    for start, end in spans:
        if not (previous[0] <= start <= end <= len(text) and previous[1] <= end):
            return False
        covered[start:end] = [True] * (end - start)
        previous = (start, end)
    return all(
        done or unicodedata.category(text[i])[0] in _DROPPABLE or _composes(text, covered, i)
        for i, done in enumerate(covered)
    )


def _composes(text: str, covered: Sequence[bool], i: int) -> bool:
    """Whether a character without a token is one with the last that has one, as a Hangul vowel is.

    A normaliser that composes "\u1112\u1161" to one syllable gives its token the first place only.
    """
    start = next((j for j in range(i - 1, max(i - 4, -1), -1) if covered[j]), i)
    run = text[start : i + 1]
    return len(unicodedata.normalize("NFC", run)) == 1 < len(run)


def first_scored_by_span(spans: Sequence[Span], c0: int) -> int:
    """Index of the first token whose span ends after c0; len(spans) if there is none."""
    return next((i for i, (_, end) in enumerate(spans) if end > c0), len(spans))


def first_scored_by_prefix(ids: Sequence[int], contexts: Sequence[Sequence[int]]) -> int:
    """Length of the longest common token prefix: what is not scored when spans cannot be trusted.

    Parameters
    ----------
    contexts
        Ids of the context alone, and with the joint's space behind it: a token that is only this
        space belongs to neither side, as it does by spans.
    """
    return max((common_beginning(ids, context) for context in contexts), default=0)


def words_of(spans: Sequence[Span], words: Sequence[Span]) -> list[int]:
    """For each token span, the index of the word that holds its last character; -1 for none."""
    found: list[int] = []
    word = 0
    for _, end in spans:
        while word < len(words) and words[word][1] < end:
            word += 1
        inside = word < len(words) and words[word][0] < end
        found.append(word if inside else -1)
    return found
