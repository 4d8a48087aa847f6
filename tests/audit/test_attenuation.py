"""The share of a rewording's correlation, against numpy on the items that it names."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.attenuation import attenuation
from core.analysis.audit.carry_over import association
from core.analysis.audit.kept import kept
from core.analysis.audit.names import NO_REWORDING
from core.analysis.audit.request import AuditRequest
from tests.audit.test_carry_over import made, only
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_bootstrap=200)


def r(panel, m, a, b, items=slice(None)):
    scores = panel.scores("mean")[m]
    return np.corrcoef(scores[panel.at(a)][items], scores[panel.at(b)][items])[0, 1]


def test_the_ratio_is_of_full_coverage_rewordings_on_the_same_items():
    panel = made()
    table = attenuation(panel, REQUEST).rows
    assert table["condition"].tolist() == ["es", "hi"]
    row = only(table, condition="hi")
    assert row["rewordings"] == "en~p1, en~p2"  # en~llm covers ten items
    items = [np.delete(np.arange(24), 3), np.arange(24), np.arange(24)]  # hi lacks one
    cross = [r(panel, m, "en", "hi", items[m]) for m in range(3)]
    reworded = [
        np.mean([r(panel, m, "en", c, items[m]) for c in ("en~p1", "en~p2")]) for m in range(3)
    ]
    assert row["r_cross"] == pytest.approx(np.mean(cross))
    assert row["r_reworded"] == pytest.approx(np.mean(reworded))
    assert row["r_ratio"] == pytest.approx(np.mean(np.divide(cross, reworded)))
    assert row["r_ratio_low"] < row["r_ratio"] < row["r_ratio_high"]
    assert (row["n_items"], row["n_models"], row["n_models_undefined"]) == (24, 3, 0)
    assert np.isnan(row["r_corrected"])
    assert row["reason"] == "No rewording of hi is made by a method that English has too."


def test_the_correction_uses_the_methods_of_both_languages_on_items_with_all_versions():
    panel = made()
    row = only(attenuation(panel, REQUEST).rows, condition="es")
    assert row["methods"] == "p1"
    items = np.arange(15)
    expected = []
    for m in range(3):
        cross = r(panel, m, "en", "es", items)
        rel = r(panel, m, "en", "en~p1", items), r(panel, m, "es", "es~p1", items)
        expected.append([cross, *rel, cross / np.sqrt(rel[0] * rel[1])])
    names = ["r_cross_corrected", "reliability_english", "reliability_language", "r_corrected"]
    assert row[names].tolist() == pytest.approx(np.mean(expected, axis=0).tolist())
    assert (row["n_items_corrected"], row["n_models_corrected"], row["reason"]) == (15, 3, "")
    assert row["r_corrected_low"] < row["r_corrected"] < row["r_corrected_high"]


def test_reliability_is_the_mean_over_all_pairs_of_versions():
    rng = np.random.default_rng(1)
    item = rng.normal(0, 0.1, 30)
    scores = {
        c: np.clip(0.5 + item + rng.normal(0, 0.05, (1, 30)), 0.01, 0.99)
        for c in ("en", "en~a", "en~b", "en~c", "nl", "nl~b", "nl~a")
    }
    panel = made_panel(scores)
    row = only(attenuation(panel, REQUEST).rows, condition="nl")
    assert row["methods"] == "a, b"
    for name, language in (("reliability_english", "en"), ("reliability_language", "nl")):
        versions = [language, f"{language}~a", f"{language}~b"]
        expected = np.mean([r(panel, 0, a, b) for a, b in combinations(versions, 2)])
        assert row[name] == pytest.approx(expected)


def test_partial_rewordings_stand_in_where_none_is_full():
    panel = made(drop=("en~p1", "en~p2"))
    row = only(attenuation(panel, REQUEST).rows, condition="es")
    assert (row["rewordings"], row["n_items"]) == ("en~llm", 10)
    assert row["methods"] == ""


def test_without_an_english_rewording_nothing_can_be_said():
    found = attenuation(made(drop=("en~p1", "en~p2", "en~llm")), REQUEST)
    assert found.notes == (NO_REWORDING,)
    assert found.rows[["r_cross", "r_ratio", "r_corrected"]].isna().all(axis=None)
    assert (found.rows["n_items"] == 0).all()
    assert found.rows["reason"].str.startswith(NO_REWORDING).all()


@pytest.mark.parametrize(
    ("reworded", "reason"),
    [
        (
            [[0.4, 0.3, 0.2, 0.1]],
            "No ratio: in no model do the English rewordings correlate above 0.",
        ),
        ([[0.5, 0.5, 0.5, 0.5]], "No ratio: no model has 3 items with all these versions"),
        ([[0.5, 0.4, NAN, NAN]], "No ratio: no model has 3 items with all these versions"),
    ],
)
def test_what_cannot_be_said_is_nan_with_a_reason(reworded, reason):
    scores = {"en": [[0.1, 0.2, 0.3, 0.4]], "es": [[0.3, 0.2, 0.5, 0.6]], "en~p1": reworded}
    scores["es~p1"] = reworded
    row = only(attenuation(made_panel(scores), REQUEST).rows, condition="es")
    assert row["reason"].startswith(reason)
    assert "No corrected value: " in row["reason"]
    assert np.isnan([row["r_ratio"], row["r_corrected"]]).all()


def test_only_english_gives_an_empty_table_with_its_columns():
    rows = attenuation(made_panel({"en": np.full((1, 4), 0.6)}), REQUEST).rows
    assert rows.empty
    assert "r_corrected_high" in rows.columns


def test_draws_that_are_kept_give_what_new_ones_do(monkeypatch):
    kept = attenuation(made(), REQUEST).rows
    monkeypatch.setattr("core.analysis.audit.attenuation._MOST", 0)
    pd.testing.assert_frame_equal(kept, attenuation(made(), REQUEST).rows, rtol=1e-9)


def test_models_that_have_fewer_of_the_items_are_counted_in_words():
    rng = np.random.default_rng(4)
    english = rng.uniform(0.2, 0.8, (3, 30))
    scores = {
        c: np.clip(english + rng.normal(0, 0.05, english.shape), 0.01, 0.99)
        for c in ("en", "en~p1", "en~p2", "hi")
    }
    scores["hi"][0, :2] = np.nan
    panel = made_panel(scores)
    rows = attenuation(panel, REQUEST).rows
    assert rows[["n_items", "n_items_least"]].to_numpy().tolist() == [[30, 28]]
    (said,) = kept(association(panel, REQUEST).rows, rows).rows["sentence"]
    assert "of rewordings on the same items, 28 to 30 of them by model" in said
    whole = made_panel({c: s[1:] for c, s in scores.items()})
    (said,) = kept(association(whole, REQUEST).rows, attenuation(whole, REQUEST).rows).rows[
        "sentence"
    ]
    assert "on the same 30 items" in said
