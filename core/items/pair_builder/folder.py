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

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from core.errors import DataSetError, InputError
from core.files.places import Place, refusal
from core.files.rows import folded, read_list, text_of
from core.files.tables import Record
from core.items.identities import identity_named
from core.items.pair_builder.names import GROUPS, RULES, Name, groups_of, read_names
from core.items.pair_builder.predicate_file import is_published, read_predicate_file
from core.items.pair_builder.slots import Template, parse_template
from core.items.predicates import Predicates
from core.languages import normalise_language
from core.types import Problem, Severity

TEMPLATES, IDENTITIES, NAMES = "templates.csv", "identities.csv", "names.csv"
COUNTERFACTUALS, PREDICATES = "counterfactuals.csv", "predicates.csv"
Read = TypeVar("Read")
FILES = (TEMPLATES, IDENTITIES, COUNTERFACTUALS, NAMES, PREDICATES)


@dataclass
class Identity:
    """An identity as a folder has it."""

    label: str  # as the folder writes it
    surfaces: dict[str, str] = field(default_factory=dict)  # text by name of the surface form
    groups: tuple[str, ...] = ()  # of names; empty where the folder does not say


@dataclass(frozen=True)
class Opposed:
    """An identity and one that it is held against, by their English names."""

    identity: str
    counterfactual: str
    row: int | None = None


@dataclass(frozen=True)
class Folder:
    """Everything that pairs are built from."""

    language: str
    templates: tuple[Template, ...]
    identities: dict[str, Identity]  # by English name
    opposed: tuple[Opposed, ...]
    names: tuple[Name, ...]
    predicates: Predicates
    problems: tuple[Problem, ...]

    def names_for(self, identity: str) -> tuple[Name, ...]:
        """The names that stand before this identity."""
        groups = self.identities[identity].groups or RULES.get(identity, GROUPS)
        return tuple(name for name in self.names if name.group in groups)


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
    opposed = _each_row(
        folder / COUNTERFACTUALS, ("identity", "counterfactual"), _opposed, problems
    )
    names, found = read_names(read_list(folder / NAMES, ("name", "group"), ()))
    problems += found
    predicates = _predicates(folder / PREDICATES, problems)
    whole = Folder(code, tuple(templates), identities, tuple(opposed), tuple(names), predicates, ())
    problems += [*_unknown(whole), *_missing_surfaces(whole), *_other(whole)]
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise refusal(folder, problems)
    return Folder(
        code, whole.templates, identities, whole.opposed, whole.names, predicates, tuple(problems)
    )


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
    read: Callable[[Record], Read],
    problems: list[Problem],
) -> list[Read]:
    """What each row holds; two rows may not say the same of the first column."""
    table = read_list(path, columns, ())
    problems += table.problems
    rows: list[Read] = []
    seen: set[tuple[str, ...]] = set()
    for record in table.records:
        try:
            value = read(record)
            key = tuple(folded(text_of(record, c)) for c in _key(columns))
            if key in seen:
                raise InputError("An earlier row says the same; write each once.")
        except InputError as error:
            problems.append(record.place.error(f"bad_{path.stem.rstrip('s')}", str(error)))
            continue
        seen.add(key)
        rows.append(value)
    return rows


def _key(columns: tuple[str, ...]) -> tuple[str, ...]:
    return columns[:1] if "template" in columns else columns


def _template(record: Record) -> Template:
    name, text = text_of(record, "template"), text_of(record, "text")
    if not name or not text:
        raise InputError("The row has no template or no text.")
    return parse_template(name, text, record.place.row)


def _opposed(record: Record) -> Opposed:
    labels = text_of(record, "identity"), text_of(record, "counterfactual")
    identity, counterfactual = map(identity_named, labels)
    if not all(labels) or identity == counterfactual:
        raise InputError("The row needs an identity and another one that it is held against.")
    return Opposed(identity, counterfactual, record.place.row)


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
    identity = found.setdefault(identity_named(label), Identity(label))
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


def _unknown(folder: Folder) -> Iterator[Problem]:
    """Identities that identities.csv does not have."""
    known = f"identities.csv has {', '.join(i.label for i in folder.identities.values())}."
    for pair in folder.opposed:
        for name in (pair.identity, pair.counterfactual):
            if name not in folder.identities:
                message = f"{name} is no identity here; {known}"
                yield Place(COUNTERFACTUALS, pair.row).error("unknown_identity", message)
    rows: dict[int | None, list[str]] = defaultdict(list)
    for predicate in folder.predicates.entries:
        for form in predicate.forms:
            rows[form.row] += [i for i in form.identities if i not in folder.identities]
    for row, names in rows.items():
        for name in dict.fromkeys(names):
            message = f"{name} is no identity here; {known}"
            yield Place(PREDICATES, row).error("unknown_identity", message)


def _missing_surfaces(folder: Folder) -> Iterator[Problem]:
    """Templates whose surface form an identity lacks, and pairs whose two forms are the same."""
    for template in folder.templates:
        place, surface = Place(TEMPLATES, template.row), template.surface
        names = dict.fromkeys(n for o in folder.opposed for n in (o.identity, o.counterfactual))
        lacking = [
            name
            for name in names
            if name in folder.identities and surface not in folder.identities[name].surfaces
        ]
        if lacking:
            message = (
                f"Template {template.name} takes the surface form {surface}, which identities.csv"
                f" does not have for {', '.join(lacking)}."
            )
            yield place.error("missing_surface", message)
            continue
        for pair in folder.opposed:
            texts = [
                folded(folder.identities[n].surfaces[surface])
                for n in (pair.identity, pair.counterfactual)
                if n in folder.identities
            ]
            if len(texts) == 2 and texts[0] == texts[1]:
                message = (
                    f"{pair.identity} and {pair.counterfactual} have the same surface form"
                    f" {surface}, so that template {template.name} would compare nothing."
                )
                yield place.error("same_surface", message)


def _other(folder: Folder) -> Iterator[Problem]:
    """Identities without a name that they take, where a template has a slot for one."""
    if not any(template.has_name for template in folder.templates):
        return
    for name in dict.fromkeys(pair.identity for pair in folder.opposed):
        if name in folder.identities and not folder.names_for(name):
            groups = folder.identities[name].groups or RULES.get(name, GROUPS)
            message = f"{name} takes {' and '.join(groups)} names, of which the file has none."
            yield Place(NAMES).error("no_names", message)
