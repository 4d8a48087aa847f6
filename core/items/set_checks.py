"""What shows only when the items of a data set are held against each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.files.places import Place, listed
from core.items.conditions import is_rewording, language_of
from core.items.differences import without_blanks
from core.items.formats.questions import apart_from_question
from core.items.metadata import FORM, QUESTION
from core.items.rows import Row
from core.items.scripts import foreign_script
from core.items.texts import fold
from core.languages import language_name
from core.settings import REFERENCE_CONDITION
from core.types import Item, Problem
from core.words import counted

MOST_NOTES = 20  # on groups of items with identical texts of one condition; of more, one note

Key = tuple[str, ...]


@dataclass(frozen=True)
class Placed:
    """An item and the row it was read from."""

    place: Place
    item: Item


Groups = list[list[Placed]]


def duplicate_keys(rows: list[Row]) -> Iterator[Problem]:
    """Errors for every row whose item and condition an earlier row has, in any file."""
    first: dict[Key, Place] = {}
    for row in rows:
        place = row.place
        if not place.item_id or not place.condition:
            continue
        earlier = first.setdefault((place.item_id, place.condition), place)
        if earlier is not place:
            message = f"Item {place.item_id!r} in {place.condition} is already in {earlier}."
            yield place.error("duplicate_key", message)


def mixed_languages(rows: list[Row]) -> Iterator[Problem]:
    """Errors for rows in another script than their condition's language, where most are in its own.

    Where most are not, the condition is written so: a note says that.
    """
    placed = [Placed(row.place, row.item) for row in rows if row.item is not None]
    for condition, group in by_condition(placed).items():
        foreign = [(one, script) for one in group if (script := _foreign(one.item))]
        name = language_name(language_of(condition))
        if 2 * len(foreign) > len(group):
            n, script = len(foreign), foreign[0][1].title()
            message = f"{n} of {counted(len(group), 'row')} of {condition} are in {script} letters."
            yield Place(foreign[0][0].place.file).note("other_script", message)
            continue
        for one, script in foreign:
            message = (
                f"The text is in {script.title()} letters, while {condition} is {name}: it seems "
                "to be another language."
            )
            yield one.place.error("mixed_languages", message)


def _foreign(item: Item) -> str:
    """The script of a text that is not in its condition's language, "" where none can be told.

    Context, question and sentences are judged apart, so that none hides another; answers, which
    may be names, together. All texts together tell what no single one has letters enough for.
    """
    language = language_of(item.condition)
    context, continuations = without_blanks(item.context), list(item.continuations().values())
    if item.metadata.get(FORM) == QUESTION:
        texts = [*apart_from_question(context), " ".join(continuations)]
    else:
        texts = [context, *continuations]
    texts.append(" ".join([context, *continuations]))
    return next((script for text in texts if (script := foreign_script(text, language))), "")


def set_notes(rows: list[Row]) -> Iterator[Problem]:
    """Notes on how the items of a data set stand to each other."""
    placed = [Placed(row.place, row.item) for row in rows if row.item is not None]
    english = in_english(placed)
    yield from _twins(placed, english)
    for one in placed:
        yield from _untranslated(one, english)
    for group in by_condition(placed).values():
        yield from _identical(group, english)


def in_english(placed: list[Placed]) -> dict[str, Item]:
    """The English version of every item that has one, by its id."""
    return {p.item.item_id: p.item for p in placed if p.item.condition == REFERENCE_CONDITION}


def by_condition(placed: list[Placed]) -> dict[str, list[Placed]]:
    """The items of each condition, in the order of appearance."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        groups[one.item.condition].append(one)
    return groups


