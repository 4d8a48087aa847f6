"""What two sentences share: words or tokens that stand in both, and the tokens to be compared.

A pair of sentences is compared only on its unmodified tokens (Nangia et al. 2020, CrowS-Pairs).
Two rules say which these are:

    unit "token"  the token ids that an alignment of both id sequences matches: the published rule
    unit "word"   the tokens that lie wholly in words which an alignment of the words matches

The published rule also counts word pieces that the changed words happen to share: of Trans|gender
and Cis|gender it compares "gender". The word rule does not.

Two alignments match words or ids:

    "lcs"      a longest common subsequence: common beginning, then common end, then fewest blocks,
               then leftmost; the same whichever sentence comes first
    "difflib"  difflib.SequenceMatcher, as the published code of CrowS-Pairs uses it; it may find
               less than the longest, and something else when the sentences are swapped
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.items.texts import word_spans

UNITS = ("word", "token")
ALIGNMENTS = ("lcs", "difflib")

# Cells of the table that the search for the longest common subsequence fills, at most: 500 words
# against 500 between common beginning and end. Nothing is matched in a middle larger than that.
LARGEST_TABLE = 250_000

Mask = npt.NDArray[np.bool_]


class Block(NamedTuple):
    """A run that both sequences hold: a[start_a : start_a + length] = b[start_b : ...]."""

    start_a: int
    start_b: int
    length: int


@dataclass(frozen=True)
class Sentence:
    """A sentence and its tokens, without any special one; all arrays have shape (T,)."""

    text: str
    token_ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]  # character spans in the text; -1 where they are not known
    ends: npt.NDArray[np.int32]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where the words lie, punctuation at their edges being words of its own."""
        return word_spans(self.text)

    @cached_property
    def words(self) -> list[str]:
        """The words, in the order of `spans`."""
        return [self.text[start:end] for start, end in self.spans]

    @property
    def has_spans(self) -> bool:
        """Whether it is known where the tokens lie."""
        return bool(self.starts.min(initial=0) >= 0)


def split_words(text: str) -> list[str]:
    """The words of a text, punctuation at their edges being words of its own."""
    return [text[start:end] for start, end in word_spans(text)]


def unmodified_tokens(
    a: Sentence,
    b: Sentence,
    *,
    unit: str = "word",
    align: str = "lcs",
    special: tuple[bool, bool] = (False, False),
) -> tuple[Mask, Mask]:
    """Which tokens of two sentences are unmodified.

    Parameters
    ----------
    unit
        "word" or "token".
    align
        "lcs" or "difflib".
    special
        For tokens aligned by difflib: whether both sentences have a special token in front and
        behind, which the published code aligns too. It moves what difflib finds in rare cases.

    Returns
    -------
    mask_a, mask_b : arrays of bool, shapes (T_a,) and (T_b,)
        By tokens, both have as many true values. By words they need not: one word may have other
        tokens in the other sentence. What is compared are the same words all the same: one that
        shares a token with a modified word, in either sentence, is modified in both.

    Raises
    ------
    InputError
        The unit or alignment is not known.
    ValueError
        Words are asked for, but it is not known where the tokens lie.
    """
    if unit == "token":
        ids_a, ids_b = a.token_ids.tolist(), b.token_ids.tolist()
        if align == "difflib":
            blocks = _between_special(ids_a, ids_b, *special)
        else:
            blocks = matching_blocks(ids_a, ids_b, align)
        return _masks(blocks, len(ids_a), len(ids_b))
    if unit != "word":
        raise InputError(f"{unit!r} is not a unit; choose from: {', '.join(UNITS)}.")
    if not (a.has_spans and b.has_spans):
        raise ValueError("the tokens' places are not known, so their words are not either")
    return _in_shared_words(a, b, matching_blocks(a.words, b.words, align))


def matching_blocks(a: Sequence[Any], b: Sequence[Any], align: str = "lcs") -> list[Block]:
    """The runs that an alignment of two sequences matches, from left to right.

    Raises
    ------
    InputError
        The alignment is not known.
    """
    if align == "lcs":
        return _longest_common(a, b)
    if align == "difflib":
        found = difflib.SequenceMatcher(None, a, b).get_matching_blocks()
        return [Block(*block) for block in found if block.size]
    raise InputError(f"{align!r} is not an alignment; choose from: {', '.join(ALIGNMENTS)}.")


def mostly_different(words_a: Sequence[str], words_b: Sequence[str]) -> bool:
    """Whether more than half of the longer sentence's words have no match in the other one."""
    n_shared = sum(block.length for block in matching_blocks(words_a, words_b))
    return 2 * n_shared < max(len(words_a), len(words_b))


def _longest_common(a: Sequence[Any], b: Sequence[Any]) -> list[Block]:
    begin = common_beginning(a, b)
    end = common_beginning(a[begin:][::-1], b[begin:][::-1])
    middle_a, middle_b = a[begin : len(a) - end], b[begin : len(b) - end]
    blocks = [Block(begin + i, begin + j, n) for i, j, n in _middle(middle_a, middle_b)]
    if begin:
        blocks.insert(0, Block(0, 0, begin))
    if end:
        blocks.append(Block(len(a) - end, len(b) - end, end))
    return blocks


