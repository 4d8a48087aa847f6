"""What the readers of questions with three answers share: contexts, roles in their order, notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.errors import InputError
from core.files.places import Place
from core.items.layout import ReadOptions
from core.types import Problem, Role
from core.words import counted

# White space behind the end of a sentence; wide ends need none.
_SENTENCE_END = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])(?=.)")
CONTEXTS = ("ambiguous", "all")
DISAMBIGUATED = "disambiguated_left_out"  # the kind of a note


def wants_all_contexts(options: ReadOptions) -> bool:
    """Whether rows whose context tells the answer are wanted too.

    Raises
    ------
    InputError
        The option is neither of its two values.
    """
    if options.contexts not in CONTEXTS:
        raise InputError(f"contexts is {options.contexts!r}; write {' or '.join(CONTEXTS)}.")
    return options.contexts == "all"


def left_out(place: Place, n: int, n_rows: int) -> list[Problem]:
    """A note on the rows whose context tells the answer, if any were left out; an error if all."""
    if not n:
        return []
    if n == n_rows:
        message = "In every row the context tells the answer; --contexts all reads such rows."
        return [place.error("only_disambiguated", message)]
    message = (
        f"{n:,} of {counted(n_rows, 'row')} left out because the context tells the answer; "
        "--contexts all reads them too."
    )
    return [place.note(DISAMBIGUATED, message, n)]


def with_question(context: str, question: str) -> str:
    """A context that ends in its question."""
    return f"{context.rstrip()} {question.lstrip()}"


def apart_from_question(context: str) -> tuple[str, str]:
    """What stands before the last sentence of a context, and that sentence: its question."""
    ends = [end.end() for end in _SENTENCE_END.finditer(context.rstrip())]
    at = ends[-1] if ends else 0
    return context[:at], context[at:]


def in_roles(texts: Sequence[str], roles: Sequence[Role]) -> dict[str, Any]:
    """The fields of an item for its answers, in the order in which the source lists them."""
    answers = {role.value: text for role, text in zip(roles, texts, strict=True)}
    return {**answers, "answer_order": tuple(roles)}
