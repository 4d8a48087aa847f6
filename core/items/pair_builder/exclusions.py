"""What is left out of the pairs and why, each with the row that it is about.

Left out are predicates that a survey excludes (tier -1), a predicate in the templates whose form it
lacks for an identity, or for templates that are not there, and identities that no predicate names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from core.items.pair_builder.contents import COUNTERFACTUALS, PREDICATES, TEMPLATES, Folder
from core.items.pair_builder.meanings import meanings
from core.items.pair_builder.slots import Template
from core.items.predicate_rows import FORMS
from core.items.predicates import EXCLUDED, Predicate


class Exclusion(NamedTuple):
    """One thing that was left out, or that became one with another."""

    kind: str  # excluded, no_template, no_form, same_form, same_pair, no_predicate, ...
    predicate: str
    identity: str
    templates: str
    row: int | None  # of the predicates' file; for no_predicate of the counterfactuals'
    reason: str


def exclusions(folder: Folder) -> Iterator[Exclusion]:
    """Everything that a folder names and that is in no pair, or in one with something else."""
    for predicate in folder.predicates.entries:
        if predicate.tier == EXCLUDED:
            share = predicate.survey.yes_share
            reason = f"{share.value:.0%} of {share.n} said yes, less than 30 %."
            yield Exclusion("excluded", predicate.name, "", "", predicate.forms[0].row, reason)
    for predicate in folder.used:
        if any(predicate.is_for(template.name) for template in folder.templates):
            yield from _missing_forms(folder, predicate)
        else:
            names = ", ".join(predicate.scope)
            reason = f"Its name restricts it to {names}, which {TEMPLATES} does not have."
            row = predicate.forms[0].row
            yield Exclusion("no_template", predicate.name, "", names, row, reason)
    for template in folder.templates:
        yield from _shared_forms(folder, template)
    yield from _alone(folder)


def _missing_forms(folder: Folder, predicate: Predicate) -> Iterator[Exclusion]:
    for identity in predicate.identities:
        there = {form.template for form in predicate.forms if identity in form.identities}
        for word, number in FORMS.items():
            templates = [
                t.name for t in folder.templates if t.form == number and predicate.is_for(t.name)
            ]
            if templates and number not in there:
                reason = f"It has no form {word} for {folder.identities[identity].label}."
                row = predicate.forms[0].row
                names = ", ".join(templates)
                yield Exclusion("no_form", predicate.name, identity, names, row, reason)


def _shared_forms(folder: Folder, template: Template) -> Iterator[Exclusion]:
    for (_, identity), ((first, _), *others) in meanings(folder.used, template).items():
        for other, form in others:
            reason = f"The text {form.text!r} is also that of {first.name!r}: one pair."
            yield Exclusion("same_form", other.name, identity, template.name, form.row, reason)


def _alone(folder: Folder) -> Iterator[Exclusion]:
    """Identities that no predicate names, or that are held against nobody."""
    named = {identity for predicate in folder.used for identity in predicate.identities}
    rows = {pair.identity: pair.row for pair in reversed(folder.opposed)}
    for identity, row in sorted(rows.items(), key=lambda each: each[1] or 0):
        if identity not in named:
            reason = f"No predicate of {PREDICATES} names it, so it is in no pair."
            yield Exclusion("no_predicate", "", identity, "", row, reason)
    for identity in sorted(named - set(rows)):
        reason = f"{COUNTERFACTUALS} holds it against nobody, so it is in no pair."
        yield Exclusion("no_counterfactual", "", identity, "", None, reason)