def common_beginning(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many elements two sequences begin with alike."""
    shorter = min(len(a), len(b))
    return next((i for i in range(shorter) if a[i] != b[i]), shorter)


def _middle(a: Sequence[Any], b: Sequence[Any]) -> list[Block]:
    """Blocks of a longest common subsequence; neither first nor last elements are equal."""
    if not a or not b or set(a).isdisjoint(b) or len(a) * len(b) > LARGEST_TABLE:
        return []
    # "Leftmost" would depend on which sequence comes first, so they are put in an order.
    if list(b) < list(a):
        return [Block(i, j, n) for j, i, n in _middle(b, a)]
    return _blocks(_leftmost(a, b))


def _leftmost(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[int, int]]:
    """Matched positions: the most, in the fewest blocks, the earliest in a, then in b.

    best[i][j] = (value when a[i - 1], b[j - 1] are not matched, value when they are) of what is
    still possible in a[i:] and b[j:]; a match is worth `match`, a new block costs 1.
    """
    n_a, n_b = len(a), len(b)
    match = min(n_a, n_b) + 1  # more than all blocks together can cost
    apart = [[0] * (n_b + 1) for _ in range(n_a + 1)]
    joined = [[0] * (n_b + 1) for _ in range(n_a + 1)]
    for i in reversed(range(n_a)):
        for j in reversed(range(n_b)):
            skipped = max(apart[i + 1][j], apart[i][j + 1])
            matched = match + joined[i + 1][j + 1] if a[i] == b[j] else 0
            apart[i][j] = max(skipped, matched - 1)
            joined[i][j] = max(skipped, matched)
    found: list[tuple[int, int]] = []
    i = j = 0
    best = apart[0][0]
    while best:
        i, j, cost = next(
            (k, m, cost)
            for k in range(i, n_a)
            for m in range(j, n_b)
            if a[k] == b[m]
            for cost in (0 if found and (k, m) == (i, j) else 1,)
            if match - cost + joined[k + 1][m + 1] == best
        )
        found.append((i, j))
        best -= match - cost
        i, j = i + 1, j + 1
    return found


def _blocks(matched: list[tuple[int, int]]) -> list[Block]:
    blocks: list[Block] = []
    for i, j in matched:
        last = blocks[-1] if blocks else None
        if last and (i, j) == (last.start_a + last.length, last.start_b + last.length):
            blocks[-1] = Block(last.start_a, last.start_b, last.length + 1)
        else:
            blocks.append(Block(i, j, 1))
    return blocks


def _between_special(a: list[int], b: list[int], front: bool, behind: bool) -> list[Block]:
    """Blocks of difflib as they are with special tokens (-1 and -2, ids of no token) around."""
    before, after = [-1] * front, [-2] * behind
    found = matching_blocks([*before, *a, *after], [*before, *b, *after], "difflib")
    trimmed = []
    for i, j, n in found:
        # Only equal special tokens match, so both sentences lose as much of a block.
        skip = int(front and i == 0)
        length = n - skip - int(behind and i + n == front + len(a) + 1)
        if length > 0:
            trimmed.append(Block(i + skip - front, j + skip - front, length))
    return trimmed


def _masks(blocks: list[Block], n_a: int, n_b: int) -> tuple[Mask, Mask]:
    mask_a, mask_b = np.zeros(n_a, np.bool_), np.zeros(n_b, np.bool_)
    for i, j, n in blocks:
        mask_a[i : i + n] = True
        mask_b[j : j + n] = True
    return mask_a, mask_b


def _in_shared_words(a: Sentence, b: Sentence, blocks: list[Block]) -> tuple[Mask, Mask]:
    shared_a, shared_b = _masks(blocks, len(a.words), len(b.words))
    reach_a, reach_b = _words_of_tokens(a), _words_of_tokens(b)
    while True:
        kept_a, kept_b = _within(reach_a, shared_a), _within(reach_b, shared_b)
        torn_a, torn_b = _torn(reach_a, kept_a), _torn(reach_b, kept_b)
        if not torn_a and not torn_b:
            return kept_a, kept_b
        # The k-th shared words of both are partners.
        words_a, words_b = np.flatnonzero(shared_a), np.flatnonzero(shared_b)
        torn = [i in torn_a or j in torn_b for i, j in zip(words_a, words_b, strict=True)]
        if not any(torn):
            return kept_a, kept_b
        shared_a[words_a[torn]] = shared_b[words_b[torn]] = False


Reach = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]


def _words_of_tokens(sentence: Sentence) -> Reach:
    """First and last word that each token reaches into, shapes (T,).

    White space belongs to the word behind it, as in " black". A token that reaches behind the last
    word has the number of words as its last.
    """
    ends = np.array([end for _, end in sentence.spans], dtype=np.int32)
    first = ends.searchsorted(sentence.starts, side="right")
    last = ends.searchsorted(sentence.ends, side="left")
    return first, np.maximum(first, last)  # one without characters lies in one word


def _within(reach: Reach, shared: Mask) -> Mask:
    """Which tokens reach into shared words only."""
    first, last = reach
    modified = np.concatenate([[0], np.cumsum(~shared), [0]])
    modified[-1] = modified[-2] + 1  # behind the last word nothing is shared
    within: Mask = modified[last + 1] == modified[first]
    return within


def _torn(reach: Reach, kept: Mask) -> set[int]:
    """The words of tokens that reach into several, of which one is modified."""
    first, last = reach
    lost = np.flatnonzero((first != last) & ~kept)
    return {word for t in lost for word in range(first[t], last[t] + 1)}
