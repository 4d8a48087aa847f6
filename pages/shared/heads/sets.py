"""The sets that a reader has read, by name: axes, concepts, and what these are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from core.axes.named import MATCHED


@dataclass(frozen=True)
class References:
    """Which sets are reference phrases: by what results hold against what, and by their names."""

    phrases: Sequence[str]  # all sets that were read
    held: Sequence[tuple[str, str]]  # concepts and what results hold them against

    @property
    def concepts(self) -> list[str]:
        """The sets that are not reference phrases; all, where none is left."""
        others = {reference for _, reference in self.held}
        found = [n for n in self.phrases if n not in others and not self._named(n)]
        return found or list(self.phrases)

    def usual(self, concepts: str) -> list[str]:
        """The sets that concepts are held against: just any phrases, then people, their own last.

        A set matched to other concepts has phrases of another form.
        """
        held = {r for c, r in self.held if c == concepts}
        matched = {f"{concepts}-{kind}" for kind in MATCHED}
        published = {n for n in self.phrases if n.startswith("reference")}
        found = [n for n in self.phrases if n in held | matched | published and n != concepts]
        return sorted(found, key=lambda name: (name.endswith("-people"), name in matched))

    def _named(self, name: str) -> bool:
        before, _, kind = name.rpartition("-")
        return name.startswith("reference") or (kind in MATCHED and before in self.phrases)


def names_of(sets: pd.DataFrame, kind: str) -> list[str]:
    """Names of the sets of a kind, as `read_sets_of` gives them."""
    return sets.loc[sets["kind"] == kind, "name"].unique().tolist()


def counts_of(sets: pd.DataFrame, kind: str) -> dict[str, str]:
    """What to call the sets of a kind: with how many axes or phrases they have."""
    rows = sets[sets["kind"] == kind].drop_duplicates("name")
    return {r["name"]: f"{r['name']} ({r['n']:,})" for r in rows.to_dict("records")}
