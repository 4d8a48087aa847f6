"""A sample of a data set, drawn as the published audits draw theirs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from core.items.rows import Row


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
    by_category: dict[str, list[str]] = {}
    for item_id, versions in by_item.items():
        first = versions[0].item
        by_category.setdefault(first.category if first else "", []).append(item_id)
    drawn = []
    for item_ids in by_category.values():
        generator = random.Random(sample.seed)
        drawn += generator.sample(item_ids, min(sample.n, len(item_ids)))
    return [row for item_id in drawn for row in by_item[item_id]]
