"""Questions in several languages: MBBQ (Neplenbroek et al. 2024), BBQ's layout once per language.

A file holds one category in one language: `Age_nl.jsonl`. The row of the same number is the same
item in every language, whatever its `example_id`, hence ids such as "Age/17" for the 18th row; the
answers may stand in another order there. Roles come from groups and polarity as for BBQ
(core/items/formats/bbq.py): tags are translated in some categories (`vrouw`) while the groups are
not (`F`).

`Age_control_nl.jsonl` holds the same questions about proper names of one group. They measure the
task and no stereotype, so that they are a category of their own, "Age_control".
"""

from __future__ import annotations

import re

from core.errors import InputError
from core.files.tables import Record, Table
from core.items.formats.bbq import CATEGORY, ID, looks_like_bbq, read_questions
from core.items.layout import Layout, ReadOptions
from core.items.rows import Row
from core.languages import normalise_language
from core.types import Problem
from core.words import counted

CONTROL = "_control"


def looks_like_mbbq(table: Table) -> bool:
    """Whether a table has BBQ's columns and is named after its category and a language."""
    if not looks_like_bbq(table) or not table.records:
        return False
    category = table.records[0].values.get(CATEGORY)
    stem = table.place.file.rpartition(".")[0]
    match = re.fullmatch(rf"{re.escape(str(category))}(?:{CONTROL})?_([a-z]{{2,3}})", stem)
    try:
        return match is not None and bool(normalise_language(match[1]))
    except InputError:
        return False


def read_mbbq(table: Table, options: ReadOptions) -> tuple[list[Row], list[Problem]]:
    """Turn a table of questions into items of one language; every problem of every row is reported.

    Without a language among the options it is taken from the file's name.
    """
    parts = re.split(r"[_.]", table.place.file)
    suffix = CONTROL if CONTROL.strip("_") in parts else ""
    rows, problems = read_questions(table, options, "mbbq", _number, suffix)
    others = sum(
        record.values.get(ID) not in (None, int(_number(record))) for record in table.records
    )
    if others:
        message = (
            f"{ID} is not the number of the row in {counted(others, 'row')}: items are told by "
            "the row, as in MBBQ."
        )
        problems.append(table.place.note("other_number", message))
    return rows, problems


def _number(record: Record) -> str:
    """The number of a record's row, from 0: a row that cannot be read does not shift the others."""
    return str((record.place.row or 1) - 1)


LAYOUT = Layout("mbbq", "MBBQ", looks_like_mbbq, read_mbbq, frozenset({"language", "contexts"}))
