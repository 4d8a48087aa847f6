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
        done or unicodedata.category(character)[0] in _DROPPABLE
        for done, character in zip(covered, text, strict=True)
    )


def first_scored_by_span(spans: Sequence[Span], c0: int) -> int:
    """Index of the first token whose span ends after c0; len(spans) if there is none."""
    return next((i for i, (_, end) in enumerate(spans) if end > c0), len(spans))


def first_scored_by_prefix(ids: Sequence[int], context_ids: Sequence[int]) -> int:
    """Length of the longest common token prefix: what is scored when spans cannot be trusted."""
    shared = 0
    for token, context_token in zip(ids, context_ids, strict=False):
        if token != context_token:
            break
        shared += 1
    return shared


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
