"""What people say about groups and axes: a table of ratings from 1 to 5, and who is left out.

One row is one answer of one annotator: where a group lies on an axis, 1 at its negative pole and 5
at its positive one, or NA where the axis does not apply to the group. A row with something in the
column `expected` is a control item, whose right answers are known ("5", "4|5", "NA"): it tells who
reads carefully and is no rating. After "StereoDisco" (arXiv 2607.27824), an annotator with more
than one control item wrong is left out. data/README.md has the columns and an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import pandas as pd

from core.errors import InputError
from core.files.places import Place, printable
from core.files.rows import MOST_CHARACTERS, folded, read_list, refuse_errors, text_of
from core.files.tables import Record
from core.types import Problem
from core.words import counted

REQUIRED = ("annotator", "group", "axis", "rating")
OPTIONAL = ("expected",)
NOT_APPLICABLE = "NA"
BETWEEN = "~"  # the poles of an axis, negative and positive, as in `axis_id`
MIDDLE = 3  # of the scale
MOST_WRONG = 1  # control items an annotator may have wrong
N_CONTROLS = 10  # that the published survey has

T = TypeVar("T")
_SCALE = {text: n for n in range(1, 6) for text in (str(n), f"{n}.0")}


@dataclass(frozen=True)
class Ratings:
    """Answers as they were read."""

    answers: pd.DataFrame  # annotator, group, axis, rating: NaN where the axis does not apply
    annotators: pd.DataFrame  # annotator, n_ratings, n_controls, n_wrong, excluded, reason
    notes: tuple[Problem, ...] = ()

    @property
    def kept(self) -> pd.DataFrame:
        """The answers of those who are not excluded."""
        out = self.annotators.loc[self.annotators["excluded"], "annotator"]
        return self.answers[~self.answers["annotator"].isin(out)].reset_index(drop=True)


class _Answer(NamedTuple):
    annotator: str
    group: str
    axis: str
    rating: float  # NaN: does not apply
    right: bool | None  # of a control item; None for a rating


def read_ratings(path: Path) -> Ratings:
    """The answers of a table with the columns annotator, group, axis and rating, and expected.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        A row is wrong, says something twice, or has the poles of an axis the other way round; it
        carries every problem by row.
    """
    table = read_list(path, REQUIRED, OPTIONAL)
    problems = list(table.problems)
    seen = _Seen({}, {}, {})
    answers = []
    for record in table.records:
        try:
            answers.append(_answer(record, seen))
        except InputError as error:
            problems.append(record.place.error("bad_rating", str(error)))
    if not problems and all(answer.right is not None for answer in answers):
        problems.append(table.place.error("no_rating", "All rows are control items; add ratings."))
    refuse_errors(path, problems)
    frame = pd.DataFrame(answers, columns=_Answer._fields)
    annotators = _annotators(frame)
    notes = (*problems, *_notes(annotators, table.place))
    ratings = frame[frame["right"].isna()].drop(columns="right").reset_index(drop=True)
    return Ratings(ratings, annotators, notes)


class _Seen(NamedTuple):
    """What earlier rows have."""

    answers: dict[tuple[str, str, str, bool], int | None]  # their row
    groups: dict[str, str]  # spelling that a group was first written in
    axes: dict[frozenset[str], str]


def _answer(record: Record, seen: _Seen) -> _Answer:
    annotator, group, axis, rating, expected = _cells(record)
    group = seen.groups.setdefault(folded(group), group)
    first = seen.axes.setdefault(frozenset(axis.split(BETWEEN)), axis)
    if first != axis:
        raise InputError(
            f"An earlier row has the axis as {first!r}; write its poles in one order, so that 1 "
            "and 5 mean the same everywhere."
        )
    key = (annotator, group, axis, expected is None)
    if key in seen.answers:
        raise InputError(
            f"{annotator!r} has answered this in row {seen.answers[key]} already; leave one out."
        )
    seen.answers[key] = record.place.row
    right = None if expected is None else rating in expected
    return _Answer(annotator, group, axis, float("nan") if rating is None else rating, right)


class _Cells(NamedTuple):
    """What stands in a row."""

    annotator: str
    group: str
    axis: str
    rating: int | None
    expected: frozenset[int | None] | None


def _cells(record: Record) -> _Cells:
    """A row's cells; an InputError names all that are wrong."""
    faults: list[str] = []

    def read(cell: Callable[[], T]) -> T | None:
        try:
            return cell()
        except InputError as error:
            faults.append(str(error))
            return None

    annotator = read(lambda: _named("annotator", _annotator(record)))
    group = read(lambda: _named("group", text_of(record, "group")))
    axis = read(lambda: _axis(record))
    rating = read(lambda: _rating(record.values.get("rating"), "rating"))
    expected = read(lambda: _expected(record))
    if faults or annotator is None or group is None or axis is None:
        raise InputError(" ".join(faults))
    return _Cells(annotator, group, axis, rating, expected)


