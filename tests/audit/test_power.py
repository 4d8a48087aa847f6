"""Power: the normal formula, and what few or equal items cannot say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.names import FEW_ITEMS, NO_TRANSLATION, POOLED
from core.analysis.audit.power import NO_MARGIN, SHIFTS, power
from core.analysis.audit.request import AuditRequest
from core.stats.levels import LEAST_ITEMS
from tests.made_panels import drawn_scores, made_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=200)


def test_power_of_each_language_is_by_formula_and_by_simulation() -> None:
    scores = drawn_scores(models=3, items=300, es=0.0, hi=0.1, en_p1=0.0, en_p2=0.0)
    scores["hi"][0, :100] = NAN
    panel = made_panel(scores)
    table = power(panel, REQUEST, item_tests(panel, REQUEST))
    rows = table.rows.set_index("condition")
    assert list(rows.index) == ["es", "hi", POOLED]
    for condition, n in (("es", 300), ("hi", 200)):
        row = rows.loc[condition]
        d = (scores[condition] - scores["en"]).mean(axis=0) - np.mean(
            [(scores[c] - scores["en"]).mean(axis=0) for c in ("en~p1", "en~p2")], axis=0
        )
        sd = np.nanstd(d, ddof=1)
        assert row["n"] == n
        assert row["sd"] == pytest.approx(sd)
        z = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)
        assert row["items_needed"] == math.ceil((z * sd / 0.02) ** 2)
        assert row["smallest_shift"] == pytest.approx(z * sd / math.sqrt(n))
        assert row["size"] == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 400))
        expected = scipy.stats.norm.sf(1.96 - 0.02 / sd * math.sqrt(n))
        assert row["power_002"] == pytest.approx(expected, abs=0.1)
        assert row["size"] < row["power_002"] <= row["power_004"] <= row["power_006"]
        assert row["power_002_error"] == pytest.approx(
            math.sqrt(row["power_002"] * (1 - row["power_002"]) / 400)
        )
        assert row["reason"] == ""
    assert SHIFTS == (0.02, 0.04, 0.06)  # the columns are named after them


def test_thin_or_equal_items_have_no_power_and_not_a_power_of_zero() -> None:
    for scores in (drawn_scores(items=1, es=0.1, en_p1=0.0), drawn_scores(es=0.1)):
        panel = made_panel(scores)
        rows = power(panel, REQUEST, item_tests(panel, REQUEST)).rows
        assert rows[["power_002", "size"]].isna().all(axis=None)
        tested = item_tests(panel, REQUEST).rows
        of_languages = tested.loc[tested["group_kind"] == "all", "reason"]
        assert rows["reason"].tolist() == of_languages.tolist()
        assert (rows["reason"] != "").all()
    panel = made_panel(drawn_scores(en_p1=0.0))
    found = power(panel, REQUEST, item_tests(panel, REQUEST))
    assert found.rows.empty
    assert NO_TRANSLATION in found.notes


@pytest.mark.parametrize("n_items", [2, LEAST_ITEMS - 1, LEAST_ITEMS])
def test_few_items_do_not_tell_how_many_are_needed(n_items: int) -> None:
    panel = made_panel(drawn_scores(items=n_items, es=0.1, en_p1=0.0))
    row = power(panel, REQUEST, item_tests(panel, REQUEST)).rows.iloc[0]
    told = row[["items_needed", "smallest_shift", "power_002", "power_006_error", "size"]].notna()
    assert (row["n"], row["n_worlds"] > 0) == (n_items, n_items == LEAST_ITEMS)
    assert told.tolist() == [n_items == LEAST_ITEMS] * 5
    assert row["reason"] == ("" if n_items == LEAST_ITEMS else FEW_ITEMS)


def test_standardised_scores_have_no_drop_of_two_points() -> None:
    request = replace(REQUEST, kind="standardised")
    panel = made_panel(drawn_scores(es=0.1, en_p1=0.0))
    found = power(panel, request, item_tests(panel, request))
    row = found.rows.iloc[0]
    assert np.isnan([row["items_needed"], row["power_002"], row["power_006_error"]]).all()
    assert row["smallest_shift"] > 0
    assert row["size"] >= 0
    assert row["reason"] == NO_MARGIN
