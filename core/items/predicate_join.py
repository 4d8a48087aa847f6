"""How harmful people find the predicates of sentence pairs: survey answers joined onto pairs.

A pair is joined on its predicate in its own language and its identity. Where several predicates
have one form for an identity, its harmfulness is their mean weighted by the number of answers, in
which one without a number weighs 1.

A Dutch pair knows only the form of its predicate, of which one predicate has several. It gets the
predicate's name, so that its forms are one cluster where predicates are drawn for an interval.
Predicates that share a form, said of whomever, count as one under all their names: pairs of a form
that two of them have belong to both, and clusters with pairs in common would not be independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from core.errors import InputError
from core.files.places import Place, listed, printable
from core.items.conditions import language_of
from core.items.likeness import as_read
from core.items.predicates import Predicate, read_predicates
from core.items.report import ImportReport
from core.types import Item, Problem
from core.words import counted

DUTCH = "nl"
_NAMES = {"predicate_name", "predicate_en"}  # of a predicate, whatever its form
Key = tuple[str, str, str]  # language, predicate, identity


@dataclass(frozen=True)
class Rating:
    """The predicates that one key means, and what was answered about them together."""

    predicates: tuple[Predicate, ...]

    def within(self, template: str) -> Rating:
        """Without predicates whose names restrict them to others than this template.

        All of them where that leaves none: the pairs then name their templates in another way.
        """
        allowed = tuple(p for p in self.predicates if p.is_for(template))
        return Rating(allowed) if template and allowed else self

    @property
    def n_harmfulness(self) -> int | None:
        """Answers behind the harmfulness, None where the file does not give the number of each."""
        numbers = [p.survey.n_harmfulness for p in self._rated]
        return sum(n or 0 for n in numbers) if numbers and all(numbers) else None

    @property
    def harmfulness(self) -> float | None:
        """Mean answer from -1 to 4, None where nobody was asked.

        Predicates weigh as many answers as they have, one where that is not known. Fractions keep
        the mean of equal values at exactly that value, so that ties stay ties.
        """
        weights = [p.survey.n_harmfulness or 1 for p in self._rated]
        values = [Fraction(p.survey.harmfulness or 0) for p in self._rated]
        total = sum(n * value for n, value in zip(weights, values, strict=True))
        return float(total / sum(weights)) if weights else None

    @property
    def tier(self) -> int | None:
        """The tier that all have in common, None where they do not."""
        tiers = {p.tier for p in self.predicates}
        return tiers.pop() if len(tiers) == 1 else None

    @property
    def added(self) -> bool:
        """Whether participants added all of them."""
        return all(p.added for p in self.predicates)

    @property
    def metadata(self) -> dict[str, object]:
        """What items with these predicates get, each where it is defined."""
        values = {
            "harmfulness": self.harmfulness,
            "n_harmfulness": self.n_harmfulness,
            "tier": self.tier,
            "survey_added": self.added,
        }
        return {name: value for name, value in values.items() if value is not None}

    @cached_property
    def _rated(self) -> list[Predicate]:
        return [p for p in self.predicates if p.survey.harmfulness is not None]


def ratings(predicates: Sequence[Predicate]) -> dict[Key, Rating]:
    """The rating of every predicate in Dutch and English and every identity it was asked about."""
    found: dict[Key, dict[Predicate, None]] = defaultdict(dict)
    for predicate in predicates:
        for form in predicate.forms:
            for identity in form.identities:
                found[(DUTCH, as_read(form.text), identity)][predicate] = None
                if not predicate.added:
                    found[("en", as_read(predicate.name), identity)][predicate] = None
    return {key: Rating(tuple(those)) for key, those in found.items()}


def cluster_names(predicates: Sequence[Predicate]) -> dict[str, str]:
    """The name under which the pairs of each predicate count, by its own name.

    That is its own name, or those of all predicates that it shares a form with, directly or through
    others, in alphabetical order: "are dirty / are gross".
    """
    of_form: dict[str, dict[str, None]] = defaultdict(dict)
    for predicate in predicates:
        for form in predicate.forms:
            of_form[as_read(form.text)][predicate.name] = None
    together = {predicate.name: {predicate.name} for predicate in predicates}
    for names in of_form.values():
        joined = set().union(*(together[name] for name in names))
        together |= dict.fromkeys(joined, joined)
    return {name: " / ".join(sorted(names)) for name, names in together.items()}


def rated(report: ImportReport, path: Path) -> ImportReport:
    """A data set of WinoQueer with the ratings in a file of predicates, and notes on the join.

    Raises
    ------
    InputError
        There is no such file, or no item has a predicate and an identity.
    DataSetError
        The file has an error.
    """
    if not any("predicate" in i.metadata and "identity" in i.metadata for i in report.items):
        raise InputError(
            "No item has a predicate and an identity in its metadata, so survey answers about "
            "predicates mean nothing to this data set."
        )
    found = read_predicates(path)
    place = Place(printable(path.name))
    items, notes = with_ratings(report.items, found.entries, place)
    problems = (*report.problems, *found.problems, *notes)
    return replace(report, items=tuple(items), problems=problems)


def with_ratings(
    items: Sequence[Item], predicates: Sequence[Predicate], place: Place
) -> tuple[list[Item], list[Problem]]:
    """Items of WinoQueer with the ratings of their predicates, and notes on the join.

    The metadata get `harmfulness` (-1 to 4), `n_harmfulness` answers, `tier` (1 to 3, -1 excluded)
    and `survey_added`, each where it is known. Dutch pairs without a name of their predicate get
    `predicate_name` (`cluster_names`).

    Parameters
    ----------
    place
        Of the predicates' file, for the notes.
    """
    by_key, names = ratings(predicates), cluster_names(predicates)
    joined, unrated = [], []
    several: dict[Key, str] = {}  # with how an item writes it
    met: set[Key] = set()
    for item in items:
        key = _key(item)
        rating = by_key.get(key)
        if rating is None:
            unrated.append(item)
            joined.append(item)
            continue
        rating = rating.within(str(item.metadata.get("template", "")))
        met.add(key)
        if len(rating.predicates) > 1:
            several.setdefault(key, _written(item))
        known = item.metadata | rating.metadata
        if key[0] == DUTCH and not _NAMES & known.keys():
            known["predicate_name"] = names[rating.predicates[0].name]
        joined.append(replace(item, metadata=known))
    return joined, list(_join_notes(place, list(several.values()), len(met), unrated, len(items)))


def _key(item: Item) -> Key:
    predicate = item.metadata.get("predicate")
    language = language_of(item.condition).split("-")[0]
    return language, as_read(str(predicate or "")), str(item.metadata.get("identity", ""))


def _join_notes(
    place: Place, several: Sequence[str], n_met: int, unrated: Sequence[Item], n_items: int
) -> Iterator[Problem]:
    if several:
        message = (
            f"{counted(len(several), 'predicate and identity', 'predicates and identities')} of"
            f" {n_met:,} match several rated predicates, which count as one;"
            f" harmfulness is their mean weighted by answers: {listed(several)}."
        )
        yield place.note("ambiguous_join", message)
    if unrated:
        texts = map(_written, unrated)
        message = (
            f"The predicate and identity of {len(unrated):,} of {counted(n_items, 'item')} are not"
            f" among the rated ones: {listed(list(dict.fromkeys(texts)))}."
        )
        yield place.note("unrated_predicate", message)


def _written(item: Item) -> str:
    return f"{item.metadata.get('predicate', 'none')} ({item.category})"
