"""What a template has of the predicates: texts, and the identities of which they are said.

Predicates that have the same text for an identity mean one thing there.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.items.likeness import as_read
from core.items.pair_builder.slots import Template
from core.items.predicate_rows import Form
from core.items.predicates import Predicate

Meanings = dict[tuple[str, str], list[tuple[Predicate, Form]]]  # by text as read and identity


def meanings(predicates: Sequence[Predicate], template: Template) -> Meanings:
    """The predicates by what a template has of them: a text, and an identity."""
    found: Meanings = {}
    for predicate in predicates:
        if not predicate.is_for(template.name):
            continue
        for form in predicate.forms:
            for identity in form.identities if form.template == template.form else ():
                those = found.setdefault((as_read(form.text), identity), [])
                if all(other != predicate for other, _ in those):
                    those.append((predicate, form))
    return found
