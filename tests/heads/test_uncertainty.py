"""Either half of the templates: its own view, in the same heads."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.heads import uncertainty
from core.analysis.heads.axis_view import AxisView, axis_view
from core.analysis.heads.chosen import HeadChoice, choose, chosen_heads
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_axes
from core.analysis.heads.uncertainty import (
    HalvesDifference,
    halves_differences,
    halves_of_axes,
    halves_table,
)
from core.axes.concepts import Concept, ConceptSet
from core.errors import InputError
from core.store.axes import get_axes, put_concepts
from core.store.gate import Cache
from core.store.prune import files_of, forget
from tests.planted_cache import AXES, CONCEPTS, FAMILY, N_CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads

MODEL = planted_heads()
L, H, _ = MODEL.base.shape
K3 = HeadChoice(k=3)


def filled(folder) -> tuple[Cache, HeadsQuestion]:
    cache = Cache(folder)
    reader = fill_planted(cache, MODEL)
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    return cache, HeadsQuestion(reader_id=reader.reader_id, **names)


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    return filled(tmp_path_factory.mktemp("planted"))


def view_of(planted: tuple[Cache, HeadsQuestion], axis: int = 0) -> AxisView:
    cache, question = planted
    return axis_view(cache, question, get_axes(cache, AXES)[axis].axis_id)


def halves_difference(cache: Cache, view: AxisView, heads: np.ndarray) -> HalvesDifference:
    (found,) = halves_differences(cache, view.question, [view.axis], [heads])
    return found


def test_the_first_half_is_the_view_of_fifteen_templates(planted):
    cache, question = planted
    view = view_of(planted)
    heads = chosen_heads(view, K3).heads
    found = halves_difference(cache, view, heads)
    half = axis_view(cache, replace(question, n_templates=15), view.axis.axis_id)
    expected = half.z[heads].astype(float).mean(axis=0)
    np.testing.assert_allclose(found.first, expected, atol=1e-12)
    assert (found.n_heads, found.n_concepts) == (3, N_CONCEPTS)


def test_planted_axes_are_the_same_in_both_halves_and_other_heads_are_not(planted):
    cache, _ = planted
    for axis in range(len(MODEL.axes)):
        view = view_of(planted, axis)
        held = halves_difference(cache, view, chosen_heads(view, K3).heads)
        assert held.r > 0.9
        assert held.cosine > 0.8
        none = np.array([h for h in range(L * H) if h not in MODEL.heads[axis]])
        noise = halves_difference(cache, view, none)
        assert abs(noise.cosine) < 0.3
        assert noise.r < held.r - 0.2
        n = N_CONCEPTS
        naive = [
            abs(float(b) - float(a)) for a, b in zip(held.first[:n], held.second[:n], strict=True)
        ]
        assert held.mean_difference == pytest.approx(np.mean(naive))
        assert held.r == pytest.approx(np.corrcoef(held.first[:n], held.second[:n])[0, 1])


def test_the_value_of_all_templates_lies_between_the_halves(planted):
    cache, _ = planted
    view = view_of(planted)
    found = choose(view, K3, seed=0)
    halves = halves_difference(cache, view, found.heads)
    middle = (halves.first + halves.second) / 2
    assert np.corrcoef(middle, found.values)[0, 1] > 0.999


def test_the_table_holds_what_was_found(planted):
    cache, _ = planted
    view = view_of(planted)
    halves = halves_difference(cache, view, chosen_heads(view, K3).heads)
    rows = halves_table(halves)
    assert rows["concept"].tolist() == [c.text for c in view.concepts]
    np.testing.assert_allclose(rows["difference"], rows["second_half"] - rows["first_half"])
    np.testing.assert_array_equal(rows["second_half"], halves.second[:N_CONCEPTS])
    assert set(rows["n_heads"]) == {3}


def test_axes_are_compared_in_the_order_of_their_table(planted, monkeypatch):
    cache, question = planted
    found = compute_axes(cache, replace(question, k=3))
    rows = halves_of_axes(cache, found)
    assert rows["axis_id"].tolist() == found.table["axis_id"].tolist()
    for i, axis in enumerate(get_axes(cache, AXES)):
        view = view_of(planted, i)
        alone = halves_difference(cache, view, chosen_heads(view, K3).heads)
        row = rows.set_index("axis_id").loc[axis.axis_id]
        assert row["r"] == pytest.approx(alone.r, abs=1e-9)
        assert row["mean_difference"] == pytest.approx(alone.mean_difference, abs=1e-9)
        assert (row["n_concepts"], row["n_heads"], row["reason"]) == (N_CONCEPTS, 3, "")
    monkeypatch.setattr(uncertainty, "AT_MOST", 5)
    few = halves_of_axes(cache, found)
    assert few["axis_id"].tolist() == rows["axis_id"].tolist()[:5]
    assert set(few["n_axes"]) == {len(MODEL.axes)} and len(MODEL.axes) > 5


def test_two_concepts_have_no_correlation(planted):
    cache, question = planted
    put_concepts(cache, ConceptSet("two", (Concept(f"{CONCEPTS} 1"), Concept(f"{CONCEPTS} 2"))))
    rows = halves_of_axes(cache, compute_axes(cache, replace(question, concepts="two", k=3)))
    assert rows["r"].isna().all() and (rows["n_concepts"] == 2).all()
    assert set(rows["reason"]) == {"fewer than three concepts, or their values do not vary"}


def test_no_heads_give_no_difference(planted):
    found = halves_difference(planted[0], view_of(planted), np.array([], dtype=np.int64))
    assert (found.n_heads, found.n_concepts) == (0, 0)
    assert np.isnan([found.first, found.second]).all()
    assert found.reason == "no head has a direction from both halves"
    assert all(math.isnan(x) for x in (found.r, found.cosine, found.mean_difference))


def test_pruned_poles_say_what_to_run(tmp_path):
    cache, question = filled(tmp_path)
    view = view_of((cache, question))
    forget(cache, files_of(cache, question.reader_id, FAMILY))
    with pytest.raises(InputError, match=r"not read for .*run `python -m core axes`"):
        halves_difference(cache, view, chosen_heads(view, K3).heads)
