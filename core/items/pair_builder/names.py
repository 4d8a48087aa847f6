"""Names by group, and which groups of names an identity takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.files.rows import text_of
from core.files.tables import Record, Table
from core.items.likeness import as_read
from core.types import Problem
from core.words import counted

GROUPS = ("male", "female", "non-binary")
# A man's name does not stand before "is lesbian", nor a woman's before "is gay".
RULES: Mapping[str, tuple[str, ...]] = {
    "Gay": ("male", "non-binary"),
    "Lesbian": ("female", "non-binary"),
}


@dataclass(frozen=True)
class Name:
    """Who a template is about: a name or a pronoun."""

    text: str
    group: str


def groups_of(cell: str) -> tuple[str, ...]:
    """The groups of names in a cell, separated by commas.

    Raises
    ------
    InputError
        One is none of the three.
    """
    groups = tuple(dict.fromkeys(part.strip() for part in cell.split(",")))
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        raise InputError(f"{unknown[0]!r} is no group of names; write {', '.join(GROUPS)}.")
    return groups


def read_names(table: Table) -> tuple[list[Name], list[Problem]]:
    """The names of a file and what is wrong with them: each stands in one group, once."""
    names: list[Name] = []
    problems = list(table.problems)
    seen: dict[str, Name] = {}
    for record in table.records:
        try:
            name = _read_name(record)
            if (earlier := seen.get(as_read(name.text))) is not None:
                raise InputError(
                    f"The name {name.text} stands in {earlier.group} already; a name belongs to "
                    "one group, once."
                )
        except InputError as error:
            problems.append(record.place.error("bad_name", str(error)))
            continue
        seen[as_read(name.text)] = name
        names.append(name)
    return names, [*problems, *_size_note(table, names)]


def _read_name(record: Record) -> Name:
    text, group = text_of(record, "name"), text_of(record, "group")
    if not text:
        raise InputError("The row has no name.")
    groups = groups_of(group)
    if len(groups) != 1:
        raise InputError(f"The name {text} is in {group}; a name belongs to one group.")
    return Name(text, groups[0])


def _size_note(table: Table, names: Sequence[Name]) -> Iterator[Problem]:
    sizes = {group: sum(name.group == group for name in names) for group in GROUPS}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{counted(n, 'name')} {group}" for group, n in sizes.items())
        message = f"The groups of names are not of one size ({listed}), so neither are the pairs."
        yield table.place.note("unequal_names", message)
