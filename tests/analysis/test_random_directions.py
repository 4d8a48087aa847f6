"""Axes beside random directions in their own heads: a loop with scipy, and what is planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.analysis.heads.arrays import phrase_outputs
from core.analysis.heads.random_directions import random_table
from core.analysis.heads.stored import compute_axes
from core.store.gate import Cache
from tests.planted_cache import STEREOTYPED
from tests.planted_heads import planted_heads
from tests.planted_labels import fill_labelled


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("random"))
    found = compute_axes(cache, fill_labelled(cache, planted_heads()))
    return cache, found, random_table(cache, found)


def test_numbers_are_those_of_a_loop_over_directions(planted):
    cache, found, rows = planted
    held, row = found.held, rows.iloc[0]
    place = [axis.axis_id for axis in held.axes].index(row["axis_id"])
    x = phrase_outputs(cache, found.question, [*held.concepts, *held.reference])
    x = x.reshape(80, 24, 16)[:, held.heads[place]]
    theta = np.random.default_rng(found.question.seed).normal(size=(200, 3, 16))
    statistics, flags = [], []
    for direction in theta:
        pi = np.array([x[:, h] @ direction[h] for h in range(3)])
        value = stats.zscore(pi, axis=1).mean(axis=0)
        test = stats.ks_2samp(value[:40], value[40:])
        statistics.append(test.statistic)
        flags.append(test.pvalue < 0.05)
    assert row["share"] == pytest.approx(np.mean(flags))
    assert row["median"] == pytest.approx(np.median(statistics))
    above = sum(d >= row["statistic"] - 1e-12 for d in statistics)
    assert row["pvalue"] == pytest.approx((1 + above) / 201)
    assert row["error"] == pytest.approx(np.sqrt(np.mean(flags) * (1 - np.mean(flags)) / 200))


def test_planted_axes_stand_out_from_random_directions(planted):
    _, found, rows = planted
    ids = [found.held.axes[i].axis_id for i in STEREOTYPED]
    assert (rows.set_index("axis_id").loc[ids, "pvalue"] < 0.05).all()
    assert (rows["n_directions"] == 200).all() and (rows["n_heads"] == 3).all()
    assert rows["axis_id"].tolist() == found.table["axis_id"].tolist()


def test_some_axes_alone_have_the_same_rows(planted):
    cache, found, rows = planted
    some = rows["axis_id"].tolist()[2:4]
    alone = random_table(cache, found, some)
    assert alone.to_dict("records") == rows.iloc[2:4].to_dict("records")


def test_an_axis_without_a_test_is_undefined_with_its_reason(planted):
    cache, found, _ = planted
    bare = compute_axes(cache, replace(found.question, reference=""))
    rows = random_table(cache, bare)
    assert rows[["share", "median", "pvalue"]].isna().all(axis=None)
    assert set(rows["reason"]) == {"no reference phrases were chosen"}
    assert (rows["n_directions"] == 0).all()