def _named(name: str, text: str) -> str:
    if not text:
        raise InputError(f"The row has no {name}; write it, or leave the row out.")
    return text


def _annotator(record: Record) -> str:
    """Who answers; numbers will do."""
    value = record.values.get("annotator")
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else text_of(record, "annotator")


def _axis(record: Record) -> str:
    axis = text_of(record, "axis", most=2 * MOST_CHARACTERS + len(BETWEEN))
    poles = [pole.strip() for pole in axis.split(BETWEEN)]
    if len(poles) != 2 or not all(poles) or poles[0] == poles[1]:
        raise InputError(
            f"axis is {axis!r}; write its two poles with {BETWEEN} between them, the negative one "
            "first: dishonest.a.01~honest.a.01."
        )
    return BETWEEN.join(poles)


def _rating(value: object, column: str) -> int | None:
    """A rating, or None where the axis does not apply."""
    text = "" if value is None else str(value).strip()
    if text.upper() == NOT_APPLICABLE:
        return None
    if text not in _SCALE:
        raise InputError(
            f"{column} is {printable(repr(text))}; write a whole number from 1 to 5, or "
            f"{NOT_APPLICABLE} where the axis does not apply to the group."
        )
    return _SCALE[text]


def _expected(record: Record) -> frozenset[int | None] | None:
    """The right answers of a control item; None for a rating."""
    value = record.values.get("expected")
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    return frozenset(_rating(part, "expected") for part in text.split("|"))


def _annotators(answers: pd.DataFrame) -> pd.DataFrame:
    """How each annotator did on the control items, in the order of their first answers."""
    control = answers["right"].notna()
    wrong = control & (answers["right"] == False)  # noqa: E712 None is neither
    counts = pd.DataFrame(
        {"annotator": answers["annotator"], "n_ratings": ~control, "n_controls": control}
    ).assign(n_wrong=wrong)
    rows = counts.groupby("annotator", sort=False).sum().astype("int64").reset_index()
    excluded = rows["n_wrong"] > MOST_WRONG
    reason = rows["n_wrong"].map(
        lambda n: f"{counted(n, 'control item')} wrong, more than {MOST_WRONG}"
    )
    reason = reason.where(excluded, "")
    reason = reason.mask(rows["n_controls"] == 0, "answered no control item")
    return rows.assign(excluded=excluded, reason=reason)


def _notes(annotators: pd.DataFrame, place: Place) -> Iterator[Problem]:
    unchecked = int((annotators["n_controls"] == 0).sum())
    if unchecked:
        message = (
            f"{counted(unchecked, 'annotator')} of {len(annotators)} answered no control item: "
            "nothing tells whether they read carefully, and they are kept."
        )
        yield place.note("no_controls", message)
    some = annotators.loc[annotators["n_controls"] > 0, "n_controls"]
    if len(some) and int(some.min()) < N_CONTROLS:
        message = (
            f"Some annotators answered only {int(some.min())} control items; the published rule, "
            f"at most {MOST_WRONG} wrong, is for {N_CONTROLS}."
        )
        yield place.note("few_controls", message)
    if n := int(annotators["excluded"].sum()):
        message = f"{counted(n, 'annotator')} of {len(annotators)} excluded by the control items."
        yield place.note("excluded", message)
