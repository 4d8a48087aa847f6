"""A sample of a data set, drawn as the published audits draw theirs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from core.files.places import Place, listed
from core.items.rows import Row
from core.types import Problem


@dataclass(frozen=True)
class Sample:
    """So many items of every category, drawn without replacement.

    The seed is set anew for each category, so that the draws of one do not depend on the others.
    """

    n: int  # items per category; all of one that has no more
    seed: int = 42

    def __str__(self) -> str:
        return (
            f"sample of {self.n} items per category, random.seed({self.seed}) set for each and "
            "random.sample over its items in the order of the file"
        )


def sample_rows(rows: Sequence[Row], sample: Sample) -> list[Row]:
    """The rows of the sampled items: categories in the order of first occurrence, then as drawn.

    An item counts once, with the category of its first row, and takes the rows of all its
    conditions along.
    """
    by_item: dict[str, list[Row]] = {}
    for row in rows:
        if row.item is not None:
            by_item.setdefault(row.item.item_id, []).append(row)
    drawn = []
    for item_ids in _by_category(rows).values():
        generator = random.Random(sample.seed)
        drawn += generator.sample(item_ids, min(sample.n, len(item_ids)))
    return [row for item_id in drawn for row in by_item[item_id]]


def small_categories(rows: Sequence[Row], sample: Sample) -> list[Problem]:
    """A note on the categories that have fewer items than are to be drawn, if there are any."""
    sizes = {name: len(item_ids) for name, item_ids in _by_category(rows).items()}
    small = [f"{name or 'no category'} {n:,}" for name, n in sizes.items() if n < sample.n]
    if not small:
        return []
    message = (
        f"Fewer than {sample.n:,} items are in {len(small)} of {len(sizes)} categories, all of "
        f"which are taken: {listed(small)}."
    )
    return [Place(rows[0].place.file).note("small_category", message)]


def _by_category(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The ids of the items of each category, that of their first row."""
    category_of: dict[str, str] = {}
    for row in rows:
        if row.item is not None:
            category_of.setdefault(row.item.item_id, row.item.category)
    by_category: dict[str, list[str]] = {}
    for item_id, category in category_of.items():
        by_category.setdefault(category, []).append(item_id)
    return by_category
