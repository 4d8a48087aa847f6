"""Intervals over items and models against a naive pigeonhole bootstrap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.crossed import crossed
from core.analysis.audit.request import AuditRequest
from core.stats.intervals import percentile_interval
from core.stats.resampling import bootstrap_means
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_bootstrap=4000)


def _scores(n_models: int = 7, n_items: int = 50) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    english = np.tile(rng.uniform(0.4, 0.6, n_items), (n_models, 1))
    of_models = rng.normal(0.03, 0.03, (n_models, 1))
    scores = {"en": english, "hi": english - of_models + rng.normal(0, 0.05, n_items)}
    return scores | {"en~p1": english + rng.normal(0, 0.04, english.shape)}


def _row(scores: dict[str, np.ndarray]) -> pd.Series:
    return crossed(made_panel(scores), REQUEST).rows.iloc[0]


def _naive(values: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(8)
    m, n = values.shape
    means = [
        np.nanmean(values[rng.integers(0, m, m)][:, rng.integers(0, n, n)]) for _ in range(4000)
    ]
    return tuple(np.quantile(means, [0.025, 0.975]))


def test_drop_and_drop_beyond_rewording_have_pigeonhole_intervals() -> None:
    scores = _scores()
    scores["hi"][1, :9] = NAN
    row = _row(scores)
    drop = scores["en"] - scores["hi"]
    beyond = drop + scores["en~p1"] - scores["en"]
    assert row["drop_pooled"] == pytest.approx(np.nanmean(drop))
    assert row["t_pooled"] == pytest.approx(np.nanmean(beyond))
    for name, values in (("drop_pooled", drop), ("t_pooled", beyond)):
        found = row[f"{name}_low"], row[f"{name}_high"]
        assert found == pytest.approx(_naive(values), abs=0.003)
    assert (row["n"], row["n_t"], row["n_models"], row["reason"]) == (50, 50, 7, "")
    assert row["n_bootstrap"] == 2000  # fewer than asked for, and said


def test_drawing_models_too_widens_the_interval() -> None:
    scores = _scores()
    row = _row(scores)
    values = (scores["en"] - scores["hi"]).mean(axis=0)
    draws = bootstrap_means(values[None], n_resamples=4000, rng=np.random.default_rng(1))[:, 0]
    items = percentile_interval(float(values.mean()), draws, len(values))
    assert row["drop_pooled_high"] - row["drop_pooled_low"] > 1.3 * (items.high - items.low)


def test_four_models_speak_for_themselves_only() -> None:
    scores = _scores(4)
    table = crossed(made_panel(scores), REQUEST)
    row = table.rows.iloc[0]
    assert row["drop_pooled"] == pytest.approx((scores["en"] - scores["hi"]).mean())
    assert np.isnan([row["drop_pooled_low"], row["drop_pooled_high"], row["t_pooled_low"]]).all()
    assert row["reason"].startswith("For these models only")
    assert table.notes == (row["reason"],)


def test_what_is_missing_is_undefined_and_says_why() -> None:
    scores = _scores()
    without = {c: s for c, s in scores.items() if c != "en~p1"}
    row = _row(without)
    assert np.isfinite(row["drop_pooled_low"])
    assert np.isnan(row["t_pooled"])
    assert "rewording" in row["reason"]
    row = _row(scores | {"hi": np.full_like(scores["hi"], NAN)})
    assert (row["n"], row["n_models"]) == (0, 0)
    assert np.isnan([row["drop_pooled"], row["drop_pooled_low"], row["t_pooled"]]).all()
    assert row["reason"] == "No item is scored in both versions."
    row = _row(scores | {"hi": scores["en"]})
    assert row["drop_pooled"] == 0
    assert np.isnan(row["drop_pooled_low"])
    assert row["reason"] != ""
    assert crossed(made_panel({"en": scores["en"]}), REQUEST).rows.empty


def test_a_language_has_the_same_interval_whichever_others_there_are() -> None:
    scores = _scores()
    alone, beside = _row(scores), crossed(made_panel(scores | {"es": scores["en~p1"]}), REQUEST)
    pd.testing.assert_series_equal(
        alone, beside.rows.set_index("condition", drop=False).loc["hi"], check_names=False
    )


def test_complete_cases_are_the_items_with_every_rewording() -> None:
    scores = _scores()
    scores["en~p2"] = scores["en~p1"] + 0.01
    scores["en~p1"][:, :5] = scores["en~p2"][:, 45:] = NAN
    table = crossed(made_panel(scores), replace(REQUEST, complete=True))
    kept = {c: s[:, 5:45] for c, s in scores.items()}
    beyond = (kept["en~p1"] + kept["en~p2"]) / 2 - kept["hi"]
    assert table.rows["t_pooled"].item() == pytest.approx(beyond.mean())
    assert table.rows["n_t"].item() == 40
    assert _row(scores)["n_t"] == 50
