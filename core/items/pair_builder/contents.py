"""What a folder holds that pairs are built from, once it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.items.pair_builder.names import GROUPS, RULES, Name
from core.items.pair_builder.slots import Template
from core.items.predicates import EXCLUDED, Predicate, Predicates
from core.types import Problem

TEMPLATES, IDENTITIES, NAMES = "templates.csv", "identities.csv", "names.csv"
COUNTERFACTUALS, PREDICATES = "counterfactuals.csv", "predicates.csv"
FILES = (TEMPLATES, IDENTITIES, COUNTERFACTUALS, NAMES, PREDICATES)


@dataclass
class Identity:
    """An identity as a folder has it."""

    label: str  # as the folder writes it
    surfaces: dict[str, str] = field(default_factory=dict)  # text by name of the surface form
    groups: tuple[str, ...] = ()  # of names; empty where the folder does not say


@dataclass(frozen=True)
class Opposed:
    """An identity and one that it is held against, by their English names."""

    identity: str
    counterfactual: str
    row: int | None = None
    labels: tuple[str, str] = field(default=("", ""), compare=False)  # as the file writes them

    @property
    def both(self) -> tuple[str, str]:
        """The identity and its counterfactual."""
        return self.identity, self.counterfactual


@dataclass(frozen=True)
class Folder:
    """Everything that pairs are built from."""

    language: str
    templates: tuple[Template, ...]
    identities: dict[str, Identity]  # by English name
    opposed: tuple[Opposed, ...]
    names: tuple[Name, ...]
    predicates: Predicates
    problems: tuple[Problem, ...]

    @property
    def used(self) -> tuple[Predicate, ...]:
        """The predicates that pairs are made of: all but those that a survey excludes."""
        return tuple(p for p in self.predicates.entries if p.tier != EXCLUDED)

    def groups_for(self, identity: str) -> tuple[str, ...]:
        """The groups of names that stand before this identity."""
        return self.identities[identity].groups or RULES.get(identity, GROUPS)

    def names_for(self, identity: str) -> tuple[Name, ...]:
        """The names that stand before this identity."""
        groups = self.groups_for(identity)
        return tuple(name for name in self.names if name.group in groups)

    def surfaces(self, pair: Opposed, surface: str) -> tuple[str, str]:
        """The texts of both identities in a surface form, "" where one has none."""
        first, second = (self.identities[n].surfaces.get(surface, "") for n in pair.both)
        return first, second
