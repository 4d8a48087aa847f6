"""The simulated heads hold what their plan says: homes, stereotypical axes, labels."""

from __future__ import annotations

from dataclasses import fields as fields_of
from pathlib import Path

import numpy as np
import pytest

from benchmarks.heads_pages import ASKED, CHOICES
from benchmarks.simulated_heads import (
    AXES,
    FAMILY,
    GROUPS,
    N_COMPETENCE,
    N_WARMTH,
    REFERENCES,
    fill_heads,
    heads_plan,
)
from core.analysis.heads.atlas import principal_components
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes, stored_axis_table
from core.axes.content import axis_content
from core.selection import Selection
from core.settings import ROOT
from core.stats.probes.direction import chance_separability
from core.store.gate import Cache
from core.store.heads import AXIS, Source, get_arrays
from core.store.verify import verify

PLAN = heads_plan(n_axes=120, n_layers=16, n_heads=16, n_concepts=60)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, dict]:
    cache = Cache(Path(tmp_path_factory.mktemp("heads")))
    return cache, fill_heads(cache, PLAN)


def results(filled: tuple[Cache, dict], reference: str = REFERENCES[0]) -> list[StoredAxes]:
    cache, truth = filled
    found = [
        stored_axis_table(
            cache,
            HeadsQuestion(reader_id=reader_id, axes=AXES, concepts=GROUPS, reference=reference),
        )
        for reader_id in truth["readers"].values()
    ]
    assert None not in found
    return [each for each in found if each is not None]


def test_all_says_that_it_is_simulated(filled: tuple[Cache, dict]) -> None:
    cache, truth = filled
    assert verify(cache) == []
    assert all("simulated" in model for model in truth["readers"])
    assert "SIMULATED" in truth["note"]
    assert all("simulated" in axis.positive.lemmas[0] for axis in PLAN.axes)


def test_axes_live_in_their_homes(filled: tuple[Cache, dict]) -> None:
    cache, truth = filled
    contents = {axis.axis_id: axis_content(axis, FAMILY) for axis in PLAN.axes}
    for model, (name, reader_id) in enumerate(truth["readers"].items()):
        grids = get_arrays(cache, Source(reader_id, FAMILY), AXIS, contents)
        whole = grids["separability"][:, :, 2].reshape(len(PLAN.axes), 2, -1)
        home = np.zeros_like(whole[:, 0], dtype=bool)
        for axis, number in enumerate(truth["home_of"][name]):
            home[axis, PLAN.heads_of(number)] = True
        assert home.sum() == 120 * 32  # an eighth of 256 heads
        for pooling in (0, 1):
            assert whole[:, pooling][home].min() > whole[:, pooling][~home].max()
        expected = chance_separability(30, 30)
        assert whole[:, 0][~home].mean() == pytest.approx(expected, rel=0.05)
        assert grids["chance"].mean() == pytest.approx(expected, rel=0.02)
        moved = np.array(truth["home_of"][name]) != PLAN.home(0)
        assert moved.sum() == model * 30
    assert truth["homes"][3] == "rect:4,8,7,15"


def test_planted_axes_are_flagged_and_few_others(filled: tuple[Cache, dict]) -> None:
    for model, found in enumerate(results(filled)):
        planted = {PLAN.axes[i].axis_id for i in PLAN.stereotyped(model)}
        assert len(planted) == 6 - 3 * model
        flagged = set(found.table.loc[found.table["qvalue"] < 0.05, "axis_id"])
        assert planted <= flagged
        others = found.table[~found.table["axis_id"].isin(planted)]
        assert (others["pvalue"] < 0.05).mean() < 0.2


def test_beside_people_only_some_of_them_are(filled: tuple[Cache, dict]) -> None:
    _, truth = filled
    for found, name in zip(results(filled, REFERENCES[1]), truth["readers"], strict=True):
        people_too = set(truth["people_too"][name])
        left = set(truth["stereotyped"][name]) - people_too
        flagged = set(found.table.loc[found.table["qvalue"] < 0.05, "axis_id"])
        assert left <= flagged
        assert not people_too & flagged


def test_groups_lie_where_their_labels_say(filled: tuple[Cache, dict]) -> None:
    found = results(filled)[0]
    values = found.held.of_concepts
    for name, axes in (
        ("warmth", slice(0, N_WARMTH)),
        ("competence", slice(N_WARMTH, N_WARMTH + N_COMPETENCE)),
    ):
        labels = np.array([getattr(concept, name) for concept in PLAN.groups.concepts])
        sides = np.sign(values[axes] - np.median(values[axes], axis=1, keepdims=True))
        assert (sides == labels).mean() > 0.65


def test_axes_of_a_cluster_are_neighbours(filled: tuple[Cache, dict]) -> None:
    found = results(filled)[0]
    values = found.held.of_concepts[N_WARMTH + N_COMPETENCE :]
    correlation = np.corrcoef(values)
    numbers = np.arange(N_WARMTH + N_COMPETENCE, len(PLAN.axes))
    same = (numbers[:, None] - numbers) % 20 == 0
    off = ~np.eye(len(numbers), dtype=bool)
    assert correlation[same & off].mean() > 0.3 > abs(correlation[~same].mean())
    assert principal_components(found, "axes").points.shape == (120, 2)


def test_the_pages_are_driven_by_fields_that_a_selection_has() -> None:
    named = {name for choices in CHOICES.values() for fields in choices for name in fields}
    assert named | set(ASKED) <= {field.name for field in fields_of(Selection)}
    assert all((ROOT / "pages" / f"{page}.py").is_file() for page in CHOICES)
