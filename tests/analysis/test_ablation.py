"""The grid of settings: each row is that of its own setting, and what was not read is said."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from core.analysis.heads.ablation import ablation_grid
from core.analysis.heads.positions import position_table
from core.errors import InputError
from core.store.gate import Cache
from tests.planted_heads import planted_heads
from tests.planted_labels import fill_labelled


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("grid"))
    question = fill_labelled(cache, planted_heads())
    return cache, question, ablation_grid(cache, question)


def test_every_row_is_that_of_the_table_of_its_setting(grid):
    cache, question, rows = grid
    read = rows[rows["family"] == "simple"]
    settings = read.groupby(["pooling", "n_templates"])
    assert set(settings.groups) == {("mean", 15), ("mean", 30), ("last", 15), ("last", 30)}
    for (pooling, n), found in settings:
        expected = position_table(
            cache, replace(question, pooling=pooling, n_templates=int(n)), ks=[1, 8, 24]
        )
        pd.testing.assert_frame_equal(
            found[expected.columns].reset_index(drop=True), expected, check_dtype=False
        )
    assert len({tuple(group["auc"]) for _, group in settings}) == 4  # they are four readings


def test_a_family_that_was_not_read_has_a_reason_and_no_number(grid):
    _, _, rows = grid
    unread = rows[rows["family"] == "listing"]
    assert unread["dimension"].tolist() == ["warmth", "competence"]
    assert unread[["accuracy", "k", "n_axes", "pooling", "exact"]].isna().all(axis=None)
    assert set(unread["reason"]) == {
        "the family was not read for 8 of 8 axes; run `python -m core axes` with --family listing"
    }
    assert (rows.loc[rows["family"] == "simple", "reason"] == "").all()


def test_more_heads_than_there_are_is_refused(grid):
    cache, question, _ = grid
    with pytest.raises(InputError, match="has 24 heads, not 128"):
        ablation_grid(cache, question, ks=[8, 128])
