"""What is wrong or remarkable about the blank of a fill-in item, whatever layout it is read in.

Published files hold blanks at the start of a sentence, blanks with letters behind them and two
blanks that one word fills: these are notes. What makes an original unusable is an error. A
translation or a rewording may lose its blank or run it into a word: that is what it is read for,
so it is noted, and the item stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from core.files.places import Place
from core.items.differences import around_blanks, blanks_in, is_fill_in, without_blanks
from core.items.likeness import as_read
from core.items.rows import Row
from core.items.texts import bare
from core.items.word_characters import needs_no_space
from core.settings import REFERENCE_CONDITION
from core.types import Item, Problem

_GAP = "\0"  # no item holds one


def blank_errors(rows: list[Row]) -> Iterator[Problem]:
    """Errors for the originals whose blank cannot be filled as their sentences say."""
    for row in rows:
        if row.item is not None and is_fill_in(row.item) and _is_original(row.item):
            yield from _errors(row.place, row.item)


def _errors(place: Place, item: Item) -> Iterator[Problem]:
    if not blanks_in(item.context):
        message = "The item is said to be fill-in, and its context holds no blank (BLANK)."
        yield place.error("blank_missing", message)
    elif not bare(without_blanks(item.context)):
        yield place.error("blank_alone", "The context holds nothing but the blank.")
    if apart := _filled_apart(item):
        message = (
            f"The context holds {blanks_in(item.context)} blanks, and {' and '.join(apart)} does "
            "not fill all of them with one word."
        )
        yield place.error("blanks_differ", message)
    if any(_in_word(before) for before in around_blanks(item.context)[:-1]):
        message = "A letter or digit stands directly before the blank: it is part of a word."
        yield place.error("blank_in_word", message)


def blank_notes(place: Place, item: Item) -> Iterator[Problem]:
    """What is remarkable about a blank; the whole sentence is the context, so nothing is lost."""
    n, parts = blanks_in(item.context), around_blanks(item.context)
    if not n:
        if not _is_original(item):
            message = "The context of the translation or rewording has no blank."
            yield place.note("blank_lost", message)
        return
    if n > 1:
        yield place.note("blank_twice", f"The context holds {n} blanks.")
    if not parts[0].strip():
        message = "The context begins with the blank: standing alone, its sentences differ at once."
        yield place.note("blank_at_start", message)
    if any(_is_glued(before, after) for before, after in pairwise(parts)):
        message = "The blank is part of a word, or stands behind a character without a space."
        yield place.note("blank_glued", message)


def _is_original(item: Item) -> bool:
    return item.native or item.condition == REFERENCE_CONDITION


def _filled_apart(item: Item) -> list[str]:
    """The continuations that do not fill every one of several blanks with the same words."""
    n = blanks_in(item.context)
    if n < 2:
        return []
    parts = as_read(_GAP.join(around_blanks(item.context))).split(_GAP)
    return [str(r) for r, t in item.continuations().items() if not _filled_alike(as_read(t), parts)]


def _filled_alike(text: str, parts: list[str]) -> bool:
    length, rest = divmod(len(text) - sum(map(len, parts)), len(parts) - 1)
    start = len(parts[0])
    return length > 0 and not rest and text[start : start + length].join(parts) == text


def _in_word(before: str) -> bool:
    return before[-1:].isalnum() and not needs_no_space(before[-1])


def _is_glued(before: str, after: str) -> bool:
    """Whether the blank is no word by itself; punctuation behind it is usual."""
    end, start = before[-1:], after[:1]
    return (bool(end.strip()) and not needs_no_space(end)) or (
        start.isalnum() and not needs_no_space(start)
    )
