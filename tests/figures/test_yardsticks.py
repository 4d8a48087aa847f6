"""What shares of identity pairs stand beside: floors of several models, and of two languages."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from core.figures.identities.rows import Beside, beside_of, larger_floor

NAN = math.nan


def same(found: Beside, floor: float, n_templates: int, n_models: int = 1) -> None:
    assert found.floor == pytest.approx(floor, nan_ok=True)
    assert (found.n_templates, found.n_models) == (n_templates, n_models)


def test_the_floor_of_several_models_is_the_median_of_those_known() -> None:
    rows = pd.DataFrame({"template_floor": [0.02, NAN, 0.04, 0.09], "n_templates": [5, 9, 7, 6]})
    same(beside_of(rows), 0.04, 7, n_models=3)
    same(beside_of(rows[:1]), 0.02, 5)
    same(beside_of(rows[1:2]), NAN, 9)
    same(beside_of(rows[:0]), NAN, 0)


@pytest.mark.parametrize(
    ("here", "there", "floor", "n_templates"),
    [
        (0.02, 0.03, 0.03, 4),
        (0.03, 0.02, 0.03, 11),
        (NAN, 0.02, 0.02, 4),
        (0.02, NAN, 0.02, 11),
        (0.0, NAN, 0.0, 11),
        (NAN, NAN, NAN, 4),
    ],
)
def test_of_two_languages_the_larger_known_floor_is_taken(
    here: float, there: float, floor: float, n_templates: int
) -> None:
    rows = pd.DataFrame(
        {
            "template_floor": [here] * 2,
            "n_templates": 11,
            "template_floor_other": there,
            "n_templates_other": 4,
        }
    )
    same(larger_floor(rows), floor, n_templates)
    same(larger_floor(rows[:0]), NAN, 0)
