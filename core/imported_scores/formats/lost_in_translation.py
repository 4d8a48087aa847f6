"""The results of "Lost in Translation" (arXiv 2610.20479): one row per model, item and language.

::

    model, prompt_id, language, logprob_stereotype, logprob_anti_stereotype, logprob_unrelated

The log-probabilities are means per token; a person may say that they are sums. `prompt_id` is
`<base>_<lang>`, or the base id beside the column `language`. A column `condition` may name a
rewording.

Traps: the columns are named by the roles that the published items have, which are wrong for those
of StereoSet and BBQ: the label file that corrected the items (core/items/label_file.py) has to
correct the scores too. It says which field holds a role, so the number of a role is that of its
field. The third number of a BBQ item is of its `unknown` answer.
"""

from __future__ import annotations

from core.errors import InputError
from core.files.places import shown
from core.files.tables import Record, Table
from core.imported_scores.layout import THIRD, Finds, Scale, ScoreLayout, ScoreOptions, ScoreRow
from core.imported_scores.numbers import number_in, sentence
from core.items.conditions import normalise_condition
from core.items.label_file import FIELDS
from core.items.rows import column_errors, id_text
from core.languages import normalise_language
from core.types import Problem, Role

NUMBERS = {field: f"logprob_{field}" for field in FIELDS}
POLES = (Role.STEREOTYPE, Role.ANTI_STEREOTYPE)
KEY = ("model", "prompt_id", "language")
REQUIRED = (*KEY, *(NUMBERS[pole] for pole in POLES))
SOURCES = ("ss_", "bbq_")  # beginnings of the ids whose published roles are wrong


def are_results(table: Table) -> bool:
    """Whether a table's columns are those of the results."""
    return set(REQUIRED) <= set(table.columns)


def read_results(table: Table, options: ScoreOptions) -> tuple[list[ScoreRow], list[Problem]]:
    """One row per model and version of an item, its roles corrected."""
    problems = list(column_errors(table, REQUIRED))
    if problems:
        return [], problems
    rows, dropped = [], set()
    for record in table.records:
        try:
            row = _row(record, options)
        except (ValueError, InputError) as error:
            problems.append(record.place.error("bad_row", sentence(error)))
            continue
        if row.item_id in options.labels and options.labels[row.item_id] is None:
            dropped.add(row.item_id)
        else:
            rows.append(row)
    if dropped:
        message = f"{len(dropped)} items are left out, as the label file says."
        problems.append(table.place.note("left_out_by_labels", message))
    if not options.labels and any(row.item_id.startswith(SOURCES) for row in rows):
        message = (
            "The roles of StereoSet and BBQ items are taken as the columns name them; where "
            "--labels corrected the items, give it here too."
        )
        problems.append(table.place.note("roles_as_given", message))
    return rows, problems


def _row(record: Record, options: ScoreOptions) -> ScoreRow:
    model, prompt_id, code = (id_text(record.values.get(name)).strip() for name in KEY)
    if not model or not prompt_id:
        raise ValueError(f"The row has no {'prompt_id' if model else 'model'}")
    language = normalise_language(code)
    base, _, end = prompt_id.rpartition("_")
    item_id = base if base and _is_code(end, code, language) else prompt_id
    named = id_text(record.values.get("condition")).strip()
    condition = normalise_condition(named) if named else options.condition or language
    fields = options.labels.get(item_id) or dict(zip(FIELDS, FIELDS, strict=True))
    values = {
        THIRD if role == Role.UNRELATED else role: number_in(record.values.get(NUMBERS[field]))
        for role, field in fields.items()
    }
    return ScoreRow(
        place=record.place.of(item_id, condition),
        values=values,
        model=model,
        item_id=item_id,
        condition=condition,
        shown=f"item {shown(item_id)}",
    )


def _is_code(end: str, code: str, language: str) -> bool:
    """Whether the end of an id is the row's language."""
    if end == code:
        return True
    try:
        return normalise_language(end) == language
    except InputError:
        return False


LAYOUT = ScoreLayout(
    "lost-in-translation-results",
    "results of Lost in Translation (multilingual audit)",
    are_results,
    read_results,
    Finds.ITEM,
    Scale.MEAN,
    (Scale.MEAN, Scale.SUM),
    frozenset({"labels"}),
)
