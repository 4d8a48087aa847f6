"""The predicates of a folder: a plain list of one's own, or the published file with its survey.

A plain list says the same in plainer words; both are read by core/items/predicates.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.files.reading import read_files
from core.files.rows import read_list, refuse_errors
from core.files.tables import Record, read_table
from core.items.pair_builder.slots import form_named
from core.items.predicates import Predicates, predicates_of, read_predicates
from core.types import Problem

REQUIRED = ("predicate", "form", "text", "identities")
SURVEY = ("yes", "no", "unsure", "n_harmfulness", "harmfulness", "survey_added")
PUBLISHED = "nl_predicate_altered"  # a column of the published file

_PUBLISHED_NAMES = {
    "form": "template",
    "text": PUBLISHED,
    "identities": "gender_ID",
    "yes": "ja_responses",
    "no": "no_responses",
    "unsure": "niet_zeker_responses",
    "n_harmfulness": "harmfulness_count",
    "harmfulness": "harmfulness_mean",
}


def read_predicate_file(path: Path) -> Predicates:
    """The predicates of a file in either layout.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        It cannot be read, a column is missing, or a row has an error; the error carries them all.
    """
    if is_published(path):
        return read_predicates(path)
    table = read_list(path, REQUIRED, SURVEY)
    records: list[Record] = []
    problems: list[Problem] = []
    for record in table.records:
        try:
            records.append(Record(record.place, _published_values(record)))
        except InputError as error:
            problems.append(record.place.error("bad_predicate", str(error)))
    refuse_errors(path, problems)
    return predicates_of(path, replace(table, records=records))


def is_published(path: Path) -> bool:
    """Whether the file has the columns of WinoQueer-NL's."""
    ((file,), _) = read_files(path)
    return PUBLISHED in read_table(file).columns


def _published_values(record: Record) -> dict[str, Any]:
    values = {_PUBLISHED_NAMES.get(name, name): v for name, v in record.values.items()}
    values["template"] = form_named(str(record.values["form"]).strip())
    return values
