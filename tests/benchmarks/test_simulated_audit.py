"""The simulated audit: its planted truth against what is drawn and written."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from benchmarks import make_cache
from benchmarks.simulated_audit import DATASET, drawn_preferences, fill_audit
from benchmarks.simulated_plan import LANGUAGES, N_MODELS, TAU, VERSIONS, population, truth
from core.analysis.audit.audit import audit_tables
from core.analysis.audit.loading import load_panel
from core.analysis.audit.request import AuditRequest
from core.store.gate import Cache
from core.store.items import datasets
from core.store.scorers import scorers

MANY = 6_000


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("simulated"))
    return cache, fill_audit(cache, n_items=120)


@pytest.fixture(scope="module")
def many():
    """The planted truth, and SS of many items drawn after the same plan."""
    rng = np.random.default_rng(1)
    people = population(rng)
    preferences = drawn_preferences(people, MANY, rng)
    return truth(people), {c: expit(u) for c, u in preferences.items()}


@pytest.mark.parametrize("condition", [c for c in VERSIONS if c != "en"])
def test_planted_drops_and_slopes_are_those_of_many_drawn_items(many, condition):
    planted, scores = many
    row = planted["conditions"][condition]
    a, b = scores[row["original"]], scores[condition]
    # The models share items, so the error is that of one model's mean rather than of ten.
    standard_error = (a - b).std() / np.sqrt(MANY)
    assert row["drop"] == VERSIONS[condition].drop
    assert np.mean(row["drop_by_model"]) == pytest.approx(row["drop"], abs=1e-9)
    assert (a - b).mean() == pytest.approx(row["drop"], abs=4 * standard_error)
    np.testing.assert_allclose(
        (a - b).mean(axis=1), row["drop_by_model"], rtol=0, atol=4 * standard_error
    )
    binary = (a > 0.5).mean() - (b > 0.5).mean()
    assert binary == pytest.approx(row["drop_binary"], abs=4 * 0.7 / np.sqrt(MANY))
    covariance = np.cov(a.ravel(), b.ravel())
    assert covariance[0, 1] / covariance[0, 0] == pytest.approx(row["slope"], abs=0.03)
    assert np.corrcoef(a.ravel(), b.ravel())[0, 1] == pytest.approx(row["correlation"], abs=0.03)
    by_model = [np.corrcoef(x, y)[0, 1] for x, y in zip(a, b, strict=True)]
    assert np.mean(by_model) == pytest.approx(row["mean_correlation"], abs=0.03)


def test_planted_reliability_and_attenuation_are_those_of_many_drawn_items(many):
    planted, scores = many

    def r(a, b):
        return np.mean([np.corrcoef(x, y)[0, 1] for x, y in zip(scores[a], scores[b], strict=True)])

    english = np.mean([r("en", f"en~p{i}") for i in (1, 2, 3)])
    assert english == pytest.approx(planted["reliability"]["en"], abs=0.02)
    for language in ("es", "nl"):
        own = r(language, f"{language}~p1")
        assert own == pytest.approx(planted["reliability"][language], abs=0.02)
        ratio = r("en", language) / np.sqrt(english * own)
        assert ratio == pytest.approx(planted["attenuation"][language], abs=0.03)


def test_rewordings_scatter_by_tau_and_leave_the_mean_alone():
    for original, tau in (("en", TAU), ("nl", 1.5 * TAU)):
        drops = [VERSIONS[f"{original}~p{i}"].drop for i in (1, 2, 3)]
        assert np.std(drops, ddof=1) == pytest.approx(tau)
        assert np.mean(drops) == pytest.approx(0, abs=1e-12)


def test_the_cache_says_that_it_is_simulated(filled):
    cache, planted = filled
    (row,) = datasets(cache).to_dict("records")
    assert row["dataset"] == DATASET == planted["dataset"]
    assert row["note"].startswith("SIMULATED")
    assert row["format"] == "simulated"
    table = scorers(cache)
    assert len(table) == N_MODELS
    assert table["model"].str.fullmatch(r"simulated-\d\d").all()
    assert (table["method"] == "simulated").all()
    assert table["scorer_id"].tolist() == planted["scorers"]


def test_a_panel_holds_what_was_planned(filled):
    cache, planted = filled
    panel = load_panel(cache, AuditRequest(dataset=DATASET))
    assert set(panel.languages) == set(LANGUAGES) == set(planted["languages"])
    assert panel.full_coverage(0) == ["en~p1", "en~p2", "en~p3"]
    assert panel.full_coverage(0, of="nl") == ["nl~p1", "nl~p2", "nl~p3"]
    assert panel.scorers == tuple(planted["scorers"])
    with_score = np.isfinite(panel.scores("mean")).sum(axis=(0, 2))
    n = len(panel.item_ids)
    assert n == planted["n_items"] == 120
    for language in LANGUAGES:
        unscored = len(planted["unscored"].get(language, []))
        usable = N_MODELS * (n - planted["collapsed"][language]) - N_MODELS // 2 * unscored
        assert with_score[panel.at(language)] == usable
    assert with_score[panel.at("en~llm")] == N_MODELS * 66
    assert panel.versions["native"].sum() == sum(planted["natives"].values())


def test_drops_of_the_cache_are_near_the_planted_ones(filled):
    cache, planted = filled
    panel = load_panel(cache, AuditRequest(dataset=DATASET))
    changes = panel.changes("mean")
    for condition, row in planted["conditions"].items():
        d = changes[:, panel.at(condition)]
        complete = np.isfinite(d).all(axis=0)
        by_item = d[:, complete].mean(axis=0)
        standard_error = by_item.std(ddof=1) / np.sqrt(len(by_item))
        assert -by_item.mean() == pytest.approx(row["drop"], abs=4 * standard_error)


def test_sums_and_token_counts_agree_with_the_means(filled):
    cache, _ = filled
    numbers = load_panel(cache, AuditRequest(dataset=DATASET)).numbers
    for suffix in ("stereotype", "anti", "unrelated", "unknown"):
        l_mean, total, n = (numbers[f"{part}_{suffix}"] for part in ("l", "sum", "n"))
        known = np.isfinite(l_mean)
        assert known.any()
        np.testing.assert_array_equal(known, np.isfinite(total))
        np.testing.assert_allclose(l_mean[known], total[known] / n[known])
        assert n[known].min() >= 1


def test_the_command_prints_what_is_planted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["make_cache", str(tmp_path), "--audit", "--items", "24"])
    make_cache.main()
    planted = json.loads(capsys.readouterr().out)
    assert planted["conditions"]["hi"]["drop"] == VERSIONS["hi"].drop
    assert set(planted["model_groups"]) == set(planted["models"])


def test_the_large_cache_is_filled_as_before(tmp_path):
    cache = Cache(tmp_path)
    assert make_cache.fill(cache, 2, 5) == 2 * 12 * 5
    panel = load_panel(cache, AuditRequest(dataset=make_cache.DATASET))
    assert np.isfinite(panel.scores("mean")).all()
    assert panel.scores("mean").shape == (2, 12, 5)


@pytest.fixture(scope="module")
def tables(filled):
    """Tables of an audit with few draws, and what is planted."""
    cache, planted = filled
    groups = tuple(planted["model_groups"].items())
    request = AuditRequest(dataset=DATASET, n_resamples=999, n_bootstrap=400, model_groups=groups)
    names = ("item_flow", "main", "score_map", "natives", "attenuation", "control", "association")
    names += ("wording_variance", "verdicts", "cells", "groups")
    return {name: t.rows for name, t in audit_tables(cache, request, names).items()}, planted


def test_the_tables_recover_the_planted_drops(tables):
    found, planted = tables
    main = found["main"].set_index("condition").loc[list(LANGUAGES)]
    drops = np.array([planted["conditions"][c]["drop"] for c in LANGUAGES])
    # By a normal interval: 4 standard errors are twice its half width.
    half = (main["drop_items_high"] - main["drop_items_low"]).to_numpy() / 2
    assert (np.abs(main["drop"] - drops) <= 2 * half).all()
    assert (main["drop_items_low"] <= drops).sum() >= 6
    assert (main["drop_items_high"] >= drops).sum() >= 6
    assert np.corrcoef(main["drop"], drops)[0, 1] > 0.85
    small = (found["cells"]["pvalue"] < 0.05).groupby(found["cells"]["condition"]).sum()
    assert small["sw"] > small["es"]


def test_the_tables_recover_the_planted_carry_over(tables):
    found, planted = tables
    pooled = found["association"]
    pooled = pooled[(pooled["group_kind"] == "all") & ~pooled["same_items_in_english"].astype(bool)]
    pooled = pooled.set_index("condition")
    covered = []
    for condition in LANGUAGES:
        row, truth = pooled.loc[condition], planted["conditions"][condition]
        for name, value in (("r", truth["correlation"]), ("slope", truth["slope"])):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            assert row[name] == pytest.approx(value, abs=2 * (high - low) / 2)
            covered.append(low <= value <= high)
    assert np.mean(covered) >= 0.75
    reworded = [planted["conditions"][f"en~{name}"]["slope"] for name in ("p1", "p2", "p3", "llm")]
    assert pooled.at["rewording", "slope"] == pytest.approx(np.mean(reworded), abs=0.08)


def test_the_tables_recover_the_planted_reliability(tables):
    found, planted = tables
    rows = found["attenuation"].set_index("condition")
    for language in ("es", "nl"):
        row = rows.loc[language]
        half = (row["r_corrected_high"] - row["r_corrected_low"]) / 2
        assert row["r_corrected"] == pytest.approx(planted["attenuation"][language], abs=2 * half)
        own = planted["reliability"][language]
        assert row["reliability_language"] == pytest.approx(own, abs=0.12)
        english = planted["reliability"]["en"]
        assert row["reliability_english"] == pytest.approx(english, abs=0.12)


def test_the_tables_recover_the_planted_arms(tables):
    found, planted = tables
    control = found["control"]
    control = control[(control["unit"] == "model") & control["condition"].str.startswith("en+")]
    means = control[control["against"] == "en"].groupby("condition")["mean_change"].mean()
    assert set(means.index) == {"en+neutral", "en+true", "en+false"}
    for condition, change in means.items():
        assert change == pytest.approx(-planted["conditions"][condition]["drop"], abs=0.035)
    assert means["en+true"] > means["en+neutral"] > means["en+false"]


def test_the_tables_count_what_was_left_out(tables):
    found, planted = tables
    flow = found["item_flow"]
    flow = flow[~flow["native"].astype(bool)]
    for language, n in planted["collapsed"].items():
        rows = flow[flow["condition"] == language]
        assert (rows["n_collapsed"] == n).all()
        unscored = len(planted["unscored"].get(language, []))
        if unscored:  # every second model could not score it
            assert rows["n_not_scored"].tolist() == [0, unscored] * (N_MODELS // 2)
        else:
            assert rows["n_not_scored"].tolist() == [0]
    natives = found["natives"]
    assert (natives.groupby("condition")["n"].max() == pd.Series(planted["natives"])).all()


def test_the_tables_see_rewordings_scatter(tables):
    found, planted = tables
    variance = found["wording_variance"]
    for original in ("en", "nl"):
        rows = variance[(variance["unit"] == "rewordings") & (variance["original"] == original)]
        assert (rows["n_rewordings"] == 3).all()
        assert rows["sd_between"].mean() == pytest.approx(planted["tau"][original], rel=1.2)


def test_every_language_has_a_verdict(tables):
    found, _ = tables
    verdicts = found["verdicts"]
    assert set(LANGUAGES) <= set(verdicts["condition"])
