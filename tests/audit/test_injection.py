"""Injection: the statistics on the right pairs and items, and planted shifts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.analysis.audit.injection import NO_PAIR, NOT_FOUND, NOT_SHIFTED, injection
from core.analysis.audit.request import AuditRequest
from core.stats.injection import DELTAS, injection_curve
from core.stats.size import size_check
from tests.made_panels import drawn_scores, made_panel

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
