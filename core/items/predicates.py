"""Predicates of WinoQueer-NL with what people of the identities concerned say about them.

    template, predicate, nl_predicate_altered, gender_ID, total_responses, ja_responses,
    no_responses, niet_zeker_responses, harmfulness_count, harmfulness_mean, yes_percentage, tier,
    survey_added

After "WinoQueer-NL" (arXiv 2609.02651), section 3 of the method. One row is one grammatical form
of a predicate: 1 in a main clause, 3 with the verb last, 5 behind "they", 11 in the singular. The
rows of one predicate repeat its numbers. Participants say whether a predicate is used as a
stereotype (yes, no, unsure) and how harmful it is, from -1 to 4. With share = yes / (yes + no),
tier 1 is from .70, tier 2 from .50, tier 3 from .30, and a predicate below is excluded (-1); shares
are not rounded first. A predicate without any yes or no has no share and no tier.

Traps of the published file:

- Several identities stand in one cell, separated by commas, and not the same ones in every form.
- Predicates that participants added have no English name, no counts and no tier. They count as
  tier 1 and take their name from their form 1.
- Two predicates may have the same Dutch form for one identity ("are gross" and "are dirty"): a pair
  with that form gets the mean of both, weighted by answers (core/items/predicate_join.py).
- `total_responses` counts yes and no only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import InputError
from core.files.places import Place, listed
from core.files.rows import read_list, refuse_errors, text_of
from core.files.tables import Record, Table
from core.items.identities import COUNTERFACTUALS, IDENTITIES, identity_named
from core.stats.intervals import Interval
from core.stats.shares import wilson_interval
from core.types import Problem
from core.words import counted

REQUIRED = (
    "template",
    "predicate",
    "nl_predicate_altered",
    "gender_ID",
    "ja_responses",
    "no_responses",
    "niet_zeker_responses",
    "harmfulness_count",
    "harmfulness_mean",
)
OPTIONAL = ("total_responses", "yes_percentage", "tier", "survey_added")
TIERS = ((1, 7), (2, 5), (3, 3))  # tier, and the tenths of yes from which on it is reached
EXCLUDED = -1
LEAST_HARM, MOST_HARM = -1.0, 4.0
# Distinct predicates in tiers 1 to 3, excluded and added: as published, and what the paper prints.
PUBLISHED = (60, 52, 30, 26, 22)
PRINTED = "68 / 52 / 30"
_COUNTS = ("ja_responses", "no_responses", "niet_zeker_responses", "harmfulness_count")


@dataclass(frozen=True)
class Form:
    """A predicate in one grammatical form, and the identities it was asked about in it."""

    template: int
    text: str
    identities: tuple[str, ...]  # English names (core/items/identities.py)
    row: int | None = field(default=None, compare=False)  # of the file


@dataclass(frozen=True)
class Survey:
    """What participants answered about a predicate; None where they were not asked."""

    n_yes: int | None
    n_no: int | None
    n_unsure: int | None
    n_harmfulness: int
    harmfulness: float | None  # mean answer, -1 to 4
    given_tier: int | None = None  # as the file has it

    @property
    def yes_share(self) -> Interval:
        """Yes among yes and no, with its Wilson interval; NaN without such an answer."""
        return wilson_interval(self.n_yes or 0, (self.n_yes or 0) + (self.n_no or 0))


@dataclass(frozen=True)
class Predicate:
    """A predicate with all of its forms."""

    name: str  # English; of one that participants added, its first form
    added: bool
    survey: Survey
    forms: tuple[Form, ...]

    @property
    def identities(self) -> tuple[str, ...]:
        """All identities it was asked about, in the order in which they stand."""
        return tuple(dict.fromkeys(name for form in self.forms for name in form.identities))

    @property
    def tier(self) -> int | None:
        """1 to 3, -1 for an excluded predicate, None where no share of yes is defined."""
        return 1 if self.added else tier_of(self.survey.n_yes, self.survey.n_no)


@dataclass(frozen=True)
class Predicates:
    """The predicates of a file, and what is remarkable about them."""

    entries: tuple[Predicate, ...]
    problems: tuple[Problem, ...]

    def tiers(self) -> Counter[int | None]:
        """Distinct predicates by tier, without those that participants added."""
        return Counter(tier for _, tier in {(p.name, p.tier) for p in self.entries if not p.added})

    @property
    def n_added(self) -> int:
        """Distinct predicates that participants added."""
        return len({predicate.name for predicate in self.entries if predicate.added})


def tier_of(n_yes: int | None, n_no: int | None) -> int | None:
    """The tier of a share of yes, compared without rounding; None without yes and no."""
    if n_yes is None or n_no is None or not n_yes + n_no:
        return None
    n = n_yes + n_no
    return next((tier for tier, tenths in TIERS if 10 * n_yes >= tenths * n), EXCLUDED)


def read_predicates(path: Path) -> Predicates:
    """Read a file of predicates.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        It cannot be read, a column is missing, or a row has an error; the error carries them all.
    """
    return predicates_of(path, read_list(path, REQUIRED, OPTIONAL))


def predicates_of(path: Path, table: Table) -> Predicates:
    """The predicates in a table of these columns; the path is named where it is refused.

    Raises
    ------
    DataSetError
        A row has an error; the error carries them all.
    """
    problems = list(table.problems)
    rows = []
    for record in table.records:
        try:
            rows.append(_read_row(record))
        except InputError as error:
            problems.append(record.place.error("bad_predicate", str(error)))
    refuse_errors(path, problems)
    entries = tuple(_entries(rows))
    predicates = Predicates(entries, ())
    problems += [*_row_notes(rows), *_tier_notes(table, predicates), *_other_notes(table, entries)]
    return Predicates(entries, tuple(problems))


@dataclass(frozen=True)
class _Row:
    place: Place
    name: str
    added: bool
    survey: Survey
    form: Form
    total: int | None
    percentage: float | None


def _read_row(record: Record) -> _Row:
    name, text = text_of(record, "predicate"), text_of(record, "nl_predicate_altered")
    labels = [label.strip() for label in text_of(record, "gender_ID").split(",")]
    if not text or not all(labels):
        missing = "nl_predicate_altered" if not text else "gender_ID"
        raise InputError(f"The row has no text in {missing}, or an empty one between commas.")
    template = _whole(record, "template")
    if template is None:
        raise InputError("The row has no template; write the number of the form.")
    n_yes, n_no, n_unsure, n_harmfulness = (_whole(record, column) for column in _COUNTS)
    harmfulness = _number(record, "harmfulness_mean")
    if harmfulness is not None and not LEAST_HARM <= harmfulness <= MOST_HARM:
        raise InputError(f"harmfulness_mean is {harmfulness:g}; the scale is from -1 to 4.")
    if (n_yes is None) != (n_no is None):
        raise InputError("The row has only one of ja_responses and no_responses.")
    added = _added(record, name)
    if not (name or added):
        raise InputError("The row has no predicate, and is not one that participants added.")
    tier = _number(record, "tier")
    given = None if tier is None else int(tier)
    survey = Survey(n_yes, n_no, n_unsure, n_harmfulness or 0, harmfulness, given)
    names = tuple(dict.fromkeys(map(identity_named, labels)))
    form = Form(template, text, names, record.place.row)
    total, percentage = _whole(record, "total_responses"), _number(record, "yes_percentage")
    return _Row(record.place, name, added, survey, form, total, percentage)


def _added(record: Record, name: str) -> bool:
    """Whether participants added the predicate: said by the file, else shown by a missing name."""
    flag = record.values.get("survey_added")
    if flag in (None, ""):
        return not name
    if str(flag) not in ("0", "1"):
        raise InputError(f"survey_added is {flag!r}; write 1 or 0.")
    return str(flag) == "1"


def _number(record: Record, column: str) -> float | None:
    value = record.values.get(column)
    if value in (None, ""):
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e6:
        raise InputError(f"{column} is {value!r}, which is no number.")
    return number


def _whole(record: Record, column: str) -> int | None:
    number = _number(record, column)
    if number is not None and (number < 0 or number != int(number)):
        raise InputError(f"{column} is {number:g}; write a whole number from 0 on.")
    return None if number is None else int(number)


def _entries(rows: Sequence[_Row]) -> Iterator[Predicate]:
    """Predicates from their forms: those with a name by it, the others by their order.

    One without a name ends where the number of the form does not rise, or the answers change.
    """
    groups: dict[tuple[object, ...], list[_Row]] = defaultdict(list)
    n_begun = 0
    last: _Row | None = None
    for row in rows:
        goes_on = (
            last is not None
            and (last.name, last.survey) == (row.name, row.survey)
            and row.form.template > last.form.template
        )
        n_begun += not goes_on
        last = row
        groups[(row.name or n_begun, row.added, row.survey)].append(row)
    for group in groups.values():
        forms = tuple(dict.fromkeys(row.form for row in group))
        name = group[0].name or min(forms, key=lambda form: form.template).text
        yield Predicate(name, group[0].added, group[0].survey, forms)


def _row_notes(rows: Sequence[_Row]) -> Iterator[Problem]:
    """Notes on numbers of the file that do not follow from its counts."""
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        key = (row.name, row.added, row.survey, row.form)
        if row.name and key in seen:
            yield row.place.note(
                "duplicate_form", "An earlier row has the same form; counted once."
            )
        seen.add(key)
        share = row.survey.yes_share
        if row.total is not None and row.total != share.n:
            message = f"total_responses is {row.total}, but yes and no are {share.n} together."
            yield row.place.note("other_total", message)
        if row.percentage is not None and not abs(row.percentage - 100 * share.value) <= 0.0051:
            message = (
                f"yes_percentage is {row.percentage:g}, but yes / (yes + no) {share.value:.2%}."
            )
            yield row.place.note("other_share", message)


def _tier_notes(table: Table, predicates: Predicates) -> Iterator[Problem]:
    """How many predicates there are by tier, and those to which the file gives another one."""
    found = predicates.tiers()
    counts = (*(found[tier] for tier, _ in TIERS), found[EXCLUDED], predicates.n_added)
    tiers = ", ".join(f"{n:,} in tier {tier}" for n, (tier, _) in zip(counts, TIERS, strict=False))
    undefined = f", {found[None]:,} without a share" if found[None] else ""
    paper = f" The paper prints {PRINTED} for tiers 1 to 3." if counts == PUBLISHED else ""
    message = (
        f"Distinct predicates: {tiers}, {counts[3]:,} excluded{undefined}, and {counts[4]:,} that"
        f" participants added.{paper}"
    )
    yield table.place.note("tiers", message)
    others = [
        f"{p.name} ({p.survey.given_tier}, not {p.tier})"
        for p in predicates.entries
        if p.survey.given_tier is not None and not p.added and p.survey.given_tier != p.tier
    ]
    if others:
        n = counted(len(others), "predicate")
        message = f"The file gives {n} another tier than the counts: {listed(others)}."
        yield table.place.note("other_tier", message)


def _other_notes(table: Table, entries: Sequence[Predicate]) -> Iterator[Problem]:
    names = Counter(p.name for p in entries)
    several = [name for name, n in names.items() if n > 1]
    if several:
        message = f"Predicates with several answers, all of which count: {listed(several)}."
        yield table.place.note("several_answers", message)
    unknown = {i for p in entries for i in p.identities} - {*IDENTITIES, *COUNTERFACTUALS}
    if unknown:
        message = "Identities that are not among WinoQueer's, kept as they stand: "
        yield table.place.note("unknown_identity", f"{message}{listed(sorted(unknown))}.")
