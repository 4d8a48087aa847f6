"""Choices of heads: what they mean, and that values and tests in them are the plain ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.analysis.heads.axis_view import AxisView, axis_view
from core.analysis.heads.chosen import (
    NO_LABELS,
    ONE_LABEL,
    HeadChoice,
    choose,
    chosen_heads,
    parse_choice,
)
from core.analysis.heads.question import NO_REFERENCE, HeadsQuestion
from core.analysis.heads.values import heads_values
from core.errors import InputError
from core.store.axes import get_axes
from core.store.gate import Cache
from tests.planted_cache import (
    AXES,
    CONCEPTS,
    N_CONCEPTS,
    REFERENCE,
    SHIFT,
    STEREOTYPED,
    fill_planted,
)
from tests.planted_heads import planted_heads

MODEL = planted_heads()
L, H, _ = MODEL.base.shape
N_AXES = len(MODEL.axes)


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[Cache, HeadsQuestion]:
    cache = Cache(tmp_path_factory.mktemp("planted"))
    reader = fill_planted(cache, MODEL)
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE}
    return cache, HeadsQuestion(reader_id=reader.reader_id, **names)


@pytest.fixture(scope="module")
def views(planted) -> list[AxisView]:
    cache, question = planted
    return [axis_view(cache, question, axis.axis_id) for axis in get_axes(cache, AXES)]


def places() -> np.ndarray:
    """Where the concepts were planted, (C, A); the first numbers that the cache's phrases draw."""
    found = np.random.default_rng(1).normal(0, 0.5, (N_CONCEPTS, N_AXES))
    found[:, STEREOTYPED] += SHIFT
    return found


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("k1", HeadChoice(k=1)),
        ("k24", HeadChoice(k=24)),
        ("all", HeadChoice()),
        ("rect:0,0,3,5", HeadChoice(box=(0, 0, 3, 5))),
        ("rect:1,5,2,0", HeadChoice(box=(1, 0, 2, 5))),
        ("rect:3,2,1,4", HeadChoice(box=(1, 2, 3, 4))),
        ("rect:1,2,1,2", HeadChoice(box=(1, 2, 1, 2))),
        ("head:1,2", HeadChoice(box=(1, 2, 1, 2))),
    ],
)
def test_a_choice_is_read_and_written_alike(text, choice):
    assert parse_choice(text, 4, 6) == choice
    assert parse_choice(str(choice), 4, 6) == choice


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k0", "take at least one"),
        ("k25", "has 24 heads, not 25"),
        ("rect:0,0,4,5", "outside the model's heads: its layers are 0 to 3"),
        ("rect:0,0,3,6", "the heads of each 0 to 5"),
        ("head:9,0", "outside"),
        ("", "chooses no heads: write"),
        ("k", "chooses no heads"),
        ("k-1", "chooses no heads"),
        ("k1.5", "chooses no heads"),
        ("k²", "chooses no heads"),
        ("kk", "chooses no heads"),
        ("rect:1,2,3", "chooses no heads"),
        ("rect:", "chooses no heads"),
        ("head:1,2,3", "chooses no heads"),
        ("head:a,b", "chooses no heads"),
        ("circle:1,2", "chooses no heads"),
        ("heads:1,2", "chooses no heads"),
        ("k" + "9" * 5000, "chooses no heads"),
    ],
)
def test_a_choice_of_nothing_is_refused(text, words):
    with pytest.raises(InputError, match=words) as error:
        parse_choice(text, 4, 6)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("k", [1, 3, 24, None])
