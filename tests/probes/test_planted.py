"""What is planted in a model is found, and nothing else: the whole way from outputs to verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from core.stats.agreement import same_choice
from core.stats.probes.direction import PoleSums, chance_separability, direction, separability
from core.stats.probes.positions import position_prediction, position_scores
from core.stats.probes.projection import (
    AxisValues,
    axis_values,
    layer_profile,
    mean_over_top,
    top_heads,
)
from core.stats.probes.rejection import Stability, rejection_rates
from core.stats.probes.stereotypicality import Stereotypicality, stereotypicality
from core.stats.probes.validity import (
    above_swapped,
    compare_probes,
    direction_null,
    length_association,
    random_directions,
    reference_floor,
    value_agreement,
)
from tests.planted_heads import Outputs, PlantedHeads, planted_heads, pole_sums, swapped_grids

K = 3  # heads per axis
STEREOTYPED = (1, 4, 6)  # axes on which the concepts lie elsewhere
N_CONCEPTS = 40
# Both poles share the effects of their templates, whose variance is that of the noise: only the
# noise moves the means apart, and both are in the spread.
CHANCE = chance_separability(30, 30) / 2
HALVES = slice(0, 15), slice(15, 30)


@dataclass(frozen=True)
class World:
    model: PlantedHeads
    probes: list[tuple[Outputs, Outputs]]  # negative, positive; by axis
    concepts: Outputs
    reference: Outputs  # twice as many
    values: AxisValues  # concepts, then reference
    tests: Stereotypicality  # against the first half of the reference


def _sums(pair: tuple[Outputs, Outputs], rows: slice = slice(None)) -> tuple[PoleSums, PoleSums]:
    return pole_sums(pair[0], rows), pole_sums(pair[1], rows)


def _axes(
    probes: list[tuple[Outputs, Outputs]], rows: slice = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Directions (A, L, H, D) and R (A, L, H) from these templates."""
    pairs = [_sums(pair, rows) for pair in probes]
    theta, r = (np.array([f(*pair) for pair in pairs]) for f in (direction, separability))
    return theta, r


@pytest.fixture(scope="module")
def world() -> World:
    model, rng = planted_heads(heads_per_axis=K), np.random.default_rng(1)
    probes = [
        (model.probes(axis, -1, rng=rng), model.probes(axis, 1, rng=rng))
        for axis in range(len(model.axes))
    ]
    places = np.zeros((N_CONCEPTS, len(model.axes)))
    places[:, STEREOTYPED] = (0.5, -0.5, 0.7)
    concepts = model.phrases(places, rng=rng)
    reference = model.phrases(np.zeros((2 * N_CONCEPTS, len(model.axes))), rng=rng)
    values = axis_values(np.concatenate([concepts, reference]), *_axes(probes), k=K)
    tests = stereotypicality(
        values.values[:, :N_CONCEPTS], values.values[:, N_CONCEPTS : 2 * N_CONCEPTS]
    )
    return World(model, probes, concepts, reference, values, tests)


