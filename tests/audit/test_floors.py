"""Floors: loops over the changes, the published rule for coverage, and the gap above the floor."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from core.analysis.audit.floor_vs_gap import NO_COMPLETE, NO_TRANSLATED_ITEM, floor_vs_gap
from core.analysis.audit.floors import (
    NO_FULL,
    REPEATED,
    floors,
    floors_by_model,
    median_floor,
)
from core.analysis.audit.names import (
    ALIKE,
    NO_CHOICE_CHANGES,
    NO_ITEM_OF_MODEL,
    NO_REWORDING,
    NOTHING_CHANGES,
    ONE_ITEM,
)
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.noise import rewording_noise
from core.stats.resampling import sign_flip_test
from tests.made_panels import made_panel
from tests.thin_panels import thin_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=300)


def scores_around(seed: int = 0, models: int = 2, items: int = 30, **shifts: float):
    """Scores around 0.5 per condition, moved by so much."""
    rng = np.random.default_rng(seed)
    item = rng.uniform(0.3, 0.7, items)
    return {
        c.replace("_", "~"): np.clip(
            item + shift + rng.normal(0, 0.05, (models, items)), 0.01, 0.99
        )
        for c, shift in {"en": 0.0, **shifts}.items()
    }


def _with_metadata(panel: Panel, condition: str, name: str, values: list[object]) -> None:
    at = panel.versions.index[panel.versions["condition"] == condition]
    for i, value in zip(at, values, strict=True):
        panel.versions.at[i, "metadata"] = {**panel.versions.at[i, "metadata"], name: value}


@pytest.mark.parametrize(
    ("floors_", "expected"),
    [([0.04, NAN, 0.01, 0.02], 0.02), ([0.02, 0.01], 0.015), ([NAN], NAN), ([], NAN)],
)
def test_the_floor_of_several_models_is_the_median_of_theirs(floors_, expected) -> None:
    found = median_floor(pd.DataFrame({"floor": floors_}, dtype=float))
    assert found == pytest.approx(expected, nan_ok=True)


def test_a_choice_is_the_same_where_both_scores_are_on_one_side() -> None:
    scores = {"en": [[0.9, 0.6, 0.4, 0.2]], "en~p1": [[0.8, 0.3, 0.1, NAN]]}
    rows = floors(made_panel(scores), REQUEST).rows
    assert rows["same_choice"].tolist() == [pytest.approx(2 / 3)]
    assert rows["n"].tolist() == [3]
    nothing = {"en": [[0.9, 0.6]], "en~p1": [[NAN, NAN]]}
    row = floors(made_panel(nothing), REQUEST).rows.iloc[0]
    assert (math.isnan(row["same_choice"]), row["reason"]) == (True, NO_ITEM_OF_MODEL)


def test_each_rewording_has_its_numbers_by_hand() -> None:
    scores = scores_around(es=0.1, en_p1=0.0, en_p2=0.02)
    table = floors(made_panel(scores), REQUEST).rows
    assert list(zip(table["model"], table["condition"], strict=True)) == [
        (f"model-{m}", c) for m in range(2) for c in ("en~p1", "en~p2")
    ]
    for row in table.to_dict("records"):
        m = int(row["model"][-1])
        before, after = scores["en"][m], scores[row["condition"]][m]
        d = after - before
        assert (row["n"], row["full_coverage"], row["subset"]) == (30, True, "")
        assert row["mean_change"] == pytest.approx(d.mean())
        assert row["abs_mean_change"] == pytest.approx(abs(d.mean()))
        assert row["sd"] == pytest.approx(statistics.stdev(d))
        assert row["expected_noise"] == pytest.approx(
            scipy.stats.foldnorm.mean(0, scale=statistics.stdev(d) / math.sqrt(30))
        )
        assert row["slope"] == pytest.approx(scipy.stats.linregress(before, after).slope)
        choice = (after > 0.5).astype(float) - (before > 0.5)
        assert row["mean_change_binary"] == pytest.approx(choice.mean())
        p = sign_flip_test(d[None], n_resamples=500, rng=REQUEST.rng("signs")).pvalue[0]
        assert row["pvalue"] == pytest.approx(p)
    assert table["qvalue"].to_numpy() == pytest.approx(
        scipy.stats.false_discovery_control(table["pvalue"])
    )
    assert table["qvalue_binary"].to_numpy() == pytest.approx(
        scipy.stats.false_discovery_control(table["pvalue_binary"])
    )


def test_a_partial_rewording_stands_beside_the_full_ones_on_its_own_items() -> None:
    scores = scores_around(en_p1=0.0, en_p2=0.0, en_llm=0.0)
    scores["en~llm"][0, 12:] = NAN
    table = floors(made_panel(scores), REQUEST).rows
    mine = table[table["model"] == "model-0"].set_index(["condition", "subset"])
    assert mine.index.tolist() == [
        ("en~llm", ""),
        ("en~p1", ""),
        ("en~p2", ""),
        ("en~p1", "en~llm"),
        ("en~p2", "en~llm"),
    ]
    assert mine["full_coverage"].tolist() == [False, True, True, True, True]
    assert mine["n"].tolist() == [12, 30, 30, 12, 12]
    d = (scores["en~p1"] - scores["en"])[0, :12]
    assert mine.at[("en~p1", "en~llm"), "mean_change"] == pytest.approx(d.mean())
    assert mine["qvalue"].notna().tolist() == [True] * 3 + [False] * 2  # they repeat tests
    other = table[table["model"] == "model-1"]
    assert other["full_coverage"].all()
    assert (other["subset"] == "").all()
    assert "en~llm" in floors(made_panel(scores), REQUEST).notes[0]


def test_rewordings_of_a_translation_are_set_against_it_and_are_a_family_of_their_own() -> None:
    scores = scores_around(hi=0.1, hi_llm=0.15, en_p1=0.3)
    table = floors(made_panel(scores), REQUEST).rows.set_index(["original", "model"])
    row = table.loc[("hi", "model-1")]
    assert row["condition"] == "hi~llm"
    assert row["mean_change"] == pytest.approx((scores["hi~llm"] - scores["hi"])[1].mean())
    for original in ("en", "hi"):
        part = table.loc[original]
        assert part["qvalue"].to_numpy() == pytest.approx(
            scipy.stats.false_discovery_control(part["pvalue"])
        )


def test_what_the_metadata_say_is_averaged_over_the_items_that_count() -> None:
    scores = scores_around(models=1, items=4, en_p1=0.0, en_p2=0.0)
    scores["en~p1"][0, 3] = NAN
    panel = made_panel(scores)
    _with_metadata(panel, "en~p1", "similarity", [0.5, 0.7, None, 0.1])
    _with_metadata(panel, "en~p1", "unchanged", [0.0, 0.25, 0.5, 1.0])
    table = floors(panel, REQUEST).rows
    table = table[table["subset"] == ""].set_index("condition")
    assert table.at["en~p1", "similarity"] == pytest.approx(0.6)
    assert table.at["en~p1", "n_similarity"] == 2
    assert table.at["en~p1", "fields_unchanged"] == pytest.approx(0.25)
    assert table.at["en~p1", "reason"] == NO_CHOICE_CHANGES
    assert math.isnan(table.at["en~p2", "similarity"])
    assert "similarity" in table.at["en~p2", "reason"]
    assert "unchanged" in table.at["en~p2", "reason"]


def test_the_floor_of_a_model_is_that_of_the_statistic() -> None:
    scores = scores_around(models=3, es=0.2, en_p1=0.0, en_p2=0.04, en_llm=0.0)
    scores["en~llm"][:2, 5] = NAN
    scores["en"][2, 0] = NAN  # then it is not missing in the rewordings either
    table = floors_by_model(made_panel(scores), REQUEST).rows
    for m, row in enumerate(table.to_dict("records")):
        changes = {c: (scores[c] - scores["en"])[m] for c in ("en~p1", "en~p2", "en~llm")}
        noise = rewording_noise(changes, int(np.isfinite(scores["en"][m]).sum()))
        assert row["floor"] == pytest.approx(noise.floor)
        assert row["n_rewordings"] == noise.n_rewordings == (3 if m == 2 else 2)
        assert row["n_items"] == (29 if m == 2 else 30)
        assert 0 < row["expected_noise"] < 0.02
        assert row["reason"] == ""


def test_without_rewordings_the_gap_stands_alone_and_the_rest_is_undefined() -> None:
    panel = made_panel(scores_around(es=0.1))
    assert floors(panel, REQUEST).rows.empty
    assert floors(panel, REQUEST).notes == (NO_REWORDING,)
    by_model = floors_by_model(panel, REQUEST)
    assert by_model.rows["floor"].isna().all()
    assert (by_model.rows["reason"] == NO_FULL).all()
    against = floor_vs_gap(panel, REQUEST)
    assert against.notes == (NO_REWORDING,)
    assert against.rows["gap"].notna().all()
    assert against.rows["difference"].isna().all()
    assert against.rows["above"].isna().all()
    assert (against.rows["reason"] == NO_FULL).all()


def test_without_translations_there_is_a_floor_and_no_gap() -> None:
    against = floor_vs_gap(made_panel(scores_around(en_p1=0.0)), REQUEST)
    assert against.rows["floor"].notna().all()
    assert against.rows["gap"].isna().all()
    assert (against.rows["reason"] == NO_TRANSLATED_ITEM).all()
    assert "no translation" in against.notes[0]


def test_english_without_rewordings_but_a_language_with_some() -> None:
    found = floors(made_panel(scores_around(hi=0.1, hi_llm=0.1)), REQUEST)
    assert found.rows["original"].tolist() == ["hi", "hi"]
    assert found.notes[0] == NO_REWORDING


@pytest.mark.parametrize(("n", "reason"), [(0, NO_ITEM_OF_MODEL), (1, ONE_ITEM)])
def test_thin_rewordings_say_why(n: int, reason: str) -> None:
    scores = scores_around(models=1, es=0.0, en_p1=0.0)
    scores["en~p1"][0, n:] = NAN
    row = floors(made_panel(scores), REQUEST).rows.iloc[0]
    assert row["n"] == n
    assert reason in row["reason"]
    assert math.isnan(row["sd"])
    assert math.isnan(row["mean_change"]) is (n == 0)
    assert math.isnan(row["pvalue"])


def test_changes_of_zero_are_zero_and_not_undefined() -> None:
    scores = scores_around(en_p1=0.0)
    scores["en~p1"] = scores["es"] = scores["en"]
    row = floors(made_panel(scores), REQUEST).rows.iloc[0]
    assert (row["mean_change"], row["sd"], row["expected_noise"]) == (0, 0, 0)
    assert math.isnan(row["pvalue"])
    assert NOTHING_CHANGES in row["reason"]
    assert floors_by_model(made_panel(scores), REQUEST).rows["floor"].tolist() == [0, 0]
    against = floor_vs_gap(made_panel(scores), REQUEST).rows
    assert against["difference"].tolist() == [0, 0, 0]
    assert (against["reason"] == ALIKE).all()


def test_nothing_scored_is_undefined_everywhere() -> None:
    scores = {c: np.full((2, 5), NAN) for c in ("en", "es", "en~p1")}
    panel = made_panel(scores)
    assert floors(panel, REQUEST).rows["mean_change"].isna().all()
    assert floors_by_model(panel, REQUEST).rows["floor"].isna().all()
    against = floor_vs_gap(panel, REQUEST).rows
    assert against[["gap", "floor", "difference"]].isna().all(axis=None)
    assert (against["reason"] != "").all()
    assert against["reason"].iloc[-1] == NO_COMPLETE


@pytest.mark.parametrize("kind", ["summed", "per_code_point", "binary", "standardised"])
def test_every_kind_of_score_is_answered(kind) -> None:
    request = AuditRequest(dataset="made", kind=kind, n_resamples=99, n_bootstrap=99)
    panel = made_panel(scores_around(es=0.1, en_p1=0.0))
    assert floors(panel, request).rows["mean_change"].notna().all()
    assert floor_vs_gap(panel, request).rows["gap"].notna().all()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["mean", "standardised"])
def test_what_is_undefined_in_thin_data_has_a_reason(seed: int, kind) -> None:
    request = AuditRequest(dataset="made", kind=kind, n_resamples=50, n_bootstrap=30)
    panel = thin_panel(seed)
    for table, column in (
        (floors(panel, request), "sd"),
        (floors_by_model(panel, request), "floor"),
        (floor_vs_gap(panel, request), "difference_low"),
    ):
        if not table.rows.empty:
            assert (table.rows.loc[table.rows[column].isna(), "reason"] != "").all()


def test_tests_that_are_repeated_on_fewer_items_say_why_they_have_no_q() -> None:
    scores = scores_around(models=1, es=0.1, en_p1=0.02, en_llm=0.02)
    scores["en~llm"][0, 5:] = NAN
    rows = floors(made_panel(scores), REQUEST).rows
    repeated = rows[rows["subset"] != ""]
    assert repeated["qvalue"].isna().all()
    assert len(repeated) == 1
    assert REPEATED in repeated["reason"].iloc[0]
