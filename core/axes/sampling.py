"""A sample of axes that people can rate: plain words, one domain, equally many of each stratum.

After StereoDisco (arXiv 2607.27824): both poles belong to the same domain, by a file that the user
supplies; quantifiers and words of a special field are dropped; both poles are frequent; 100 axes
are drawn, 34, 33 and 33 of three domains. Pairs without values between their poles (dead, alive)
can only be told by reading them: a table of replacements takes them out by hand.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.axes.axis import Axis, Pole
from core.axes.frequency import zipf
from core.errors import InputError
from core.files.places import listed
from core.files.rows import read_list, refuse_errors, text_of
from core.files.tables import Record
from core.settings import DEFAULT_SEED

N_AXES = 100
LOWEST_ZIPF = 3.0
_QUANTIFIER = re.compile(r"\bquantifier\b|\b(?:mass|count) nouns?\b")
# "(botany)", "(of plants)"; not remarks on grammar: "(usually followed by `to')".
_FIELD = re.compile(
    r"\((?![^)]*(?:followed by|comparative of|superlative of|in combination|literal))[^)]*\)"
)


@dataclass(frozen=True)
class Dropped:
    """An axis that no sample can hold, and why."""

    axis: Axis
    reason: str


@dataclass(frozen=True)
class Sample:
    """The axes drawn, by stratum, and those that could have been drawn."""

    axes: tuple[Axis, ...]
    strata: tuple[str, ...]  # of each axis
    eligible: Mapping[str, tuple[Axis, ...]]  # by domain
    dropped: tuple[Dropped, ...]


def read_domains(path: Path) -> dict[str, str]:
    """The domain of every synset, from a table with the columns synset and domain.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        A row lacks one of both, or a synset has two domains; it carries every problem by row.
    """
    table = read_list(path, ("synset", "domain"), ())
    problems = list(table.problems)
    domains: dict[str, str] = {}
    for record in table.records:
        try:
            synset, domain = text_of(record, "synset"), text_of(record, "domain")
            if not synset or not domain:
                raise InputError("The row needs a synset and its domain.")
            if domains.setdefault(synset, domain) != domain:
                raise InputError(f"{synset} has the domain {domains[synset]} in an earlier row.")
        except InputError as error:
            problems.append(record.place.error("bad_domain", str(error)))
    refuse_errors(path, problems)
    return domains


def sample_axes(
    axes: Sequence[Axis],
    domains: Mapping[str, str],
    strata: Sequence[str],
    *,
    n_axes: int = N_AXES,
    seed: int = DEFAULT_SEED,
) -> Sample:
    """Draw axes of several domains, as equally many of each as can be, more of the first ones.

    Parameters
    ----------
    axes
        Of WordNet's synsets.
    domains
        Of synsets by their names, from `read_domains`.
    strata
        The domains to draw from, in their order.

    Raises
    ------
    InputError
        A stratum is named twice, there are more strata than axes, or one has too few axes.
    """
    if not strata or len(set(strata)) < len(strata) or n_axes < len(strata):
        raise InputError(f"{n_axes} axes cannot be drawn of: {', '.join(strata) or 'no domain'}.")
    eligible: dict[str, list[Axis]] = {stratum: [] for stratum in strata}
    dropped = []
    for axis in axes:
        domain, reason = _domain(axis, domains)
        if reason:
            dropped.append(Dropped(axis, reason))
        elif domain in eligible:
            eligible[domain].append(axis)
    drawn = []
    for position, stratum in enumerate(strata):
        n = n_axes // len(strata) + (position < n_axes % len(strata))
        if len(eligible[stratum]) < n:
            raise InputError(
                f"The domain {stratum} has {len(eligible[stratum])} axes to draw from, and {n} are "
                f"needed; draw fewer or take another domain (there are {_counts(domains)})."
            )
        by_chance = sorted(eligible[stratum], key=lambda axis: _hash(seed, axis))[:n]
        drawn += [(axis, stratum) for axis in by_chance]
    return Sample(
        tuple(axis for axis, _ in drawn),
        tuple(stratum for _, stratum in drawn),
        {stratum: tuple(found) for stratum, found in eligible.items()},
        tuple(dropped),
    )


def replace_by_hand(sample: Sample, path: Path) -> Sample:
    """The sample with pairs exchanged as a table says, each for one of the same domain.

    The columns are axis and replacement, both as `axis_id` writes them: "dead.a.01~alive.a.01";
    which pole stands first does not matter.

    Raises
    ------
    InputError
        There is no such file.
    DataSetError
        A pair is not in the sample, or its replacement is in it already or not among those that
        could have been drawn; it carries every problem by row.
    """
    table = read_list(path, ("axis", "replacement"), ())
    problems = list(table.problems)
    axes = list(sample.axes)
    for record in table.records:
        try:
            place, axis = _replacement(record, sample, axes)
            axes[place] = axis
        except InputError as error:
            problems.append(record.place.error("bad_replacement", str(error)))
    refuse_errors(path, problems)
    return Sample(tuple(axes), sample.strata, sample.eligible, sample.dropped)


def _replacement(record: Record, sample: Sample, axes: list[Axis]) -> tuple[int, Axis]:
    old, new = (text_of(record, column) for column in ("axis", "replacement"))
    places = {_poles(axis.axis_id): place for place, axis in enumerate(axes)}
    place = places.get(_poles(old))
    if place is None:
        raise InputError(f"{old!r} is not in the sample; write two synsets with ~ between them.")
    if _poles(new) in places:
        raise InputError(f"{new} is in the sample already.")
    stratum = sample.strata[place]
    possible = {_poles(axis.axis_id): axis for axis in sample.eligible[stratum]}
    if _poles(new) not in possible:
        raise InputError(f"{new!r} is none of the {len(possible)} axes of the domain {stratum}.")
    return place, possible[_poles(new)]


def _poles(axis_id: str) -> frozenset[str]:
    return frozenset(axis_id.split("~"))


def _domain(axis: Axis, domains: Mapping[str, str]) -> tuple[str, str]:
    """The domain of both poles, or "" and why the axis is not drawn."""
    one, other = domains.get(axis.negative.synset), domains.get(axis.positive.synset)
    if one is None or other is None:
        return "", "a pole has no domain"
    if one != other:
        return "", "the poles have different domains"
    for pole in (axis.negative, axis.positive):
        if reason := _unfit(pole):
            return "", f"{pole.synset} {reason}"
    return one, ""


def _unfit(pole: Pole) -> str:
    if _QUANTIFIER.search(pole.definition):
        return "is a quantifier"
    if _FIELD.match(pole.definition):
        return "has a definition that names its field"
    value = zipf(pole.lemmas[0])
    if value is None or value < LOWEST_ZIPF:
        return f"is rarer than Zipf {LOWEST_ZIPF:g}"
    return ""


def _counts(domains: Mapping[str, str]) -> str:
    sizes = Counter(domains.values()).most_common()
    return listed([f"{domain} with {n} synsets" for domain, n in sizes])


def _hash(seed: int, axis: Axis) -> bytes:
    return hashlib.blake2b(f"{seed}|{axis.axis_id}".encode(), digest_size=8).digest()
