"""Which pairs the command `identity-pairs` is about: of a data set, and of those held against it.

A data set that is held against the first one seldom has scores under all the scorers that are
asked for: imported scores belong to one data set. It then keeps those that it has, and all of its
own where it has none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.identities.panel import IdentityPanel, identity_panels
from core.analysis.overview import scorer_labels
from core.errors import InputError
from core.store.gate import Cache
from core.store.pair_facts import scorers_with_pairs
from core.store.scorers import scorers


@dataclass(frozen=True, eq=False)
class Sets:
    """The pairs by condition, and what was asked for and is not there."""

    panels: list[IdentityPanel]  # the first is the one that the others are held against
    shown: list[IdentityPanel]  # those of them that tables of one language are of
    missing: list[str]  # a sentence for each data set that lacks scorers

    @property
    def datasets(self) -> list[str]:
        """Their names, each once."""
        return list(dict.fromkeys(panel.dataset for panel in self.panels))


def read_sets(
    cache: Cache,
    dataset: str,
    against: Sequence[str],
    scorer_ids: Sequence[str],
    condition: str | None = None,
) -> Sets:
    """The pairs of a data set and of those that are held against it.

    Parameters
    ----------
    scorer_ids
        All that have scores of its pairs, if none is named; the data set has to have each.
    condition
        Of the data set, the one to hold the others against and to show alone; left out, it is the
        first, and all are shown.

    Raises
    ------
    InputError
        As `identity_panels`, or the data set has no pairs in the condition.
    """
    own = identity_panels(cache, dataset, scorer_ids)
    if condition is not None:
        own = _first(own, condition)
    others: list[IdentityPanel] = []
    missing = []
    for name in dict.fromkeys(against):
        if name != dataset:
            there, lacking = _scorers_of(cache, name, scorer_ids)
            others += identity_panels(cache, name, there)
            missing += lacking
    return Sets([*own, *others], [*(own if condition is None else own[:1]), *others], missing)


def _first(panels: Sequence[IdentityPanel], condition: str) -> list[IdentityPanel]:
    """The panels with that of this condition before the others."""
    held = [panel.condition for panel in panels]
    if condition not in held:
        raise InputError(
            f"{panels[0].dataset} has no pairs of identities in {condition!r}; choose from:"
            f" {', '.join(held)}."
        )
    return sorted(panels, key=lambda panel: panel.condition != condition)


def _scorers_of(
    cache: Cache, dataset: str, scorer_ids: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Those of the scorers that a data set has, or all of its own; and what it lacks."""
    there = scorers_with_pairs(cache, dataset, scorer_ids)
    gone = [scorer_id for scorer_id in scorer_ids if scorer_id not in there]
    if not gone or not there:
        return there, []
    labels = scorer_labels(scorers(cache))  # which have commas in them
    lacking, own = ("; ".join(labels[scorer_id] for scorer_id in of) for of in (gone, there))
    instead = f" Its own stand in their place: {own}." if len(gone) == len(scorer_ids) else ""
    return there, [f"{dataset} has no scores under {lacking}.{instead}"]
