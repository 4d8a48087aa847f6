"""Wording variance per language: the statistics on the right items, and planted."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from core.analysis.audit.names import ALL_MODELS, LANGUAGE, NO_REWORDING, NOTHING_CHANGES
from core.analysis.audit.request import AuditRequest
from core.analysis.audit.wording_variance import (
    ONLY_TOGETHER,
    REWORDINGS,
    SAME_MEANS,
    wording_variance,
)
from tests.made_panels import made_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=500)
PARAPHRASES = ("en~p1", "en~p2", "en~p3")


def _scores(seed: int = 0, models: int = 2, items: int = 60, **shifts: float):
    """Scores around 0.5 per condition, moved by so much; three rewordings of English."""
    rng = np.random.default_rng(seed)
    item = rng.uniform(0.3, 0.7, items)
    versions = {"en": 0.0, "en_p1": 0.0, "en_p2": 0.01, "en_p3": -0.01} | shifts
    return {
        c.replace("_", "~"): np.clip(item + x + rng.normal(0, 0.04, (models, items)), 0.01, 0.99)
        for c, x in versions.items()
    }


def _changes(scores, model: int | None, conditions):
    d = np.array([scores[c] - scores["en"] for c in conditions])  # (K, M, N)
    return d.mean(axis=1) if model is None else d[:, model]


def _split(d: np.ndarray) -> dict[str, float]:
    """Wording variance and prediction interval of the changes (K, N), by loops and scipy's t."""
    k, n = d.shape
    means = [sum(row) / n for row in d]
    covariance = [[np.cov(a, b)[0, 1] for a in d] for b in d]
    own = sum(covariance[i][i] for i in range(k)) / k
    shared = sum(covariance[i][j] for i in range(k) for j in range(k) if i != j) / (k * (k - 1))
    sd = statistics.stdev(means)
    half = scipy.stats.t.ppf(0.975, k - 1) * sd * math.sqrt(1 + 1 / k)
    mean = sum(means) / k
    return {
        "mean": mean,
        "tau2_raw": sd**2 - (own - shared) / n,
        "sampling_variance": own / n,
        "scale": sd * math.sqrt(1 + 1 / k),
        "low": mean - half,
        "high": mean + half,
    }


def _pvalue(change: float, d: np.ndarray) -> float:
    """Of the change being that of one more rewording."""
    split = _split(d)
    return float(2 * scipy.stats.t.sf(abs(change - split["mean"]) / split["scale"], len(d) - 1))


def _exchanged(versions: np.ndarray, n_draws: int = 4_000) -> float:
    """Share of random choices of a translation, item by item, that lie as far from the others."""
    rng = np.random.default_rng(99)
    k, n = versions.shape
    rest = (versions.sum(axis=0) - versions) / (k - 1)
    observed = abs((versions[0] - rest[0]).mean())
    at = rng.integers(0, k, (n_draws, n))
    null = [abs((versions - rest)[chosen, range(n)].mean()) for chosen in at]
    return float(np.mean(np.array(null) >= observed - 1e-12))


def _rows(scores, request: AuditRequest = REQUEST) -> pd.DataFrame:
    return wording_variance(made_panel(scores), request).rows


def test_each_model_and_their_mean_have_the_split_of_the_statistic() -> None:
    scores = _scores(es=0.0)
    rows = _rows(scores)
    rows = rows[rows["unit"] == REWORDINGS]
    assert rows["model"].tolist() == ["model-0", "model-1", ALL_MODELS]
    for model, row in zip((0, 1, None), rows.to_dict("records"), strict=True):
        found = _split(_changes(scores, model, PARAPHRASES))
        assert row["mean_change"] == pytest.approx(found["mean"])
        assert row["tau2_raw"] == pytest.approx(found["tau2_raw"])
        assert row["tau"] == pytest.approx(math.sqrt(max(found["tau2_raw"], 0)))
        assert row["sampling_sd"] ** 2 == pytest.approx(found["sampling_variance"])
        ends = row["prediction_low"], row["prediction_high"]
        assert ends == pytest.approx((found["low"], found["high"]))
        assert (row["n"], row["n_rewordings"], row["original"]) == (60, 3, "en")
        assert row["reason"] == ""


def test_each_language_is_set_against_the_rewordings_on_its_own_items() -> None:
    scores = _scores(es=0.0, hi=0.3)
    scores["es"][1, :20] = NAN
    rows = _rows(scores)
    table = rows[rows["unit"] == LANGUAGE].set_index(["condition", "model"])
    for (condition, name), row in table.iterrows():
        model = None if name == ALL_MODELS else int(name[-1])
        d = _changes(scores, model, (condition, *PARAPHRASES))
        d = d[:, np.isfinite(d).all(axis=0)]
        assert row["n"] == (40 if condition == "es" and model != 0 else 60) == d.shape[1]
        assert row["mean_change"] == pytest.approx(d[0].mean())
        assert row["pvalue_prediction"] == pytest.approx(_pvalue(d[0].mean(), d[1:]))
        assert row["outside"] == (
            not row["prediction_low"] <= d[0].mean() <= row["prediction_high"]
        )
    assert table.loc["hi", "outside"].all()
    assert not table.loc["es", "outside"].any()
    english = rows[rows["unit"] == REWORDINGS]
    assert english["languages_outside"].tolist() == ["hi"] * 3


