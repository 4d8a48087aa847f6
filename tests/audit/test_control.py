"""The positive control: planted arms, scipy's sign test, and what of each row its counts are of."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.audit.control import NO_BASE, NO_CHOICE, NO_CONTROL, NO_MODEL, control, sign_test
from core.analysis.audit.names import ALL_MODELS, MODEL, NO_ITEM, NO_ITEM_OF_MODEL, ONE_MODEL
from core.analysis.audit.request import AuditRequest
from core.stats.resampling import bootstrap_means, sign_flip_test
from tests.made_panels import drawn_scores, made_panel
from tests.thin_panels import thin_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=200)


def test_each_arm_is_tested_against_the_version_without_it_and_against_the_neutral_one() -> None:
    scores = drawn_scores(
        models=3, en__true=0.1, en__false=-0.1, en__neutral=0.02, es=0, es__true=0.05
    )
    table = control(made_panel(scores), REQUEST)
    models = table.rows[table.rows["unit"] == MODEL]
    compared = list(dict.fromkeys(zip(models["condition"], models["against"], strict=True)))
    assert compared == [
        ("en+neutral", "en"),
        ("en+true", "en"),
        ("en+true", "en+neutral"),
        ("en+false", "en"),
        ("en+false", "en+neutral"),
        ("es+true", "es"),
    ]
    for row in models.to_dict("records"):
        m = int(row["model"][-1])
        d = (scores[row["condition"]] - scores[row["against"]])[m]
        assert row["n"] == 60
        assert row["mean_change"] == pytest.approx(d.mean())
        p = sign_flip_test(d[None], n_resamples=500, rng=REQUEST.rng("signs")).pvalue[0]
        assert row["pvalue"] == pytest.approx(p)
    assert models["qvalue"].to_numpy() == pytest.approx(
        scipy.stats.false_discovery_control(models["pvalue"])
    )
    assert any("neutral arm beside es" in note for note in table.notes)
    assert not any("beside en:" in note for note in table.notes)


def test_over_models_signs_are_counted() -> None:
    scores = drawn_scores(models=6, en__true=0.1, en__neutral=0.0)
    scores["en+true"][5] = scores["en"][5]  # a model that does not move is no sign
    scores["en+true"][4] = scores["en"][4] - 0.1
    rows = control(made_panel(scores), REQUEST).rows
    row = (
        rows[(rows["unit"] == ALL_MODELS) & (rows["against"] == "en")].set_index("arm").loc["true"]
    )
    assert (row["n_models"], row["n_moved"], row["n_up"]) == (6, 5, 4)
    assert row["pvalue"] == pytest.approx(scipy.stats.binomtest(4, 5).pvalue)
    expected = (scores["en+true"] - scores["en"]).mean()
    assert row["mean_change"] == pytest.approx(expected)
    of_models = (scores["en+true"] - scores["en"]).mean(axis=1)
    assert row["sd_models"] == pytest.approx(of_models.std(ddof=1))
    choices = {c: (ss > 0.5).astype(float) for c, ss in scores.items()}
    moved = (choices["en+true"] - choices["en"]).mean(axis=1)
    assert row["n_moved_binary"] == (moved != 0).sum()
    assert row["n_up_binary"] == (moved > 0).sum()
    p = scipy.stats.binomtest(int((moved > 0).sum()), int((moved != 0).sum())).pvalue
    assert row["pvalue_binary"] == pytest.approx(p)


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_sign_test_is_scipys(up: int, n: int) -> None:
    up = min(up, n)
    assert sign_test(up, n) == pytest.approx(scipy.stats.binomtest(up, n).pvalue)


def test_no_signs_have_no_p() -> None:
    assert math.isnan(sign_test(0, 0))


def test_without_prefixes_there_is_a_note() -> None:
    table = control(made_panel(drawn_scores(es=0.1, en_p1=0.0)), REQUEST)
    assert table.rows.empty
    assert table.notes == (NO_CONTROL,)


def test_other_prefixes_are_no_arm() -> None:
    assert control(made_panel(drawn_scores(en__formal=0.1)), REQUEST).notes == (NO_CONTROL,)


def test_an_arm_without_its_base_is_not_set_against_english() -> None:
    rows = control(made_panel(drawn_scores(es__true=0.1)), REQUEST).rows
    assert rows["mean_change"].isna().all()
    assert rows["pvalue"].isna().all()
    assert rows["reason"].tolist() == [NO_BASE, NO_BASE, NO_BASE]


def test_an_arm_without_scores_is_undefined() -> None:
    scores = drawn_scores(en__true=0.1)
    scores["en+true"][0] = NAN
    rows = control(made_panel(scores), REQUEST).rows
    assert rows["reason"].tolist() == [NO_ITEM_OF_MODEL, "", ONE_MODEL]
    assert rows["pvalue"].isna().tolist() == [True, False, False]
    assert rows["n_models"].tolist() == [0, 1, 1]
    assert rows["n_up"].isna().tolist() == [True, False, False]


def test_choices_that_do_not_move_have_no_sign_test_and_say_so() -> None:
    english = np.full((2, 20), 0.7)
    shifted = english + np.array([[0.1], [0.15]])
    rows = control(made_panel({"en": english, "en+true": shifted}), REQUEST).rows
    last = rows.iloc[-1]
    assert (last["unit"], last["n_moved"], last["n_moved_binary"]) == (ALL_MODELS, 2, 0)
    assert math.isnan(last["pvalue_binary"])
    assert last["reason"] == NO_CHOICE


def test_items_of_all_models_are_counted_once_each() -> None:
    scores = drawn_scores(en__true=0.1)
    scores["en+true"][0, :50] = NAN
    scores["en+true"][1, 55:] = NAN
    rows = control(made_panel(scores), REQUEST).rows
    assert rows["n"].tolist() == [10, 55, 60]
    assert rows["n_binary"].tolist() == [10, 55, 60]


def test_models_that_do_not_move_are_not_models_that_are_not_scored() -> None:
    scores = drawn_scores(en=0.0)
    still = control(made_panel(scores | {"en+true": scores["en"]}), REQUEST).rows.iloc[-1]
    assert (still["n_models"], still["n_moved"], still["n_up"]) == (2, 0, 0)
    assert (still["mean_change"], still["reason"]) == (0, NO_MODEL)
    nothing = made_panel(scores | {"en+true": np.full((2, 60), NAN)})
    row = control(nothing, REQUEST).rows.iloc[-1]
    assert (row["n_models"], row["n"], row["reason"]) == (0, 0, NO_ITEM)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["mean", "standardised"])
def test_what_is_undefined_in_thin_data_has_a_reason(seed: int, kind) -> None:
    request = AuditRequest(dataset="made", kind=kind, n_resamples=50, n_bootstrap=30)
    rows = control(thin_panel(seed), request).rows
    for name in ("pvalue", "mean_change", "n_up", "n_up_binary"):
        assert (rows.loc[rows[name].isna(), "reason"] != "").all()


def test_the_interval_of_one_model_is_over_its_items_and_of_several_over_these() -> None:
    rng = np.random.default_rng(2)
    base = rng.uniform(0.3, 0.7, (3, 20))
    scores = {"en": base, "en+true": base + rng.normal(0.05, 0.05, base.shape)}
    request = AuditRequest(dataset="made", n_resamples=200, n_bootstrap=400)
    found = control(made_panel(scores), request).rows
    changes = scores["en+true"] - base
    draws = bootstrap_means(changes, n_resamples=400, rng=request.rng("control"))
    single, overall = found[found["unit"] == "model"], found[found["unit"] != "model"].iloc[0]
    for at in range(3):
        ends = np.quantile(draws[:, at], [0.025, 0.975])
        assert single[["low", "high"]].iloc[at].tolist() == pytest.approx(ends.tolist())
    over_models = scipy.stats.t.interval(0.95, 2, *_mean_and_error(changes.mean(axis=1)))
    assert overall[["low", "high"]].tolist() == pytest.approx(list(over_models))
    one = control(made_panel({c: s[:1] for c, s in scores.items()}), request).rows
    assert one["low"].nunique() == 1
    assert one[["low_binary", "high_binary"]].shape == (2, 2)


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    return values.mean(), scipy.stats.sem(values)
