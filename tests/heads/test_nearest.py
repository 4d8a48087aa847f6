"""The axes nearest to one, by the correlation of concepts' values, against scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr

from core.analysis.heads.nearest import nearest_axes
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes, compute_axes
from core.store.gate import Cache
from tests.planted_cache import AXES, CONCEPTS, N_CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> StoredAxes:
    """Values that are partly unknown: of axis 2 two are left, and those of axis 3 are alike."""
    cache = Cache(tmp_path_factory.mktemp("nearest"))
    reader_id = fill_planted(cache, planted_heads()).reader_id
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    found = compute_axes(cache, HeadsQuestion(reader_id=reader_id, k=3, **names))
    values = found.held.values.copy()
    values[1, :5] = np.nan
    values[2, 2:N_CONCEPTS] = np.nan
    values[3, :N_CONCEPTS] = 0.5
    return replace(found, held=replace(found.held, values=values))


def test_correlations_are_those_of_scipy_in_order_of_size(stored: StoredAxes) -> None:
    axes, values = stored.held.axes, stored.held.of_concepts
    rows = nearest_axes(stored, axes[0].axis_id, most=len(axes)).set_index("axis_id")
    assert axes[0].axis_id not in rows.index
    known = np.isfinite(values)
    for i in (1, 4, 5, 6, 7):
        both = known[0] & known[i]
        row = rows.loc[axes[i].axis_id]
        assert row["r"] == pytest.approx(pearsonr(values[0, both], values[i, both]).statistic)
        assert row["n_concepts"] == both.sum()
    sizes = rows["r"].abs().dropna()
    assert sizes.is_monotonic_decreasing


def test_without_a_correlation_an_axis_stands_last(stored: StoredAxes) -> None:
    axes = stored.held.axes
    rows = nearest_axes(stored, axes[0].axis_id, most=len(axes))
    assert set(rows["axis_id"][-2:]) == {axes[2].axis_id, axes[3].axis_id}
    assert rows["r"][-2:].isna().all()
    assert len(nearest_axes(stored, axes[0].axis_id, most=3)) == 3
