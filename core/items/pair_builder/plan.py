"""Which pairs there will be, counted before any is built, and what is left out and why.

Left out are predicates that a survey excludes (tier -1), a predicate in the templates whose form it
lacks for an identity, and identities that no predicate names. Predicates that have the same form
for an identity make one pair there. A predicate whose name ends in "(T5 only)" or "(T5/T11 only)",
as the published file has four, stands in these templates only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.files.rows import folded
from core.items.pair_builder.folder import COUNTERFACTUALS, PREDICATES, Folder, Opposed
from core.items.pair_builder.names import Name
from core.items.pair_builder.slots import FORMS, Template
from core.items.predicate_join import Rating
from core.items.predicates import EXCLUDED, Form, Predicate

_SCOPE = re.compile(r"\(([^()]+) only\)$")
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


class Exclusion(NamedTuple):
    """One thing that was left out, or that became one with another."""

    kind: str  # excluded, no_form, same_form, no_predicate, no_counterfactual
    predicate: str
    identity: str
    templates: str
    row: int | None  # of the predicates' file; for no_predicate of the counterfactuals'
    reason: str


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
    used = [p for p in folder.predicates.entries if p.tier != EXCLUDED]
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
        for (_, identity), meant in _meanings(used, template).items()
        for pair in by_identity[identity]
    ]
    return Plan(tuple(cells), tuple(dict.fromkeys(_exclusions(folder, used))))


Meanings = dict[tuple[str, str], list[tuple[Predicate, Form]]]


def _meanings(predicates: Sequence[Predicate], template: Template) -> Meanings:
    """The predicates by what a template has of them: a text, and an identity."""
    found: Meanings = {}
    for predicate in predicates:
        if not is_for(predicate, template):
            continue
        for form in predicate.forms:
            for identity in form.identities if form.template == template.form else ():
                those = found.setdefault((folded(form.text), identity), [])
                if all(other != predicate for other, _ in those):
                    those.append((predicate, form))
    return found


def is_for(predicate: Predicate, template: Template) -> bool:
    """Whether the predicate's name lets it into a template."""
    scope = _SCOPE.search(predicate.name)
    return scope is None or template.name in scope[1].split("/")


def _exclusions(folder: Folder, used: Sequence[Predicate]) -> Iterator[Exclusion]:
    for predicate in folder.predicates.entries:
        if predicate.tier == EXCLUDED:
            share = predicate.survey.yes_share
            reason = f"{share.value:.0%} of {share.n} said yes, less than 30 %."
            yield Exclusion("excluded", predicate.name, "", "", predicate.forms[0].row, reason)
    for predicate in used:
        yield from _missing_forms(folder, predicate)
    for template in folder.templates:
        yield from _shared_forms(template, _meanings(used, template))
    named = {identity for predicate in used for identity in predicate.identities}
    rows = {pair.identity: pair.row for pair in reversed(folder.opposed)}
    for identity, row in sorted(rows.items(), key=lambda each: each[1] or 0):
        if identity not in named:
            reason = f"No predicate of {PREDICATES} names it, so it is in no pair."
            yield Exclusion("no_predicate", "", identity, "", row, reason)
    for identity in sorted(named - set(rows)):
        reason = f"{COUNTERFACTUALS} holds it against nobody, so it is in no pair."
        yield Exclusion("no_counterfactual", "", identity, "", None, reason)


def _missing_forms(folder: Folder, predicate: Predicate) -> Iterator[Exclusion]:
    for identity in predicate.identities:
        there = {form.template for form in predicate.forms if identity in form.identities}
        for word, number in FORMS.items():
            templates = [
                t.name for t in folder.templates if t.form == number and is_for(predicate, t)
            ]
            if templates and number not in there:
                reason = f"It has no form {word} for {identity}."
                row = predicate.forms[0].row
                names = ", ".join(templates)
                yield Exclusion("no_form", predicate.name, identity, names, row, reason)


def _shared_forms(template: Template, meanings: Meanings) -> Iterator[Exclusion]:
    for (_, identity), ((first, _), *others) in meanings.items():
        for other, form in others:
            reason = f"The text {form.text!r} is also that of {first.name!r}: one pair."
            yield Exclusion("same_form", other.name, identity, template.name, form.row, reason)
