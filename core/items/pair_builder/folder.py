"""The folder that pairs are built from: five CSV files, every problem named by file and row.

    templates.csv         template, text
    identities.csv        identity, surface, text, names (optional)
    counterfactuals.csv   identity, counterfactual
    names.csv             name, group
    predicates.csv        predicate, form, text, identities, or the published file

The files refer to each other: what one names and another does not know is an error of its row.
docs/identity-pairs.md describes the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from core.errors import DataSetError, InputError
from core.files.places import refusal
from core.files.rows import read_list, text_of
from core.files.tables import Record
from core.items.identities import identity_named
from core.items.likeness import as_read
from core.items.pair_builder.checks import check_folder
from core.items.pair_builder.contents import (
    COUNTERFACTUALS,
    FILES,
    IDENTITIES,
    NAMES,
    PREDICATES,
    TEMPLATES,
    Folder,
    Identity,
    Opposed,
)
from core.items.pair_builder.names import groups_of, read_names
from core.items.pair_builder.predicate_file import is_published, read_predicate_file
from core.items.pair_builder.slots import Template, parse_template
from core.items.predicates import Predicates
from core.languages import normalise_language
from core.types import Problem, Severity

Read = TypeVar("Read")
Unique = dict[str, object]  # what no two rows may share, by what a message calls it


def read_folder(folder: Path, language: str | None = None) -> Folder:
    """Read the five files of a folder.

    Parameters
    ----------
    language
        Of the sentences; left out, it is Dutch with the published predicates, else the folder's
        own name tells (`nl`).

    Raises
    ------
    InputError
        It is no folder, a file is missing, or the language is not known.
    DataSetError
        A row has an error; the error carries the problems of all files.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; name one that holds {', '.join(FILES)}.")
    for name in FILES:
        if not (folder / name).is_file():
            raise InputError(f"{folder} has no {name}; it needs {', '.join(FILES)}.")
    code = _language(folder, language)
    problems: list[Problem] = []
    templates = _each_row(folder / TEMPLATES, ("template", "text"), _template, problems)
    identities = _identities(folder / IDENTITIES, problems)
    columns = ("identity", "counterfactual")
    opposed = _each_row(folder / COUNTERFACTUALS, columns, _opposed, problems)
    names, found = read_names(read_list(folder / NAMES, ("name", "group"), ()))
    problems += found
    predicates = _predicates(folder / PREDICATES, problems)
    whole = Folder(code, tuple(templates), identities, tuple(opposed), tuple(names), predicates, ())
    problems += check_folder(whole)
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise refusal(folder, problems)
    return replace(whole, problems=tuple(problems))


def _language(folder: Path, language: str | None) -> str:
    if language is not None:
        return normalise_language(language)
    if is_published(folder / PREDICATES):
        return "nl"
    try:
        return normalise_language(folder.resolve().name)
    except InputError as error:
        raise InputError(
            f"The name of the folder {folder} is no language; say it with --language."
        ) from error


def _each_row(
    path: Path,
    columns: tuple[str, ...],
    read: Callable[[Record], tuple[Read, Unique]],
    problems: list[Problem],
) -> list[Read]:
    """What each row holds; two rows may not say the same."""
    table = read_list(path, columns, ())
    problems += table.problems
    rows: list[Read] = []
    seen: dict[tuple[str, object], int | None] = {}
    for record in table.records:
        try:
            value, unique = read(record)
            for each in unique.items():
                if each in seen:
                    raise InputError(f"Row {seen[each]} has the same {each[0]}; write each once.")
        except InputError as error:
            problems.append(record.place.error(f"bad_{path.stem.rstrip('s')}", str(error)))
            continue
        seen |= dict.fromkeys(unique.items(), record.place.row)
        rows.append(value)
    return rows


def _template(record: Record) -> tuple[Template, Unique]:
    name, text = text_of(record, "template"), text_of(record, "text")
    if not name or not text:
        raise InputError("The row has no template or no text.")
    template = parse_template(name, text, record.place.row)
    return template, {"template": as_read(name), "text": as_read(template.text)}


def _opposed(record: Record) -> tuple[Opposed, Unique]:
    labels = text_of(record, "identity"), text_of(record, "counterfactual")
    identity, counterfactual = map(identity_named, labels)
    if not all(labels) or identity == counterfactual:
        raise InputError("The row needs an identity and another one that it is held against.")
    opposed = Opposed(identity, counterfactual, record.place.row, labels)
    return opposed, {"identity and counterfactual": opposed.both}


def _identities(path: Path, problems: list[Problem]) -> dict[str, Identity]:
    table = read_list(path, ("identity", "surface", "text"), ("names",))
    problems += table.problems
    found: dict[str, Identity] = {}
    for record in table.records:
        try:
            _add_surface(found, record)
        except InputError as error:
            problems.append(record.place.error("bad_identity", str(error)))
    return found


def _add_surface(found: dict[str, Identity], record: Record) -> None:
    label, surface, text = (text_of(record, c) for c in ("identity", "surface", "text"))
    if not (label and surface and text):
        raise InputError("The row needs an identity, the name of a surface form, and its text.")
    name = identity_named(label)
    other = next((n for n in found if n != name and as_read(n) == as_read(name)), None)
    if other is not None:
        raise InputError(f"{label} is written {other} in an earlier row; write it in one way.")
    identity = found.setdefault(name, Identity(label))
    if surface in identity.surfaces:
        raise InputError(f"{label} has the surface form {surface} in an earlier row.")
    identity.surfaces[surface] = text
    if names := text_of(record, "names"):
        groups = groups_of(names)
        if identity.groups and set(groups) != set(identity.groups):
            raise InputError(f"{label} takes other names in an earlier row; write them once.")
        identity.groups = groups


def _predicates(path: Path, problems: list[Problem]) -> Predicates:
    try:
        found = read_predicate_file(path)
    except DataSetError as error:
        problems += error.problems
        return Predicates((), ())
    problems += [p for p in found.problems if p.kind not in ("unknown_identity", "tiers")]
    return found
