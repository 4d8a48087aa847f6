"""The main table: against naive loops, and of thin data."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, logit

from core.analysis.audit.cells import cells
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.main import OVER_MODELS, language_drops, main
from core.analysis.audit.names import ALIKE_DROPS, FEW_ITEMS, NO_TRANSLATION
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.levels import LEAST_ITEMS
from tests.made_panels import made_panel

NAN = float("nan")
D = AuditRequest(dataset="made", n_resamples=2000, n_bootstrap=2000)


def drawn(n_models: int, n_items: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.9, (n_models, n_items))


def carry_over(panel: Panel) -> tuple[AuditTable, AuditTable]:
    """Tables of the association and the same choice, with numbers to be looked up."""
    conditions = [*panel.languages, "rewording"]
    slopes = pd.DataFrame(
        {"condition": conditions, "group_kind": "all", "slope": np.arange(len(conditions)) / 10}
    )
    others = slopes.assign(group_kind="model", slope=99.0)
    same = pd.DataFrame(
        {
            "condition": conditions,
            "group_kind": "all",
            "same_choice": np.arange(len(conditions)) / 5,
        }
    )
    return AuditTable(pd.concat([others, slopes])), AuditTable(same)


def main_of(panel: Panel, floors: list[float], request: AuditRequest = D) -> AuditTable:
    floor_table = AuditTable(pd.DataFrame({"model": panel.models, "floor": floors}))
    tested = cells(panel, request), item_tests(panel, request)
    return main(panel, request, *tested, floor_table, *carry_over(panel))


@pytest.fixture(scope="module")
def panel() -> Panel:
    spanish = drawn(4, 60, 2)
    spanish[2, 7] = NAN
    p1 = drawn(4, 60, 4)
    return made_panel(
        {"en": drawn(4, 60, 1), "es": spanish, "hi": drawn(4, 60, 3) - 0.08, "en~p1": p1},
        fields={"source": ["bbq"] * 20 + ["written"] * 40},
        collapsed={"hi": [0, 59]},
        l_unrelated=-1.5,
    )


def test_a_language_is_the_mean_over_models_of_their_means(panel: Panel) -> None:
    found = main_of(panel, [0.1, 0.2, 0.3, 0.6]).rows.set_index("condition")
    assert found.index.tolist() == ["es", "hi", "rewording"]
    scores = panel.scores("mean")
    for language in ("es", "hi"):
        row, ss = found.loc[language], scores[:, panel.at(language)]
        d = ss - scores[:, panel.english]
        by_model = [-np.nanmean(of_model) for of_model in d]
        interval = stats.ttest_1samp(by_model, 0).confidence_interval()
        assert row["score"] == pytest.approx(np.mean([np.nanmean(x) for x in ss]))
        assert row["drop"] == pytest.approx(np.mean(by_model))
        assert (row["drop_low"], row["drop_high"]) == pytest.approx((interval.low, interval.high))
        assert row["drop_interval"] == OVER_MODELS
        assert (row["n_models"], row["n"]) == (4, np.isfinite(ss).sum())
        whole = d[:, np.isfinite(d).all(axis=0)]
        assert row["n_items"] == whole.shape[1]
        assert row["drop_items"] == pytest.approx(-whole.mean())
        boot = stats.bootstrap(
            (-whole.mean(axis=0),),
            np.mean,
            method="percentile",
            rng=np.random.default_rng(0),
        )
        assert (row["drop_items_low"], row["drop_items_high"]) == pytest.approx(
            tuple(boot.confidence_interval), abs=0.15 * boot.standard_error
        )
        binary = np.where(np.isfinite(ss), ss > 0.5, np.nan)
        assert row["score_binary"] == pytest.approx(np.nanmean(binary, axis=1).mean())


def test_fluency_is_without_bbq(panel: Panel) -> None:
    row = main_of(panel, [0.1] * 4).rows.set_index("condition").loc["hi"]
    ss = panel.scores("mean")[:, panel.at("hi"), 20:59]
    best = np.maximum(-2 + logit(ss), -2)
    assert row["fluency"] == pytest.approx(expit(best + 1.5).mean())
    assert row["n_fluency"] == 4 * 39


def test_looked_up_columns_are_those_of_all_items(panel: Panel) -> None:
    found = main_of(panel, [0.1] * 4).rows.set_index("condition")
    assert found["slope"].tolist() == [0, 0.1, 0.2]
    assert found["same_choice"].tolist() == [0, 0.2, 0.4]
    tests = item_tests(panel, D).rows.query("group_kind == 'all'").set_index("condition")
    for column in ("t", "t_low", "qvalue"):
        assert found.loc["hi", column] == tests.loc["hi", column]
    reliable = cells(panel, D).rows.query("condition == 'hi'")
    assert found.loc["hi", "n_reliable"] == reliable["reliable"].sum()
    assert found.loc["hi", "n_reliable_binary"] == reliable["reliable_binary"].sum()


def test_the_last_row_is_the_median_floor_without_an_interval(panel: Panel) -> None:
    found = main_of(panel, [0.1, NAN, 0.3, 0.6])
    row = found.rows.iloc[-1]
    assert (row["condition"], row["drop"], row["n_models"]) == ("rewording", 0.3, 3)
    assert row["score"] == pytest.approx(panel.scores("mean")[:, panel.at("en~p1")].mean())
    assert row["n_items"] == 60
    assert row[["drop_low", "drop_high", "drop_items", "qvalue", "n_reliable"]].isna().all()
    assert (row["drop_interval"], row["reason"] != "") == ("", True)
    assert any("without a direction" in note for note in found.notes)


def test_one_model_has_no_spread_over_models() -> None:
    one = made_panel({"en": drawn(1, 30), "es": drawn(1, 30, 1), "en~p1": drawn(1, 30, 2)})
    row = main_of(one, [0.1]).rows.iloc[0]
    assert math.isfinite(row["drop"])
    assert math.isnan(row["drop_low"])
    assert math.isfinite(row["drop_items_low"])
    assert row["drop_interval"] == ""
    assert "One model" in row["reason"]


@pytest.mark.parametrize("n_items", [2, LEAST_ITEMS - 1])
def test_few_items_have_no_interval_in_the_words_of_all_tables(n_items: int) -> None:
    few = made_panel({c: drawn(3, n_items, at) for at, c in enumerate(("en", "es", "en~p1"))})
    row = main_of(few, [0.1] * 3).rows.iloc[0]
    assert (row["n_items"], math.isnan(row["drop_items_low"])) == (n_items, True)
    assert FEW_ITEMS in row["reason"]
    english = drawn(3, 9)
    alike = made_panel({"en": english, "es": english + 0.05, "en~p1": drawn(3, 9, 2)})
    row = main_of(alike, [0.1] * 3).rows.iloc[0]
    assert ALIKE_DROPS in row["reason"]
    assert FEW_ITEMS not in row["reason"]


def test_without_rewording_only_the_last_row_is_undefined() -> None:
    bare = made_panel({"en": drawn(3, 30), "es": drawn(3, 30, 1)})
    found = main_of(bare, [NAN] * 3).rows
    assert math.isfinite(found.loc[0, "drop_items_low"])
    assert math.isnan(found.loc[0, "t"])
    assert "rewording" in found.loc[0, "reason"]
    assert math.isnan(found.loc[1, "drop"])
    assert math.isnan(found.loc[1, "score"])
    assert "No model has a rewording" in found.loc[1, "reason"]


def test_the_changes_behind_a_drop_are_counted_apart_from_the_scores() -> None:
    english, spanish = drawn(2, 9), drawn(2, 9, 1)
    english[0, :3], spanish[1, 4] = NAN, NAN
    panel = made_panel({"en": english, "es": spanish, "en~p1": drawn(2, 9, 2)})
    row = main_of(panel, [0.1, 0.2]).rows.iloc[0]
    assert (row["n"], row["n_changes"]) == (17, 14)
    assert row["n_changes"] == cells(panel, D).rows["n"].sum()


def test_a_language_without_scores_and_a_data_set_without_languages() -> None:
    nothing = made_panel({"en": drawn(2, 9), "es": np.full((2, 9), NAN)})
    row = main_of(nothing, [NAN] * 2).rows.iloc[0]
    assert (row["n"], row["n_items"], row["n_models"]) == (0, 0, 0)
    assert row[["score", "drop", "drop_items", "t", "n_reliable"]].isna().all()
    assert "No item" in row["reason"]
    alone = main_of(made_panel({"en": drawn(2, 9), "en~p1": drawn(2, 9, 1)}), [0.1, 0.2])
    assert alone.rows["condition"].tolist() == ["rewording"]
    assert alone.rows.loc[0, "drop"] == pytest.approx(0.15)
    assert any(note == NO_TRANSLATION for note in alone.notes)


def test_undefined_cells_are_not_counted_as_unreliable() -> None:
    rows = pd.DataFrame(
        {
            "condition": ["es", "es", "hi"],
            "mean_change": [-0.1, NAN, NAN],
            "reliable": pd.array([True, pd.NA, pd.NA], dtype="boolean"),
            "reliable_binary": pd.array([False, pd.NA, pd.NA], dtype="boolean"),
        }
    )
    found = language_drops(rows).set_index("condition")
    assert found.loc["es", ["n_reliable", "n_reliable_binary", "n_models"]].tolist() == [1, 0, 1]
    assert found.loc["hi", ["n_reliable", "n_reliable_binary"]].isna().all()