def test_the_best_heads_give_the_values_of_the_table(planted, views, k):
    cache, question = planted
    expected = heads_values(cache, replace(question, k=k))
    for i, view in enumerate(views):
        found = choose(view, HeadChoice(k=k), seed=0)
        assert found.heads.tolist() == expected.heads[i].tolist()
        assert found.n_skipped == expected.n_skipped[i] == 0
        np.testing.assert_allclose(found.values, expected.values[i], atol=1e-6)


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("all", range(24)),
        ("rect:1,2,3,4", [8, 9, 10, 14, 15, 16, 20, 21, 22]),
        ("head:2,5", [17]),
    ],
)
def test_values_are_means_over_the_heads_and_tests_those_of_scipy(views, text, heads):
    view = views[1]
    found = choose(view, parse_choice(text, L, H), seed=0)
    assert sorted(found.heads.tolist()) == list(heads)
    r = view.separability.ravel()[found.heads]
    assert (np.diff(r) <= 0).all()
    expected = [
        math.fsum(float(view.z[head, phrase]) for head in heads) / len(heads)
        for phrase in range(view.z.shape[1])
    ]
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    x, y = np.array(expected[:N_CONCEPTS]), np.array(expected[N_CONCEPTS:])
    ks, location = stats.ks_2samp(x, y), stats.mannwhitneyu(x, y, method="asymptotic")
    assert (found.method, found.reason) == ("exact", "")
    assert (found.n_concepts, found.n_reference) == (N_CONCEPTS, N_CONCEPTS)
    assert found.statistic == pytest.approx(ks.statistic)
    assert found.pvalue == pytest.approx(ks.pvalue)
    assert found.difference == pytest.approx(x.mean() - y.mean())
    welch = stats.ttest_ind(x, y, equal_var=False).confidence_interval()
    assert (found.difference_low, found.difference_high) == pytest.approx((welch.low, welch.high))
    assert found.superiority == pytest.approx(location.statistic / N_CONCEPTS**2)
    assert found.pvalue_location == pytest.approx(location.pvalue)
    assert found.pvalue_spread == pytest.approx(stats.levene(x, y, center="median").pvalue)


def test_positions_are_counted_around_the_mean_of_all_phrases(views):
    labels = [1, -1, None, 1, None, -1, -1, -1] + [None] * (N_CONCEPTS - 8)
    z = views[0].z + 0.3  # a centre that is not 0
    view = replace(views[0], labels=tuple(labels), z=z)
    found = choose(view, HeadChoice(k=4), seed=0)
    assert found.centre == pytest.approx(found.values.mean())
    assert abs(found.centre) > 0.1
    hits, pairs = {1: [], -1: []}, []
    for value, label in zip(found.values, labels, strict=False):
        if label is not None:
            hits[label].append((value > found.centre) == (label > 0))
    for high in (found.values[i] for i in range(8) if labels[i] == 1):
        pairs += [high > found.values[i] for i in range(8) if labels[i] == -1]
    assert found.accuracy == pytest.approx(np.mean(hits[1] + hits[-1]))
    assert found.balanced_accuracy == pytest.approx((np.mean(hits[1]) + np.mean(hits[-1])) / 2)
    assert found.auc == pytest.approx(np.mean(pairs))
    assert (found.n_labelled, found.n_positive) == (6, 2)
    assert found.majority == pytest.approx(4 / 6)
    assert found.position_reason == ""


@pytest.mark.parametrize(
    ("labels", "reason"), [((1,), NO_LABELS), ((1, 1, 1), ONE_LABEL), ((-1, 1), "")]
)
def test_labels_that_cannot_be_compared_with_sides(views, labels, reason):
    view = replace(views[0], labels=(*labels, *[None] * (N_CONCEPTS - len(labels))))
    found = choose(view, HeadChoice(k=4), seed=0)
    assert (found.n_labelled, found.position_reason) == (len(labels), reason)
    assert math.isnan(found.auc) == bool(reason)


def test_intervals_are_as_wide_as_means_over_so_many_heads_vary(views):
    found = choose(views[0], HeadChoice(), seed=0)
    again = choose(views[0], HeadChoice(), seed=0)
    np.testing.assert_array_equal(found.interval, again.interval)
    sd = views[0].z[:, :N_CONCEPTS].astype(float).std(axis=0) / math.sqrt(L * H)
    width = found.interval[:, 1] - found.interval[:, 0]
    assert np.median(width / sd) == pytest.approx(2 * 1.96, rel=0.05)
    values = found.values[:N_CONCEPTS]
    assert ((found.interval[:, 0] < values) & (values < found.interval[:, 1])).all()


