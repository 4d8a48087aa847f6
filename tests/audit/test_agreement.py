"""Agreement of models in an audit, against scipy pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from core.analysis.audit.agreement import agreement
from core.analysis.audit.names import NO_AGREEMENT
from core.analysis.audit.request import AuditRequest
from tests.audit.test_carry_over import made, only, pairs
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made")


def pairwise(values):
    found = []
    for a, b in combinations(values, 2):
        both = np.isfinite(a) & np.isfinite(b)
        found.append(stats.pearsonr(a[both], b[both]).statistic)
    return np.mean(found)


@pytest.mark.parametrize("condition", ["es", "hi", "en~llm", "es~p1"])
def test_agreement_agrees_with_scipy_pair_by_pair(condition):
    panel = made()
    row = only(agreement(panel, REQUEST).rows, condition=condition)
    before, after = pairs(panel, condition)
    left = []
    for x, y in zip(before, after, strict=True):
        both = np.isfinite(x) & np.isfinite(y)
        fit = stats.linregress(x[both], y[both])
        left.append(y - fit.intercept - fit.slope * x)
    assert row["r_scores"] == pytest.approx(pairwise(after), abs=1e-10)
    assert row["r_changes"] == pytest.approx(pairwise(after - before), abs=1e-10)
    assert row["r_residuals"] == pytest.approx(pairwise(left), abs=1e-10)
    assert (row["n_models"], row["n_pairs"], row["n_pairs_undefined"]) == (3, 3, 0)
    assert row["n_items"] == np.isfinite(after).any(axis=0).sum()
    assert row["reason"] == ""


def test_changes_agree_by_construction_where_nothing_is_shared():
    rng = np.random.default_rng(0)
    n = 2_500
    english = np.clip(0.5 + rng.normal(0, 0.1, n) + rng.normal(0, 0.1, (3, n)), 0.01, 0.99)
    noise = np.clip(rng.normal(0.5, 0.14, (3, n)), 0.01, 0.99)
    row = only(agreement(made_panel({"en": english, "es": noise}), REQUEST).rows, condition="es")
    assert row["r_changes"] == pytest.approx(row["r_changes_if_unrelated"], abs=0.04)
    assert row["r_changes"] > 0.2
    assert row["r_residuals"] == pytest.approx(0, abs=0.04)


def test_english_has_scores_and_no_changes():
    row = only(agreement(made(), REQUEST).rows, condition="en")
    assert row["r_scores"] > 0
    assert np.isnan([row["r_changes"], row["r_changes_if_unrelated"], row["r_residuals"]]).all()
    assert row["reason"].startswith("English is what the others are compared with")


def test_one_model_agrees_with_nobody():
    found = agreement(made(1), REQUEST)
    assert found.notes == (NO_AGREEMENT,)
    assert found.rows[["r_scores", "r_changes", "r_residuals"]].isna().all(axis=None)
    assert (found.rows["reason"] == NO_AGREEMENT).all()
    assert (found.rows["n_pairs"] == 0).all()


@pytest.mark.parametrize(
    ("english", "spanish", "reason"),
    [
        ([[0.2, 0.3, 0.4]] * 2, [[0.3, 0.3, NAN]] * 2, "No two models have 3 scored items"),
        ([[0.2, 0.3, NAN]] * 2, [[0.3, 0.4, 0.6]] * 2, "No two models have 3 changes"),
        ([[0.2, 0.3, 0.4]] * 2, [[0.2, 0.3, 0.4]] * 2, "No two models have 3 changes"),
    ],
)
def test_what_cannot_be_said_is_nan_with_a_reason(english, spanish, reason):
    panel = made_panel({"en": english, "es": spanish})
    row = only(agreement(panel, REQUEST).rows, condition="es")
    assert row["reason"].startswith(reason)
    assert np.isnan(row["r_changes"])
