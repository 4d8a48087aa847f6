"""Units: every axis once, no pole in two of them."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from core.axes.axis import Axis, user_pole
from core.axes.units import units


def axis(negative: int, positive: int) -> Axis:
    return Axis(user_pole((f"w{negative}",)), user_pole((f"w{positive}",)), source="made")


def poles(axes: tuple[Axis, ...]) -> set[str]:
    return {pole.key for a in axes for pole in (a.negative, a.positive)}


PAIRS = st.lists(st.sampled_from(list(combinations(range(12), 2))), unique=True, max_size=30)


@given(PAIRS, st.integers(1, 9))
def test_each_axis_is_in_one_unit_and_each_pole_too(pairs, size):
    axes = [axis(*pair) for pair in pairs]
    found = units(axes, size)
    assert sorted(a.axis_id for unit in found for a in unit) == sorted(a.axis_id for a in axes)
    for one, other in combinations(found, 2):
        assert not poles(one) & poles(other)
    assert all(len(unit) >= size for unit in found[:-1])


def test_unlinked_axes_keep_their_order_and_linked_ones_stay_together():
    axes = [axis(0, 1), axis(2, 3), axis(4, 5), axis(3, 6), axis(6, 7)]
    assert units(axes, 1) == [(axes[0],), (axes[1], axes[3], axes[4]), (axes[2],)]
    assert units(axes, 2) == [(axes[0], axes[1], axes[3], axes[4]), (axes[2],)]
    assert units([], 2) == []