def test_the_map_of_separability_finds_the_heads_of_each_axis(world: World) -> None:
    elsewhere = []
    for axis, held in enumerate(world.model.heads):
        r = separability(*_sums(world.probes[axis]))
        assert set(top_heads(r, K).tolist()) == held == set(world.values.heads[axis].tolist())
        others = np.delete(r.ravel(), sorted(held))
        assert r.ravel()[sorted(held)].min() > 3 * others.max()
        elsewhere.extend(others)
        profile = layer_profile(world.values.heads[axis], 4, 6)
        assert profile.tolist() == [sum(h // 6 == layer for h in held) for layer in range(4)]
    assert np.mean(elsewhere) == pytest.approx(CHANCE, rel=0.1)


def test_directions_point_along_what_was_planted(world: World) -> None:
    for axis, held in enumerate(world.model.heads):
        theta = direction(*_sums(world.probes[axis])).reshape(24, -1)
        for head in held:
            cosine = theta[head] @ world.model.axes[axis, head] / np.linalg.norm(theta[head])
            assert cosine > 0.95


def test_only_planted_axes_are_flagged_with_their_side(world: World) -> None:
    found = np.flatnonzero(world.tests.pvalue_adjusted < 0.05)
    assert found.tolist() == list(STEREOTYPED)
    assert np.sign(world.tests.difference[found]).tolist() == [1, -1, 1]
    assert (world.tests.pvalue_location[found] < 1e-3).all()
    assert (world.tests.pvalue_spread > 1e-3).all()  # places differ, not their spread


def test_planted_flags_are_stable_and_the_others_show_no_sign(world: World) -> None:
    rates = rejection_rates(
        world.values.values[:, :N_CONCEPTS],
        world.values.values[:, N_CONCEPTS : 2 * N_CONCEPTS],
        rng=np.random.default_rng(2),
    )
    for axis, stability in enumerate(rates.stability):
        assert (stability is Stability.WELL_POWERED) == (axis in STEREOTYPED)
    quiet = np.delete(rates.rate, STEREOTYPED)
    assert (quiet < 0.5).all() and (quiet < 0.3).any()


def test_positions_are_predicted_where_they_are_planted_and_only_there(world: World) -> None:
    labels = np.where(np.arange(25) < 8, 1.0, -1.0)
    places = np.zeros((25, len(world.model.axes)))
    places[:, :4] = labels[:, None]
    rng = np.random.default_rng(3)
    groups = world.model.phrases(places, rng=rng)
    theta, r = _axes(world.probes)
    scores = position_scores(groups, theta, reference=world.reference[:25])
    values = mean_over_top(scores, r, k=K).values
    planted = position_prediction(values[:4], labels, n_resamples=2_000, rng=rng)
    elsewhere = position_prediction(values[4:], labels, n_resamples=2_000, rng=rng)
    assert planted.mean_accuracy > 0.98 and planted.mean_auc > 0.999
    assert planted.pvalue == planted.pvalue_auc == pytest.approx(1 / 2_001)
    assert elsewhere.mean_balanced_accuracy == pytest.approx(0.5, abs=0.15)
    assert elsewhere.pvalue > 0.01 and elsewhere.majority == pytest.approx(17 / 25)


def test_held_out_halves_agree(world: World) -> None:
    for axis, pair in enumerate(world.probes):
        found = compare_probes(_sums(pair, HALVES[0]), _sums(pair, HALVES[1]), k=K)
        assert found.cosine > 0.9 and found.overlap == 1.0 > found.expected_overlap
        assert found.separability_other > 5 * found.chance, axis
    phrases = np.concatenate([world.concepts, world.reference[:N_CONCEPTS]])
    halves = [axis_values(phrases, *_axes(world.probes, rows), k=K).values for rows in HALVES]
    assert (value_agreement(*halves) > 0.9).all()
    flags = [stereotypicality(v[:, :N_CONCEPTS], v[:, N_CONCEPTS:]) for v in halves]
    assert same_choice(*(each.flagged.astype(float) for each in flags)).same >= 7 / 8
    for found_in in flags:
        assert found_in.flagged[list(STEREOTYPED)].all()


def test_swapped_definitions_look_like_nothing(world: World) -> None:
    rng = np.random.default_rng(4)
    cosines, ratios = [], []
    for axis, pair in enumerate(world.probes):
        low, high = (world.model.probes(axis, p, definition=-p, rng=rng) for p in (-1, 1))
        found = compare_probes(_sums(pair), _sums((low, high)), k=K)
        cosines.append(found.cosine)
        ratios.append(found.separability_other / CHANCE)
        assert found.separability > 5 * found.separability_other
    assert np.mean(cosines) == pytest.approx(0.0, abs=0.2)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.3)


def test_planted_heads_are_above_all_swapped_labels_and_the_others_as_expected(
    world: World,
) -> None:
    shares = []
    for axis, pair in enumerate(world.probes):
        grids = swapped_grids(*pair, 8, seed=axis)
        observed = separability(*_sums(pair))
        held = np.array(sorted(world.model.heads[axis]))
        assert above_swapped(observed, grids, held).share == 1.0
        others = above_swapped(observed, grids, np.setdiff1d(np.arange(24), held))
        shares.append(others.share)
    n = 8 * 21
    expected = 1 / 9
    error = math.sqrt(expected * (1 - expected) / n)
    assert np.mean(shares) == pytest.approx(expected, abs=4 * error)


def test_random_directions_look_like_nothing(world: World) -> None:
    reference = world.reference[:N_CONCEPTS].reshape(N_CONCEPTS, 24, -1)
    concepts = world.concepts.reshape(N_CONCEPTS, 24, -1)
    rng = np.random.default_rng(5)
    for axis in range(8):
        heads = world.values.heads[axis]
        directions = random_directions(400, K, 16, rng=rng)
        found = direction_null(concepts[:, heads], reference[:, heads], directions)
        pvalue = found.pvalue(float(world.tests.statistic[axis]))
        assert (pvalue < 0.01) == (axis in STEREOTYPED), axis
    silent = direction_null(reference[:20], reference[20:], random_directions(400, 24, 16, rng=rng))
    assert silent.share < 0.15


def test_reference_phrases_are_flagged_no_more_than_by_chance(world: World) -> None:
    reference = world.values.values[:, N_CONCEPTS:]
    floor = reference_floor(reference, N_CONCEPTS, n_splits=400, rng=np.random.default_rng(6))
    assert floor.share < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)
    assert floor.high < len(STEREOTYPED) / 8 <= world.tests.flagged.mean()
    assert (world.tests.statistic[list(STEREOTYPED)] > 2 * floor.statistic[list(STEREOTYPED)]).all()


def test_values_that_grow_with_the_prompt_are_told_from_those_that_do_not(world: World) -> None:
    rng = np.random.default_rng(7)
    lengths = rng.integers(8, 16, 60)
    places = np.zeros((60, 8))
    places[:, 2] = (lengths - 11.5) / 4  # one axis carries nothing but length
    theta, r = _axes(world.probes)
    values = axis_values(world.model.phrases(places, rng=rng), theta, r, k=K).values
    found = length_association(values, lengths)
    assert np.flatnonzero(found.pvalue_adjusted < 0.05).tolist() == [2] and found.r[2] > 0.7


def test_every_head_dilutes_the_axis_but_loses_no_side(world: World) -> None:
    theta, r = _axes(world.probes)
    phrases = np.concatenate([world.concepts, world.reference[:N_CONCEPTS]])
    every = axis_values(phrases, theta, r, k=None)
    assert every.n_heads.tolist() == [24] * 8
    tests = stereotypicality(every.values[:, :N_CONCEPTS], every.values[:, N_CONCEPTS:])
    at = list(STEREOTYPED)
    assert np.sign(tests.difference[at]).tolist() == [1, -1, 1]
    assert (np.abs(tests.difference[at]) < np.abs(world.tests.difference[at])).all()


def test_a_user_with_one_concept_gets_a_reason_and_no_flag(world: World) -> None:
    found = stereotypicality(world.values.values[:, :1], world.values.values[:, N_CONCEPTS:])
    assert not found.flagged.any() and all(found.undefined)
