"""One axis head by head: the z of a plain loop, and what is undefined says so."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from core.analysis.heads.axis_view import axis_view, dimension_of, labels_of
from core.analysis.heads.question import HeadsQuestion
from core.axes.axis import Axis
from core.axes.concepts import Concept, ConceptSet
from core.axes.content import axis_content, pole_content
from core.errors import CacheError, InputError
from core.store.axes import concept_id, get_axes, get_concepts, put_concepts
from core.store.gate import Cache
from core.store.heads import AXIS, CONCEPT, POLE, Source, get_arrays, get_outputs, put_arrays
from core.store.prune import files_of, forget
from core.store.tensors import TENSORS, write_tensors
from tests.planted_cache import AXES, CONCEPTS, FAMILY, N_CONCEPTS, REFERENCE, fill_planted
from tests.planted_heads import planted_heads

MODEL = planted_heads()
L, H, D = MODEL.base.shape


def filled(folder: Path) -> tuple[Cache, HeadsQuestion]:
    cache = Cache(folder)
    reader = fill_planted(cache, MODEL)
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    return cache, HeadsQuestion(reader_id=reader.reader_id, **names)


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    return filled(tmp_path_factory.mktemp("planted"))


@pytest.fixture
def own(tmp_path: Path) -> tuple[Cache, HeadsQuestion]:
    return filled(tmp_path / "cache")


def read_more(cache: Cache, question: HeadsQuestion, outputs: np.ndarray) -> HeadsQuestion:
    """The question about more concepts, with these outputs (C, L, H, D), and no reference."""
    texts = [f"more {i}" for i in range(len(outputs))]
    put_concepts(cache, ConceptSet("more", tuple(Concept(text) for text in texts)))
    arrays = {"outputs": np.moveaxis(np.stack([outputs] * 2), 1, 3).astype(np.float32)}
    written = write_tensors(cache, "more.safetensors", arrays)
    rows = {CONCEPT: {text: concept_id(text) for text in texts}}
    put_arrays(cache, Source(question.reader_id), written, rows)
    return replace(question, concepts="more", reference="")


def naive_z(cache: Cache, question: HeadsQuestion, axis: Axis, p: int, halves: list[int]):
    """Z of every head and phrase, one number after another."""
    names = (question.concepts, question.reference)
    texts = [c.text for name in names for c in get_concepts(cache, name).concepts]
    wanted = {text: concept_id(text) for text in texts}
    outputs = get_outputs(cache, Source(question.reader_id), wanted, p)
    contents = {pole.key: pole_content(pole, FAMILY) for pole in (axis.negative, axis.positive)}
    sums = get_arrays(cache, Source(question.reader_id, FAMILY), POLE, contents)["sums"]
    z = np.empty((L * H, len(texts)))
    for layer in range(L):
        for head in range(H):
            low, high = (
                sum(sums[pole, p, half, layer, head].astype(float) for half in halves)
                / (15 * len(halves))
                for pole in (0, 1)
            )
            theta = high - low
            pi = [
                float(x.astype(float) @ theta) / float(theta @ theta) for x in outputs[layer, head]
            ]
            z[layer * H + head] = (np.array(pi) - np.mean(pi)) / np.std(pi)
    return z


@pytest.mark.parametrize(
    ("pooling", "n_templates", "p", "halves"), [("mean", 30, 0, [0, 1]), ("last", 15, 1, [0])]
)
def test_z_is_that_of_a_plain_loop(planted, pooling, n_templates, p, halves):
    cache, question = planted
    axis = get_axes(cache, AXES)[3]
    view = axis_view(
        cache, replace(question, pooling=pooling, n_templates=n_templates), axis.axis_id
    )
    expected = naive_z(cache, question, axis, p, halves)
    assert (view.z.dtype, view.shape) == (np.float32, (L, H))
    np.testing.assert_allclose(view.z, expected, atol=2e-6)


def test_what_an_axis_is_of(planted):
    cache, question = planted
    axis = get_axes(cache, AXES)[5]
    view = axis_view(cache, question, axis.axis_id)
    source = Source(question.reader_id, FAMILY)
    held = get_arrays(cache, source, AXIS, {axis.axis_id: axis_content(axis, FAMILY)})
    assert (view.axis, view.question) == (axis, question)
    assert [len(x) for x in (view.concepts, view.reference, view.labels)] == [N_CONCEPTS] * 3
    assert set(view.labels) == {None}
    np.testing.assert_array_equal(view.separability, held["separability"][0, 0, 2])
    swapped = held["chance"][0, 0].astype(float)
    np.testing.assert_allclose(view.chance, swapped.mean(axis=0))
    assert view.chance_level == pytest.approx(np.quantile(swapped, 0.95))
    holding = view.separability > view.chance_level
    assert set(MODEL.heads[5]) <= set(np.flatnonzero(holding).tolist())


def test_chance_is_not_known_for_half_of_the_templates(planted):
    cache, question = planted
    axis_id = get_axes(cache, AXES)[0].axis_id
    view = axis_view(cache, replace(question, n_templates=15), axis_id)
    assert np.isfinite(view.separability).all()
    assert np.isnan(view.chance).all()
    assert math.isnan(view.chance_level)


def test_without_a_reference_set_concepts_are_standardised_alone(planted):
    cache, question = planted
    axis_id = get_axes(cache, AXES)[0].axis_id
    both = axis_view(cache, question, axis_id)
    alone = axis_view(cache, replace(question, reference=""), axis_id)
    assert (alone.reference, alone.z.shape) == ((), (L * H, N_CONCEPTS))
    part = both.z[:, :N_CONCEPTS].astype(float)
    expected = (part - part.mean(axis=1, keepdims=True)) / part.std(axis=1, keepdims=True)
    np.testing.assert_allclose(alone.z, expected, atol=2e-6)


def test_sets_that_share_phrases_are_not_held_against_each_other(planted):
    cache, question = planted
    axis_id = get_axes(cache, AXES)[0].axis_id
    with pytest.raises(InputError, match="groups and groups have 40 phrases in common"):
        axis_view(cache, replace(question, reference=CONCEPTS), axis_id)


def test_a_phrase_that_is_not_finite_has_no_value_and_enters_no_mean(own):
    cache, question = own
    outputs = np.random.default_rng(0).normal(size=(6, L, H, D))
    outputs[2, 1, 3, 5] = np.nan
    outputs[4, 0, 0, 0], outputs[4, 0, 0, 1] = np.inf, -np.inf
    question = read_more(cache, question, outputs)
    axis_id = get_axes(cache, AXES)[0].axis_id
    view = axis_view(cache, question, axis_id)
    assert np.isnan(view.z).all(axis=0).tolist() == [False, False, True, False, True, False]
    others = view.z[:, [0, 1, 3, 5]].astype(float)
    np.testing.assert_allclose(others.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(others.std(axis=1), 1, atol=1e-6)


def test_a_head_in_which_no_phrase_differs_is_undefined(own):
    cache, question = own
    outputs = np.random.default_rng(0).normal(size=(6, L, H, D))
    outputs[:, 1, 2] = outputs[0, 1, 2]
    view = axis_view(cache, read_more(cache, question, outputs), get_axes(cache, AXES)[0].axis_id)
    assert np.flatnonzero(np.isnan(view.z).any(axis=1)).tolist() == [H + 2]
    assert np.isnan(view.z[H + 2]).all()


@pytest.mark.parametrize(
    ("dimension", "facet", "expected"),
    [
        ("warmth", "morality", (1, -1, None)),
        ("Sociability", "", (1, -1, None)),
        ("", "agency", (None, 1, -1)),
        ("competence", "", (None, 1, -1)),
        ("beauty", "", (None, None, None)),
        ("", "", (None, None, None)),
    ],
)
def test_labels_are_those_of_the_dimension_of_the_axis(planted, dimension, facet, expected):
    axis = replace(get_axes(planted[0], AXES)[0], dimension=dimension, facet=facet)
    concepts = (
        Concept("a", None, 1, None),
        Concept("b", None, -1, 1),
        Concept("c", None, None, -1),
    )
    assert labels_of(axis, concepts) == expected
    assert (dimension_of(axis) is None) == (set(expected) == {None})


def test_the_cache_is_opened_once(planted, monkeypatch):
    cache, question = planted
    axis_id = get_axes(cache, AXES)[0].axis_id
    opened: list[str] = []
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: opened.append(a[0]) or connect(*a, **k))
    axis_view(cache, question, axis_id)
    assert len(opened) == 1


@pytest.mark.parametrize("family", [FAMILY, ""])
def test_what_was_pruned_says_what_to_run(own, family):
    cache, question = own
    axis_id = get_axes(cache, AXES)[0].axis_id
    forget(cache, files_of(cache, question.reader_id, family))
    with pytest.raises(InputError, match=r"heads were not read for .*run `python -m core axes`"):
        axis_view(cache, question, axis_id)


def test_a_lost_file_is_an_error(own):
    cache, question = own
    axis_id = get_axes(cache, AXES)[0].axis_id
    (path,) = files_of(cache, question.reader_id, FAMILY)
    (cache.folder / TENSORS / path).unlink()
    with pytest.raises(CacheError, match="missing or damaged"):
        axis_view(cache, question, axis_id)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axes": "mine"}, "no axes 'mine'"),
        ({"concepts": "mine"}, "no concepts 'mine'"),
        ({"reference": "mine"}, "no concepts 'mine'"),
        ({"n_templates": 20}, "15 or 30 templates"),
        ({"pooling": "first"}, "'first' is no pooling"),
    ],
)
def test_questions_that_cannot_be_answered(planted, change, words):
    cache, question = planted
    axis_id = get_axes(cache, AXES)[0].axis_id
    with pytest.raises(InputError, match=words):
        axis_view(cache, replace(question, **change), axis_id)
    with pytest.raises(InputError, match="have no axis 'x~y'"):
        axis_view(cache, question, "x~y")
