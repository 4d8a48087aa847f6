"""Tests over items against scipy and a naive loop over models, rewordings and languages."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.audit.item_changes import item_changes
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.names import FEW_ITEMS, NO_REWORDING, NOTHING_CHANGES
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from tests.made_panels import made_panel

NAN = float("nan")
D = AuditRequest(dataset="made", n_resamples=4096, n_bootstrap=2000)


def drawn(n_models: int, n_items: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.9, (n_models, n_items))


def mean_of(x: np.ndarray, axis: int) -> np.ndarray:
    return x.mean(axis=axis)


def rows_of(panel: Panel, request: AuditRequest = D) -> pd.DataFrame:
    return item_tests(panel, request).rows.set_index(["condition", "group_kind", "group"])


def naive_change(panel: Panel, condition: str) -> list[float]:
    """Mean change of each item over all models; NaN where one has no score in both versions."""
    scores = panel.scores("mean")
    changes = []
    for n in range(len(panel.items)):
        d = [
            scores[m, panel.at(condition), n] - scores[m, panel.english, n]
            for m in range(len(panel.models))
        ]
        changes.append(NAN if any(math.isnan(x) for x in d) else sum(d) / len(d))
    return changes


def naive_noise(panel: Panel, rewordings: list[str]) -> list[float]:
    by_rewording = [naive_change(panel, c) for c in rewordings]
    noise = []
    for n in range(len(panel.items)):
        there = [changes[n] for changes in by_rewording if not math.isnan(changes[n])]
        noise.append(sum(there) / len(there) if there else NAN)
    return noise


@pytest.fixture(scope="module")
def small() -> Panel:
    """Eleven items, three models, gaps; few enough to try every sign vector."""
    translated = {c: drawn(3, 11, seed) for seed, c in enumerate(("es", "fr", "hi"), start=10)}
    translated["es"][1, 4] = NAN
    translated["fr"][:, 2] = NAN
    rewordings = {c: drawn(3, 11, seed) for seed, c in enumerate(("en~p1", "en~p2"), start=20)}
    partial = drawn(3, 11, 30)
    partial[:, 6:] = NAN
    return made_panel(
        {"en": drawn(3, 11), **translated, **rewordings, "en~llm": partial},
        fields={
            "source": ["stereoset"] * 5 + ["bbq"] * 3 + ["written"] * 3,
            "category": ["gender", "race"] * 5 + [""],
            "dimension": ["warmth"] * 6 + ["ability"] * 4 + [""],
        },
        collapsed={"hi": [9]},
        judgments={
            "es": ["preserved"] * 6 + ["lost"] * 5,
            "fr": ["preserved"] * 4 + ["lost"] * 7,
        },
    )


def test_each_language_equals_a_naive_loop_and_scipy(small: Panel) -> None:
    found = rows_of(small)
    noise = np.array(naive_noise(small, ["en~p1", "en~p2"]))
    pvalues = []
    for language, left_out in (("es", 1), ("fr", 1), ("hi", 0)):
        row = found.loc[(language, "all", "")]
        change = np.array(naive_change(small, language))
        x = change - noise
        x = x[np.isfinite(x)]
        assert row["t"] == pytest.approx(-x.mean(), abs=1e-12)
        assert row["sd"] == pytest.approx(x.std(ddof=1), abs=1e-12)
        assert (row["n"], row["n_left_out"]) == (10, left_out)
        assert row["drop"] == pytest.approx(-np.nanmean(change))
        assert row["drop"] - row["reworded_drop"] == pytest.approx(row["t"])
        expected = stats.permutation_test(
            (x,), mean_of, permutation_type="samples", n_resamples=np.inf, vectorized=True
        )
        assert row["exact"]
        assert row["pvalue"] == pytest.approx(expected.pvalue, abs=1e-12)
        pvalues.append(expected.pvalue)
    languages = found.loc[[(c, "all", "") for c in ("es", "fr", "hi")]]
    assert languages["qvalue"].tolist() == pytest.approx(stats.false_discovery_control(pvalues))
    assert (languages["n_tests"] == 3).all()
    assert (languages["reason"] == "").all()


def test_pooling_counts_each_item_once(small: Panel) -> None:
    row = rows_of(small).loc[("pooled", "all", "")]
    by_language = np.array([naive_change(small, c) for c in ("es", "fr", "hi")])
    x = np.nanmean(by_language, axis=0) - np.array(naive_noise(small, ["en~p1", "en~p2"]))
    assert (row["n"], row["n_left_out"], row["n_tests"]) == (11, 0, 1)
    assert row["t"] == pytest.approx(-x.mean(), abs=1e-12)
    assert row["qvalue"] == row["pvalue"]


@pytest.mark.parametrize(
    ("kind", "group", "members"),
    [
        ("source", "stereoset", range(5)),
        ("source", "bbq", range(5, 8)),
        ("dimension", "ability", range(6, 10)),
        ("subset", "BBQ + written", range(5, 11)),
        ("subset", "StereoSet without gender", (1, 3)),
    ],
)
def test_groups_hold_their_items(small: Panel, kind: str, group: str, members: range) -> None:
    x = np.array(naive_change(small, "es")) - naive_noise(small, ["en~p1", "en~p2"])
    x = x[list(members)]
    row = rows_of(small).loc[("es", kind, group)]
    assert row["n"] == np.isfinite(x).sum()
    assert row["n_left_out"] == np.isnan(x).sum()
    assert row["t"] == pytest.approx(-np.nanmean(x), abs=1e-12)


def test_groups_of_a_judgment_differ_by_language(small: Panel) -> None:
    found = rows_of(small)
    noise = np.array(naive_noise(small, ["en~p1", "en~p2"]))
    es, fr = (np.array(naive_change(small, c)) for c in ("es", "fr"))
    assert found.loc[("es", "judgment", "lost"), "t"] == pytest.approx(-(es - noise)[6:].mean())
    assert found.loc[("fr", "judgment", "lost"), "t"] == pytest.approx(-(fr - noise)[4:].mean())
    # an item that only French lost counts there alone: items 4 and 5 by French, 6-10 by both
    pooled = np.concatenate([fr[4:6], (es + fr)[6:] / 2]) - noise[4:]
    row = found.loc[("pooled", "judgment", "lost")]
    assert (row["n"], row["t"]) == (7, pytest.approx(-pooled.mean()))
    hindi = found.loc[("hi", "judgment", "lost")]  # nobody judged the Hindi versions
    assert (hindi["n"], hindi["n_left_out"]) == (0, 0)
    assert math.isnan(hindi["pvalue"])
    assert found.loc[("es", "judgment", "lost"), "n_tests"] == 2


def test_rewordings_are_tested_against_the_others(small: Panel) -> None:
    found = rows_of(small)
    p1, p2, llm = (np.array(naive_change(small, c)) for c in ("en~p1", "en~p2", "en~llm"))
    assert found.loc[("en~p1", "rewording", ""), "t"] == pytest.approx(-(p1 - p2).mean())
    assert found.loc[("en~p2", "rewording", ""), "t"] == pytest.approx(-(p2 - p1).mean())
    row = found.loc[("en~llm", "rewording", "")]
    assert (row["n"], row["n_rewordings"], row["n_tests"]) == (6, 2, 3)
    assert row["t"] == pytest.approx(-np.nanmean(llm - (p1 + p2) / 2))


def test_a_partial_rewording_stays_out_of_the_noise_and_is_named(small: Panel) -> None:
    found = item_tests(small, D)
    assert (found.rows.query("group_kind == 'all'")["n_rewordings"] == 2).all()
    assert any("en~llm" in note for note in found.notes)
    assert any("1 items name no dimension" in note for note in found.notes)


def test_without_full_coverage_each_item_has_the_rewordings_that_it_has() -> None:
    p1, p2 = drawn(2, 8, 2), drawn(2, 8, 3)
    p1[:, 0], p2[1, 5], p1[0, 7], p2[:, 7] = NAN, NAN, NAN, NAN
    panel = made_panel({"en": drawn(2, 8), "es": drawn(2, 8, 1), "en~p1": p1, "en~p2": p2})
    noise = np.array(naive_noise(panel, ["en~p1", "en~p2"]))
    found = item_changes(panel, "mean")
    assert found.reworded.tolist() == pytest.approx(noise.tolist(), nan_ok=True)
    assert found.complete.tolist() == [False, *[True] * 4, False, True, False]
    row = rows_of(panel).loc[("es", "all", "")]
    assert (row["n"], row["n_complete"], row["n_left_out"]) == (7, 5, 1)
    complete = item_changes(panel, "mean", complete=True)
    assert np.isfinite(complete.reworded).tolist() == found.complete.tolist()


def test_intervals_equal_scipys_within_their_error() -> None:
    panel = made_panel({"en": drawn(2, 120), "es": drawn(2, 120, 1), "en~p1": drawn(2, 120, 2)})
    x = np.array(naive_change(panel, "es")) - naive_noise(panel, ["en~p1"])
    request = AuditRequest(dataset="made", n_resamples=2000, n_bootstrap=20_000)
    row = rows_of(panel, request).loc[("es", "all", "")]
    for level, low, high in ((0.95, "t_low", "t_high"), (0.90, "t90_low", "t90_high")):
        expected = stats.bootstrap(
            (-x,),
            np.mean,
            method="percentile",
            n_resamples=20_000,
            confidence_level=level,
            rng=np.random.default_rng(0),
        )
        assert (row[low], row[high]) == pytest.approx(
            tuple(expected.confidence_interval), abs=0.06 * expected.standard_error
        )
    assert not row["exact"]


def test_a_drop_that_rewording_makes_too_is_none() -> None:
    english = np.random.default_rng(0).uniform(0.4, 0.6, (3, 80))
    noise = [np.random.default_rng(s).normal(0, 0.02, (3, 80)) for s in range(3)]
    shift = {"es": -0.1, "hi": -0.2, "en~p1": -0.1}
    scores = {c: english + s + e for (c, s), e in zip(shift.items(), noise, strict=True)}
    found = rows_of(made_panel({"en": english, **scores}))
    assert found.loc[("es", "all", ""), "drop"] == pytest.approx(0.1, abs=0.01)
    assert found.loc[("es", "all", ""), "t"] == pytest.approx(0, abs=0.01)
    assert found.loc[("hi", "all", ""), "t"] == pytest.approx(0.1, abs=0.01)
    assert found.loc[("hi", "all", ""), "qvalue"] < 0.05


def test_without_rewording_there_is_a_drop_but_no_test() -> None:
    found = item_tests(made_panel({"en": drawn(2, 9), "es": drawn(2, 9, 1)}), D)
    row = found.rows.iloc[0]
    assert (row["n"], row["n_drop"], row["n_left_out"]) == (0, 9, 9)
    assert math.isfinite(row["drop"])
    assert row[["t", "t_low", "t90_high", "sd", "pvalue", "qvalue"]].isna().all()
    assert row["reason"] == NO_REWORDING
    assert found.notes[0] == NO_REWORDING


def test_one_rewording_has_no_other_to_stand_against() -> None:
    panel = made_panel({"en": drawn(1, 9), "es": drawn(1, 9, 1), "en~p1": drawn(1, 9, 2)})
    found = rows_of(panel)
    row = found.loc[("en~p1", "rewording", "")]
    assert math.isnan(row["t"])
    assert "no other rewording" in row["reason"]
    assert found.loc[("es", "all", ""), "n_models"] == 1
    assert ("pooled", "all", "") not in found.index  # there is one language


def test_thin_data_say_why() -> None:
    one = made_panel({"en": [[0.5]], "es": [[0.4]], "en~p1": [[0.5]]})
    row = rows_of(one).loc[("es", "all", "")]
    assert (row["n"], row["t"]) == (1, pytest.approx(0.1))
    assert np.isnan([row["sd"], row["pvalue"], row["qvalue"]]).all()
    assert math.isnan(row["t_low"])
    assert "One item" in row["reason"]
    english = drawn(2, 30)
    alike = rows_of(made_panel({"en": english, "es": english, "en~p1": english}))
    row = alike.loc[("es", "all", "")]
    assert (row["t"], row["sd"]) == (0, 0)
    assert np.isnan([row["t_high"], row["pvalue"]]).all()
    assert row["reason"] == NOTHING_CHANGES


def test_four_items_have_a_test_and_no_interval() -> None:
    four = made_panel({"en": drawn(2, 4), "es": drawn(2, 4, 1), "en~p1": drawn(2, 4, 2)})
    row = rows_of(four).loc[("es", "all", "")]
    assert 0 < row["pvalue"] <= 1
    assert np.isnan([row["t_low"], row["t90_low"], row["drop_low"]]).all()
    assert row["reason"] == FEW_ITEMS


def test_nothing_scored_and_nothing_translated() -> None:
    nothing = np.full((2, 4), NAN)
    found = rows_of(made_panel({"en": drawn(2, 4), "es": nothing, "en~p1": nothing}))
    row = found.loc[("es", "all", "")]
    assert (row["n"], row["n_left_out"]) == (0, 4)
    assert math.isnan(row["pvalue"])
    assert row["reason"] != ""
    alone = item_tests(made_panel({"en": drawn(2, 4)}), D)
    assert alone.rows.empty
    assert "qvalue" in alone.rows
    assert any("no translation" in note for note in alone.notes)


def test_the_table_is_the_same_when_it_is_made_again(small: Panel) -> None:
    pd.testing.assert_frame_equal(item_tests(small, D).rows, item_tests(small, D).rows)
