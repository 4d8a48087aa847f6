"""Any table with one row per item and condition, whose columns a person names.

`--column stereotype=colA --column item_id=colB --scale mean`: what a column holds, then its name.
Needed are `item_id`, `stereotype` and `anti_stereotype`; there may be `unrelated`, `unknown`,
`condition`, `model`, and token counts (`n_stereotype`, ...), from which means and sums give each
other. What is not named is looked for under its own name. Only a person knows the scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from core.errors import InputError
from core.files.places import listed, shown
from core.files.tables import Record, Table
from core.imported_scores.layout import ROLES, Finds, Scale, ScoreLayout, ScoreOptions, ScoreRow
from core.imported_scores.numbers import number_in, sentence
from core.items.conditions import normalise_condition
from core.items.rows import column_errors, id_text
from core.types import Problem

NEEDED = ("item_id", "stereotype", "anti_stereotype")
COUNTS = tuple(f"n_{role}" for role in ROLES)
KNOWN = (*NEEDED, "unrelated", "unknown", "condition", "model", *COUNTS)


def read_columns(table: Table, options: ScoreOptions) -> tuple[list[ScoreRow], list[Problem]]:
    """One row per item and condition; every problem of every row is reported.

    Raises
    ------
    InputError
        A column is named for something that no score has.
    """
    if unknown := [name for name in options.columns if name not in KNOWN]:
        raise InputError(f"--column has {listed(unknown)}; a column can hold {', '.join(KNOWN)}.")
    columns = {name: options.columns.get(name, name) for name in KNOWN}
    needed = [columns[name] for name in (*NEEDED, *options.columns)]
    problems = list(column_errors(table, list(dict.fromkeys(needed))))
    if problems:
        return [], problems
    columns = {name: column for name, column in columns.items() if column in table.columns}
    rows = []
    for record in table.records:
        try:
            rows.append(_row(record, columns, options))
        except (ValueError, InputError) as error:
            problems.append(record.place.error("bad_row", sentence(error)))
    return rows, problems


def _row(record: Record, columns: Mapping[str, str], options: ScoreOptions) -> ScoreRow:
    cells = {name: record.values.get(column) for name, column in columns.items()}
    item_id, condition = id_text(cells["item_id"]), id_text(cells.get("condition"))
    if not item_id.strip():
        raise ValueError(f"The row has no id in {columns['item_id']}")
    condition = normalise_condition(condition) if condition else options.condition
    values = {role: number_in(cells[role]) for role in ROLES if role in cells}
    return ScoreRow(
        place=record.place.of(item_id, condition),
        values=values,
        n_tokens=dict(_counts(cells)),
        model=id_text(cells.get("model")).strip(),
        item_id=item_id,
        condition=condition,
        shown=f"item {shown(item_id)}",
    )


def _counts(cells: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    for role in ROLES:
        n = number_in(cells.get(f"n_{role}"))
        if math.isnan(n):
            continue
        if not math.isfinite(n) or n != int(n) or n < 1:
            raise ValueError(f"n_{role} is {n:g}, which is no number of tokens")
        yield role, int(n)


LAYOUT = ScoreLayout(
    "columns",
    "a table whose columns are named",
    lambda table: False,
    read_columns,
    Finds.ITEM,
    None,
    (Scale.MEAN, Scale.SUM, Scale.ORDER),
    frozenset({"columns"}),
)
