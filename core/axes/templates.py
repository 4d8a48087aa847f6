"""The templates of the probe sentences: two families of thirty, in data/axes/templates.csv."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from core.errors import InputError
from core.files.rows import read_list, refuse_errors, text_of
from core.files.tables import Record
from core.settings import DATA

FAMILIES = ("simple", "listing")
N_TEMPLATES = 30  # in each family; the first fifteen are the set of N = 15
ADJECTIVE, DEFINITION = "{ADJ}", "{DEF}"
TEMPLATES = DATA / "axes" / "templates.csv"

MOST_OF_TEMPLATE = 500  # characters

Templates = Mapping[str, tuple[str, ...]]  # family -> texts in the order of their numbers


@cache
def built_in_templates() -> Templates:
    """The templates that come with the program."""
    return read_templates(TEMPLATES)


def read_templates(path: Path) -> Templates:
    """The templates of both families from a file with the columns family, number and text.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        A template lacks a placeholder, or a family lacks a number or has one twice.
    """
    table = read_list(path, ("family", "number", "text"), ())
    problems = list(table.problems)
    texts: dict[tuple[str, int], str] = {}
    for record in table.records:
        try:
            key, text = _template(record)
            if key in texts or text in texts.values():
                raise InputError("The row has the number or the text of an earlier one.")
            texts[key] = text
        except InputError as error:
            problems.append(record.place.error("bad_template", str(error)))
    refuse_errors(path, problems)
    for family in FAMILIES:
        numbers = [n for n in range(1, N_TEMPLATES + 1) if (family, n) not in texts]
        if numbers:
            missing = ", ".join(map(str, numbers))
            message = f"The family {family} lacks the templates {missing}."
            problems.append(table.place.error("missing_template", message))
    refuse_errors(path, problems)
    return {f: tuple(texts[f, n] for n in range(1, N_TEMPLATES + 1)) for f in FAMILIES}


def _template(record: Record) -> tuple[tuple[str, int], str]:
    family = text_of(record, "family")
    text = text_of(record, "text", most=MOST_OF_TEMPLATE)
    number = str(record.values.get("number")).strip()
    if family not in FAMILIES:
        raise InputError(f"{family!r} is not a family; write {' or '.join(FAMILIES)}.")
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= N_TEMPLATES):
        raise InputError(f"{number!r} is not a number from 1 to {N_TEMPLATES}.")
    for placeholder in (ADJECTIVE, DEFINITION):
        if placeholder not in text:
            raise InputError(f"The template has no {placeholder}; put it where it belongs.")
    return (family, int(number)), text
