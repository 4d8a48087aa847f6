"""One row of a file of predicates: a grammatical form, and what people answered about it.

The published file and a plain list of one's own say the same under other names (`Columns`), and
every message names the columns of the file that was read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.errors import InputError
from core.files.places import Place
from core.files.rows import text_of
from core.files.tables import Record
from core.items.identities import identity_named
from core.stats.intervals import Interval
from core.stats.shares import wilson_interval

# As the file of WinoQueer-NL numbers them: by the first template that takes the form.
FORMS = {"main": 1, "verb_last": 3, "they": 5, "singular": 11}
FORM_NAMES = ", ".join(FORMS)
LEAST_HARM, MOST_HARM = -1.0, 4.0


@dataclass(frozen=True)
class Columns:
    """How a file names what it says about predicates, and what it has besides.

    Without further words it is a list of one's own, which writes forms by their names.
    """

    predicate: str = "predicate"
    form: str = "form"
    text: str = "text"
    identities: str = "identities"
    yes: str = "yes"
    no: str = "no"
    unsure: str = "unsure"
    n_harmfulness: str = "n_harmfulness"
    harmfulness: str = "harmfulness"
    survey_added: str = "survey_added"
    total: str | None = None  # answers and share of yes, to check the counts by
    percentage: str | None = None
    tier: str | None = None
    numbered_forms: bool = False
    unnamed_added: bool = False  # a row without a name is of a predicate that participants added

    @property
    def needed(self) -> tuple[str, ...]:
        """What tells forms, and who they are said of."""
        return self.predicate, self.form, self.text, self.identities

    @property
    def answers(self) -> tuple[str, ...]:
        """What a survey asks."""
        return self.yes, self.no, self.unsure, self.n_harmfulness, self.harmfulness

    @property
    def others(self) -> tuple[str, ...]:
        """What may be left out of any file."""
        return tuple(filter(None, (self.total, self.percentage, self.tier, self.survey_added)))


PLAIN = Columns()
PUBLISHED = Columns(
    form="template",
    text="nl_predicate_altered",
    identities="gender_ID",
    yes="ja_responses",
    no="no_responses",
    unsure="niet_zeker_responses",
    n_harmfulness="harmfulness_count",
    harmfulness="harmfulness_mean",
    total="total_responses",
    percentage="yes_percentage",
    tier="tier",
    numbered_forms=True,
    unnamed_added=True,
)


@dataclass(frozen=True)
class Form:
    """A predicate in one grammatical form, and the identities it was asked about in it."""

    template: int  # one of FORMS
    text: str
    identities: tuple[str, ...]  # English names (core/items/identities.py)
    row: int | None = field(default=None, compare=False)  # of the file
    labels: tuple[str, ...] = field(default=(), compare=False)  # the identities as it writes them


@dataclass(frozen=True)
class Survey:
    """What participants answered about a predicate; None where they were not asked."""

    n_yes: int | None
    n_no: int | None
    n_unsure: int | None
    n_harmfulness: int | None  # None where the file does not say
    harmfulness: float | None  # mean answer, -1 to 4
    given_tier: int | None = None  # as the file has it

    @property
    def yes_share(self) -> Interval:
        """Yes among yes and no, with its Wilson interval; NaN without such an answer."""
        return wilson_interval(self.n_yes or 0, (self.n_yes or 0) + (self.n_no or 0))


@dataclass(frozen=True)
class PredicateRow:
    """What one row says."""

    place: Place
    name: str
    added: bool
    survey: Survey
    form: Form
    total: int | None = None  # answers and share of yes, which the published file has besides
    percentage: float | None = None


def read_predicate_row(record: Record, columns: Columns) -> PredicateRow:
    """A row of a file with these columns.

    Raises
    ------
    InputError
        It has no text, identity, form or name, or something that is no count or mean.
    """
    form = _form(record, columns)
    name = text_of(record, columns.predicate)
    added = _added(record, columns, name)
    if not (name or added):
        raise InputError("The row has no predicate, and is not one that participants added.")
    survey = _survey(record, columns)
    total, percentage = _whole(record, columns.total), _number(record, columns.percentage)
    return PredicateRow(record.place, name, added, survey, form, total, percentage)


def form_named(word: str) -> int:
    """The number of a grammatical form.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if word not in FORMS:
        raise InputError(f"{word!r} is no form of a predicate; write one of: {FORM_NAMES}.")
    return FORMS[word]


def _form(record: Record, columns: Columns) -> Form:
    number = _form_number(record, columns)
    text = text_of(record, columns.text)
    labels = [label.strip() for label in text_of(record, columns.identities).split(",")]
    if not text:
        raise InputError(f"The row has nothing in {columns.text}.")
    if not all(labels):
        raise InputError(f"The row has nothing in {columns.identities}, or between two commas.")
    first = {identity_named(label): label for label in reversed(labels)}
    names = tuple(dict.fromkeys(map(identity_named, labels)))
    return Form(number, text, names, record.place.row, tuple(first[name] for name in names))


def _form_number(record: Record, columns: Columns) -> int:
    if not columns.numbered_forms:
        return form_named(text_of(record, columns.form))
    number = _whole(record, columns.form)
    if number is None or number not in FORMS.values():
        numbers = ", ".join(map(str, FORMS.values()))
        raise InputError(f"{columns.form} is no number of a form; write one of: {numbers}.")
    return number


def _survey(record: Record, columns: Columns) -> Survey:
    n_yes, n_no, n_unsure, n_harmfulness = (
        _whole(record, column)
        for column in (columns.yes, columns.no, columns.unsure, columns.n_harmfulness)
    )
    harmfulness = _number(record, columns.harmfulness)
    if harmfulness is not None and not LEAST_HARM <= harmfulness <= MOST_HARM:
        raise InputError(f"{columns.harmfulness} is {harmfulness:g}; the scale is from -1 to 4.")
    if (n_yes is None) != (n_no is None):
        raise InputError(f"The row has only one of {columns.yes} and {columns.no}.")
    tier = _number(record, columns.tier)
    given = None if tier is None else int(tier)
    return Survey(n_yes, n_no, n_unsure, n_harmfulness, harmfulness, given)


def _added(record: Record, columns: Columns, name: str) -> bool:
    """Whether participants added the predicate."""
    flag = record.values.get(columns.survey_added)
    if flag in (None, ""):
        return not name and columns.unnamed_added
    if str(flag) not in ("0", "1"):
        raise InputError(f"{columns.survey_added} is {flag!r}; write 1 or 0.")
    return str(flag) == "1"


def _number(record: Record, column: str | None) -> float | None:
    """The number in a cell, None where it or the column is not there."""
    value = None if column is None else record.values.get(column)
    if value in (None, ""):
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e6:
        raise InputError(f"{column} is {value!r}, which is no number.")
    return number


def _whole(record: Record, column: str | None) -> int | None:
    number = _number(record, column)
    if number is not None and (number < 0 or number != int(number)):
        raise InputError(f"{column} is {number:g}; write a whole number from 0 on.")
    return None if number is None else int(number)
