"""What a template has of the predicates: texts, and the identities of which they are said.

Predicates that have the same text for an identity mean one thing there. A predicate whose name ends
in "(T5 only)" or "(T5/T11 only)", as the published file has four, stands in these templates only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.files.rows import folded
from core.items.pair_builder.slots import Template
from core.items.predicate_rows import Form
from core.items.predicates import Predicate

_SCOPE = re.compile(r"\(([^()]+) only\)$")
Meanings = dict[tuple[str, str], list[tuple[Predicate, Form]]]  # by folded text and identity


def meanings(predicates: Sequence[Predicate], template: Template) -> Meanings:
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
    names = scope_of(predicate)
    return not names or folded(template.name) in map(folded, names)


def scope_of(predicate: Predicate) -> list[str]:
    """The templates to which a predicate's name restricts it; none where it does not."""
    scope = _SCOPE.search(predicate.name)
    return [name.strip() for name in scope[1].split("/")] if scope else []
