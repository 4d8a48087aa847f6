"""Positions against labels: the values of one definition, and what is planted is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.heads.positions import heads_steps, position_axes, position_table, positions
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.values import heads_values
from core.axes.concepts import GROUPS, Concept, ConceptSet, read_concepts
from core.errors import InputError
from core.store.axes import get_axes, put_concepts
from core.store.gate import Cache
from tests.planted_cache import AXES as NO_DIMENSION
from tests.planted_cache import CONCEPTS, N_CONCEPTS
from tests.planted_heads import planted_heads
from tests.planted_labels import AXES, N_WARMTH, TRUE_AXIS, fill_labelled

MODEL = planted_heads()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    cache = Cache(tmp_path_factory.mktemp("labelled"))
    return cache, fill_labelled(cache, MODEL)


def test_values_are_those_of_the_other_tables_at_any_number_of_heads(labelled):
    cache, question = labelled
    found = positions(cache, question, [1, 3, 24])
    alone = positions(cache, question, [3], centre="groups")
    for step, k in enumerate((1, 3, 24)):
        expected = heads_values(cache, replace(question, k=k))
        np.testing.assert_allclose(found.values[step], expected.of_concepts[:7], atol=1e-12)
        np.testing.assert_allclose(found.separability[step], expected.top_separability[:7])
        np.testing.assert_allclose(found.chance[step], expected.top_chance[:7])
    expected = heads_values(cache, replace(question, k=3, reference=""))
    np.testing.assert_allclose(alone.values[0], expected.of_concepts[:7], atol=1e-12)
    assert found.n_heads.tolist() == [[1] * 7, [3] * 7, [24] * 7]


def test_the_midpoint_moves_all_groups_alike_and_turns_with_the_poles(labelled):
    cache, question = labelled
    at_midpoint, joint = (
        positions(cache, question, [3], centre=centre).values[0] for centre in ("midpoint", "joint")
    )
    moved = at_midpoint - joint
    np.testing.assert_allclose(moved, moved[:, :1] * np.ones(N_CONCEPTS), atol=1e-9)
    assert (np.abs(moved[:, 0]) < 1).all()  # planted phrases lie around the middle


def test_the_planted_axis_is_predicted_and_meaningless_labels_are_not(labelled):
    cache, question = labelled
    rows = position_table(cache, question, ks=[3]).set_index("dimension")
    per_axis = position_axes(cache, question)
    axes = get_axes(cache, AXES)
    assert per_axis["axis_id"].iloc[0] == axes[TRUE_AXIS].axis_id
    assert per_axis["accuracy"].iloc[0] > 0.8 and per_axis["auc"].iloc[0] > 0.9
    assert rows.loc["warmth", "n_axes"] == N_WARMTH and rows.loc["competence", "n_axes"] == 3
    mean = per_axis.groupby("dimension")["accuracy"].agg(["mean", "std"])
    np.testing.assert_allclose(rows["accuracy"], mean["mean"][rows.index])
    np.testing.assert_allclose(rows["accuracy_sd"], mean["std"][rows.index])
    assert rows.loc["competence", "pvalue"] > 0.05
    assert rows["majority"].tolist() == [0.5, 0.5]
    assert rows["n_groups"].tolist() == [N_CONCEPTS] * 2 and (rows["reason"] == "").all()
    assert not rows["exact"].any() and rows["n_labelings"].tolist() == [20_000] * 2


def test_the_row_of_a_number_of_heads_does_not_depend_on_the_others(labelled):
    cache, question = labelled
    every = position_table(cache, question)
    assert every["k"].unique().tolist() == list(heads_steps(24)) == [1, 2, 4, 8, 16, 24]
    one = position_table(cache, question, ks=[8])
    for row in one.to_dict("records"):
        same = every[(every["k"] == 8) & (every["dimension"] == row["dimension"])]
        assert same.to_dict("records") == [row]


def test_half_of_the_templates_has_no_chance_value_but_an_accuracy(labelled):
    cache, question = labelled
    rows = position_table(cache, replace(question, n_templates=15), ks=[3])
    assert rows["separability_chance"].isna().all() and rows["accuracy"].notna().all()


def test_majorities_of_the_published_groups_are_68_and_56(labelled):
    cache, question = labelled
    published = read_concepts(GROUPS["groups25"]).concepts.concepts
    groups = [
        Concept(f"{CONCEPTS} {i}", warmth=c.warmth, competence=c.competence)
        for i, c in enumerate(published)
    ]
    put_concepts(cache, ConceptSet("published", tuple(groups)), replace=True)
    rows = position_table(cache, replace(question, concepts="published"), ks=[3])
    assert rows["majority"].tolist() == [0.68, 0.56]
    assert rows["n_positive"].tolist() == [8, 14]


def test_what_is_missing_is_said_beside_numbers_that_are_undefined(labelled):
    cache, question = labelled
    unlabelled = position_table(cache, replace(question, concepts=CONCEPTS), ks=[3])
    assert unlabelled["accuracy"].isna().all() and unlabelled["n_groups"].tolist() == [0, 0]
    assert unlabelled["reason"].tolist() == [
        "no concept has a label of warmth",
        "no concept has a label of competence",
    ]
    bare = position_table(cache, replace(question, axes=NO_DIMENSION), ks=[3])
    assert bare["reason"].tolist() == [
        "no axis of the set is one of warmth",
        "no axis of the set is one of competence",
    ]
    assert bare["accuracy"].isna().all()
    assert position_axes(cache, replace(question, axes=NO_DIMENSION)).empty
    warm = [Concept(f"{CONCEPTS} {i}", warmth=1) for i in range(5)]
    put_concepts(cache, ConceptSet("warm", tuple(warm)), replace=True)
    one_label = position_table(cache, replace(question, concepts="warm"), ks=[3])
    assert one_label["reason"].iloc[0] == "all labels are the same"
    assert one_label["accuracy"].notna().iloc[0] and np.isnan(one_label["pvalue"].iloc[0])
    axes = position_axes(cache, replace(question, concepts=CONCEPTS))
    assert (axes["reason"] != "").all() and axes["accuracy"].isna().all()


@pytest.mark.parametrize(
    ("change", "centre", "words"),
    [
        ({"reference": ""}, "joint", "centre 'joint' needs reference phrases"),
        ({}, "origin", "'origin' is no centre; choose from: joint, groups, midpoint."),
        ({"n_templates": 7}, "joint", "15 or 30 templates"),
    ],
)
def test_questions_that_cannot_be_answered(labelled, change, centre, words):
    cache, question = labelled
    with pytest.raises(InputError, match=words):
        position_table(cache, replace(question, **change), ks=[3], centre=centre)
    with pytest.raises(InputError, match="has 24 heads, not 25"):
        position_table(cache, question, ks=[25])
