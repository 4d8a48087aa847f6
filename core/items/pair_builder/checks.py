"""What the files of a folder say of each other, and where that cannot be.

Messages name identities as the folder writes them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, combinations

from core.files.places import Place
from core.items.likeness import as_compared, as_read
from core.items.pair_builder.contents import (
    COUNTERFACTUALS,
    NAMES,
    PREDICATES,
    TEMPLATES,
    Folder,
    Opposed,
)
from core.items.pair_builder.slots import Template
from core.types import Problem


def check_folder(folder: Folder) -> Iterator[Problem]:
    """Everything that one file names and another does not have, or has twice."""
    yield from _unknown(folder)
    known = [pair for pair in folder.opposed if set(pair.both) <= folder.identities.keys()]
    whole = []
    for template in folder.templates:
        if lacking := list(_lacking(folder, known, template)):
            message = (
                f"Template {template.name} takes the surface form {template.surface}, which "
                f"identities.csv does not have for {', '.join(lacking)}."
            )
            yield Place(TEMPLATES, template.row).error("missing_surface", message)
        else:
            whole.append(template)
    for template in whole:
        yield from _nothing_compared(folder, known, template)
    yield from _same_pairs(folder, known, whole)
    yield from _without_names(folder, known)


def _unknown(folder: Folder) -> Iterator[Problem]:
    """Identities that identities.csv does not have."""
    known = f"identities.csv has {', '.join(i.label for i in folder.identities.values())}."
    rows: dict[tuple[str, int | None], dict[str, None]] = defaultdict(dict)
    for pair in folder.opposed:
        for name, label in zip(pair.both, pair.labels, strict=True):
            if name not in folder.identities:
                rows[(COUNTERFACTUALS, pair.row)][label] = None
    for predicate in folder.predicates.entries:
        for form in predicate.forms:
            for name, label in zip(form.identities, form.labels, strict=True):
                if name not in folder.identities:
                    rows[(PREDICATES, form.row)][label] = None
    for (file, row), labels in rows.items():
        for label in labels:
            message = f"{label} is no identity here; {known}"
            yield Place(file, row).error("unknown_identity", message)


def _lacking(folder: Folder, known: list[Opposed], template: Template) -> Iterator[str]:
    """The identities without the surface form that a template takes."""
    for name in dict.fromkeys(name for pair in known for name in pair.both):
        if template.surface not in folder.identities[name].surfaces:
            yield folder.identities[name].label


def _nothing_compared(
    folder: Folder, known: list[Opposed], template: Template
) -> Iterator[Problem]:
    """Pairs whose two identities have the same text."""
    for pair in known:
        first, second = map(as_compared, folder.surfaces(pair, template.surface))
        if first == second:
            message = (
                f"{_labels(folder, pair, 'and')} have the same letters in the surface form"
                f" {template.surface}, so that template {template.name} would compare nothing."
            )
            yield Place(TEMPLATES, template.row).error("same_surface", message)


def _same_pairs(
    folder: Folder, known: list[Opposed], templates: list[Template]
) -> Iterator[Problem]:
    """Rows of counterfactuals.csv whose pairs those of an earlier row are, word for word."""
    said = _said_of(folder)
    told: set[int | None] = set()
    for template in templates:
        alike: dict[tuple[str, ...], list[Opposed]] = defaultdict(list)
        for pair in known:
            alike[tuple(map(as_compared, folder.surfaces(pair, template.surface)))].append(pair)
        for earlier, later in chain.from_iterable(combinations(a, 2) for a in alike.values()):
            both = [said[template.form, pair.identity] for pair in (earlier, later)]
            if later.row in told or both[0].isdisjoint(both[1]):
                continue
            if _share_names(folder, template, earlier, later):
                told.add(later.row)
                yield _same_pair(folder, template, earlier, later)


def _same_pair(folder: Folder, template: Template, earlier: Opposed, later: Opposed) -> Problem:
    message = (
        f"{_labels(folder, later, 'against')} reads as {_labels(folder, earlier, 'against')} in row"
        f" {earlier.row} does: the texts of the surface form {template.surface} are the same, so"
        f" that template {template.name} would make the same pairs twice."
    )
    return Place(COUNTERFACTUALS, later.row).error("same_surface", message)


def _said_of(folder: Folder) -> dict[tuple[int, str], set[str]]:
    """The texts of the predicates that pairs are made of, by form and identity."""
    found: dict[tuple[int, str], set[str]] = defaultdict(set)
    for predicate in folder.used:
        for form in predicate.forms:
            for identity in form.identities:
                found[form.template, identity].add(as_read(form.text))
    return found


def _share_names(folder: Folder, template: Template, earlier: Opposed, later: Opposed) -> bool:
    """Whether both have sentences with the same name, or without one."""
    names = [set(folder.names_for(pair.identity)) for pair in (earlier, later)]
    return not template.has_name or not names[0].isdisjoint(names[1])


def _without_names(folder: Folder, known: list[Opposed]) -> Iterator[Problem]:
    """Identities without a name that they take, where a template has a slot for one."""
    if not any(template.has_name for template in folder.templates):
        return
    for name in dict.fromkeys(pair.identity for pair in known):
        if not folder.names_for(name):
            groups = " and ".join(folder.groups_for(name))
            label = folder.identities[name].label
            message = f"{label} takes {groups} names, of which the file has none."
            yield Place(NAMES).error("no_names", message)


def _labels(folder: Folder, pair: Opposed, word: str) -> str:
    return f" {word} ".join(folder.identities[name].label for name in pair.both)
