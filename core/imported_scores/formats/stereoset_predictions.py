"""Predictions of StereoSet: a number for the id of every sentence (Nadeem et al. 2021).

JSON with one list per task, as the official script reads it, or a table of both columns::

    {"intrasentence": [{"id": "...", "score": 0.0042}, ...], "intersentence": [...]}
    sentence_id,score

The models behind published files scored in ways of their own (probabilities of a word, of a
sentence, of a next sentence), and a file does not say which: only the order of the numbers within
an item means something, which is all that the official metric uses. The ids are those that the
reader of StereoSet keeps with its items (metadata `sentence_ids`).
"""

from __future__ import annotations

from core.files.places import printable, shown
from core.files.tables import JSON_LIST, Table
from core.imported_scores.layout import WHOLE, Finds, Scale, ScoreLayout, ScoreOptions, ScoreRow
from core.imported_scores.numbers import number_in, sentence
from core.items.formats.stereoset import TASKS
from core.items.rows import column_errors, id_text
from core.types import Problem

IDS = ("sentence_id", "id")
SCORE = "score"


def are_predictions(table: Table) -> bool:
    """Whether a table holds ids and scores, and no other columns."""
    columns = set(table.columns) - {JSON_LIST}
    return any(columns == {name, SCORE} for name in IDS)


def read_predictions(table: Table, options: ScoreOptions) -> tuple[list[ScoreRow], list[Problem]]:
    """One row per sentence; every problem of every row is reported."""
    name = next((name for name in IDS if name in table.columns), IDS[0])
    problems = list(column_errors(table, (name, SCORE)))
    if problems:
        return [], problems
    rows = []
    for record in table.records:
        task = record.values.get(JSON_LIST, "")
        if task and task not in TASKS:
            message = f"The list {task!r} is none of {', '.join(TASKS)}."
            problems.append(record.place.error("unknown_list", printable(message)))
            continue
        key = id_text(record.values.get(name))
        if not key:
            problems.append(record.place.error("missing_item_id", f"The row has no {name}."))
            continue
        try:
            value = number_in(record.values.get(SCORE))
        except ValueError as error:
            problems.append(record.place.error("not_a_number", sentence(error)))
            continue
        rows.append(
            ScoreRow(
                place=record.place,
                values={WHOLE: value},
                condition=options.condition,
                key=key,
                shown=f"the sentence {shown(key)}",
                part=task,
            )
        )
    return rows, problems


LAYOUT = ScoreLayout(
    "stereoset-predictions",
    "StereoSet predictions",
    are_predictions,
    read_predictions,
    Finds.SENTENCE,
    Scale.ORDER,
)
