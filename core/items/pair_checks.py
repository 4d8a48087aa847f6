"""What shows only when sentence pairs are held against each other, in one condition or several.

Direction and type are labels of a pair in one language: a translation may turn a stereotype about
a disadvantaged group into one about an advantaged group. They are kept with each condition, and
where conditions of one item disagree a note says how often and where.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from core.files.places import Place, listed
from core.items.differences import is_pair
from core.items.pair_confounds import confound_notes
from core.items.pairs import DIRECTION
from core.items.rows import Row
from core.items.set_checks import Placed, by_condition
from core.settings import REFERENCE_CONDITION
from core.types import Item, Problem
from core.words import counted

Label = Callable[[Item], str]


def pair_notes(rows: list[Row]) -> Iterator[Problem]:
    """Notes on labels that conditions disagree about, and on repeated and confounded pairs."""
    groups, first, reference = _with_reference(rows)
    for condition, group in groups.items():
        if condition != first:
            yield from _other_label(group, reference, "other_direction", "direction", _direction)
            yield from _other_label(group, reference, "other_type", "type", _type)
        yield from _repeated(condition, group)
        yield from confound_notes([one.item for one in group], Place(group[0].place.file))


def other_directions(rows: list[Row]) -> Iterator[Problem]:
    """A note on every pair whose direction is not that of the reference; missing ones aside."""
    groups, first, reference = _with_reference(rows)
    for one in (one for condition, group in groups.items() if condition != first for one in group):
        twin = reference.get(one.item.item_id)
        here, there = _direction(one.item), _direction(twin) if twin else ""
        if here and there and here != there:
            yield one.place.note("other_direction", f"{here} here, {there} in {first}")


def _with_reference(rows: list[Row]) -> tuple[dict[str, list[Placed]], str, dict[str, Item]]:
    """The pairs by condition; the one that others are held against, and its pairs by id."""
    pairs = [Placed(r.place, r.item) for r in rows if r.item is not None and is_pair(r.item)]
    groups = by_condition(pairs)
    first = REFERENCE_CONDITION if REFERENCE_CONDITION in groups else next(iter(groups), "")
    return groups, first, {one.item.item_id: one.item for one in groups.get(first, [])}


def _direction(item: Item) -> str:
    return str(item.metadata.get(DIRECTION) or "")


def _type(item: Item) -> str:
    return item.category


def _other_label(
    group: list[Placed], reference: dict[str, Item], kind: str, name: str, label: Label
) -> Iterator[Problem]:
    """How often a condition labels its pairs otherwise than the reference; missing ones aside."""
    both = [(one, twin) for one in group if (twin := reference.get(one.item.item_id)) is not None]
    known = [(one.item, twin) for one, twin in both if label(one.item) and label(twin)]
    other = [item.item_id for item, twin in known if label(item) != label(twin)]
    if other:
        first, here = known[0][1].condition, group[0].item.condition
        ids = listed([repr(item_id) for item_id in other])
        message = (
            f"The {name} in {here} is not that in {first} for {len(other):,} of"
            f" {counted(len(known), 'item')}; each condition keeps its own: {ids}."
        )
        yield Place(group[0].place.file).note(kind, message)


def _repeated(condition: str, group: list[Placed]) -> Iterator[Problem]:
    """Pairs that several ids have, and those that another id has the other way round."""
    by_texts: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for one in group:
        by_texts[(one.item.stereotype.strip(), one.item.anti_stereotype.strip())].append(one.item)
    place = Place(group[0].place.file)
    repeated = [same for same in by_texts.values() if len(same) > 1]
    if repeated:
        n_labels = sum(len(Counter((_direction(i), _type(i)) for i in s)) > 1 for s in repeated)
        message = (
            f"The {counted(len(group), 'pair')} in {condition} are {len(by_texts):,} distinct ones;"
            f" of the {len(repeated):,} repeated, {n_labels:,} have several directions or types."
            f" All are kept under their own ids: {_ids(repeated)}."
        )
        yield place.note("repeated_pairs", message)
    turned = [same for texts, same in by_texts.items() if texts[::-1] in by_texts]
    turned = [same for same in turned if same[0].stereotype != same[0].anti_stereotype]
    if turned:
        message = (
            f"Of the distinct pairs in {condition}, {len(turned):,} stand there the other way round"
            f" too, so that each sentence is the stereotype once: {_ids(turned)}."
        )
        yield place.note("opposite_pairs", message)


def _ids(groups: list[list[Item]]) -> str:
    return listed([" = ".join(repr(item.item_id) for item in same) for same in groups])
