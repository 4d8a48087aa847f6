"""Equivalence per language: the margin against the interval of the item test."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.equivalence import equivalence
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.request import AuditRequest, AuditTable
from core.errors import InputError
from tests.made_panels import made_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=500)
PARAPHRASES = ("en~p1", "en~p2", "en~p3")


def _scores(seed: int = 0, models: int = 2, items: int = 60, **shifts: float):
    """Scores around 0.5 per condition, moved by so much; three rewordings of English."""
    rng = np.random.default_rng(seed)
    item = rng.uniform(0.3, 0.7, items)
    versions = {"en": 0.0, "en_p1": 0.0, "en_p2": 0.01, "en_p3": -0.01} | shifts
    return {
        c.replace("_", "~"): np.clip(item + x + rng.normal(0, 0.04, (models, items)), 0.01, 0.99)
        for c, x in versions.items()
    }


def test_a_margin_decides_over_the_ninety_percent_interval() -> None:
    scores = _scores(models=3, items=400, es=0.0, hi=0.1)
    panel = made_panel(scores)
    tested = item_tests(panel, REQUEST)
    table = equivalence(panel, REQUEST, tested)
    rows = table.rows.set_index("condition")
    assert rows["margin"].tolist() == [0.02] * 3
    assert rows.at["es", "equivalent"]
    assert not rows.at["hi", "equivalent"]
    for condition in ("es", "hi"):
        row = rows.loc[condition]
        assert row["equivalent"] == bool(row["t90_low"] > -0.02 and row["t90_high"] < 0.02)
        assert row["n_needed"] == math.ceil((2.926405 * row["sd"] / 0.02) ** 2)
        assert row["n"] == 400
    assert "0.02" in table.notes[0]
    narrow = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=500, margin=1e-4)
    assert not equivalence(panel, narrow, tested).rows["equivalent"].any()


def test_an_undefined_interval_is_not_called_different() -> None:
    panel = made_panel(_scores(items=1, es=0.1))
    rows = equivalence(panel, REQUEST, item_tests(panel, REQUEST)).rows
    assert rows["equivalent"].isna().all()
    assert (rows["reason"] != "").all()
    empty = AuditTable(item_tests(panel, REQUEST).rows.iloc[:0])
    assert equivalence(panel, REQUEST, empty).rows.empty


def test_a_margin_of_nothing_is_refused() -> None:
    panel = made_panel(_scores(es=0.1))
    request = AuditRequest(dataset="made", margin=0.0)
    with pytest.raises(InputError, match="positive"):
        equivalence(panel, request, AuditTable(pd.DataFrame()))
