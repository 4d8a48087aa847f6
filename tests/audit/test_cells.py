"""Tests of cells against scipy and naive loops, and what they say of thin data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.audit.cells import cells, judged, score_map
from core.analysis.audit.names import NOTHING_CHANGES
from core.analysis.audit.request import AuditRequest
from core.stats.resampling import sign_flip_test, sign_vectors
from tests.made_panels import made_panel

NAN = float("nan")
D = AuditRequest(dataset="made", n_resamples=4096, n_bootstrap=200)


def drawn(n_models: int, n_items: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.9, (n_models, n_items))


def mean_of(x: np.ndarray, axis: int) -> np.ndarray:
    return x.mean(axis=axis)


def test_small_cells_equal_scipy() -> None:
    english, spanish, french = (drawn(2, 10, seed) for seed in (1, 2, 3))
    spanish[1, 3], english[0, 7] = NAN, NAN
    found = cells(made_panel({"en": english, "es": spanish, "fr": french}), D).rows
    assert found["condition"].tolist() == ["es", "fr"] * 2
    assert found["model"].tolist() == ["model-0"] * 2 + ["model-1"] * 2
    assert found["n"].tolist() == [9, 9, 9, 10]
    expected = []
    for m in (0, 1):
        for translated in (spanish, french):
            d = (translated - english)[m]
            d = d[np.isfinite(d)]
            test = stats.permutation_test(
                (d,), mean_of, permutation_type="samples", n_resamples=np.inf, vectorized=True
            )
            expected.append((d.mean(), d.std(ddof=1), test.pvalue))
    for column, values in zip(
        ("mean_change", "sd", "pvalue"), zip(*expected, strict=True), strict=True
    ):
        assert found[column].tolist() == pytest.approx(list(values), abs=1e-12)
    assert found["exact"].all()
    assert found["qvalue"].tolist() == pytest.approx(
        stats.false_discovery_control(found["pvalue"]), abs=1e-12
    )
    assert (found["reason"] == "").all()


def test_binary_choices_are_a_family_of_their_own() -> None:
    english, spanish = drawn(3, 40, 1), drawn(3, 40, 2)
    spanish[0, 0] = 0.5  # an exact tie counts one half
    found = cells(made_panel({"en": english, "es": spanish}), D).rows
    d = np.where(spanish == 0.5, 0.5, spanish > 0.5) - (english > 0.5)
    assert found["mean_change_binary"].tolist() == pytest.approx(d.mean(axis=1))
    assert found["qvalue_binary"].tolist() == pytest.approx(
        stats.false_discovery_control(found["pvalue_binary"])
    )


def test_all_cells_of_both_kinds_meet_the_same_signs() -> None:
    english, spanish = drawn(2, 50, 1), drawn(2, 50, 2)
    found = cells(made_panel({"en": english, "es": spanish}), D).rows
    signs = sign_vectors(50, 4096, rng=D.rng("signs"))
    rng = np.random.default_rng(0)
    soft = sign_flip_test(spanish - english, rng=rng, signs=signs)
    binary = sign_flip_test((spanish > 0.5) * 1.0 - (english > 0.5), rng=rng, signs=signs)
    assert found["pvalue"].tolist() == soft.pvalue.tolist()
    assert found["pvalue_maxt"].tolist() == soft.pvalue_maxt.tolist()
    assert found["pvalue_binary"].tolist() == binary.pvalue.tolist()


def test_a_planted_drop_and_a_planted_rise_are_told_apart() -> None:
    english = np.random.default_rng(0).uniform(0.3, 0.6, (2, 60))
    noise = np.random.default_rng(1).normal(0, 0.05, (2, 60))
    planted = np.array([[-0.1], [0.1]]) + noise
    flat = english + np.random.default_rng(2).normal(0, 0.05, (2, 60))
    found = cells(made_panel({"en": english, "es": english + planted, "fr": flat}), D).rows
    by_cell = found.set_index(["model", "condition"])
    assert by_cell["reliable"].to_dict() == {
        ("model-0", "es"): True,
        ("model-0", "fr"): False,
        ("model-1", "es"): False,
        ("model-1", "fr"): False,
    }
    assert by_cell["reliable_rise"].sum() == 1
    assert by_cell.loc[("model-1", "es"), "reliable_rise"]


def test_a_cell_without_scores_is_undefined_and_no_test() -> None:
    english, spanish = drawn(2, 12, 1), drawn(2, 12, 2)
    spanish[1] = NAN
    found = cells(made_panel({"en": english, "es": spanish, "fr": drawn(2, 12, 3)}), D).rows
    row = found.iloc[2]
    assert row["reason"] != ""
    assert (row["n"], row["n_binary"]) == (0, 0)
    assert row[["mean_change", "sd", "pvalue", "qvalue", "pvalue_maxt"]].isna().all()
    assert row["reliable"] is pd.NA
    assert row["reliable_rise"] is pd.NA
    assert (found["n_tests"] == 3).all()
    rest = found.drop(index=2)
    assert rest["qvalue"].tolist() == pytest.approx(stats.false_discovery_control(rest["pvalue"]))


@pytest.mark.parametrize("dust", [0.0, 1e-17])
def test_where_no_item_changes_there_is_no_test_and_no_place_in_the_family(dust: float) -> None:
    english = drawn(1, 20)
    moved = english + 0.1 * drawn(1, 20, 3)
    found = cells(made_panel({"en": english, "es": english + dust, "hi": moved}), D)
    row = found.rows.iloc[0]
    assert (row["mean_change"], row["sd"], row["n"], row["n_tests"]) == (0, 0, 20, 1)
    assert np.isnan([row["pvalue"], row["qvalue"]]).all()
    assert row["reliable"] is pd.NA
    assert row["reason"] == NOTHING_CHANGES
    assert any("no item changes" in note for note in found.notes)
    assert found.rows["qvalue"].iloc[1] == found.rows["pvalue"].iloc[1]


def test_one_item_has_a_change_but_no_spread() -> None:
    row = cells(made_panel({"en": [[0.6]], "es": [[0.4]]}), D).rows.iloc[0]
    assert row["mean_change"] == pytest.approx(-0.2)
    assert row["n"] == 1
    assert np.isnan([row["sd"], row["pvalue"], row["qvalue"]]).all()
    assert row["reliable"] is pd.NA
    assert "One item" in row["reason"]


def test_without_a_translation_the_table_says_so() -> None:
    found = cells(made_panel({"en": drawn(2, 5), "en~p1": drawn(2, 5, 1)}), D)
    assert found.rows.empty
    assert "qvalue_binary" in found.rows
    assert "no translation" in found.notes[0]


def test_a_family_without_any_test_stays_undefined() -> None:
    nothing = pd.DataFrame({"pvalue": [NAN, NAN], "mean_change": [NAN, NAN]})
    found = judged(nothing.join(nothing.add_suffix("_binary")))
    assert found["qvalue"].isna().all()
    assert found["reliable_binary"].isna().all()
    assert found["n_tests"].tolist() == [0, 0]


def test_the_score_map_holds_means_over_all_items_of_a_condition() -> None:
    english, spanish = drawn(2, 6, 1), drawn(2, 6, 2)
    spanish[1, 4] = NAN
    panel = made_panel(
        {"en": english, "es": spanish, "en~p1": drawn(2, 6, 3)}, collapsed={"es": [0]}
    )
    found = score_map(panel, D).rows.set_index(["model", "condition"])
    assert len(found) == 6
    row = found.loc[("model-1", "es")]
    kept = spanish[1, [1, 2, 3, 5]]
    assert (row["n"], row["score"]) == (4, pytest.approx(kept.mean()))
    assert row["score_binary"] == pytest.approx((kept > 0.5).mean())
    # English keeps the items that collapsed in Spanish: the difference is not the drop
    assert found.loc[("model-1", "en"), "n"] == 6
    drop = cells(panel, D).rows.iloc[1]["mean_change"]
    assert row["score"] - found.loc[("model-1", "en"), "score"] != pytest.approx(drop, abs=1e-6)


def test_a_condition_that_nobody_scored_has_no_mean() -> None:
    found = score_map(made_panel({"en": [[0.5, 0.6]], "es": [[NAN, NAN]]}), D).rows
    assert found["n"].tolist() == [2, 0]
    assert np.isnan(found["score"].iloc[1])
    assert found["reason"].iloc[1] != ""
