"""Axes in groups that can be computed apart from each other."""

from __future__ import annotations

from collections.abc import Sequence

from core.axes.axis import Axis

AXES_IN_UNIT = 4  # 240 sentences: seconds of work, which is what a killed job can lose


def units(axes: Sequence[Axis], size: int = AXES_IN_UNIT) -> list[tuple[Axis, ...]]:
    """Group axes so that no pole is in two groups.

    Axes that share a pole are linked, and linked axes stay together, so that a pole's sentences are
    computed once and both poles of an axis at the same time.

    Returns
    -------
    list of tuple of Axis
        Every axis once. Groups have at least `size` axes (the last may have fewer) and grow beyond
        it only to keep linked axes together; they and the axes in them are in the order given.
    """
    found: list[tuple[Axis, ...]] = []
    group: list[Axis] = []
    for linked in _linked(axes):
        group += linked
        if len(group) >= size:
            found.append(tuple(group))
            group = []
    return [*found, tuple(group)] if group else found


def _linked(axes: Sequence[Axis]) -> list[list[Axis]]:
    """Axes that share a pole, directly or through others; in the order of each one's first axis."""
    of_pole: dict[str, list[int]] = {}
    for i, axis in enumerate(axes):
        for pole in (axis.negative, axis.positive):
            of_pole.setdefault(pole.key, []).append(i)
    left = set(range(len(axes)))
    components = []
    for first in range(len(axes)):
        if first not in left:
            continue
        left.discard(first)
        component, to_see = [first], [first]
        while to_see:
            axis = axes[to_see.pop()]
            near = {i for p in (axis.negative, axis.positive) for i in of_pole[p.key]} & left
            left -= near
            component += near
            to_see += near
        components.append([axes[i] for i in sorted(component)])
    return components
