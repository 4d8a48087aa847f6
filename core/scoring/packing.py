"""Texts that begin alike as one row: every token of a common beginning is in it once.

    The nurse left He was tired.         node   0    1     2    3   4     5    6
    The nurse left She was.              token  The  nurse left He  was   She  was
                                         depth  0    1     2    3   4     3    4
                                         end    7    7     7    5   5     7    7

A row holds a prefix tree in depth-first order. The depth of a node is its position in every text
that runs through it; below it are the nodes up to its end. So node i comes after node j in some
text, and may see it, exactly if j <= i < end of j. The last token of a text ("tired.", "was.") is
no node: it is predicted and predicts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.items.alignment import common_beginning
from core.scoring.encoding import Encoded

# What it costs that two nodes stand in one row, in units of the linear layers' work on one node:
# each takes part in the attention of the other, related or not.
STRANGER_COST = 1 / 1500


@dataclass
class Row:
    """Some texts as one prefix tree."""

    ids: list[int] = field(default_factory=list)  # of each node
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    # Of each text, by its index: the nodes that predict its scored tokens.
    predictors: dict[int, list[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)


def pack(texts: Sequence[Encoded], longest: int) -> list[Row]:
    """Put texts into rows, so that what neighbours share is computed once.

    Parameters
    ----------
    texts
        Each is in one row.
    longest
        Most nodes of a row; a text that is longer gets a row of its own.
    """
    rows: list[Row] = []
    inputs = [e.ids[:-1] for e in texts]
    before: list[int] = []
    path: list[int] = []  # the nodes of the text before
    for i in sorted(range(len(texts)), key=lambda i: inputs[i]):
        ids = inputs[i]
        shared = common_beginning(before, ids)
        if not rows or not _joins(len(rows[-1]), shared, len(ids) - shared, longest):
            rows.append(Row())
            path, shared = [], 0
        row = rows[-1]
        end = len(row) + len(ids) - shared
        path = [*path[:shared], *range(len(row), end)]
        row.ids += ids[shared:]
        row.depths += range(shared, len(ids))
        row.ends += [end] * (len(ids) - shared)
        for node in path[:shared]:
            row.ends[node] = end
        row.predictors[i] = path[texts[i].first - 1 :]
        before = ids
    return rows


def _joins(length: int, shared: int, new: int, longest: int) -> bool:
    """Whether a text costs less in a row of this length than as the first of a row of its own."""
    joined = new + STRANGER_COST * ((length + new) ** 2 - length**2)
    alone = shared + new + STRANGER_COST * (shared + new) ** 2
    return length + new <= longest and joined < alone
