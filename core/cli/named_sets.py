"""Sets of axes and phrases that a command names: found, and stored where the cache has none yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypedDict

from core.axes.concepts import GROUPS, ConceptSet
from core.axes.named import (
    AXES,
    REFERENCES,
    NamedPhrases,
    axes_named,
    can_be_read,
    concepts_named,
    reference_named,
)
from core.cli.terminal import print_problems, say
from core.store.axes import get_concepts, put_axes, put_concepts, set_names
from core.store.gate import Cache


class NamedSets(TypedDict):
    """The names of sets in the cache, as a request has them."""

    axes: str
    concepts: tuple[str, ...]
    reference: tuple[str, ...]


def put_sets(
    store: Cache,
    axes: str,
    concepts: Sequence[str],
    references: Sequence[str],
    wordnet: Path | None,
    *,
    replace: bool,
) -> NamedSets:
    """Store what is named and not in the cache yet; the names that it has there.

    A name of the cache goes before a file, so that a job can be resumed when the file is gone;
    with `replace` it does where there is no file and no word of the program to read it from.
    """
    held = set_names(store) if store.exists() else {"axis": [], "concept": []}

    def is_held(name: str, kind: str, words: Iterable[str]) -> bool:
        return name in held[kind] and not (replace and can_be_read(name, words))

    if not is_held(axes, "axis", AXES):
        found = axes_named(axes, wordnet)
        print_problems(found.notes)
        put_axes(store, found.name, found.axes, replace=replace)
        axes = found.name
    sets = []
    for name in concepts:
        if is_held(name, "concept", GROUPS):
            sets.append(get_concepts(store, name))
        else:
            sets.append(_put(store, concepts_named(name), replace=replace))
    phrases = []
    for name in references:
        if is_held(name, "concept", REFERENCES):
            phrases.append(get_concepts(store, name))
            continue
        # The published phrases and one's own are the same for all concepts.
        found_sets = {r.phrases.name: r for r in (reference_named(name, s, wordnet) for s in sets)}
        phrases += [_put(store, found, replace=replace) for found in found_sets.values()]
    return {"axes": axes, "concepts": _names(sets), "reference": _names(phrases)}


def _names(sets: Sequence[ConceptSet]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in sets))


def _put(store: Cache, found: NamedPhrases, *, replace: bool) -> ConceptSet:
    print_problems(found.notes)
    for match in found.unmatched:
        say(f"No phrase of {found.phrases.name} matches {match.concept}: {match.reason}")
    put_concepts(store, found.phrases, replace=replace)
    return found.phrases
