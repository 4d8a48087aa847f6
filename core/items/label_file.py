"""Corrections of roles: which field of an item holds which role, by base id.

::

    {"ss_0012": {"stereotype": "anti_stereotype", "anti_stereotype": "stereotype"},
     "bbq_Age_005": null}

A role that is not named keeps its own field; `null` leaves the item out. The published corrections
of "Lost in Translation" have the same object as the value of `map`, beside a report.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.places import Place, listed, printable
from core.files.reading import file_content
from core.items.rows import Row
from core.types import Problem, Role

ROLES = (Role.STEREOTYPE, Role.ANTI_STEREOTYPE, Role.UNRELATED)
FIELDS = tuple(role.value for role in ROLES)

Labels = dict[str, dict[str, str] | None]


def read_labels(path: Path) -> Labels:
    """The corrections in a JSON file: for every base id all roles with their fields, or None.

    Raises
    ------
    InputError
        The file cannot be read or is not JSON, names a base id twice, names something that is no
        role or no field, or takes two roles from one field.
    """
    try:
        document = json.loads(file_content(path), object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        message = f"{path} is not a label file in JSON: {error}."
        raise InputError(printable(message)) from error
    if isinstance(document, dict) and isinstance(document.get("map"), dict):
        document = document["map"]
    if not isinstance(document, dict) or not document:
        raise InputError(
            printable(
                f"{path} is no label file; write an object with base ids as keys and, for each, an "
                "object of roles and fields, or null to leave the item out."
            )
        )
    return {base: _roles(path, base, value) for base, value in document.items()}


def unknown_bases(labels: Collection[str], rows: Sequence[Row], file: str) -> Iterator[Problem]:
    """An error for corrections of items that no row is of: they were made for another data set."""
    unknown = sorted(set(labels) - {row.place.item_id for row in rows})
    if unknown:
        message = f"The label file names items that the data set has not: {listed(unknown)}."
        yield Place(printable(file)).error("unknown_label", printable(message))


def _roles(path: Path, base: str, value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    where = f"{path}, {base!r}:"
    if not isinstance(value, Mapping):
        raise InputError(
            printable(f"{where} {value!r} is neither an object of roles and fields nor null.")
        )
    for role, field in value.items():
        what, wrong = ("role", role) if role not in FIELDS else ("field", field)
        if wrong not in FIELDS:
            message = f"{where} {wrong!r} is not a {what}; choose from: {', '.join(FIELDS)}."
            raise InputError(printable(message))
    fields = {role: value.get(role, role) for role in FIELDS}
    if len(set(fields.values())) < len(FIELDS):
        said = ", ".join(f"{role} from {field}" for role, field in fields.items())
        message = f"{where} two roles come from one field ({said}); name a field for each role."
        raise InputError(printable(message))
    return fields


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"it names {key!r} twice")
        values[key] = value
    return values
