"""What is left out of the pairs and why, each with the row that it is about.

Left out are predicates that a survey excludes (tier -1), a predicate in the templates whose form it
lacks for an identity, or for templates that are not there, and identities that no predicate names.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from core.files.places import Place
from core.items.pair_builder.contents import COUNTERFACTUALS, PREDICATES, TEMPLATES, Folder
from core.items.pair_builder.meanings import meanings
from core.items.pair_builder.slots import Template
from core.items.predicate_rows import FORMS
from core.items.predicates import EXCLUDED, Predicate


class Kind(StrEnum):
    """Why something is in no pair, or in one with something else."""

    EXCLUDED = "excluded"
    NO_TEMPLATE = "no_template"
    NO_FORM = "no_form"
    SAME_FORM = "same_form"
    SAME_PAIR = "same_pair"
    NO_PREDICATE = "no_predicate"
    NO_COUNTERFACTUAL = "no_counterfactual"


class Exclusion(NamedTuple):
    """One thing that was left out, or that became one with another."""

    kind: Kind
    predicate: str
    identity: str
    templates: str
    place: Place  # the row that names it
    reason: str


def exclusions(folder: Folder) -> Iterator[Exclusion]:
    """Everything that a folder names and that is in no pair, or in one with something else."""
    for predicate in folder.predicates.entries:
        if predicate.tier == EXCLUDED:
            yield Exclusion(
                Kind.EXCLUDED, predicate.name, "", "", place_of(predicate), _too_few(predicate)
            )
    for predicate in folder.used:
        if any(predicate.is_for(template.name) for template in folder.templates):
            yield from _missing_forms(folder, predicate)
        else:
            names = ", ".join(predicate.scope)
            reason = f"Its name restricts it to {names}, which {TEMPLATES} does not have."
            place = place_of(predicate)
            yield Exclusion(Kind.NO_TEMPLATE, predicate.name, "", names, place, reason)
    for template in folder.templates:
        yield from _shared_forms(folder, template)
    yield from _alone(folder)


def place_of(predicate: Predicate) -> Place:
    """The first row of a predicate."""
    return Place(PREDICATES, predicate.forms[0].row)


def _too_few(predicate: Predicate) -> str:
    """With the counts, since a rounded share may read as the limit itself."""
    n_yes, share = predicate.survey.n_yes, predicate.survey.yes_share
    percent = f"{100 * share.value:.1f} %"
    return f"{percent} of yes and no are yes ({n_yes} of {share.n}), less than 30 %."


def _missing_forms(folder: Folder, predicate: Predicate) -> Iterator[Exclusion]:
    for identity in predicate.identities:
        there = {form.template for form in predicate.forms if identity in form.identities}
        for word, number in FORMS.items():
            templates = [
                t.name for t in folder.templates if t.form == number and predicate.is_for(t.name)
            ]
            if templates and number not in there:
                reason = f"It has no form {word} for {folder.identities[identity].label}."
                names = ", ".join(templates)
                where = (identity, names, place_of(predicate))
                yield Exclusion(Kind.NO_FORM, predicate.name, *where, reason)


def _shared_forms(folder: Folder, template: Template) -> Iterator[Exclusion]:
    for (_, identity), ((first, _), *others) in meanings(folder.used, template).items():
        for other, form in others:
            reason = f"The text {form.text!r} is also that of {first.name!r}: one pair."
            where = (identity, template.name, Place(PREDICATES, form.row))
            yield Exclusion(Kind.SAME_FORM, other.name, *where, reason)


def _alone(folder: Folder) -> Iterator[Exclusion]:
    """Identities that no predicate names, or that are held against nobody."""
    named: dict[str, Place] = {}
    for predicate in folder.used:
        for form in predicate.forms:
            for identity in form.identities:
                named.setdefault(identity, Place(PREDICATES, form.row))
    rows = {pair.identity: pair.row for pair in reversed(folder.opposed)}
    for identity, row in sorted(rows.items(), key=lambda each: each[1] or 0):
        if identity not in named:
            reason = f"No predicate of {PREDICATES} names it, so it is in no pair."
            yield Exclusion(
                Kind.NO_PREDICATE, "", identity, "", Place(COUNTERFACTUALS, row), reason
            )
    for identity in sorted(named.keys() - rows.keys()):
        reason = f"{COUNTERFACTUALS} holds it against nobody, so it is in no pair."
        yield Exclusion(Kind.NO_COUNTERFACTUAL, "", identity, "", named[identity], reason)
