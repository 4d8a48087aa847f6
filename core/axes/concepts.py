"""Concepts: the groups of people, or anything else, that axes are read for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.errors import InputError
from core.files.rows import folded, read_list, refuse_errors, text_of
from core.files.tables import Record
from core.languages import normalise_language
from core.settings import DATA
from core.types import Problem

# The published lists: data/axes/README.md says where they come from.
GROUPS = {
    "groups25": DATA / "axes" / "groups25.csv",
    "groups50": DATA / "axes" / "groups50.csv",
}
LABELS: Mapping[str, int | None] = {"": None, "1": 1, "+1": 1, "-1": -1, "1.0": 1, "-1.0": -1}


@dataclass(frozen=True)
class Concept:
    """One concept, its word frequency and which way it is held to lie, where that is known."""

    text: str
    zipf: float | None = None  # log10 of occurrences in a billion words
    warmth: int | None = None  # 1 warm, -1 cold
    competence: int | None = None  # 1 competent, -1 incompetent


@dataclass(frozen=True)
class ConceptSet:
    """Concepts that are read together: projections are standardised over them."""

    name: str
    concepts: tuple[Concept, ...]
    language: str = "en"


class ConceptList(NamedTuple):
    """A list that was read, and what is remarkable about it."""

    concepts: ConceptSet
    notes: tuple[Problem, ...]


def concept_prompt(concept: str) -> str:
    """The sentence in which a model reads a concept (StereoDisco, arXiv 2607.27824)."""
    return f"Provide the best description of {concept} using adjectives."


def read_concepts(path: Path, *, language: str = "en") -> ConceptList:
    """A list of concepts: column text, optionally warmth and competence (1 or -1) and zipf.

    The set has the file's name without its extension.

    Raises
    ------
    InputError
        There is no such file, or the language is not known.
    DataSetError
        A row is wrong, a concept is named twice, or there is only one; it carries every problem.
    """
    language = normalise_language(language)
    table = read_list(path, ("text",), ("warmth", "competence", "zipf"))
    problems = list(table.problems)
    concepts: dict[str, Concept] = {}
    rows: dict[str, int | None] = {}
    for record in table.records:
        try:
            concept = _concept(record)
        except InputError as error:
            problems.append(record.place.error("bad_concept", str(error)))
            continue
        same = folded(concept.text)
        if same in concepts:
            message = f"{concept.text!r} is in row {rows[same]} already; leave one of them out."
            problems.append(record.place.error("duplicate_concept", message))
            continue
        concepts[same], rows[same] = concept, record.place.row
    if len(concepts) == 1 == len(table.records):
        message = "There is only one concept; values are standardised over at least two."
        problems.append(table.place.error("one_concept", message))
    refuse_errors(path, problems)
    return ConceptList(ConceptSet(path.stem, tuple(concepts.values()), language), tuple(problems))


def _concept(record: Record) -> Concept:
    text = text_of(record, "text")
    if not text:
        raise InputError("The row has no text; write the concept or leave the row out.")
    return Concept(text, _zipf(record), _label(record, "warmth"), _label(record, "competence"))


def _label(record: Record, column: str) -> int | None:
    written = record.values.get(column)
    text = "" if written is None else str(written).strip()
    if text not in LABELS:
        raise InputError(f"{column} is {text!r}; write 1, -1, or nothing where it is not known.")
    return LABELS[text]


def _zipf(record: Record) -> float | None:
    written = record.values.get("zipf")
    if written in (None, ""):
        return None
    try:
        zipf = float(str(written))
    except ValueError:
        zipf = 0.0
    if not 0 < zipf < 9:  # 9 would be every word
        raise InputError(f"zipf is {written!r}; write a number above 0 and below 9, or nothing.")
    return zipf
