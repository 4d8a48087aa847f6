"""The simulated audit: its planted truth against what is drawn and written."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit

from benchmarks import make_cache
from benchmarks.simulated_audit import DATASET, drawn_preferences, fill_audit
from benchmarks.simulated_plan import LANGUAGES, N_MODELS, TAU, VERSIONS, population, truth
from core.analysis.audit.panel import load_panel
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
