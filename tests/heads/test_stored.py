"""What is stored of axes is what is computed, and is found only for the same question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads import stored as module
from core.analysis.heads.question import NO_REFERENCE, HeadsQuestion
from core.analysis.heads.stored import (
    StoredAxes,
    axes_at_hand,
    compute_and_store,
    compute_axes,
    stored_axis_table,
    usual_k,
)
from core.axes.concepts import ConceptSet
from core.errors import InputError
from core.store.axes import get_axes, get_concepts, put_axes, put_concepts
from core.store.gate import Cache
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, STEREOTYPED, fill_planted, made_axes
from tests.planted_heads import planted_heads


@pytest.fixture
def question(cache: Cache) -> HeadsQuestion:
    reader_id = fill_planted(cache, planted_heads()).reader_id
    return HeadsQuestion(
        reader_id=reader_id, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=3
    )


def stored_of(cache: Cache, question: HeadsQuestion) -> StoredAxes:
    found = stored_axis_table(cache, question)
    assert found is not None
    return found


@pytest.mark.parametrize("reference", [REFERENCE, ""])
def test_what_is_stored_is_what_is_computed(
    cache: Cache, question: HeadsQuestion, reference: str
) -> None:
    question = replace(question, reference=reference)
    assert stored_axis_table(cache, question) is None
    made = compute_and_store(cache, question)
    found = stored_of(cache, question)
    assert (found.result_id, found.created_at) == (made.result_id, made.created_at)
    pd.testing.assert_frame_equal(found.table, compute_axes(cache, question).table)
    pd.testing.assert_frame_equal(found.table, made.table)
    for name in (
        *("values", "n_skipped", "top_separability", "top_chance"),
        *("held_out", "held_out_chance"),
    ):
        np.testing.assert_array_equal(getattr(found.held, name), getattr(made.held, name))
    assert [h.tolist() for h in found.held.heads] == [h.tolist() for h in made.held.heads]
    assert (found.held.axes, found.held.concepts) == (made.held.axes, made.held.concepts)
    assert found.held.reference == made.held.reference


def test_the_truth_survives_being_stored(cache: Cache, question: HeadsQuestion) -> None:
    compute_and_store(cache, question)
    table = stored_of(cache, question).table
    axes = made_axes(8)
    assert set(table.loc[table["qvalue"] < 0.05, "axis_id"]) == {
        axes[i].axis_id for i in STEREOTYPED
    }


def test_without_a_reference_set_nothing_is_tested(cache: Cache, question: HeadsQuestion) -> None:
    table = compute_axes(cache, replace(question, reference="")).table
    assert table["pvalue"].isna().all()
    assert table["flagged"].isna().all()
    assert set(table["reason"]) == {NO_REFERENCE}


@pytest.mark.parametrize(
    "change", [{"k": None}, {"pooling": "last"}, {"n_templates": 15}, {"reference": ""}]
)
def test_another_question_has_no_result(
    cache: Cache, question: HeadsQuestion, change: dict
) -> None:
    compute_and_store(cache, question)
    assert stored_axis_table(cache, replace(question, **change)) is None


def test_a_set_that_was_replaced_has_no_result(
    cache: Cache, question: HeadsQuestion, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute_and_store(cache, question)
    axes, concepts = get_axes(cache, AXES), get_concepts(cache, CONCEPTS)
    put_axes(cache, AXES, axes[::-1], replace=True)
    assert stored_axis_table(cache, question) is None
    put_axes(cache, AXES, axes, replace=True)
    assert stored_axis_table(cache, question) is not None
    put_concepts(cache, ConceptSet(CONCEPTS, concepts.concepts[1:]), replace=True)
    assert stored_axis_table(cache, question) is None
    put_concepts(cache, concepts, replace=True)
    monkeypatch.setattr(module, "built_in_templates", lambda: {"simple": ("{ADJ}: {DEF}",) * 30})
    assert stored_axis_table(cache, question) is None


def test_what_is_small_is_computed_at_once_and_the_rest_is_a_job(
    cache: Cache, question: HeadsQuestion, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = axes_at_hand(cache, question)
    assert found is not None
    assert found.created_at is None
    monkeypatch.setattr(module, "AT_ONCE", 8 * 80 * 24 - 1)  # axes x phrases x heads
    assert axes_at_hand(cache, question) is None
    with pytest.raises(InputError, match="phrases"):  # rather than a job that has to fail
        axes_at_hand(cache, replace(question, reference=CONCEPTS))
    compute_and_store(cache, question)
    found = axes_at_hand(cache, question)
    assert found is not None
    assert found.created_at is not None


def test_a_set_is_tested_over_the_axes_of_it_that_were_read(
    cache: Cache, question: HeadsQuestion
) -> None:
    some = (*made_axes(12)[9:], *made_axes(12)[:3])
    put_axes(cache, "growing", some)
    found = compute_and_store(cache, replace(question, axes="growing"))
    assert found.held.axes == some[3:]
    whole = compute_axes(cache, question).table.set_index("axis_id")
    rows = found.table.set_index("axis_id")
    assert rows["pvalue"].to_dict() == whole.loc[rows.index, "pvalue"].to_dict()
    assert stored_axis_table(cache, replace(question, axes="growing")) is not None
    put_axes(cache, "growing", made_axes(4), replace=True)  # another was read in the meantime
    assert stored_axis_table(cache, replace(question, axes="growing")) is None


def test_a_job_is_told_how_far_it_is(cache: Cache, question: HeadsQuestion) -> None:
    told: list[tuple[int, int]] = []
    compute_and_store(cache, question, tell=lambda done, n: told.append((done, n)))
    assert told[-1] == (8, 8)


def test_what_cannot_be_asked_stores_nothing(cache: Cache, question: HeadsQuestion) -> None:
    with pytest.raises(InputError, match="no concepts 'nobody'"):
        stored_axis_table(cache, replace(question, concepts="nobody"))
    with pytest.raises(InputError, match="has 24 heads, not 99"):
        compute_and_store(cache, replace(question, k=99))
    assert stored_axis_table(cache, replace(question, k=99)) is None


def test_a_model_of_few_heads_is_asked_for_all_of_them(
    cache: Cache, question: HeadsQuestion
) -> None:
    assert usual_k(cache, question.reader_id) is None
    large = fill_planted(cache, planted_heads(n_layers=12, n_heads=12, head_dim=8), seed=1)
    assert usual_k(cache, large.reader_id) == 128
