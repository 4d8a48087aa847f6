"""Which pairs there will be, counted before any is built.

Predicates that have the same form for an identity make one pair there, and so do templates that
make the same sentences of one. What is left out is in exclusions.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.items.likeness import as_read
from core.items.pair_builder.contents import Folder, Opposed
from core.items.pair_builder.exclusions import Exclusion, Kind, exclusions, place_of
from core.items.pair_builder.meanings import meanings
from core.items.pair_builder.names import Name
from core.items.pair_builder.slots import Template, filled
from core.items.predicate_join import Rating

NO_NAME = (Name("", ""),)
ADDED, NO_TIER, SEVERAL = "added", "no tier", "several tiers"


@dataclass(frozen=True)
class Cell:
    """Pairs that differ in nothing but the name."""

    template: Template
    opposed: Opposed
    text: str  # the predicate's form
    rating: Rating  # the predicates that have it, and what was answered about them
    names: tuple[Name, ...]


@dataclass(frozen=True)
class Plan:
    """The pairs of a folder before they are built."""

    cells: tuple[Cell, ...]
    exclusions: tuple[Exclusion, ...]

    @property
    def n_pairs(self) -> int:
        return sum(len(cell.names) for cell in self.cells)

    def counts(self) -> dict[str, dict[str, int]]:
        """Pairs by identity and template."""
        found: dict[str, dict[str, int]] = {}
        templates = dict.fromkeys(cell.template.name for cell in self.cells)
        for cell in self.cells:
            row = found.setdefault(cell.opposed.identity, dict.fromkeys(templates, 0))
            row[cell.template.name] += len(cell.names)
        return found

    def tiers(self) -> dict[str, int]:
        """Pairs by the tier of their predicate; those that participants added apart."""
        found: Counter[str] = Counter()
        for cell in self.cells:
            found[tier_label(cell.rating)] += len(cell.names)
        return dict(sorted(found.items()))


def tier_label(rating: Rating) -> str:
    """How a table of counts names the tier of predicates that share a form."""
    if rating.added:
        return ADDED
    if rating.tier is not None:
        return str(rating.tier)
    return SEVERAL if len({p.tier for p in rating.predicates}) > 1 else NO_TIER


def plan(folder: Folder) -> Plan:
    """The pairs that a folder makes, in the order of templates, identities and predicates."""
    by_identity: dict[str, list[Opposed]] = defaultdict(list)
    for pair in folder.opposed:
        by_identity[pair.identity].append(pair)
    cells = [
        Cell(
            template,
            pair,
            meant[0][1].text,
            Rating(tuple(predicate for predicate, _ in meant)),
            folder.names_for(identity) if template.has_name else NO_NAME,
        )
        for template in folder.templates
        for (_, identity), meant in meanings(folder.used, template).items()
        for pair in by_identity[identity]
    ]
    distinct, repeated = _distinct(folder, cells)
    return Plan(tuple(distinct), tuple(dict.fromkeys([*exclusions(folder), *repeated])))


def _distinct(folder: Folder, cells: Sequence[Cell]) -> tuple[list[Cell], list[Exclusion]]:
    """The cells whose sentences no template before has, and those that are left out for that."""
    first: dict[tuple[object, ...], Cell] = {}
    repeated = []
    for cell in cells:
        surfaces = folder.surfaces(cell.opposed, cell.template.surface)
        sentences = [filled(cell.template, text, cell.text, "{name}") for text in surfaces]
        key = (cell.opposed, *map(as_read, sentences))
        if (earlier := first.setdefault(key, cell)) is not cell:
            predicate = cell.rating.predicates[0]
            where = (cell.opposed.identity, cell.template.name, place_of(predicate))
            reason = f"Template {earlier.template.name} makes the same sentences: one pair."
            repeated.append(Exclusion(Kind.SAME_PAIR, predicate.name, *where, reason))
    return list(first.values()), repeated
