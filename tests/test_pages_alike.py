"""Axes that share a pole are marked where axes are compared."""

from __future__ import annotations

from core.axes.axis import Axis
from pages.shared.heads_alike import COLUMNS, _shared
from tests.planted_cache import made_axes


def test_a_pole_in_common_is_named_whichever_way_it_points() -> None:
    first, second = made_axes(2)
    turned = Axis(second.positive, first.negative, source="made")
    word = first.negative.lemmas[0]
    assert (_shared(first, turned), _shared(turned, first)) == (word, word)
    assert _shared(first, second) == ""
    assert "shared" in COLUMNS
