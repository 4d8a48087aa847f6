"""Maps of axes and concepts: principal components by hand, and UMAP for awkward rows."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from core.analysis.heads.atlas import (
    OF,
    UmapParameters,
    check_umap,
    compute_umap,
    principal_components,
    stored_umap,
)
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import StoredAxes
from core.analysis.heads.values import HeadsValues
from core.errors import InputError
from core.store.gate import Cache
from tests.planted_cache import made_axes

Array = npt.NDArray[np.float64]
QUESTION = HeadsQuestion(reader_id="r", axes="a", concepts="c", reference="")


def values_of(values: npt.ArrayLike) -> StoredAxes:
    """Values of concepts on axes (A, C), and nothing else of a result."""
    array = np.asarray(values, dtype=np.float64)
    n_axes, n_concepts = array.shape
    held = HeadsValues(
        axes=made_axes(n_axes),
        concepts=tuple(f"group {i}" for i in range(n_concepts)),
        reference=(),
        values=array,
        heads=tuple(np.arange(1) for _ in range(n_axes)),
        n_skipped=np.zeros(n_axes, dtype=np.int64),
        top_separability=np.ones(n_axes),
        top_chance=np.zeros(n_axes),
        held_out=np.ones(n_axes),
        held_out_chance=np.zeros(n_axes),
        n_sentences=np.full((n_axes, 2), 30),
    )
    return StoredAxes(QUESTION, "result", held, pd.DataFrame(), None)


def random_values(n_axes: int, n_concepts: int = 6) -> Array:
    return np.random.default_rng(n_axes).normal(size=(n_axes, n_concepts))


@pytest.mark.parametrize("of", OF)
def test_components_are_the_eigenvectors_of_the_covariance(of) -> None:
    values = random_values(40)
    rows = values if of == "axes" else values.T
    covariance = np.cov(rows, rowvar=False, ddof=0)
    eigenvalues, vectors = np.linalg.eigh(covariance)
    expected = (rows - rows.mean(axis=0)) @ vectors[:, [-1, -2]]
    found = principal_components(values_of(values), of)
    np.testing.assert_allclose(np.abs(found.points), np.abs(expected), atol=1e-12)
    assert found.shares == pytest.approx(eigenvalues[[-1, -2]] / eigenvalues.sum())
    assert (found.points[np.abs(found.points).argmax(axis=0), [0, 1]] > 0).all()
    assert len(found.names) == len(rows)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_components_of_few_rows(n: int) -> None:
    found = principal_components(values_of(random_values(n)), "axes")
    assert found.points.shape == (n, 2)
    assert np.isfinite(found.points).all()
    assert (np.abs(found.points).max(axis=0) > 0).sum() == min(2, n - 1)
    assert np.isfinite(found.shares).all() == (n > 1)
    if n == 2:
        assert found.shares == pytest.approx((1.0, 0.0))


def test_components_of_equal_rows_vary_nowhere() -> None:
    found = principal_components(values_of(np.tile([0.1, 0.2, 0.7], (5, 1))), "axes")
    np.testing.assert_array_equal(found.points, 0.0)
    assert np.isnan(found.shares).all()
    assert found.n_duplicates == 4


def test_undefined_rows_are_left_out_and_counted() -> None:
    values = random_values(8)
    values[2], values[5, 1], values[:, 3] = np.nan, np.nan, np.nan
    stored = values_of(values)
    ids = [axis.axis_id for axis in stored.held.axes]
    axes = principal_components(stored, "axes")
    assert axes.left_out == (ids[2], ids[5])
    assert axes.names == tuple(ids[i] for i in (0, 1, 3, 4, 6, 7))
    assert axes.note == "6 of 8 axes; the others have a value that is undefined."
    concepts = principal_components(stored, "concepts")
    assert concepts.left_out == ("group 3",)
    assert len(concepts.names) == 5
    same = np.delete(np.delete(values, [2, 5], axis=0), 3, axis=1)
    again = principal_components(values_of(same), "axes")
    np.testing.assert_allclose(axes.points, again.points)


def test_nothing_to_place_is_said() -> None:
    with pytest.raises(InputError, match="No axis has a value for every concept"):
        principal_components(values_of(np.full((3, 4), np.nan)), "concepts")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_refused_without_importing_umap(cache: Cache, n: int) -> None:
    before = "umap" in sys.modules
    with pytest.raises(InputError, match=f"at least 4 axes with different values, and .* {n};"):
        compute_umap(cache, values_of(random_values(n)), "axes")
    assert ("umap" in sys.modules) == before


def test_equal_rows_and_wrong_parameters_are_refused() -> None:
    equal = values_of(np.repeat(random_values(3), 20, axis=0))
    with pytest.raises(InputError, match="different values, and there are 3"):
        check_umap(equal, "axes")
    with pytest.raises(InputError, match="at least 2 neighbours, not 1"):
        check_umap(values_of(random_values(9)), "axes", UmapParameters(n_neighbors=1))
    with pytest.raises(InputError, match="from 0 to 1, not 2"):
        check_umap(values_of(random_values(9)), "axes", UmapParameters(min_dist=2.0))


@pytest.mark.parametrize("n", [4, 5, 60])
def test_umap_is_stored_with_equal_rows_at_one_point(cache: Cache, n: int) -> None:
    values = np.concatenate([random_values(n), random_values(n)[:2], np.full((1, 6), np.nan)])
    stored = values_of(values)
    assert stored_umap(cache_of(cache), stored, "axes") is None
    made = compute_umap(cache, stored, "axes")
    assert made.points.shape == (n + 2, 2)
    assert np.isfinite(made.points).all()
    np.testing.assert_array_equal(made.points[n:], made.points[:2])
    assert (made.n_duplicates, len(made.left_out)) == (2, 1)
    found = stored_umap(cache, stored, "axes")
    assert found is not None
    np.testing.assert_array_equal(found.points, made.points)
    assert (found.names, found.left_out) == (made.names, made.left_out)
    assert found.versions is not None
    assert found.versions["umap-learn"]
    assert stored_umap(cache, stored, "concepts") is None
    assert stored_umap(cache, stored, "axes", UmapParameters(n_neighbors=5)) is None


def cache_of(cache: Cache) -> Cache:
    """The cache, there and empty."""
    with cache.writing():
        pass
    return cache
