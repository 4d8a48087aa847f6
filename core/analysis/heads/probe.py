"""What the axes of one question are worth: every table of it by its name.

positions        accuracy of groups' sides against labels, by dimension and number of heads
position_axes    the same for each axis, at the question's number of heads
ablation         the same in every setting: family x pooling x templates x k
labels           agreement of sides with labels, beside chance
models           agreement with other readers
validity         checks of each axis
floor            how often reference phrases are told from reference phrases
random           how often groups are told from phrases along directions that mean nothing
halves           values from either half of the templates, for at most 100 axes
power            how often the test behind a flag finds differences of stated sizes
beyond           flagged axes that the dictionary does not have
people           flags of people and the model, 2 x 2
people_axes      what people and the model say of each axis
people_sides     sides of groups by people and the model
raters           how far people agree about the axes and concepts of the question
annotators       who is excluded, and why
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from core.analysis.heads.ablation import ablation_grid
from core.analysis.heads.agreement import label_agreement, model_agreement
from core.analysis.heads.beyond import By, beyond_table
from core.analysis.heads.human import Matched, human_agreement, human_axes, human_sides, matched
from core.analysis.heads.positions import position_axes, position_table
from core.analysis.heads.power import power_table
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.random_directions import random_table
from core.analysis.heads.stored import StoredAxes, compute_axes, stored_axis_table
from core.analysis.heads.uncertainty import halves_of_axes
from core.analysis.heads.validity import Validity, validity
from core.errors import InputError
from core.people.ratings import Ratings
from core.people.verdicts import reliability_table
from core.stats.probes.positions import Centre
from core.store.axes import get_concepts
from core.store.gate import Cache


@dataclass(frozen=True, kw_only=True, eq=False)
class Probe:
    """A question with what it is set against; each thing is computed when a table needs it."""

    cache: Cache
    question: HeadsQuestion
    centre: Centre = "joint"
    compare: tuple[str, ...] = ()  # ids of other readers
    ratings: Ratings | None = None
    by: By = "synset"

    @cached_property
    def found(self) -> StoredAxes:
        return _axes(self.cache, self.question)

    @cached_property
    def validity(self) -> Validity:
        return validity(self.cache, self.found)

    @cached_property
    def people(self) -> Matched:
        """The ratings about the question's axes and concepts.

        Raises
        ------
        InputError
            There are no ratings, or the name of an axis in them is ambiguous.
        """
        held = self.found.held
        return matched(self.rated.kept, held.axes, held.concepts)

    @property
    def rated(self) -> Ratings:
        """All ratings, or InputError where there are none."""
        if self.ratings is None:
            raise InputError("People's ratings are not there; name a file with --ratings.")
        return self.ratings

    def lacks(self, name: str) -> str:
        """What a table needs and is not there; empty where it needs nothing more."""
        if name in OF_PEOPLE and self.ratings is None:
            return "people's ratings: name a file with --ratings"
        if name in OF_MODELS and not self.compare:
            return "another reader: name one with --compare"
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is remarkable about the ratings."""
        if self.ratings is None:
            return ()
        return (*(note.message for note in self.ratings.notes), *self.people.notes)


def probe_tables(probe: Probe, names: Sequence[str] = ()) -> dict[str, pd.DataFrame]:
    """The tables of these names, or all that what is given suffices for.

    Raises
    ------
    InputError
        There is no such table, it needs ratings or another reader, or as the tables' functions.
    CacheError
        A file of arrays is gone or damaged.
    """
    for name in names:
        if name not in TABLES:
            raise InputError(f"{name!r} is no table; choose from: {', '.join(TABLES)}.")
        if what := probe.lacks(name):
            raise InputError(f"The table {name} needs {what}.")
    wanted = names or [name for name in TABLES if not probe.lacks(name)]
    return {name: TABLES[name](probe) for name in dict.fromkeys(wanted)}


def cut_notes(tables: Mapping[str, pd.DataFrame]) -> tuple[str, ...]:
    """Which of these tables are not about all axes."""
    halves = tables.get("halves")
    if halves is None or len(halves) == halves["n_axes"].iloc[0]:
        return ()
    n_axes = int(halves["n_axes"].iloc[0])
    return (f"The table halves has the {len(halves)} axes of the largest KS D, of {n_axes:,}.",)


def _axes(cache: Cache, question: HeadsQuestion) -> StoredAxes:
    return stored_axis_table(cache, question) or compute_axes(cache, question)


def _labels(probe: Probe) -> pd.DataFrame:
    concepts = get_concepts(probe.cache, probe.question.concepts).concepts
    return label_agreement(probe.found, concepts)


def _models(probe: Probe) -> pd.DataFrame:
    tables = [
        model_agreement(
            probe.found, _axes(probe.cache, replace(probe.question, reader_id=reader))
        ).assign(reader_id=reader)
        for reader in probe.compare
    ]
    return pd.concat(tables, ignore_index=True)


def _beyond(probe: Probe) -> pd.DataFrame:
    people = None if probe.ratings is None else probe.people
    return beyond_table(probe.found, people, by=probe.by)


TABLES: Mapping[str, Callable[[Probe], pd.DataFrame]] = {
    "positions": lambda p: position_table(p.cache, p.question, centre=p.centre),
    "position_axes": lambda p: position_axes(p.cache, p.question, centre=p.centre),
    "ablation": lambda p: ablation_grid(p.cache, p.question, centre=p.centre),
    "labels": _labels,
    "models": _models,
    "validity": lambda p: p.validity.axes,
    "floor": lambda p: p.validity.floor,
    "random": lambda p: random_table(p.cache, p.found),
    "halves": lambda p: halves_of_axes(p.cache, p.found),
    "power": lambda p: power_table(p.found),
    "beyond": _beyond,
    "people": lambda p: human_agreement(p.found, p.people),
    "people_axes": lambda p: human_axes(p.found, p.people),
    "people_sides": lambda p: human_sides(p.found, p.people),
    "raters": lambda p: reliability_table(p.people.answers),
    "annotators": lambda p: p.rated.annotators,
}
OF_PEOPLE = ("people", "people_axes", "people_sides", "raters", "annotators")
OF_MODELS = ("models",)
