"""Sets of axes with their poles, and sets of concepts: what heads are read for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import duckdb

from core.axes.axis import Axis, Pole, plain_name
from core.axes.concepts import Concept, ConceptSet, concept_prompt
from core.errors import CacheError, InputError
from core.items.texts import make_text
from core.store.fetch import count
from core.store.gate import Cache

_AXES = """
SELECT axis.source, axis.dimension, axis.facet, n.* EXCLUDE pole, p.* EXCLUDE pole FROM axis
    LEFT JOIN pole AS n ON n.pole = axis.negative LEFT JOIN pole AS p ON p.pole = axis.positive
WHERE axis_set = $name AND ($ids IS NULL OR list_contains($ids, axis_id)) ORDER BY position
"""
WITHOUT_POLE = """
SELECT axis_set FROM axis
WHERE negative NOT IN (SELECT pole FROM pole) OR positive NOT IN (SELECT pole FROM pole)
"""
_CONCEPTS = """
SELECT language, concept, zipf, warmth, competence FROM concept
WHERE concept_set = ? ORDER BY position
"""


def put_axes(cache: Cache, name: str, axes: Sequence[Axis], *, replace: bool = False) -> None:
    """Store a set of axes and their poles in one transaction; the same set again changes nothing.

    A pole is stored once for all sets, and `replace` changes it for all of them.

    Raises
    ------
    InputError
        Other axes are stored under this name, or another definition of a pole, and `replace` is not
        given; or two axes of the set do not agree on a pole.
    """
    with cache.writing() as con:
        _put_axes(con, name, axes, replace=replace)


def add_axis(cache: Cache, name: str, axis: Axis) -> None:
    """Put an axis behind those of a set, which need not be there, unless it is in it already.

    Raises
    ------
    InputError
        An axis of the set has one of its poles with other words or another definition.
    """
    with cache.writing() as con:  # read in it too, so that two at a time do not lose one
        held = _axes(con, name)
        if axis.axis_id not in {known.axis_id for known in held}:
            _put_axes(con, name, (*held, axis), replace=True)


def remove_axis(cache: Cache, name: str, axis_id: str) -> None:
    """Take an axis out of a set; the set goes with its last one.

    What was read for the axis stays, so that it need not be read again when it comes back, and so
    do its poles, which other sets may have.

    Raises
    ------
    InputError
        There is no such set, or it has no such axis.
    """
    with cache.writing() as con:
        held = _axes(con, name) or _refuse(con, "axis", name)
        if axis_id not in {axis.axis_id for axis in held}:
            raise InputError(f"The axes {name!r} have no axis {plain_name(axis_id)!r}.")
        con.execute("DELETE FROM axis WHERE axis_set = ? AND axis_id = ?", [name, axis_id])


def get_axes(cache: Cache, name: str) -> tuple[Axis, ...]:
    """The axes of a set, in their order.

    Raises
    ------
    InputError
        There is no such set.
    CacheError
        A pole of it is lost.
    """
    with cache.reading() as con:
        return _axes(con, name) or _refuse(con, "axis", name)


def some_axes(cache: Cache, name: str, axis_ids: Sequence[str]) -> tuple[Axis, ...]:
    """Some axes of a set, in the order of their ids.

    Raises
    ------
    InputError
        There is no such set, or it has no such axis.
    CacheError
        A pole of one is lost.
    """
    with cache.reading() as con:
        found = {axis.axis_id: axis for axis in _axes(con, name, axis_ids)}
        if name not in _names(con, "axis"):
            _refuse(con, "axis", name)
    if unknown := [axis_id for axis_id in axis_ids if axis_id not in found]:
        raise InputError(f"The axes {name!r} have no axis {unknown[0]!r}; choose one of theirs.")
    return tuple(found[axis_id] for axis_id in axis_ids)


def get_axis(cache: Cache, name: str, axis_id: str) -> Axis:
    """One axis of a set; errors as `some_axes`."""
    return some_axes(cache, name, [axis_id])[0]


def set_size(cache: Cache, table: Literal["axis", "concept"], name: str) -> int:
    """How many axes or concepts a set has; 0 where there is no such set."""
    with cache.reading() as con:
        return count(con, f"SELECT 1 FROM {table} WHERE {table}_set = $name", {"name": name})


def put_concepts(cache: Cache, concepts: ConceptSet, *, replace: bool = False) -> None:
    """Store a set of concepts in one transaction; the same set again changes nothing.

    Raises
    ------
    InputError
        Other concepts are stored under its name, and `replace` is not given.
    """
    language = concepts.language
    rows = [
        (concepts.name, i, c.text, concept_id(c.text), language, c.zipf, c.warmth, c.competence)
        for i, c in enumerate(concepts.concepts)
    ]
    with cache.writing() as con:
        held = _concepts(con, concepts.name)
        if held == concepts:
            return
        _check_room(concepts.name, "concepts", taken=held is not None, replace=replace)
        con.execute("DELETE FROM concept WHERE concept_set = ?", [concepts.name])
        con.executemany("INSERT INTO concept VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def get_concepts(cache: Cache, name: str) -> ConceptSet:
    """A set of concepts, in their order.

    Raises
    ------
    InputError
        There is no such set.
    """
    with cache.reading() as con:
        return _concepts(con, name) or _refuse(con, "concept", name)


def set_names(cache: Cache) -> dict[str, list[str]]:
    """The names of the sets of axes ("axis") and of concepts ("concept")."""
    with cache.reading() as con:
        return {table: _names(con, table) for table in ("axis", "concept")}


def concept_id(concept: str) -> str:
    """The id of the sentence that a concept is asked about with: 32 hexadecimal digits."""
    return make_text("", concept_prompt(concept)).text_id


def _axes(
    con: duckdb.DuckDBPyConnection, name: str, axis_ids: Sequence[str] | None = None
) -> tuple[Axis, ...]:
    ids = None if axis_ids is None else list(axis_ids)
    rows = con.execute(_AXES, {"name": name, "ids": ids}).fetchall()
    if any(row[3] is None or row[8] is None for row in rows):
        raise CacheError(
            f"The cache has lost a pole of the axes {name!r}; give the table or the name that they "
            "came from to `python -m core axes --replace`."
        )
    return tuple(
        Axis(_pole(row[3:8]), _pole(row[8:13]), source=row[0], dimension=row[1], facet=row[2])
        for row in rows
    )


def _put_axes(
    con: duckdb.DuckDBPyConnection, name: str, axes: Sequence[Axis], *, replace: bool
) -> None:
    taken = name in _names(con, "axis")
    is_whole = not count(con, f"FROM ({WITHOUT_POLE}) WHERE axis_set = $name", {"name": name})
    if taken and is_whole and _axes(con, name) == tuple(axes):
        return
    _check_room(name, "axes", taken=taken, replace=replace)
    poles = {pole.key: pole for axis in axes for pole in (axis.negative, axis.positive)}
    _put_poles(con, list(poles.values()), replace=replace)
    con.execute("DELETE FROM axis WHERE axis_set = ?", [name])
    rows = [
        (name, i, a.axis_id, a.negative.key, a.positive.key, a.source, a.dimension, a.facet)
        for i, a in enumerate(axes)
    ]
    con.executemany("INSERT INTO axis VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    if _axes(con, name) != tuple(axes):  # leaves the transaction without a trace
        raise InputError(
            f"Two axes of {name!r} have the same pole with different words or definitions; "
            "give it the same ones everywhere."
        )


def _put_poles(con: duckdb.DuckDBPyConnection, poles: Sequence[Pole], *, replace: bool) -> None:
    """Store poles; those that are there stay, or are replaced, for all sets that have them."""
    wanted = {pole.key: _pole_row(pole) for pole in poles}
    held = {
        row[0]: row
        for row in con.execute(
            "FROM pole WHERE list_contains($keys, pole)", {"keys": list(wanted)}
        ).fetchall()
    }
    changed = [key for key, row in wanted.items() if key in held and held[key] != row]
    if changed and not replace:
        raise InputError(
            f"The cache has another definition of {changed[0]}{_and_more(changed)}, which other "
            "axes may have too; use --replace to change it for all of them."
        )
    con.execute("DELETE FROM pole WHERE list_contains($keys, pole)", {"keys": changed})
    if new := [row for key, row in wanted.items() if key not in held or key in changed]:
        con.executemany("INSERT INTO pole VALUES (?, ?, ?, ?, ?, ?)", new)


def _and_more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _concepts(con: duckdb.DuckDBPyConnection, name: str) -> ConceptSet | None:
    rows = con.execute(_CONCEPTS, [name]).fetchall()
    if not rows:
        return None
    return ConceptSet(name, tuple(Concept(*row[1:]) for row in rows), language=rows[0][0])


def _pole_row(pole: Pole) -> tuple[object, ...]:
    words = list(pole.lemmas)
    return (pole.key, pole.synset, pole.offset, words, pole.definition, pole.language)


def _pole(row: Sequence[Any]) -> Pole:
    synset, offset, words, definition, language = row
    return Pole(synset, offset, tuple(words), definition, language)


def _check_room(name: str, what: str, *, taken: bool, replace: bool) -> None:
    if taken and not replace:
        raise InputError(
            f"The cache has other {what} under the name {name!r}; "
            "use --replace or give this set another name."
        )


def _refuse(con: duckdb.DuckDBPyConnection, table: str, name: str) -> NoReturn:
    known = ", ".join(_names(con, table)) or "none"
    what = {"axis": "axes", "concept": "concepts"}[table]
    raise InputError(f"The cache has no {what} {name!r}; it has {known}.")


def _names(con: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    rows = con.execute(f"SELECT DISTINCT {table}_set FROM {table} ORDER BY ALL").fetchall()
    return [name for (name,) in rows]