def _twins(placed: list[Placed], english: dict[str, Item]) -> Iterator[Problem]:
    """Native items have no English twin; all others need one to be compared with."""
    alone: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        has_twin = one.item.item_id in english
        if one.item.native and has_twin:
            message = f"Item {one.item.item_id!r} is native and yet has an English row."
            yield one.place.note("native_with_english", message)
        elif not one.item.native and not has_twin:
            alone[one.item.item_id].append(one)
    if alone and not english:
        place = Place(next(iter(alone.values()))[0].place.file)
        message = f"None of the {counted(len(alone), 'item')} has a row in {REFERENCE_CONDITION}."
        yield place.note("no_english", message)
        return
    for item_id, group in alone.items():
        conditions = listed([one.item.condition for one in group])
        message = (
            f"Item {item_id!r} is not native and has no row in {REFERENCE_CONDITION},"
            f" only in {conditions}: it enters no comparison."
        )
        yield group[0].place.note("no_english", message)


def _untranslated(one: Placed, english: dict[str, Item]) -> Iterator[Problem]:
    twin = english.get(one.item.item_id)
    if twin is None or is_rewording(one.item.condition):
        return
    if language_of(one.item.condition).split("-")[0] == REFERENCE_CONDITION:
        return
    names = ("context", "stereotype", "anti_stereotype")
    texts = {name: getattr(one.item, name).strip() for name in names}
    equal = [name for name in names if texts[name] and texts[name] == getattr(twin, name).strip()]
    # A single word may be the same in two languages; a sentence may not.
    sentence = any(len(texts[name].split()) > 1 for name in equal)
    if sentence or len(equal) == len([text for text in texts.values() if text]):
        message = f"The translation equals its English text in {', '.join(equal)}."
        yield one.place.note("untranslated", message)


def _identical(group: list[Placed], english: dict[str, Item]) -> Iterator[Problem]:
    """Items of one condition that translation, or a copy, has made the same.

    Several questions about one passage share their context and are no cause for a note, unless
    the original contexts differ.
    """
    condition = group[0].item.condition
    texts, contexts = alike(group, english)
    if len(texts) > MOST_NOTES:
        n, first = sum(map(len, texts)), _names(texts[0])
        message = (
            f"{n:,} items in {condition} have the texts of another one, in {len(texts):,} groups;"
            f" the first is {first}."
        )
        yield Place(texts[0][0].place.file).note("identical_items", message)
        texts = []
    for same in texts:
        message = f"Items with identical texts in {condition}: {_names(same)}."
        yield same[0].place.note("identical_items", message)
    for same in contexts:
        message = (
            f"Items with identical contexts in {condition}, but"
            f" {len(_english_contexts(same, english))} different ones in {REFERENCE_CONDITION}:"
            f" {_names(same)}."
        )
        yield same[0].place.note("identical_contexts", message)


def alike(group: list[Placed], english: dict[str, Item]) -> tuple[Groups, Groups]:
    """The items of one condition with identical texts, and those whose contexts became the same.

    The latter have one context here and different ones in English; those with identical texts are
    not among them again.
    """
    texts = _groups(group, _texts)
    if group[0].item.condition == REFERENCE_CONDITION:
        return texts, []
    named = set(map(_ids, texts))
    with_context = [one for one in group if one.item.context.strip()]
    same_context = _groups(with_context, lambda item: (item.context.strip(),))
    return texts, [
        same
        for same in same_context
        if len(_english_contexts(same, english)) > 1 and _ids(same) not in named
    ]


def _english_contexts(same: list[Placed], english: dict[str, Item]) -> set[str]:
    return {english[i].context.strip() for one in same if (i := one.item.item_id) in english}


def _texts(item: Item) -> Key:
    folded = (fold(item.context, text) for text in item.continuations().values())
    return tuple(part for pair in folded for part in pair)


def _ids(same: list[Placed]) -> tuple[str, ...]:
    return tuple(one.item.item_id for one in same)


def _names(same: list[Placed]) -> str:
    return listed([repr(one.item.item_id) for one in same])


def _groups(placed: list[Placed], key: Callable[[Item], Key]) -> Groups:
    """The items that share a key with another one, grouped, in order of appearance."""
    groups: dict[Key, list[Placed]] = defaultdict(list)
    for one in placed:
        groups[key(one.item)].append(one)
    return [group for group in groups.values() if len(group) > 1]
