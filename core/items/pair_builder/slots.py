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
from core.items.predicate_rows import form_named
from core.items.word_characters import joins_words

_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Template:
    """A sentence before its slots are filled."""

    name: str
    text: str  # without white space in its slots
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
        nothing or touches a word, or a brace that belongs to no slot.
    """
    text = _SLOT.sub(lambda slot: f"{{{_kind_and_form(slot[1])}}}", text)
    found: dict[str, list[str]] = {"identity": [], "predicate": [], "name": []}
    for slot in _SLOT.findall(text):
        kind, _, which = slot.partition(":")
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
    _check_neighbours(name, text)
    form = form_named(found["predicate"][0])
    return Template(name, text, found["identity"][0], form, bool(found["name"]), row)


def _kind_and_form(slot: str) -> str:
    """The words of a slot without the white space around them."""
    return ":".join(part.strip() for part in slot.split(":", 1))


def _check_neighbours(name: str, text: str) -> None:
    """Refuse a slot whose text would be one word with what stands beside it."""
    for slot in _SLOT.finditer(text):
        for beside in (text[: slot.start()][-1:], text[slot.end() :][:1]):
            if beside and (beside in "{}" or joins_words(beside)):
                what = "another slot" if beside in "{}" else repr(beside)
                raise InputError(
                    f"Template {name} has {what} directly beside the slot {slot[0]}; put a space "
                    "between, or write what belongs to the word into the texts that fill the slot."
                )


def filled(template: Template, surface: str, predicate: str, name: str = "") -> str:
    """The sentence of a template, with a capital at its beginning."""
    texts = {"identity": surface, "predicate": predicate, "name": name}
    sentence = _SLOT.sub(lambda slot: texts[slot[1].partition(":")[0]], template.text)
    return capitalised(sentence)


def capitalised(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
