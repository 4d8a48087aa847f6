"""The main table, CSS and CLCI, natives: against naive loops and scipy, and of thin data."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

from core.analysis.audit.cells import cells, score_map
from core.analysis.audit.consistency import clci, css_clci, rank_correlation
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.languages import OVER_MODELS, language_drops, main
from core.analysis.audit.names import ALIKE_DROPS, FEW_ITEMS, NO_TRANSLATION
from core.analysis.audit.native_items import natives
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


def _in_both(panel: Panel, m: int, i: int, *conditions: str) -> bool:
    return all(np.isfinite(panel.scores("mean")[m, panel.at(c), i]) for c in conditions)


@pytest.mark.parametrize("reference", ["en", "hi"])
def test_gaps_and_consistency_equal_naive_loops(panel: Panel, reference: str) -> None:
    request = AuditRequest(dataset="made", reference=reference)
    found = css_clci(panel, request).rows
    languages = [c for c in ("en", "es", "hi") if c != reference]
    scores = panel.scores("mean")
    for m, model in enumerate(panel.models):
        own = found[found["model"] == model]
        gaps = []
        for language in languages:
            d = scores[m, panel.at(language)] - scores[m, panel.at(reference)]
            gaps.append(abs(np.nanmean(d)))
            row = own[(own["quantity"] == "css") & (own["condition"] == language)].iloc[0]
            assert row["value"] == pytest.approx(gaps[-1])
            assert (row["n"], row["reference"]) == (np.isfinite(d).sum(), reference)
        row = own[(own["quantity"] == "clci") & (own["reference"] == reference)].iloc[0]
        assert (row["value"], row["n_languages"]) == (pytest.approx(1 - np.mean(gaps)), 2)
        pairs = [
            (i, c) for i in range(60) for c in languages if _in_both(panel, m, i, c, reference)
        ]
        assert (row["n"], row["n_changes"]) == (len({i for i, _ in pairs}), len(pairs))
    assert (found["quantity"] == "css").sum() == 4 * 2


def test_rank_stability_is_spearmans_correlation(panel: Panel) -> None:
    found = css_clci(panel, D).rows
    by_reference = found[found["quantity"] == "clci"].set_index("reference")["value"]
    for reference in ("es", "hi"):
        row = found[(found["quantity"] == "rank_stability") & (found["reference"] == reference)]
        expected = stats.spearmanr(by_reference["en"], by_reference[reference]).statistic
        assert row["value"].item() == pytest.approx(expected)
        assert row["n_models"].item() == 4
        assert row["n"].item() == 60  # items, not models


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=12))
def test_rank_correlation_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=np.float64).T
    found = rank_correlation(np.append(a, NAN), np.append(b, 1))
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


def test_consistency_leaves_out_what_is_missing() -> None:
    assert clci(np.array([[0.1, 0.3], [NAN, 0.2], [NAN, NAN]])).tolist() == pytest.approx(
        [0.8, 0.8, NAN], nan_ok=True
    )


def test_two_models_have_no_ranking() -> None:
    found = css_clci(made_panel({"en": drawn(2, 9), "es": drawn(2, 9, 1)}), D).rows
    row = found[found["quantity"] == "rank_stability"].iloc[0]
    assert math.isnan(row["value"])
    assert "three models" in row["reason"]


def test_an_unknown_reference_is_named_and_the_rest_is_given(panel: Panel) -> None:
    found = css_clci(panel, AuditRequest(dataset="made", reference="ko"))
    assert any("The reference ko is neither English" in note for note in found.notes)
    assert set(found.rows["quantity"]) == {"clci", "rank_stability"}


def _naive_consistency(panel: Panel, m: int, reference: str, languages: list[str]) -> float:
    scores = panel.scores("mean")[m]
    gaps = []
    for language in languages:
        both = zip(scores[panel.at(language)], scores[panel.at(reference)], strict=True)
        d = [a - b for a, b in both if not math.isnan(a - b)]
        gaps.append(abs(sum(d) / len(d)))
    return 1 - sum(gaps) / len(gaps)


def test_models_are_ranked_over_the_languages_that_all_of_them_have() -> None:
    """A model that lacks the language of large gaps would look more consistent than the rest."""
    far = drawn(4, 30, 3) - 0.09
    far[1] = NAN
    scores = {"en": drawn(4, 30), "es": drawn(4, 30, 1), "fr": drawn(4, 30, 2), "hi": far}
    panel = made_panel(scores)
    rows = css_clci(panel, D).rows
    row = rows[(rows["quantity"] == "rank_stability") & (rows["reference"] == "es")].iloc[0]
    expected = stats.spearmanr(
        [_naive_consistency(panel, m, "en", ["es", "fr"]) for m in range(4)],
        [_naive_consistency(panel, m, "es", ["en", "fr"]) for m in range(4)],
    ).statistic
    assert row["value"] == pytest.approx(expected)
    assert (row["languages"], row["n_languages"], row["n_models"]) == ("es, fr", 2, 4)
    clci_rows = rows[(rows["quantity"] == "clci") & (rows["reference"] == "en")]
    assert clci_rows["languages"].tolist() == ["es, fr, hi", "es, fr", "es, fr, hi", "es, fr, hi"]
    ranked = rows[(rows["quantity"] == "rank_stability") & (rows["reference"] == "hi")].iloc[0]
    assert (ranked["n_models"], ranked["languages"]) == (3, "es, fr, hi")  # one has no gap to hi


def test_models_without_a_language_in_common_have_no_ranking() -> None:
    spanish, french = drawn(3, 9, 1), drawn(3, 9, 2)
    spanish[0, :4] = NAN
    english = drawn(3, 9)
    english[0, 4:] = NAN  # this model has no item in English and Spanish
    french[1] = NAN  # and that one none in French
    rows = css_clci(made_panel({"en": english, "es": spanish, "fr": french}), D).rows
    row = rows[(rows["quantity"] == "rank_stability") & (rows["reference"] == "es")].iloc[0]
    assert (row["n_models"], row["n_languages"], row["n"]) == (3, 0, 0)
    assert math.isnan(row["value"])
    assert "under every one of these models" in row["reason"]


def test_a_model_without_scores_has_no_gap() -> None:
    spanish = drawn(3, 9, 1)
    spanish[0] = NAN
    found = css_clci(made_panel({"en": drawn(3, 9), "es": spanish}), D).rows
    of_it = found[(found["model"] == "model-0")]
    assert of_it["value"].isna().all()
    assert (of_it["reason"] != "").all()
    assert (of_it["n"] == 0).all()


@pytest.mark.parametrize("kind", ["mean", "summed", "per_code_point", "binary", "standardised"])
def test_natives_are_scored_like_translations(kind: str) -> None:
    own = drawn(2, 7, 5)
    own[1, 3] = NAN
    twins = made_panel({"en": drawn(2, 7), "hi": own})
    with_natives = made_panel({"en": drawn(2, 7), "hi": own}, natives={"hi": own, "sw": own})
    request = AuditRequest(dataset="made", kind=kind)
    found = natives(with_natives, request).rows
    assert found["condition"].tolist() == ["hi", "sw"] * 2
    expected = np.nanmean(twins.scores(kind)[:, twins.at("hi")], axis=1)
    assert found["score"].tolist() == pytest.approx(np.repeat(expected, 2).tolist())
    hindi = found[found["condition"] == "hi"]
    assert hindi["score_translated"].tolist() == pytest.approx(expected.tolist())
    assert hindi["n"].tolist() == hindi["n_translated"].tolist() == [7, 6]
    swahili = found[found["condition"] == "sw"]
    assert swahili["n_translated"].tolist() == [0, 0]
    assert swahili["score_translated"].isna().all()


def test_natives_that_nobody_scored_and_no_natives() -> None:
    row = natives(made_panel({"en": drawn(1, 3)}, natives={"hi": [[NAN, NAN]]}), D).rows.iloc[0]
    assert (row["n"], math.isnan(row["score"]), row["reason"] != "") == (0, True, True)
    nothing = natives(made_panel({"en": drawn(1, 3)}), D)
    assert nothing.rows.empty
    assert len(nothing.notes) == 1


def test_collapsed_natives_do_not_count() -> None:
    panel = made_panel({"en": drawn(1, 3)}, natives={"hi": [[0.2, 0.6]]})
    panel.versions.loc[panel.versions["item_id"] == "native-hi-0", "collapsed"] = True
    row = natives(panel, D).rows.iloc[0]
    assert (row["n"], row["score"]) == (1, pytest.approx(0.6))


@st.composite
def thin_panels(draw: st.DrawFn) -> Panel:
    """Few models, few items, many gaps, now and then all alike."""
    n_models, n_items = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    others = draw(st.sets(st.sampled_from(["es", "hi", "en~p1", "en~p2", "hi~p1"])))
    levels = draw(st.sampled_from([[0.5], [0.3, 0.6], [0.2, 0.4, 0.5, 0.7, NAN, NAN]]))
    scores = {c: rng.choice(levels, (n_models, n_items)) for c in ("en", *sorted(others))}
    natives_of = {"sw": rng.choice(levels, (n_models, 2))} if draw(st.booleans()) else {}
    sources = rng.choice(["bbq", "stereoset", "written", ""], n_items).tolist()
    return made_panel(scores, fields={"source": sources}, natives=natives_of)


@settings(max_examples=25, deadline=None)
@given(thin_panels(), st.sampled_from(["mean", "standardised"]))
def test_thin_data_raise_nothing_and_every_gap_has_a_reason(panel: Panel, kind: str) -> None:
    request = AuditRequest(dataset="made", kind=kind, n_resamples=40, n_bootstrap=30)
    made = {
        "cells": cells(panel, request),
        "score_map": score_map(panel, request),
        "item_tests": item_tests(panel, request),
        "css_clci": css_clci(panel, request),
        "natives": natives(panel, request),
        "main": main_of(panel, [NAN] * len(panel.models), request),
    }
    for name, table in made.items():
        rows = table.rows
        numbers = rows.select_dtypes("number")
        if name == "natives":  # what is not translated has a count of 0 beside it
            numbers = numbers.drop(columns=numbers.filter(like="translated").columns)
        gaps = numbers.isna().any(axis=1)
        assert (rows.loc[gaps, "reason"] != "").all(), (name, rows[gaps])
        assert numbers.filter(regex="^n$|^n_").notna().all().all() or name == "main"
        for column in rows.columns[rows.columns.str.startswith(("pvalue", "qvalue"))]:
            assert rows[column].dropna().between(0, 1, inclusive="right").all()
