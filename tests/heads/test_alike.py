"""Cosines between axes: those of a plain loop, and planted directions at right angles."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.heads import alike as module
from core.analysis.heads.alike import alike_table, axis_cosines
from core.analysis.heads.arrays import directions, grids
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.axes.content import axis_content
from core.errors import InputError
from core.store.axes import get_axes, put_axes
from core.store.gate import Cache
from core.store.heads import AXIS, Source, get_arrays, put_arrays
from core.store.tensors import write_tensors
from tests.planted_cache import AXES, CONCEPTS, FAMILY, REFERENCE, fill_planted
from tests.planted_heads import planted_heads

MODEL = planted_heads()
L, H, D = MODEL.base.shape
BOTH_WAYS = "both ways"


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    """The planted axes, and the first of them once more with its poles swapped."""
    cache = Cache(tmp_path_factory.mktemp("planted"))
    reader = fill_planted(cache, MODEL)
    axes = get_axes(cache, AXES)
    swapped = Axis(axes[0].positive, axes[0].negative, source="made")
    put_axes(cache, BOTH_WAYS, [*axes, swapped])
    source = Source(reader.reader_id, FAMILY)
    held = get_arrays(cache, source, AXIS, {axes[0].axis_id: axis_content(axes[0], FAMILY)})
    written = write_tensors(cache, "swapped.safetensors", held)
    put_arrays(cache, source, written, {AXIS: {swapped.axis_id: axis_content(swapped, FAMILY)}})
    names = {"axes": BOTH_WAYS, "concepts": CONCEPTS, "reference": REFERENCE}
    return cache, HeadsQuestion(reader_id=reader.reader_id, k=4, **names)


def ids(planted: tuple[Cache, HeadsQuestion]) -> list[str]:
    return [axis.axis_id for axis in get_axes(planted[0], BOTH_WAYS)]


@pytest.mark.parametrize(("n_templates", "half"), [(30, 2), (15, 0)])
def test_cosines_are_means_over_the_best_heads_of_either_axis(planted, n_templates, half):
    cache, question = planted
    question = replace(question, n_templates=n_templates)
    axes = get_axes(cache, BOTH_WAYS)
    found = axis_cosines(cache, question, ids(planted))
    theta = directions(cache, question, axes, half).reshape(len(axes), L * H, D)
    r = grids(cache, question, axes).separability[:, half].reshape(len(axes), -1)
    assert found.axes == axes
    for i in range(len(axes)):
        for j in range(len(axes)):
            heads = set(np.argsort(-r[i])[:4].tolist()) | set(np.argsort(-r[j])[:4].tolist())
            expected = []
            for head in heads:
                a, b = theta[i, head], theta[j, head]
                expected.append(a @ b / math.sqrt((a @ a) * (b @ b)))
            assert found.cosine[i, j] == pytest.approx(np.mean(expected), abs=1e-6)
            assert found.n_heads[i, j] == len(heads)
            assert found.random_sd[i, j] == pytest.approx(1 / math.sqrt(len(heads) * D))


def test_swapped_poles_are_one_direction_and_planted_axes_are_not(planted):
    cache, question = planted
    found = axis_cosines(cache, replace(question, k=3), ids(planted))
    np.testing.assert_allclose(np.diag(found.cosine), 1, atol=1e-6)
    assert found.cosine[0, -1] == pytest.approx(-1, abs=1e-6)
    np.testing.assert_allclose(found.own[0], found.own[-1])
    assert (found.own > 0.8).all()
    others = found.cosine[:-1, :-1][np.triu_indices(len(MODEL.axes), 1)]
    assert np.abs(others).max() < 0.5
    assert others.std() < 2 * found.random_sd[0, 1]


def test_the_table_begins_with_the_pair_that_is_one_direction(planted):
    cache, question = planted
    found = axis_cosines(cache, question, ids(planted))
    rows = alike_table(found)
    n = len(found.axes)
    assert len(rows) == n * (n - 1) / 2
    assert rows.loc[0, ["first", "second"]].tolist() == [ids(planted)[0], ids(planted)[-1]]
    assert rows["cosine"].abs().is_monotonic_decreasing
    for row in rows.itertuples():
        i, j = (ids(planted).index(axis_id) for axis_id in (row.first, row.second))
        assert (row.cosine, row.n_heads) == (found.cosine[i, j], found.n_heads[i, j])
        assert (row.own_first, row.own_second) == (found.own[i], found.own[j])


def test_axes_without_a_direction_in_common_are_undefined():
    units = np.full((2, 3, 4), np.nan, dtype=np.float32)
    units[0, 0], units[1, 1] = 0.5, 0.5
    holding = np.array([[True, False, False], [False, True, False]])
    mean, n = module._means(units, holding)
    assert n.tolist() == [[1, 0], [0, 1]]
    assert np.isnan(mean).tolist() == [[False, True], [True, False]]


def test_one_axis_is_compared_with_itself_alone(planted):
    cache, question = planted
    found = axis_cosines(cache, question, ids(planted)[:1])
    assert found.cosine.shape == (1, 1)
    assert alike_table(found).empty


@pytest.mark.parametrize(
    ("many", "words"), [(0, "1 to 100 axes at a time, not of 0"), (200, "not of 1,800: choose")]
)
def test_too_few_and_too_many_axes_are_refused(planted, many, words):
    cache, question = planted
    with pytest.raises(InputError, match=words):
        axis_cosines(cache, question, ids(planted) * many)


def test_what_is_not_there_is_named(planted):
    cache, question = planted
    with pytest.raises(InputError, match="have no axis 'x~y'"):
        axis_cosines(cache, question, ["x~y"])
    with pytest.raises(InputError, match="has 24 heads, not 25"):
        axis_cosines(cache, replace(question, k=25), ids(planted))
    with pytest.raises(InputError, match=r"not read for .*run `python"):
        axis_cosines(cache, replace(question, family="listing"), ids(planted)[:2])
