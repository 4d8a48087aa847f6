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
- Four names end in "(T5 only)" or "(T5/T11 only)": these predicates stand in these templates only.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError
from core.files.places import listed
from core.files.rows import read_list, refuse_errors
from core.files.tables import Table
from core.items.identities import COUNTERFACTUALS, IDENTITIES
from core.items.likeness import as_read
from core.items.predicate_rows import (
    PUBLISHED,
    Columns,
    Form,
    PredicateRow,
    Survey,
    read_predicate_row,
)
from core.types import Problem
from core.words import counted

TIERS = ((1, 7), (2, 5), (3, 3))  # tier, and the tenths of yes from which on it is reached
EXCLUDED = -1
# Distinct predicates in tiers 1 to 3, excluded and added: as published, and what the paper prints.
PUBLISHED_TIERS = (60, 52, 30, 26, 22)
_SCOPE = re.compile(r"\(([^()]+) only\)$")
PRINTED = "68 / 52 / 30"


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
    def scope(self) -> tuple[str, ...]:
        """The templates that its name restricts it to, as in "(T5/T11 only)"; mostly none."""
        found = _SCOPE.search(self.name)
        return tuple(name.strip() for name in found[1].split("/")) if found else ()

    def is_for(self, template: str) -> bool:
        """Whether its name lets it into the template of this name."""
        return not self.scope or as_read(template) in map(as_read, self.scope)

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
    table = read_list(path, (*PUBLISHED.needed, *PUBLISHED.answers), PUBLISHED.others)
    return predicates_of(path, table, PUBLISHED)


def predicates_of(path: Path, table: Table, columns: Columns) -> Predicates:
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
            rows.append(read_predicate_row(record, columns))
        except InputError as error:
            problems.append(record.place.error("bad_predicate", str(error)))
    refuse_errors(path, problems)
    entries = tuple(_entries(rows))
    predicates = Predicates(entries, ())
    problems += [*_row_notes(rows), *_tier_notes(table, predicates), *_other_notes(table, entries)]
    return Predicates(entries, tuple(problems))


def _entries(rows: Sequence[PredicateRow]) -> Iterator[Predicate]:
    """Predicates from their forms: those with a name by it, the others by their order.

    One without a name ends where the number of the form does not rise, or the answers change.
    """
    groups: dict[tuple[object, ...], list[PredicateRow]] = defaultdict(list)
    n_begun = 0
    last: PredicateRow | None = None
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


def _row_notes(rows: Sequence[PredicateRow]) -> Iterator[Problem]:
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
    paper = f" The paper prints {PRINTED} for tiers 1 to 3." if counts == PUBLISHED_TIERS else ""
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
