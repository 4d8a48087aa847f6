"""Every kind of score of an audit against naive loops, the item test and planted scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.names import NO_REWORDING, NO_TRANSLATION
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from core.analysis.audit.score_panel import other_kinds, score_panel
from core.analysis.audit.verdicts import verdict
from core.stats.multiple import benjamini_hochberg
from core.stats.scores import KINDS, ScoreKind
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_resamples=1999, n_bootstrap=3000)


def _preferences(seed: int = 0, n_models: int = 3, n_items: int = 80) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    u = rng.normal(0.3, 0.8, n_items) + rng.normal(0, 0.2, (n_models, n_items))
    made = {"en": u}
    for condition, shift in (("en~p1", 0), ("en~p2", 0), ("es", 0), ("hi", -0.3)):
        made[condition] = u + shift + rng.normal(0, 0.3, u.shape)
    return made


def _panel(preferences: dict[str, np.ndarray]) -> Panel:
    return made_panel({c: expit(u) for c, u in preferences.items()})


def _table(panel: Panel, request: AuditRequest = REQUEST) -> AuditTable:
    return score_panel(panel, request, item_tests(panel, request), other_kinds(panel, request))


def _rows(panel: Panel, request: AuditRequest = REQUEST) -> pd.DataFrame:
    return _table(panel, request).rows.set_index(["condition", "kind"])


def test_every_language_has_every_kind() -> None:
    rows = _table(_panel(_preferences())).rows
    assert rows["kind"].tolist() == [*KINDS] * 2
    assert rows["condition"].tolist() == ["es"] * 5 + ["hi"] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_the_item_test_of_that_kind(kind: ScoreKind) -> None:
    """Whichever kind is asked for, the numbers of each kind are the same."""
    panel = _panel(_preferences())
    request = replace(REQUEST, kind=kind)
    tests = item_tests(panel, request).rows
    tests = tests[tests["group_kind"] == "all"].set_index("condition")
    own, other = _rows(panel, request), _rows(panel, replace(REQUEST, kind="summed"))
    for condition in ("es", "hi"):
        row, test = own.loc[(condition, kind)], tests.loc[condition]
        names = ["drop", "drop_low", "drop_high", "t", "t_low", "t_high", "t90_low", "t90_high"]
        names += ["test", "pvalue", "qvalue", "n_bootstrap"]
        assert row[names].tolist() == test[names].tolist()
        assert (row["n"], row["n_t"]) == (test["n_drop"], test["n"])
        for name in names:
            expected = row[name] if name == "test" else pytest.approx(row[name], rel=1e-9)
            assert other.loc[(condition, kind), name] == expected, name


def test_the_standardised_drop_has_the_sds_of_each_sample_that_is_drawn() -> None:
    """Naive: items are really drawn, and every model and condition has its own mean and sd."""
    preferences = _preferences()
    preferences["hi"][1, :7] = NAN  # then no model counts these items
    row = _rows(_panel(preferences)).loc[("hi", "standardised")]
    u = {c: v[:, 7:] if c == "hi" else v for c, v in preferences.items()}

    def change(after: np.ndarray, before: np.ndarray) -> float:
        each = [
            b.mean() / b.std(ddof=1) - a.mean() / a.std(ddof=1)
            for a, b in zip(before, after, strict=True)
        ]
        return float(np.mean(each))

    drop = -change(u["hi"], u["en"][:, 7:])
    noise = np.mean([change(u[c][:, 7:], u["en"][:, 7:]) for c in ("en~p1", "en~p2")])
    assert row["drop"] == pytest.approx(drop)
    assert row["t"] == pytest.approx(drop + noise)
    assert (row["n"], row["n_t"]) == (73, 73)
    rng = np.random.default_rng(9)
    draws = []
    for _ in range(3000):
        drawn = rng.integers(0, 80, 80)
        of_hi = drawn[drawn >= 7]
        drop = -change(preferences["hi"][:, of_hi], u["en"][:, of_hi])
        noise = np.mean([change(u[c][:, of_hi], u["en"][:, of_hi]) for c in ("en~p1", "en~p2")])
        draws.append((drop, drop + noise))
    expected = np.quantile(draws, [0.025, 0.975, 0.05, 0.95], axis=0)
    width = expected[1, 0] - expected[0, 0]
    assert (row["drop_low"], row["drop_high"]) == pytest.approx(expected[:2, 0], abs=0.06 * width)
    assert (row["t_low"], row["t_high"]) == pytest.approx(expected[:2, 1], abs=0.06 * width)
    assert (row["t90_low"], row["t90_high"]) == pytest.approx(expected[2:, 1], abs=0.06 * width)
    below = np.mean(np.array(draws)[:, 1] <= 0)
    assert row["pvalue"] == pytest.approx(2 * min(below, 1 - below), abs=0.02)
    assert row["test"] == "bootstrap"


def test_a_translation_that_only_flattens_preferences_depends_on_the_score() -> None:
    """Half the log-odds: mean scores fall toward 0.5, choices and standardised ones stay."""
    rng = np.random.default_rng(2)
    u = rng.normal(0.8, 1.0, 200) + np.zeros((4, 1))
    reworded = {f"en~p{k}": u + rng.normal(0, 0.2, u.shape) for k in (1, 2)}
    flat = 0.5 * (u + rng.normal(0, 0.2, u.shape))
    rows = _rows(_panel({"en": u, "hi": flat} | reworded)).loc["hi"]
    assert rows.loc["mean", "verdict"] == "shift"
    assert rows.loc["mean", "t"] > 0
    assert rows.loc["standardised", "verdict"] == "undecided"
    assert rows.loc["standardised", "drop"] == pytest.approx(0, abs=0.03)
    assert rows.loc["binary", "verdict"] in ("undecided", "equivalent")
    assert rows["depends_on_score"].tolist() == [True] * 5


def test_a_large_shift_of_log_odds_shows_under_every_kind() -> None:
    rows = _rows(_panel(_preferences(n_items=300))).loc["hi"]
    assert rows["verdict"].tolist() == ["shift"] * 5
    assert rows["depends_on_score"].tolist() == [False] * 5
    assert (rows["t"] > 0).all()


def test_verdicts_are_those_of_the_one_place_and_q_is_within_a_kind() -> None:
    rows = _table(_panel(_preferences(5))).rows
    for _, part in rows.groupby("kind"):
        assert part["qvalue"].to_numpy() == pytest.approx(benjamini_hochberg(part["pvalue"]))
    for row in rows.to_dict("records"):
        margin = NAN if row["kind"] == "standardised" else 0.02
        expected = verdict(row["qvalue"], row["t90_low"], row["t90_high"], margin)
        assert row["verdict"] == expected


def test_missing_versions_are_undefined_with_a_reason_and_never_a_verdict() -> None:
    preferences = _preferences()
    nothing = np.full_like(preferences["en"], NAN)
    rows = _rows(_panel(preferences | {"hi": nothing}))
    assert (rows.loc["hi", "verdict"] == "undefined").all()
    assert (rows.loc["hi", "reason"] != "").all()
    assert (rows.loc["hi", "n"] == 0).all()
    assert rows.loc["hi", "depends_on_score"].isna().all()
    assert (rows.loc["es", "reason"] == "").all()
    alone = {c: u for c, u in preferences.items() if "~" not in c}
    rows = _rows(_panel(alone))
    assert rows[["drop", "drop_low", "drop_high"]].notna().all().all()
    assert rows[["t", "pvalue", "qvalue"]].isna().all().all()
    assert (rows["verdict"] == "undefined").all()
    assert rows["reason"].str.contains(NO_REWORDING).all()
    table = _table(_panel({"en": preferences["en"]}))
    assert table.rows.empty
    assert table.notes == (NO_TRANSLATION,)


def test_the_standardised_t_is_of_the_items_of_all_its_versions() -> None:
    """Items 40 to 59 have no first rewording under one model, and no item a second one."""
    preferences = _preferences()
    preferences["en~p1"][2, 40:60] = NAN
    preferences["en~p2"][:] = NAN
    row = _rows(_panel(preferences)).loc[("hi", "standardised")]
    kept = np.r_[:40, 60:80]
    en, p1, hi = (preferences[c][:, kept] for c in ("en", "en~p1", "hi"))
    mean = [(u.mean(axis=1) / u.std(axis=1, ddof=1)).mean() for u in (en, p1, hi)]
    assert (row["n"], row["n_t"]) == (80, 60)
    assert row["t"] == pytest.approx((mean[0] - mean[2]) - (mean[0] - mean[1]))
    assert (row["t_low"] < row["t"] < row["t_high"], row["reason"]) == (True, "")
    apart = _preferences()
    apart["en~p1"][:, :50] = apart["hi"][:, 50:] = apart["en~p2"][:] = NAN
    row = _rows(_panel(apart)).loc[("hi", "standardised")]
    assert (row["n"], row["n_t"]) == (50, 0)
    assert np.isnan(row["t"])
    assert "in what it is set against" in row["reason"]


def test_items_without_spread_have_no_interval() -> None:
    same = np.full((2, 4), logit(0.6))
    rows = _rows(_panel({"en": same, "en~p1": same, "hi": same}))
    rows = rows.loc["hi"]
    assert (rows["drop"].drop("standardised") == 0).all()
    assert np.isnan(rows.loc["standardised", "drop"])
    assert rows[["drop_low", "t_low", "t90_low"]].isna().all().all()
    assert (rows["verdict"] == "undefined").all()
    assert (rows["reason"] != "").all()
