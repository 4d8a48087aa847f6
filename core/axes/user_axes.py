"""Axes of one's own: a table with the columns negative and positive, or one typed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.axes.axis import Axis, Pole, user_pole
from core.axes.wordnet import WordNet, open_wordnet
from core.errors import InputError
from core.files.places import Place
from core.files.rows import folded, read_list, refuse_errors, text_of
from core.files.tables import Record
from core.languages import normalise_language
from core.types import Problem

REQUIRED = ("negative", "positive")
OPTIONAL = ("negative_definition", "positive_definition", "dimension", "facet", "language")
MOST_OF_DEFINITION = 500  # characters
TYPED = "own words"  # the source of an axis that no file holds
_LIKE_A_SYNSET = re.compile(r"\S+\.[a-zA-Z]+\.\d+")


@dataclass(frozen=True)
class AxisList:
    """A list of axes that was read, and what is remarkable about it."""

    axes: tuple[Axis, ...]
    notes: tuple[Problem, ...]


def read_axes(path: Path, wordnet: WordNet | None = None) -> AxisList:
    """The axes of a table, whose poles are names of synsets or words (several between bars).

    Parameters
    ----------
    path
        A `.csv`, `.jsonl` or `.parquet` file.
    wordnet
        Where names of synsets are looked up; left out, the installed one, if there are any.

    Raises
    ------
    InputError
        There is no such file, or no WordNet to look a synset up in.
    DataSetError
        A row is wrong; it carries every problem by row.
    """
    table = read_list(path, REQUIRED, OPTIONAL)
    opened = cache(lambda: wordnet or open_wordnet())  # only if a row names a synset
    problems = list(table.problems)
    axes: dict[frozenset[str], Axis] = {}
    rows: dict[frozenset[str], int | None] = {}
    for record in table.records:
        try:
            axis = _axis(record, opened)
            poles = frozenset((axis.negative.key, axis.positive.key))
            if poles in axes:
                raise InputError(f"Row {rows[poles]} has the same two poles; leave one row out.")
        except InputError as error:
            problems.append(record.place.error("bad_axis", str(error)))
            continue
        axes[poles], rows[poles] = axis, record.place.row
        problems += _notes(record, axis)
    refuse_errors(path, problems)
    return AxisList(tuple(axes.values()), tuple(problems))


def axis_of_words(values: Mapping[str, str]) -> tuple[Axis, tuple[str, ...]]:
    """One axis from what somebody typed, with notes on it.

    Parameters
    ----------
    values
        The columns of a table's row: `negative` and `positive`, and any of the others.

    Raises
    ------
    InputError
        As for a row: one sentence.
    """
    record = Record(Place(TYPED), dict(values))
    axis = _axis(record, open_wordnet)
    return axis, tuple(note.message for note in _notes(record, axis))


def _axis(record: Record, opened: Callable[[], WordNet]) -> Axis:
    language = normalise_language(text_of(record, "language") or "en")
    poles, faults = [], []
    for end in REQUIRED:
        try:
            poles.append(_pole(record, end, language, opened))
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError(" ".join(faults))
    negative, positive = poles
    shared = set(map(folded, negative.lemmas)) & set(map(folded, positive.lemmas))
    own = negative.is_own or positive.is_own
    if shared and (own or negative == positive):
        raise InputError(f"Both poles are {min(shared)!r}; write two opposite ones.")
    dimension, facet = text_of(record, "dimension"), text_of(record, "facet")
    return Axis(negative, positive, record.place.file, dimension, facet)


def _pole(record: Record, end: str, language: str, opened: Callable[[], WordNet]) -> Pole:
    written = text_of(record, end)
    definition = text_of(record, f"{end}_definition", most=MOST_OF_DEFINITION)
    words = tuple(dict.fromkeys(word for part in written.split("|") if (word := part.strip())))
    if not words:
        raise InputError(f"There is no {end} pole; write a word or a synset's name.")
    if not any(_LIKE_A_SYNSET.fullmatch(word) for word in words):
        return user_pole(words, definition, language)
    if len(words) > 1:
        raise InputError(f"The {end} pole is {written!r}; write either words or one synset's name.")
    if language != "en":
        raise InputError(f"{written} is an English synset, and the row's language is {language}.")
    if definition:
        raise InputError(
            f"{written} has WordNet's definition; leave {end}_definition empty, or write words "
            "instead of the synset's name."
        )
    return opened().find_pole(words[0])


def _notes(record: Record, axis: Axis) -> Iterator[Problem]:
    bare = [pole.synset for pole in (axis.negative, axis.positive) if not pole.definition]
    if bare:
        message = (
            f"No definition of {' and '.join(map(repr, bare))}: the word itself stands where a "
            "template names it."
        )
        yield record.place.note("no_definition", message)
    if (language := axis.negative.language) != "en":
        message = f"The words ({language}) are put into English templates as they are."
        yield record.place.note("other_language", message)
