"""How far the same claims in another template move a bias: by hand and against naive loops."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from core.stats.identity_bias import tally
from core.stats.template_floor import template_floor

NAN = math.nan


def codes(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_two_templates_by_hand() -> None:
    """Four claims in template 0, three of them in template 1: 2/3 against 1/6 on what is shared."""
    choices = np.array([[1, 1, 0, 0, 0.5, 0, 0]])
    found = template_floor(choices, codes([0, 0, 0, 0, 1, 1, 1]), codes([0, 1, 2, 3, 0, 1, 2]))
    assert found.value.tolist() == pytest.approx([2 / 3 - 1 / 6])
    assert (found.n_compared.tolist(), found.n_templates.tolist()) == ([2], [2])


def test_names_of_a_template_are_one_claim_together() -> None:
    """Claim 0 has three names in template 1, claim 1 one: shares 1/3 and 1, not 2/4."""
    choices = np.array([[0, 0, 1, 0, 0, 1]])
    found = template_floor(choices, codes([0, 0, 1, 1, 1, 1]), codes([0, 1, 0, 0, 0, 1]))
    assert found.value.tolist() == pytest.approx([(1 / 3 + 1) / 2])


def test_differences_of_claims_cancel_within_two_templates_and_not_between() -> None:
    """Templates 0 and 1 differ by 0 on the whole, both from template 2 by one half."""
    choices = np.array([[1, 0, 0, 1, 0, 0]])
    found = template_floor(choices, codes([0, 0, 1, 1, 2, 2]), codes([0, 1, 0, 1, 0, 1]))
    assert found.value.tolist() == pytest.approx([(0 + 0.5 + 0.5) / 3])


def naive(choices: np.ndarray, templates: np.ndarray, cells: np.ndarray) -> tuple[float, int]:
    """Floor and compared templates of one model, pair of templates by pair of templates."""
    differences, compared = [], set()
    for a, b in combinations(range(templates.max() + 1), 2):
        of_cells = []
        for cell in range(cells.max() + 1):
            here = [
                [x for x, t, c in zip(choices, templates, cells, strict=True)
                 if (t, c) == (template, cell) and not math.isnan(x)]
                for template in (a, b)
            ]  # fmt: skip
            if all(here):
                of_cells.append(sum(here[0]) / len(here[0]) - sum(here[1]) / len(here[1]))
        if of_cells:
            differences.append(abs(sum(of_cells) / len(of_cells)))
            compared |= {a, b}
    return sum(differences) / len(differences), len(compared)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_naive_loops_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    choices = rng.choice([1, 0.5, 0, NAN], (3, 120), p=[0.4, 0.1, 0.3, 0.2])
    templates = rng.integers(-1, 5, 120)
    cells = rng.integers(0, 12, 120)
    cells[templates == 4] += 12  # claims of its own
    found = template_floor(choices, templates, cells)
    expected = [naive(row, templates, cells) for row in choices]
    assert found.value.tolist() == pytest.approx([value for value, _ in expected])
    assert found.n_compared.tolist() == [n for _, n in expected] == [4, 4, 4]
    assert found.n_templates.tolist() == [5, 5, 5]


def test_where_all_templates_claim_the_same_it_is_of_their_biases() -> None:
    rng = np.random.default_rng(1)
    choices = rng.choice([1.0, 0.0], (2, 40))
    templates, cells = np.repeat(np.arange(4), 10), np.tile(np.arange(10), 4)
    biases = [
        tally(choices[:, templates == t], np.zeros(10, dtype=np.int64), 1).weighted
        for t in range(4)
    ]
    expected = np.mean([abs(a - b) for a, b in combinations(biases, 2)], axis=0)
    assert template_floor(choices, templates, cells).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("choices", "templates", "cells", "n_templates"),
    [
        ([1, 0], [0, 0], [0, 1], 1),  # one template
        ([1, 0], [0, 1], [0, 1], 2),  # nothing in common
        ([1, NAN], [0, 1], [0, 0], 1),  # no choice in the other
        ([1, 0], [-1, -1], [0, 0], 0),  # no template known
        ([], [], [], 0),
    ],
)
def test_without_a_claim_in_two_templates_it_is_undefined(
    choices: list[float], templates: list[int], cells: list[int], n_templates: int
) -> None:
    found = template_floor(np.array([choices]), codes(templates), codes(cells))
    assert math.isnan(found.value[0])
    assert (found.n_compared.tolist(), found.n_templates.tolist()) == ([0], [n_templates])
