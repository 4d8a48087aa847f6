"""What is remarkable about one item taken by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.files.places import Place
from core.items.blank_checks import blank_notes
from core.items.conditions import language_of
from core.items.differences import (
    beyond_the_blank,
    differing_places,
    is_fill_in,
    is_pair,
    without_blanks,
)
from core.items.rows import Row
from core.items.scripts import is_near_empty, useless_marks
from core.items.texts import bare, is_collapsed, is_invisible, visible
from core.types import Item, Problem

Texts = dict[str, str]

# Control characters other than tab and line ends, and the replacement character.
_DAMAGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")


def row_notes(rows: list[Row]) -> Iterator[Problem]:
    """Notes on every item: they are stored all the same."""
    for row in rows:
        if row.item is None:
            continue
        texts = _texts(row.item)
        collapsed = is_collapsed(row.item)
        yield from _same_poles(row.place, row.item, texts, collapsed)
        yield from _white_space(row.place, texts)
        yield from _damaged(row.place, texts)
        yield from _near_empty(row.place, row.item, texts)
        if not collapsed:
            yield from _differs_elsewhere(row.place, row.item)
        if is_fill_in(row.item):
            yield from blank_notes(row.place, row.item)
        yield from _other_language(row.place, row.item)


def _texts(item: Item) -> Texts:
    """An item's texts by name, the context first."""
    return {"context": item.context} | {r.value: t for r, t in item.continuations().items()}


def _same_poles(place: Place, item: Item, texts: Texts, collapsed: bool) -> Iterator[Problem]:
    if collapsed:
        message = (
            "Stereotype and anti_stereotype are equal but for case, punctuation and spacing:"
            " the item is kept and left out of every statistic."
        )
        yield place.note("collapsed", message)
    elif bare(visible(item.stereotype)) == bare(visible(item.anti_stereotype)):
        differing = set(item.stereotype) ^ set(item.anti_stereotype)
        shown = sorted(filter(is_invisible, differing or {*item.stereotype, *item.anti_stereotype}))
        message = (
            f"Stereotype and anti_stereotype differ only by invisible characters ({_codes(shown)}):"
            " both are kept as they are and the item does not count as collapsed."
        )
        yield place.note("invisible_difference", message)
    else:
        yield from _invisible(place, texts)


def _invisible(place: Place, texts: Texts) -> Iterator[Problem]:
    """Characters that nobody sees and a model reads, where the script has no use for them."""
    for name, text in texts.items():
        if codes := sorted(useless_marks(text)):
            message = f"Invisible characters that are scored with the text, in {name}: "
            yield place.note("invisible_character", f"{message}{_codes(codes)}.")


def _near_empty(place: Place, item: Item, texts: Texts) -> Iterator[Problem]:
    if is_fill_in(item):
        texts = texts | {"context": without_blanks(item.context)}
    empty = [name for name, text in texts.items() if is_near_empty(text)]
    if empty:
        message = f"Hardly anything is in {', '.join(empty)}: no word, or a single letter."
        yield place.note("near_empty", message)


def _differs_elsewhere(place: Place, item: Item) -> Iterator[Problem]:
    """Poles that differ in more than the word that they are about."""
    if is_pair(item):
        if (n_places := differing_places(item)) > 1:
            message = f"The two sentences differ in {n_places} places, not in one."
            yield place.note("differs_elsewhere", message)
    elif is_fill_in(item) and (poles := beyond_the_blank(item)):
        message = f"Not only the blank differs from the context in {' and '.join(poles)}."
        yield place.note("differs_elsewhere", message)


def _white_space(place: Place, texts: Texts) -> Iterator[Problem]:
    continuations = {name: text for name, text in texts.items() if name != "context"}
    joint = [name for name, text in continuations.items() if text != text.lstrip()]
    if texts["context"] != texts["context"].rstrip():
        joint.insert(0, "context")
    if joint:
        message = f"White space at the joint is folded into one space: {', '.join(joint)}."
        yield place.note("white_space_at_joint", message)
    ends = [name for name, text in continuations.items() if text != text.rstrip()]
    if ends:
        message = f"White space at the end is part of the scored text: {', '.join(ends)}."
        yield place.note("white_space_at_end", message)


def _damaged(place: Place, texts: Texts) -> Iterator[Problem]:
    for name, text in texts.items():
        codes = sorted(set(_DAMAGE.findall(text)))
        if codes:
            message = f"Characters that a wrong conversion leaves, in {name}: {_codes(codes)}."
            yield place.note("damaged_character", message)


def _codes(characters: list[str]) -> str:
    return ", ".join(f"U+{ord(character):04X}" for character in characters)


def _other_language(place: Place, item: Item) -> Iterator[Problem]:
    expected = language_of(item.condition)
    if item.language.split("-")[0] != expected.split("-")[0]:
        message = f"The language is given as {item.language}, the condition is in {expected}."
        yield place.note("other_language", message)
