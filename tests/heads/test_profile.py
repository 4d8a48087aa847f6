"""Tables of heads and layers: counts by hand, and the planted heads on top."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads.axis_view import AxisView, axis_view
from core.analysis.heads.profile import heads_table, layer_profiles, separability_table
from core.analysis.heads.question import HeadsQuestion
from core.errors import InputError
from core.store.axes import get_axes
from core.store.gate import Cache
from tests.planted_cache import AXES, CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads

MODEL = planted_heads()
L, H, _ = MODEL.base.shape
AXIS = 2


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    cache = Cache(tmp_path_factory.mktemp("planted"))
    reader = fill_planted(cache, MODEL)
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    return cache, HeadsQuestion(reader_id=reader.reader_id, k=3, **names)


@pytest.fixture(scope="module")
def view(planted) -> AxisView:
    cache, question = planted
    return axis_view(cache, question, get_axes(cache, AXES)[AXIS].axis_id)


def test_every_head_has_a_row(view):
    rows = separability_table(view)
    assert len(rows) == L * H
    for row in rows.itertuples():
        assert row.separability == view.separability[row.layer, row.head]
        assert row.chance == view.chance[row.layer, row.head]
        assert row.above_chance == (row.separability > view.chance_level)
    assert set(rows["n_sentences"]) == {30}


def test_above_chance_is_empty_where_either_is_unknown(planted, view):
    separability = view.separability.copy()
    separability[1, 2] = np.nan
    rows = separability_table(replace(view, separability=separability))
    assert np.flatnonzero(rows["above_chance"].isna()).tolist() == [H + 2]
    cache, question = planted
    half = axis_view(cache, replace(question, n_templates=15), view.axis.axis_id)
    assert separability_table(half)["above_chance"].isna().all()


def test_heads_are_listed_from_the_most_separable_down(view):
    separability = view.separability.copy()
    separability[0, 0] = np.nan
    chosen = np.array(sorted(MODEL.heads[AXIS] - {0}))
    rows = heads_table(replace(view, separability=separability), chosen)
    assert rows["rank"].tolist() == list(range(1, L * H))
    assert rows["separability"].is_monotonic_decreasing
    at = rows["layer"] * H + rows["head"]
    assert sorted(at) == list(range(1, L * H))
    assert set(at[rows["chosen"]]) == set(chosen.tolist())
    np.testing.assert_array_equal(rows["separability"], view.separability.ravel()[at])


def test_profiles_are_of_either_pooling(planted, view):
    cache, question = planted
    rows = layer_profiles(cache, question, view.axis.axis_id)
    assert rows["pooling"].tolist() == ["mean"] * L + ["last"] * L
    expected = Counter(head // H for head in MODEL.heads[AXIS])
    for pooling in ("mean", "last"):
        part = rows[rows["pooling"] == pooling].set_index("layer")
        assert part["n_heads"].to_dict() == {layer: expected[layer] for layer in range(L)}
        assert set(part["n_best"]) == {3.0}
        assert set(part["expected"]) == {3 / L}
        other = axis_view(cache, replace(question, pooling=pooling), view.axis.axis_id)
        np.testing.assert_allclose(part["separability"], other.separability.mean(axis=1))
        np.testing.assert_allclose(part["chance"], other.chance.mean(axis=1))
    of_half = layer_profiles(cache, replace(question, n_templates=15), view.axis.axis_id)
    assert of_half["chance"].isna().all()
    assert not pd.Series(of_half["separability"]).isna().any()


def test_more_heads_than_there_are_is_refused(planted, view):
    cache, question = planted
    with pytest.raises(InputError, match="has 24 heads, not 25"):
        layer_profiles(cache, replace(question, k=25), view.axis.axis_id)
