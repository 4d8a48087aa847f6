"""Axes that share a pole are marked where axes are compared."""

from __future__ import annotations

from core.analysis.heads.nearest import shared_pole
from core.axes.axis import Axis
from pages.shared.heads.alike import COLUMNS
from tests.planted_cache import made_axes


def test_a_pole_in_common_is_named_whichever_way_it_points() -> None:
    first, second = made_axes(2)
    turned = Axis(second.positive, first.negative, source="made")
    word = first.negative.lemmas[0]
    assert (shared_pole(first, turned), shared_pole(turned, first)) == (word, word)
    assert shared_pole(first, second) == ""
    assert "shared" in COLUMNS
