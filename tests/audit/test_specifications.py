"""Specifications: every combination once, each the test of its own items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.audit.item_tests import item_tests
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.stats.scores import KINDS, ScoreKind
from tests.audit.test_fragility import FIELDS, fragile_scores, fragility_rows, naive_differences
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_resamples=1999, n_bootstrap=50)
REWORDINGS = ("en~p1", "en~p2", "en~p3")


def _curve(panel: Panel, request: AuditRequest = REQUEST) -> pd.DataFrame:
    rows = fragility_rows(panel, request)
    return rows[rows["check"] == "specification"].reset_index(drop=True)


def test_each_language_has_every_combination_once_sorted_by_z() -> None:
    curve = _curve(made_panel(fragile_scores(), fields=FIELDS))
    of = ["kind", "items", "corrected", "estimator", "choice"]
    for _, part in curve.groupby("condition"):
        assert len(part) == 5 * 3 * 2 * 3 * 3 >= 24
        assert not part.duplicated(of).any()
        assert part["z"].is_monotonic_increasing
        assert part["main"].sum() == 1


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "standardised"])
def test_the_main_specification_is_the_item_test(kind: ScoreKind, complete: bool) -> None:
    request = AuditRequest(
        dataset="made", n_resamples=999, n_bootstrap=50, kind=kind, complete=complete
    )
    scores = fragile_scores()
    for at, c in enumerate(REWORDINGS):  # none of full coverage, so that completeness matters
        scores[c][1, 10 * at : 10 * at + 5] = NAN
    panel = made_panel(scores, fields=FIELDS)
    main = _curve(panel, request).query("main").set_index("condition")
    tests = item_tests(panel, request).rows
    tests = tests[tests["group_kind"] == "all"].set_index("condition")
    for condition in ("es", "hi", "sw"):
        assert main.loc[condition, "kind"] == kind
        assert main.loc[condition, "n"] == (45 if complete else 60)
        assert main.loc[condition, "drop"] == pytest.approx(tests.loc[condition, "t"])
        assert main.loc[condition, "pvalue"] == tests.loc[condition, "pvalue"]
        assert main.loc[condition, "qvalue"] == pytest.approx(tests.loc[condition, "qvalue"])


def test_complete_cases_are_the_audit_of_the_complete_items() -> None:
    scores = fragile_scores()
    for at, c in enumerate(REWORDINGS):
        scores[c][:, 10 * at : 10 * at + 5] = NAN
    kept = np.isfinite([scores[c] for c in REWORDINGS]).all(axis=(0, 1))
    assert kept.sum() == 45
    request = AuditRequest(dataset="made", n_resamples=999, n_bootstrap=50, complete=True)
    small = made_panel({c: s[:, kept] for c, s in scores.items()})
    rows, expected = fragility_rows(made_panel(scores), request), fragility_rows(small, request)
    for choice in ("model", "count"):
        numbers = ["n"] if choice == "count" else ["n", "drop", "z"]
        found, same = (r.loc[r["choice"] == choice, numbers] for r in (rows, expected))
        assert len(found) > 0
        assert found.to_numpy(float) == pytest.approx(same.to_numpy(float))
    assert fragility_rows(made_panel(scores)).query("choice == 'model'")["n"].eq(60).all()


def test_estimators_equal_naive_ones() -> None:
    scores = fragile_scores()
    curve = _curve(made_panel(scores, fields=FIELDS))
    curve = curve[(curve["kind"] == "mean") & (curve["items"] == "every model")]
    curve = curve[curve["corrected"].astype(bool) & (curve["condition"] == "hi")]
    bbq = np.array(FIELDS["source"]) == "bbq"
    for choice, mask in (("all", bbq | ~bbq), ("bbq", bbq)):
        d = naive_differences(scores, "hi")[mask]
        row = curve[curve["choice"] == choice].set_index("estimator")
        kept = np.sort(np.abs(d))[: len(d) - len(d) // 10]
        assert row.loc["mean", "drop"] == pytest.approx(-d.mean())
        assert row.loc["median", "drop"] == pytest.approx(-np.median(d))
        trimmed = d[np.abs(d) <= kept[-1]]
        assert row.loc["mean without the largest changes", "drop"] == pytest.approx(-trimmed.mean())
        assert row.loc["mean", "z"] == pytest.approx(-d.sum() / np.sqrt((d**2).sum()))
        # Sign flips of signs are the sign test, whose p is binomial.
        sign_test = stats.binomtest(int((d > 0).sum()), len(d)).pvalue
        assert row.loc["median", "pvalue"] == pytest.approx(sign_test, abs=0.04)


def test_uncorrected_is_the_drop_and_items_choose_their_models() -> None:
    scores = fragile_scores()
    scores["hi"][0, :10] = NAN
    for c in REWORDINGS:  # else the one with gaps would not count at all
        scores[c][1, 5:20] = NAN
    scores["en~p2"][:, 25] = NAN
    curve = _curve(made_panel(scores))
    curve = curve[(curve["kind"] == "mean") & (curve["estimator"] == "mean")]
    curve = curve[curve["condition"] == "hi"].set_index(["items", "corrected"])
    d = scores["hi"] - scores["en"]
    assert curve.loc[("every model", False), "n"] == 50
    assert curve.loc[("every model", False), "drop"] == pytest.approx(-d[:, 10:].mean())
    assert curve.loc[("any model", False), "n"] == 60
    assert curve.loc[("any model", False), "drop"] == pytest.approx(-np.nanmean(d, axis=0).mean())
    assert curve.loc[("every model", True), "n"] == 40  # without 0 to 19
    assert curve.loc[("every model and rewording", True), "n"] == 39
