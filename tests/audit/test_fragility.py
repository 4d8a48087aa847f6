"""Fragility of an audit's verdicts against smaller audits, naive loops and planted items."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.analysis.audit import fragility as module
from core.analysis.audit.fragility import fragility
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.stats.multiple import benjamini_hochberg
from core.stats.resampling import sign_flip_test
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_resamples=1999, n_bootstrap=50)
REWORDINGS = ("en~p1", "en~p2", "en~p3")
FIELDS = {
    "source": ["bbq", "bbq", "written"] * 20,
    "category": ["age", "gender", "age", "religion", "age", ""] * 10,
}


def fragile_scores(seed: int = 0, n_models: int = 4, n_items: int = 60) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    english = rng.uniform(0.4, 0.7, n_items) + rng.normal(0, 0.02, (n_models, n_items))

    def version(drop: float) -> np.ndarray:
        return english - drop + rng.normal(0, 0.06, n_items) + rng.normal(0, 0.03, english.shape)

    made = {"en": english} | {c: version(0.0) for c in REWORDINGS}
    return made | {"es": version(0.0), "hi": version(0.02), "sw": version(0.06)}


def fragility_rows(panel: Panel, request: AuditRequest = REQUEST) -> pd.DataFrame:
    return fragility(panel, request, item_tests(panel, request)).rows


def _t(panel: Panel, condition: str) -> float:
    rows = item_tests(panel, REQUEST).rows
    return rows[(rows["group_kind"] == "all") & (rows["condition"] == condition)]["t"].item()


def naive_differences(scores: dict[str, np.ndarray], condition: str) -> np.ndarray:
    """D - R of every item, from its definition."""
    found = []
    for i in range(scores["en"].shape[1]):
        of_models = range(len(scores["en"]))
        d = [scores[condition][m, i] - scores["en"][m, i] for m in of_models]
        r = [scores[c][m, i] - scores["en"][m, i] for m in of_models for c in REWORDINGS]
        found.append(np.mean(d) - np.mean(r))
    return np.array(found)


# Leave one out


def test_leaving_a_source_out_is_the_audit_of_the_other_items() -> None:
    scores = fragile_scores()
    rows = fragility_rows(made_panel(scores, fields=FIELDS))
    rows = rows[(rows["check"] == "leave_out") & (rows["choice"] == "source")]
    for row in rows.to_dict("records"):
        kept = [s != row["value"] for s in FIELDS["source"]]
        smaller = made_panel({c: s[:, kept] for c, s in scores.items()})
        assert row["drop"] == pytest.approx(_t(smaller, row["condition"]))
        assert (row["n"], row["n_items"]) == (sum(kept), 60 - sum(kept))
        difference = naive_differences(scores, row["condition"])
        rest = np.where(kept, difference, NAN)[None]
        test = sign_flip_test(rest, n_resamples=1999, rng=REQUEST.rng("signs"))
        assert row["pvalue"] == test.pvalue[0]
    assert len(rows) == 2 * 3


def test_leaving_a_model_out_is_the_audit_of_the_other_models() -> None:
    scores = fragile_scores()
    rows = fragility_rows(made_panel(scores))
    rows = rows[(rows["check"] == "leave_out") & (rows["choice"] == "model")]
    assert rows["value"].tolist() == [f"model-{m}" for m in range(4)] * 3
    for at, row in enumerate(rows.to_dict("records")):
        smaller = made_panel({c: np.delete(s, at % 4, axis=0) for c, s in scores.items()})
        assert row["drop"] == pytest.approx(_t(smaller, row["condition"]))
        assert (row["n"], row["n_items"]) == (60, 0)


def test_leaving_a_rewording_out_is_the_audit_with_the_others() -> None:
    scores = fragile_scores()
    rows = fragility_rows(made_panel(scores))
    rows = rows[(rows["check"] == "leave_out") & (rows["choice"] == "rewording")]
    assert len(rows) == 3 * 3
    for row in rows.to_dict("records"):
        smaller = made_panel({c: s for c, s in scores.items() if c != row["value"]})
        assert row["drop"] == pytest.approx(_t(smaller, row["condition"]))


def test_a_flip_is_another_significance_with_the_other_languages_as_they_are() -> None:
    seen = set()
    for seed in range(3):
        panel = made_panel(fragile_scores(seed), fields=FIELDS)
        tests = item_tests(panel, REQUEST).rows
        tests = tests[(tests["group_kind"] == "all") & tests["condition"].isin(["es", "hi", "sw"])]
        rows = fragility(panel, REQUEST, item_tests(panel, REQUEST)).rows
        for row in rows[rows["check"].isin(["leave_out", "fewest_items"])].to_dict("records"):
            if np.isnan(row["pvalue"]):
                continue
            mine = tests["condition"].to_numpy() == row["condition"]
            q = benjamini_hochberg(np.where(mine, row["pvalue"], tests["pvalue"]))[mine].item()
            assert row["significant"] == (q < 0.05)
            assert row["flips"] == ((q < 0.05) != (tests["qvalue"].to_numpy()[mine].item() < 0.05))
            seen.add((row["check"], row["flips"]))
    assert seen == {("leave_out", True), ("leave_out", False), ("fewest_items", True)}


def test_predicates_that_metadata_name_can_be_left_out() -> None:
    panel = made_panel(fragile_scores())
    english = panel.versions["condition"] == "en"
    named = [{"predicate": "steals" if i % 3 else "cooks"} for i in range(60)]
    panel.versions.loc[english, "metadata"] = pd.Series(named, panel.versions.index[english])
    rows = fragility_rows(panel)
    rows = rows[(rows["choice"] == "predicate") & (rows["condition"] == "hi")]
    assert dict(zip(rows["value"], rows["n"], strict=True)) == {"cooks": 40, "steals": 20}


# Fewest items


def test_three_planted_items_that_carry_a_shift_are_named_and_no_other() -> None:
    rng = np.random.default_rng(5)
    half = np.abs(rng.normal(0, 1, 150))
    half *= 0.02 / np.sqrt((half**2).mean())
    change = np.concatenate([half, -half]) + 0.0021  # by itself almost enough
    planted = [17, 130, 251]
    change[planted] = [0.20, 0.21, 0.19]
    english = np.tile(rng.uniform(0.4, 0.6, 300), (5, 1))
    scores = {"en": english, "en~p1": english.copy(), "hi": english - change}
    request = AuditRequest(dataset="made", n_resamples=9999, n_bootstrap=50)
    panel = made_panel(scores)
    with_commas = panel.items.assign(item_id="a, " + panel.items["item_id"])
    rows = fragility_rows(replace(panel, items=with_commas), request)
    row = rows[rows["check"] == "fewest_items"].iloc[0]
    assert set(json.loads(row["item_ids"])) == {"a, i17", "a, i130", "a, i251"}
    assert (row["n"], row["n_items"], row["share_items"]) == (300, 3, 0.01)
    assert bool(row["flips"])
    assert not bool(row["significant"])
    assert row["pvalue"] > 0.05
    assert row["drop"] == pytest.approx(np.delete(change, planted).mean())


def test_fewer_signs_than_the_verdicts_do_not_contradict_it(monkeypatch) -> None:
    """With few signs held, a verdict on the edge may be another one: then nothing is searched."""
    monkeypatch.setattr(module, "_SIGNS_HELD", 0)  # the least, a thousand
    panel = made_panel(fragile_scores(2))
    tests = item_tests(panel, REQUEST)
    edge = tests.rows["condition"].isin(["es", "hi", "sw"]) & (tests.rows["group_kind"] == "all")
    rows = tests.rows.copy()
    truth = fragility(panel, REQUEST, tests).rows.query("check == 'fewest_items'")
    assert truth["reason"].eq("").all()
    rows.loc[edge, "qvalue"] = np.where(rows.loc[edge, "qvalue"] < 0.05, 0.051, 0.049)
    turned = fragility(panel, REQUEST, AuditTable(rows)).rows.query("check == 'fewest_items'")
    assert turned["n_resamples"].tolist() == [1000] * 3
    assert turned["reason"].str.contains("1,000 sign vectors give the other one").all()
    assert turned[["flips", "n_items", "pvalue"]].isna().all().all()


def test_leaving_out_of_standardised_scores_is_of_one_test() -> None:
    request = AuditRequest(dataset="made", n_resamples=999, n_bootstrap=50, kind="standardised")
    panel = made_panel(fragile_scores(), fields=FIELDS)
    table = fragility(panel, request, item_tests(panel, request))
    rows = table.rows
    main = rows[(rows["check"] == "specification") & rows["main"].fillna(False)]
    main = main.set_index("condition")["significant"]
    out = rows[rows["check"] == "leave_out"]
    for row in out.to_dict("records"):
        assert row["flips"] == (row["significant"] != main[row["condition"]])
    assert any("fixed standard deviations" in note for note in table.notes)


def test_a_shift_of_every_item_alike_cannot_be_flipped_by_few() -> None:
    english = np.tile(np.random.default_rng(1).uniform(0.4, 0.6, 40), (3, 1))
    scores = {"en": english, "en~p1": english.copy(), "hi": english - 0.1}
    rows = fragility_rows(made_panel(scores))
    row = rows[rows["check"] == "fewest_items"].iloc[0]
    assert pd.isna(row["flips"])
    assert pd.isna(row["n_items"])
    assert row["reason"].startswith("No set of up to 20 items")


# Items


def test_functioning_of_items_is_a_t_test_over_models() -> None:
    scores = fragile_scores(3, n_models=6)
    rows = fragility_rows(made_panel(scores))
    noise = np.mean([scores[c] - scores["en"] for c in REWORDINGS], axis=0)
    for condition in ("es", "hi", "sw"):
        of = rows[(rows["check"] == "item") & (rows["condition"] == condition)]
        drops = scores["en"] + noise - scores[condition]
        test = stats.ttest_1samp(drops - drops.mean(axis=1, keepdims=True), 0)
        q = stats.false_discovery_control(test.pvalue)
        flagged = of[of["choice"] == "flagged"].set_index("value")
        assert set(flagged.index) == {f"i{i}" for i in np.flatnonzero(q < 0.05)}
        assert len(flagged) > 0
        for item, row in flagged.iterrows():
            i = int(str(item)[1:])
            assert row["z"] == pytest.approx(test.statistic[i])
            assert row["qvalue"] == pytest.approx(q[i])
            assert row["n"] == 6
        count = of[of["choice"] == "count"].iloc[0]
        assert (count["n"], count["n_items"]) == (60, len(flagged))


# What cannot be said


def test_without_rewordings_nothing_is_tested_and_every_row_says_why() -> None:
    scores = {c: s for c, s in fragile_scores().items() if "~" not in c}
    rows = fragility_rows(made_panel(scores, fields=FIELDS))
    tested = rows[rows["check"] != "specification"]
    assert tested["pvalue"].isna().all()
    assert tested["flips"].isna().all()
    assert (tested["reason"] != "").all()
    curve = rows[rows["check"] == "specification"]
    assert (curve.groupby("condition").size() >= 24).all()
    corrected = curve["corrected"].astype(bool)
    assert curve[corrected]["pvalue"].isna().all()
    assert (curve[corrected]["reason"] != "").all()
    assert curve[~corrected]["pvalue"].notna().all()


def test_one_model_is_left_in_and_has_no_spread() -> None:
    panel = made_panel(fragile_scores(n_models=1))
    table = fragility(panel, REQUEST, item_tests(panel, REQUEST))
    assert "model" not in set(table.rows["choice"])
    items = table.rows[table.rows["check"] == "item"]
    assert items["choice"].tolist() == ["count"] * 3
    assert items["n_items"].isna().all()
    assert (items["reason"] != "").all()
    assert any("One model" in note for note in table.notes)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_thin_data_raise_nothing(data: st.DataObject) -> None:
    n_models, n_items = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    others = data.draw(st.sets(st.sampled_from(["es", "hi", "en~p1", "en~p2", "hi~p1"])))
    levels = data.draw(st.sampled_from([[0.5], [NAN], [0.3, 0.6], [0.2, 0.4, 0.7, NAN, NAN]]))
    scores = {c: rng.choice(levels, (n_models, n_items)) for c in ("en", *sorted(others))}
    sources = rng.choice(["bbq", "written", ""], n_items).tolist()
    panel = made_panel(scores, fields={"source": sources})
    request = AuditRequest(dataset="made", n_resamples=40, n_bootstrap=30)
    rows = fragility(panel, request, item_tests(panel, request)).rows
    assert rows["pvalue"].dropna().between(0, 1, inclusive="right").all()
    assert rows["n"].notna().all()
    undefined = rows["pvalue"].isna() & (rows["choice"] != "count")
    assert (rows.loc[undefined, "reason"] != "").all()
    assert rows.loc[undefined, "flips"].isna().all()