def test_four_heads_give_no_interval(views):
    assert np.isnan(choose(views[0], HeadChoice(k=4), seed=0).interval).all()
    assert np.isfinite(choose(views[0], HeadChoice(k=5), seed=0).interval).all()


def test_heads_without_variance_are_skipped_and_counted(views):
    view = views[0]
    best = chosen_heads(view, HeadChoice(k=3)).heads
    z, separability = view.z.copy(), view.separability.copy()
    z[best[0]] = np.nan
    separability[divmod(int(best[1]), H)] = np.nan
    view = replace(view, z=z, separability=separability)
    found = choose(view, HeadChoice(k=3), seed=0)
    assert (len(found.heads), found.n_skipped) == (3, 2)
    assert not set(found.heads.tolist()) & set(best[:2].tolist())
    assert np.isfinite(found.values).all()
    everything = choose(view, HeadChoice(), seed=0)
    assert (len(everything.heads), everything.n_skipped) == (22, 2)
    layer, head = divmod(int(best[0]), H)
    nothing = choose(view, HeadChoice(box=(layer, head, layer, head)), seed=0)
    assert (len(nothing.heads), nothing.n_skipped) == (0, 1)
    assert np.isnan(nothing.values).all()
    assert math.isnan(nothing.statistic)
    assert nothing.reason == "no head's output varies, or none is finite"
    assert (nothing.n_concepts, nothing.n_reference, nothing.n_labelled) == (0, 0, 0)


def test_a_phrase_without_values_is_left_out(views):
    z = views[0].z.copy()
    z[:, [0, N_CONCEPTS]] = np.nan
    view = replace(views[0], z=z, labels=(1, -1, 1, *[None] * (N_CONCEPTS - 3)))
    found = choose(view, HeadChoice(k=5), seed=0)
    assert np.flatnonzero(np.isnan(found.values)).tolist() == [0, N_CONCEPTS]
    assert np.isnan(found.interval[0]).all()
    assert np.isfinite(found.interval[1:]).all()
    assert (found.n_concepts, found.n_reference, found.n_labelled) == (39, 39, 2)
    x, y = found.values[1:N_CONCEPTS], found.values[N_CONCEPTS + 1 :]
    assert found.pvalue == pytest.approx(stats.ks_2samp(x, y).pvalue)


def test_without_reference_or_labels_the_reason_is_given(planted):
    cache, question = planted
    axis_id = get_axes(cache, AXES)[0].axis_id
    view = axis_view(cache, replace(question, reference=""), axis_id)
    found = choose(view, HeadChoice(k=5), seed=0)
    assert np.isfinite(found.values).all()
    assert (found.n_reference, found.reason) == (0, NO_REFERENCE)
    tests = (found.statistic, found.pvalue, found.difference, found.superiority)
    more = (found.pvalue_location, found.spread_ratio, found.pvalue_spread)
    assert all(math.isnan(x) for x in tests + more)
    assert (found.n_labelled, found.position_reason) == (0, NO_LABELS)
    assert all(math.isnan(x) for x in (found.accuracy, found.auc, found.majority))


def test_the_planted_model_tells_its_truth(views):
    where = places()
    for i, view in enumerate(views):
        labels = np.where(where[:, i] > np.median(where[:, i]), 1, -1)
        view = replace(view, labels=tuple(labels.tolist()))
        found = choose(view, HeadChoice(k=3), seed=0)
        assert set(found.heads.tolist()) == MODEL.heads[i]
        assert (found.pvalue < 0.001) == (i in STEREOTYPED)
        assert (found.difference > 0.5) == (i in STEREOTYPED)
        assert found.auc > 0.8
        assert np.corrcoef(found.values[:N_CONCEPTS], where[:, i])[0, 1] > 0.8
        others = [head for head in range(L * H) if head not in MODEL.heads[i]]
        elsewhere = [
            choose(view, HeadChoice(box=(*divmod(head, H), *divmod(head, H))), seed=0).auc
            for head in others
        ]
        assert 0.4 < np.mean(elsewhere) < 0.6
