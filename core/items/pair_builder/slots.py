"""A template: a sentence with a slot for the identity, one for the predicate, and maybe a name.

    Nobody loves {identity:people} because {predicate:they}.
    {name} is {identity:label} and {predicate:singular}.

The identity's slot says which of its surface forms stands there (core/items/pair_builder/folder.py,
identities.csv), the predicate's which of its four grammatical forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.errors import InputError

# As the file of WinoQueer-NL numbers them: by the first template that takes the form.
FORMS = {"main": 1, "verb_last": 3, "they": 5, "singular": 11}
FORM_NAMES = ", ".join(FORMS)

_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Template:
    """A sentence before its slots are filled."""

    name: str
    text: str
    surface: str  # which surface form of the identity
    form: int  # which form of the predicate
    has_name: bool
    row: int | None = None


def parse_template(name: str, text: str, row: int | None = None) -> Template:
    """A template from its sentence.

    Raises
    ------
    InputError
        It has not exactly one slot for an identity and one for a predicate, a slot that means
        nothing, or a brace that belongs to no slot.
    """
    found: dict[str, list[str]] = {"identity": [], "predicate": [], "name": []}
    for slot in _SLOT.findall(text):
        kind, _, which = (part.strip() for part in slot.partition(":"))
        if kind not in found:
            raise InputError(
                f"Template {name} has the slot {{{slot}}}; write {{identity:...}}, "
                "{predicate:...} or {name}."
            )
        found[kind].append(which)
    for kind, example in (("identity", "people"), ("predicate", "main")):
        if len(found[kind]) != 1 or not found[kind][0]:
            raise InputError(
                f"Template {name} needs exactly one {kind}; write {{{kind}:{example}}} where it "
                "stands, with the form that it takes there."
            )
    if len(found["name"]) > 1 or any(found["name"]):
        raise InputError(f"Template {name} may have one {{name}}, without a form.")
    if set("{}") & set(_SLOT.sub("", text)):
        raise InputError(f"Template {name} has a brace that belongs to no slot.")
    form = form_named(found["predicate"][0])
    return Template(name, text, found["identity"][0], form, bool(found["name"]), row)


def form_named(word: str) -> int:
    """The number of a grammatical form.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if word not in FORMS:
        raise InputError(f"{word!r} is no form of a predicate; write one of: {FORM_NAMES}.")
    return FORMS[word]


def filled(template: Template, surface: str, predicate: str, name: str = "") -> str:
    """The sentence of a template, with a capital at its beginning."""
    texts = {"identity": surface, "predicate": predicate, "name": name}
    sentence = _SLOT.sub(lambda slot: texts[slot[1].partition(":")[0].strip()], template.text)
    return capitalised(sentence)


def capitalised(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
