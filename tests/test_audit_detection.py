"""Detection: the statistics on the right pairs and items, and planted shifts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from core.analysis.audit import detection
from core.analysis.audit.detection import (
    NO_MARGIN,
    NO_PAIR,
    NOT_FOUND,
    NOT_SHIFTED,
    SHIFTS,
    injection,
    power,
)
from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.names import FEW_ITEMS, NO_TRANSLATION, POOLED
from core.analysis.audit.request import AuditRequest
from core.stats.injection import DELTAS, injection_curve
from core.stats.levels import LEAST_ITEMS
from core.stats.power import items_needed, smallest_shift
from core.stats.size import size_check
from tests.made_panels import drawn_scores, made_panel
from tests.thin_panels import thin_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=200)


def test_pairs_are_the_full_rewordings_of_each_model_in_log_odds() -> None:
    scores = drawn_scores(es=0.1, en_p1=0.0, en_p2=0.0, en_llm=0.0, hi=0.0, hi_llm=0.0)
    scores["en~llm"][0, 5] = NAN
    table = injection(made_panel(scores), REQUEST, n_runs=10)
    pairs = [(0, "en~p1"), (0, "en~p2"), (1, "en~llm"), (1, "en~p1"), (1, "en~p2")]
    u = {c: np.log(ss / (1 - ss)) for c, ss in scores.items()}
    original = np.array([u["en"][m] for m, _ in pairs])
    reworded = np.array([u[c][m] for m, c in pairs])
    rng = REQUEST.rng("injection")
    points = injection_curve(original, reworded, n_runs=10, n_resamples=2_000, rng=rng)
    size = size_check(
        np.array([(scores[c] - scores["en"])[m] for m, c in pairs]),
        n_worlds=50,
        n_resamples=2_000,
        rng=rng,
    )
    rows = table.rows[table.rows["check"] == "injection"]
    assert rows["delta"].tolist() == list(DELTAS)
    assert rows["detection"].tolist() == [p.detection for p in points]
    assert rows["shift"].to_numpy() == pytest.approx([p.shift for p in points])
    assert rows["flags_among_rest"].tolist() == [p.flags_among_rest for p in points]
    assert (rows["n_runs"] == 10).all()
    assert (table.rows["n_pairs"] == 5).all()
    assert (table.rows["n_items"] == 60).all()
    unfound = [NOT_FOUND if p.n_detected == 0 else "" for p in points[1:]]
    assert table.rows["reason"].tolist() == [NOT_SHIFTED, *unfound, ""]
    last = table.rows.iloc[-1]
    assert last["check"] == "size"
    assert last["rejection_rate"] == pytest.approx(size.rate)
    assert last["rejection_error"] == pytest.approx(size.error)
    assert rows["detection"].iloc[-1] == 1
    assert rows["exaggeration"].iloc[-1] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("kind", ["summed", "per_code_point", "binary", "standardised"])
def test_log_odds_are_those_of_the_kind_of_score_or_of_the_mean(kind) -> None:
    request = AuditRequest(dataset="made", kind=kind)
    panel = made_panel(drawn_scores(en_p1=0.0))
    rows = injection(panel, request, n_runs=4).rows.set_index("delta")
    u = panel.numbers["l_stereotype"] - panel.numbers["l_anti"]
    if kind == "summed":
        u = 5 * u
    if kind == "per_code_point":
        n = panel.numbers
        u = n["sum_stereotype"] / 8 - n["sum_anti"] / 4
    ss = 1 / (1 + np.exp(-u[:, 1]))
    moved = 1 / (1 + np.exp(-u[:, 1] - 0.5))
    assert rows.at[0.5, "shift"] == pytest.approx((moved - ss).mean())
    mean_only = kind in ("binary", "standardised")
    assert any("mean scores" in n for n in injection(panel, request, n_runs=4).notes) is mean_only


@pytest.mark.parametrize(
    "scores",
    [
        drawn_scores(es=0.1),
        {c: x[:, :1] for c, x in drawn_scores(en_p1=0.0).items()},
        {c: np.full((2, 5), NAN) for c in ("en", "en~p1")},
    ],
)
def test_without_a_pair_nothing_is_detected_and_nothing_missed(scores) -> None:
    rows = injection(made_panel(scores), REQUEST).rows
    assert rows[["detection", "shift", "rejection_rate"]].isna().all(axis=None)
    assert (rows["n_runs"] == 0).all()
    assert (rows["reason"] == NO_PAIR).all()


def test_power_of_each_language_is_by_formula_and_by_simulation() -> None:
    scores = drawn_scores(models=3, items=300, es=0.0, hi=0.1, en_p1=0.0, en_p2=0.0)
    scores["hi"][0, :100] = NAN
    panel = made_panel(scores)
    table = power(panel, REQUEST, item_tests(panel, REQUEST))
    rows = table.rows.set_index("condition")
    assert list(rows.index) == ["es", "hi", POOLED]
    for condition, n in (("es", 300), ("hi", 200)):
        row = rows.loc[condition]
        d = (scores[condition] - scores["en"]).mean(axis=0) - np.mean(
            [(scores[c] - scores["en"]).mean(axis=0) for c in ("en~p1", "en~p2")], axis=0
        )
        sd = np.nanstd(d, ddof=1)
        assert row["n"] == n
        assert row["sd"] == pytest.approx(sd)
        assert row["items_needed"] == items_needed(0.02, sd)
        assert row["smallest_shift"] == pytest.approx(smallest_shift(n, sd))
        assert row["size"] == pytest.approx(0.05, abs=0.05)
        expected = scipy.stats.norm.sf(1.96 - 0.02 / sd * math.sqrt(n))
        assert row["power_002"] == pytest.approx(expected, abs=0.1)
        assert row["size"] < row["power_002"] <= row["power_004"] <= row["power_006"]
        assert row["power_002_error"] == pytest.approx(
            math.sqrt(row["power_002"] * (1 - row["power_002"]) / 400)
        )
        assert row["reason"] == ""
    assert SHIFTS == (0.02, 0.04, 0.06)  # the columns are named after them


def test_thin_or_equal_items_have_no_power_and_not_a_power_of_zero() -> None:
    for scores in (drawn_scores(items=1, es=0.1, en_p1=0.0), drawn_scores(es=0.1)):
        panel = made_panel(scores)
        rows = power(panel, REQUEST, item_tests(panel, REQUEST)).rows
        assert rows[["power_002", "size"]].isna().all(axis=None)
        tested = item_tests(panel, REQUEST).rows
        of_languages = tested.loc[tested["group_kind"] == "all", "reason"]
        assert rows["reason"].tolist() == of_languages.tolist()
        assert (rows["reason"] != "").all()
    panel = made_panel(drawn_scores(en_p1=0.0))
    found = power(panel, REQUEST, item_tests(panel, REQUEST))
    assert found.rows.empty
    assert NO_TRANSLATION in found.notes


@pytest.mark.parametrize("n_items", [2, LEAST_ITEMS - 1, LEAST_ITEMS])
def test_few_items_do_not_tell_how_many_are_needed(n_items: int) -> None:
    panel = made_panel(drawn_scores(items=n_items, es=0.1, en_p1=0.0))
    row = power(panel, REQUEST, item_tests(panel, REQUEST)).rows.iloc[0]
    told = row[["items_needed", "smallest_shift", "power_002", "power_006_error", "size"]].notna()
    assert (row["n"], row["n_worlds"] > 0) == (n_items, n_items == LEAST_ITEMS)
    assert told.tolist() == [n_items == LEAST_ITEMS] * 5
    assert row["reason"] == ("" if n_items == LEAST_ITEMS else FEW_ITEMS)


def test_standardised_scores_have_no_drop_of_two_points() -> None:
    request = replace(REQUEST, kind="standardised")
    panel = made_panel(drawn_scores(es=0.1, en_p1=0.0))
    found = power(panel, request, item_tests(panel, request))
    row = found.rows.iloc[0]
    assert np.isnan([row["items_needed"], row["power_002"], row["power_006_error"]]).all()
    assert row["smallest_shift"] > 0
    assert row["size"] >= 0
    assert row["reason"] == NO_MARGIN


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["mean", "standardised"])
def test_what_is_undefined_in_thin_data_has_a_reason(
    seed: int, kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, few in (("POWER_WORLDS", 20), ("POWER_DRAWS", 99), ("N_SIZE_WORLDS", 3)):
        monkeypatch.setattr(detection, name, few)
    request = AuditRequest(dataset="made", kind=kind, n_resamples=50, n_bootstrap=30)
    panel = thin_panel(seed)
    injected = injection(panel, request, n_runs=2).rows
    for rows, column in (
        (injected[injected["check"] == "injection"], "detection"),
        (power(panel, request, item_tests(panel, request)).rows, "size"),
    ):
        assert (rows.loc[rows[column].isna(), "reason"] != "").all()
