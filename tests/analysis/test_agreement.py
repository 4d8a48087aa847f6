"""Agreement between models and with labels, against statsmodels and loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats import inter_rater

from core.analysis.heads.agreement import FLAGS, ONE_SIDED, label_agreement, model_agreement
from core.analysis.heads.stored import StoredAxes, compute_axes
from core.errors import InputError
from core.store.axes import get_concepts
from core.store.gate import Cache
from tests.planted_cache import STEREOTYPED
from tests.planted_heads import planted_heads
from tests.planted_labels import LABELLED, fill_labelled


@pytest.fixture(scope="module")
def read(tmp_path_factory) -> tuple[Cache, list[StoredAxes]]:
    """The same axes and groups in two models of different sizes."""
    cache = Cache(tmp_path_factory.mktemp("two"))
    models = planted_heads(), planted_heads(n_layers=3, n_heads=5, seed=5)
    questions = [fill_labelled(cache, model, seed=i) for i, model in enumerate(models)]
    return cache, [compute_axes(cache, question) for question in questions]


def _two_by_two(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([[((a == i) & (b == j)).sum() for j in (1, 0)] for i in (1, 0)])


def test_sides_and_flags_of_models_are_those_of_a_two_by_two(read):
    _, (first, second) = read
    rows = model_agreement(first, second)
    assert rows["dimension"].tolist() == ["warmth", "competence", "all", "all"]
    sides = [found.held.of_concepts > 0 for found in (first, second)]
    for dimension, at in (("warmth", slice(4)), ("competence", slice(4, 7)), ("all", slice(8))):
        row = rows[(rows["dimension"] == dimension) & (rows["what"] != FLAGS)].iloc[0]
        table = _two_by_two(sides[0][at], sides[1][at])
        assert row["n"] == table.sum() == 40 * row["n_axes"]
        assert row["agreement"] == pytest.approx(np.trace(table) / table.sum())
        expected = inter_rater.cohens_kappa(table)
        assert row["kappa"] == pytest.approx(expected.kappa)
    flags = rows[rows["what"] == FLAGS].iloc[0]
    assert flags["n"] == 8 and flags["reason"] == ""
    tables = [found.table.set_index("axis_id").sort_index() for found in (first, second)]
    table = _two_by_two(*(each["flagged"].to_numpy(bool) for each in tables))
    assert flags["kappa"] == pytest.approx(inter_rater.cohens_kappa(table).kappa)
    assert table[0, 0] == len(STEREOTYPED)  # the planted axes are flagged in both


def test_r_is_the_mean_over_axes_of_pearsons(read):
    _, (first, second) = read
    rows = model_agreement(first, second)
    pairs = zip(first.held.of_concepts, second.held.of_concepts, strict=True)
    r = [np.corrcoef(a, b)[0, 1] for a, b in pairs]
    assert rows["r"].iloc[2] == pytest.approx(np.mean(r))
    assert rows["r"].iloc[0] == pytest.approx(np.mean(r[:4]))
    same = model_agreement(first, first)
    assert (same["agreement"] == 1).all() and (same["kappa"] == 1).all()
    assert same["r"].iloc[2] == pytest.approx(1)


def test_labels_agree_with_the_axis_they_were_made_of(read):
    cache, (first, _) = read
    concepts = get_concepts(cache, LABELLED).concepts
    rows = label_agreement(first, concepts).set_index("dimension")
    sides = first.held.of_concepts[:4] > 0
    labels = np.array([concept.warmth == 1 for concept in concepts])
    assert rows.loc["warmth", "agreement"] == pytest.approx((sides == labels).mean())
    assert rows["n"].tolist() == [160, 120] and list(rows.index) == ["warmth", "competence"]
    without = label_agreement(first, [replace(c, warmth=None, competence=None) for c in concepts])
    assert without["kappa"].isna().all() and without["n"].tolist() == [0, 0]
    assert without["reason"].iloc[0] == "no axis and concept with a label of warmth"


def test_undefined_axes_enter_nothing_and_one_sided_flags_have_no_kappa(read):
    _, (first, second) = read
    values = first.held.values.copy()
    values[0] = np.nan
    table = first.table.assign(flagged=first.table["flagged"].mask(first.table.index > 1))
    thinned = replace(first, held=replace(first.held, values=values), table=table)
    rows = model_agreement(thinned, second)
    assert rows["n"].tolist() == [120, 120, 280, 2]
    flags = rows.iloc[-1]
    assert np.isnan(flags["kappa"]) and flags["reason"] == ONE_SIDED
    assert flags["agreement"] == 1


def test_other_axes_or_groups_cannot_be_compared(read):
    _, (first, second) = read
    other = replace(second, held=replace(second.held, axes=second.held.axes[::-1]))
    with pytest.raises(InputError, match="same axes and groups"):
        model_agreement(first, other)
