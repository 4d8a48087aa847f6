"""Texts that begin alike as one row: every token of a common beginning is in it once.

    The nurse left He was                node   0    1     2    3   4     5    6
    The nurse left She was               token  The  nurse left He  was   She  was
                                         depth  0    1     2    3   4     3    4
                                         end    7    7     7    5   5     7    7

A row holds a prefix tree in depth-first order. The depth of a node is its position in every text
that runs through it; below it are the nodes up to its end. So node i comes after node j in some
text, and may see it, exactly if j <= i < end of j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from core.items.alignment import common_beginning
from core.models.language_model import LanguageModel
from core.models.parts import (
    can_branch,
    hidden_states,
    plain_hidden_states,
    position_switch,
    smallest_sliding_window,
)

LONGEST_ROW = 512  # the self-checks probe rows of this length, so none is longer

# What it costs that two nodes stand in one row, in units of the linear layers' work on one node:
# each takes part in the attention of the other, related or not.
STRANGER_COST = 1 / 1500


@dataclass
class Row:
    """Some texts as one prefix tree."""

    ids: list[int] = field(default_factory=list)  # of each node
    depths: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    paths: dict[int, list[int]] = field(default_factory=dict)  # of each text, by its index: nodes

    def __len__(self) -> int:
        return len(self.ids)


def alone(i: int, ids: Sequence[int]) -> Row:
    """A row that holds one text, of this index."""
    n = len(ids)
    return Row(list(ids), list(range(n)), [n] * n, {i: list(range(n))})


def pack(texts: Sequence[list[int]], longest: int) -> list[Row]:
    """Put texts into rows, so that what neighbours share is computed once.

    Parameters
    ----------
    texts
        The token ids of each. Each text is in one row.
    longest
        Most nodes of a row; a text that is longer gets a row of its own.
    """
    rows: list[Row] = []
    before: list[int] = []
    path: list[int] = []  # the nodes of the text before
    for i in sorted(range(len(texts)), key=lambda i: texts[i]):
        ids = texts[i]
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
        row.paths[i] = path
        before = ids
    return rows


def longest_row(language_model: LanguageModel) -> int:
    """Most tokens that a row of several texts may hold; 0 where the model takes none.

    Every layer sees the whole row, so a row must not be longer than the most short-sighted one
    looks back, nor hold texts whose positions mean different things.
    """
    if not can_branch(language_model):
        return 0
    config = language_model.model.config
    limits = (LONGEST_ROW, smallest_sliding_window(config), position_switch(config))
    return min(limit for limit in limits if limit is not None)


def visible_nodes(rows: Sequence[Row]) -> torch.Tensor:
    """Which nodes each node sees: those on its way from the root, and itself. Shape (B, T, T)

    Padding sees itself only, because a softmax over nothing is no number.
    """
    longest = max(map(len, rows))
    node = torch.arange(longest)
    ends = torch.stack(
        [torch.tensor(row.ends + list(range(len(row) + 1, longest + 1))) for row in rows]
    )  # (B, T)
    return (node <= node[:, None]) & (node[:, None] < ends[:, None, :])


def packed_hidden_states(language_model: LanguageModel, rows: Sequence[Row]) -> torch.Tensor:
    """What the body makes of rows, filled up on the right. Shape (B, T, hidden)"""
    ids, depths = (
        _filled_up(lists, language_model.device)
        for lists in ([row.ids for row in rows], [row.depths for row in rows])
    )
    visible = visible_nodes(rows).to(language_model.device)
    return hidden_states(language_model, ids, positions=depths, visible=visible)


def padded_hidden_states(language_model: LanguageModel, rows: Sequence[Row]) -> torch.Tensor:
    """As `packed_hidden_states` for rows of one text each, which every model takes."""
    real = [[1] * len(row) for row in rows]
    ids, mask = (
        _filled_up(lists, language_model.device) for lists in ([row.ids for row in rows], real)
    )
    return plain_hidden_states(language_model, ids, mask)


def _filled_up(lists: Sequence[list[int]], device: str) -> torch.Tensor:
    """Zeros to the right of shorter lists. Shape (B, T)"""
    longest = max(map(len, lists))
    return torch.tensor([each + [0] * (longest - len(each)) for each in lists], device=device)


def _joins(length: int, shared: int, new: int, longest: int) -> bool:
    """Whether a text costs less in a row of this length than as the first of a row of its own."""
    joined = new + STRANGER_COST * ((length + new) ** 2 - length**2)
    alone = shared + new + STRANGER_COST * (shared + new) ** 2
    return length + new <= longest and joined < alone