def test_the_exchange_test_is_of_the_mean_over_all_models() -> None:
    scores = _scores(es=0.0, hi=0.05)
    rows = _rows(scores)
    table = rows[rows["unit"] == LANGUAGE].set_index(["condition", "model"])
    found = table.xs(ALL_MODELS, level="model")["pvalue_exchange"]
    for condition in ("es", "hi"):
        p = _exchanged(_changes(scores, None, (condition, *PARAPHRASES)))
        assert found[condition] == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 500) + 0.003)
    assert found["hi"] < 0.05 < found["es"]
    assert table.drop(index=ALL_MODELS, level="model")["pvalue_exchange"].isna().all()


def test_a_single_model_says_why_it_has_no_exchange_test() -> None:
    rows = _rows(_scores(es=0.0))
    rows = rows[rows["unit"] == LANGUAGE]
    assert rows["reason"].tolist() == [ONLY_TOGETHER, ONLY_TOGETHER, ""]
    alike = {c: np.full((1, 9), 0.4) for c in ("en", "es", *PARAPHRASES)}
    last = _rows(alike).iloc[-1]
    assert math.isnan(last["pvalue_exchange"])
    assert last["reason"] == f"{SAME_MEANS} {NOTHING_CHANGES}"


def test_families_are_the_single_models_and_their_mean_apart() -> None:
    rows = _rows(_scores(es=0.03, fr=0.1, hi=0.05))
    rows = rows[rows["unit"] == LANGUAGE]
    for everyone in (True, False):
        part = rows[(rows["model"] == ALL_MODELS) == everyone]
        assert part["qvalue_prediction"].to_numpy() == pytest.approx(
            scipy.stats.false_discovery_control(part["pvalue_prediction"])
        )


def test_a_language_with_rewordings_has_a_wording_variance_of_its_own() -> None:
    scores = _scores(hi=0.1, hi_a=0.1, hi_b=0.14, hi_c=0.06)
    rows = _rows(scores)
    rows = rows[(rows["unit"] == REWORDINGS) & (rows["original"] == "hi")]
    d = np.array([scores[f"hi~{x}"] - scores["hi"] for x in "abc"])
    for model, row in zip((0, 1), rows.to_dict("records"), strict=False):
        assert row["tau2_raw"] == pytest.approx(_split(d[:, model])["tau2_raw"])
    assert rows["model"].tolist()[-1] == ALL_MODELS
    assert (rows["languages_outside"] == "").all()
    assert (rows["tau"] > 0.01).all()


def test_a_partial_rewording_is_left_out_where_others_are_full() -> None:
    scores = _scores(es=0.0, en_llm=0.2)
    scores["en~llm"][0, :10] = NAN
    rows = _rows(scores)
    rows = rows[rows["unit"] == REWORDINGS]
    assert rows["n_rewordings"].tolist() == [3, 4, 3]
    assert rows["n"].tolist() == [60, 60, 60]


@pytest.mark.parametrize("k", [1, 2])
def test_fewer_than_three_rewordings_say_so_and_still_exchange(k: int) -> None:
    scores = {c: x for c, x in _scores(es=0.1).items() if c not in PARAPHRASES[k:]}
    table = wording_variance(made_panel(scores), REQUEST)
    assert table.rows["tau2"].isna().all()
    assert table.rows["outside"].isna().all()
    assert table.rows["reason"].str.contains(f"3 rewordings, not {k}").all()
    assert table.rows["mean_change"].notna().all()
    last = table.rows.iloc[-1]
    assert last["pvalue_exchange"] == pytest.approx(1 / 501)


def test_without_rewordings_there_is_a_note_and_nothing_is_invented() -> None:
    scores = {c: x for c, x in _scores(es=0.1).items() if c not in PARAPHRASES}
    table = wording_variance(made_panel(scores), REQUEST)
    assert table.notes == (NO_REWORDING,)
    assert (table.rows["unit"] == LANGUAGE).all()
    numbers = table.rows[["tau2", "prediction_low", "pvalue_prediction", "pvalue_exchange"]]
    assert numbers.isna().all(axis=None)
    assert (table.rows["reason"] != "").all()


def test_without_translations_the_wording_variance_stands_alone() -> None:
    rows = _rows(_scores())
    assert (rows["unit"] == REWORDINGS).all()
    assert rows["tau2"].notna().all()


def test_equal_rewordings_predict_nothing() -> None:
    scores = _scores(es=0.1)
    for c in PARAPHRASES:
        scores[c] = scores["en"]
    rows = _rows(scores)
    assert rows["reason"].str.startswith(SAME_MEANS).all()
    assert rows["prediction_low"].isna().all()
    assert rows["outside"].isna().all()


@pytest.mark.parametrize("n", [0, 1])
def test_thin_data_are_undefined_with_a_reason(n: int) -> None:
    scores = _scores(es=0.1)
    for values in scores.values():
        values[:, n:] = NAN
    rows = _rows(scores)
    assert rows["tau2"].isna().all()
    assert (rows["reason"] != "").all()
    assert (rows["n"] == n).all()
