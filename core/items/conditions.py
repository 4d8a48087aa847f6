"""Conditions: which version of an item a row holds.

::

    es            a language: the original (`en`) or a translation
    es~p1         a rewording of that version
    es+neutral    that version with a sentence put in front
    es~p1+neutral

The language is a BCP-47 code in its normal form (core/languages.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from core.errors import InputError
from core.languages import normalise_language
from core.settings import REFERENCE_CONDITION

_LABEL = r"[a-z0-9][a-z0-9._-]{0,31}"
_CONDITION = re.compile(
    rf"(?P<language>[a-z0-9_-]+)(?:~(?P<rewording>{_LABEL}))?(?:\+(?P<prefix>{_LABEL}))?"
)


@dataclass(frozen=True)
class Condition:
    """The parts of a condition; `str()` writes it in its normal form."""

    language: str
    rewording: str = ""
    prefix: str = ""

    def __str__(self) -> str:
        rewording = f"~{self.rewording}" if self.rewording else ""
        prefix = f"+{self.prefix}" if self.prefix else ""
        return f"{self.language}{rewording}{prefix}"


@cache
def parse_condition(text: str) -> Condition:
    """Take a condition apart and normalise it.

    Raises
    ------
    InputError
        The text is not a condition or its language is not known.
    """
    match = _CONDITION.fullmatch(text.lower()) if text.isascii() else None
    if match is None:
        raise InputError(
            f"{text!r} is not a condition; write a language code, optionally with a rewording"
            " (en~p1) and a prefix (en+true)."
        )
    return Condition(
        normalise_language(match["language"]), match["rewording"] or "", match["prefix"] or ""
    )


def normalise_condition(text: str) -> str:
    """The normal form of a condition: `zh-CN~P1` -> `zh~p1`."""
    return str(parse_condition(text))


def language_of(condition: str) -> str:
    """The language a condition is written in: `hi~llm` -> `hi`."""
    return parse_condition(condition).language


def is_rewording(condition: str) -> bool:
    """Whether the condition rewords another one: `en~p1` does."""
    return bool(parse_condition(condition).rewording)


def condition_rank(condition: str) -> tuple[str, ...]:
    """Sort key for people: English and its rewordings first, then each language with its own."""
    first = "" if language_of(condition) == REFERENCE_CONDITION else language_of(condition)
    return (first, original_of(condition), condition)


def original_of(condition: str) -> str:
    """The condition that a rewording rewords: `es~p1` -> `es`; any other is its own original."""
    parts = parse_condition(condition)
    return str(Condition(parts.language, prefix=parts.prefix))


def without_prefix(condition: str) -> str:
    """The same version without a sentence in front: `es~p1+neutral` -> `es~p1`."""
    parts = parse_condition(condition)
    return str(Condition(parts.language, parts.rewording))
