"""Where the rows are in a JSON document."""

from __future__ import annotations

from typing import Any


def lists_of_objects(document: Any) -> dict[str, list[Any]]:
    """The lists that hold a document's rows, by name.

    A list is one itself, without a name. Of an object they are those of its values that are lists
    and hold an object, else those in its value `data`, else its values if all of them are
    objects of objects: the key of each becomes its `id`.
    """
    if isinstance(document, list):
        return {"": document}
    if not isinstance(document, dict):
        return {}
    lists = {
        key: value
        for key, value in document.items()
        if isinstance(value, list) and any(isinstance(row, dict) for row in value)
    }
    return lists or lists_of_objects(document.get("data")) or _keyed_objects(document)


def contents_beside(document: Any, lists: dict[str, list[Any]]) -> list[str]:
    """The names in the object that holds the lists whose values are not read as rows."""
    if not isinstance(document, dict) or lists.keys() == {""}:
        return []
    if lists.keys() <= document.keys():
        return [name for name in document if name not in lists]
    return contents_beside(document.get("data"), lists)


def _keyed_objects(document: dict[str, Any]) -> dict[str, list[Any]]:
    groups = list(document.values())
    rows = [row for group in groups if isinstance(group, dict) for row in group.values()]
    if not rows or not all(isinstance(group, dict) for group in groups):
        return {}
    if not all(isinstance(row, dict) for row in rows):
        return {}
    return {
        name: [{"id": key, **row} for key, row in group.items()] for name, group in document.items()
    }
