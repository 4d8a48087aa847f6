"""Surface of an audit: statsmodels' least squares, wordfreq word by word, rows chosen by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import wordfreq
from scipy import stats
from statsmodels.regression.linear_model import OLS

from core.analysis.audit import surface as module
from core.analysis.audit.names import NO_AGREEMENT
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from core.analysis.audit.surface import NO_EQUAL, NO_FIT, NO_PREDICTOR, mean_zipf, surface
from core.stats.resampling import bootstrap_weights
from core.store.audit import item_texts_of
from core.store.gate import Cache
from tests.audit.test_carry_over import only
from tests.made_panels import made_panel
from tests.store_samples import item, put

NAN = float("nan")
N = 30
REQUEST = AuditRequest(dataset="made", n_bootstrap=200)
WORDS = {
    "en": ["the nurse", "a physicist", "he", "she was kind", "granite", "good people"],
    "es": ["la enfermera", "un físico", "él", "ella era amable", "granito", "buena gente"],
    "sw": ["muuguzi", "mwanafizikia", "yeye", "alikuwa mwema", "jiwe", "watu wema"],
    "zh": ["护士", "物理学家", "他", "她很善良", "花岗岩", "好人"],
}


def world(cache: Cache, languages=("es", "sw"), n_models: int = 3) -> Panel:
    """A panel whose texts are in the cache, with token counts and code points of their own."""
    rng = np.random.default_rng(0)
    shape = n_models, N
    scores = {"en": rng.uniform(0.2, 0.8, shape)}
    scores |= {language: rng.uniform(0.2, 0.8, shape) for language in languages}
    panel = made_panel(scores)
    rows = []
    for condition in panel.conditions:
        words = WORDS[condition]
        for n in range(N):
            plus, minus = words[n % 6], words[n // 5]
            rows.append(
                item(f"i{n}", condition, stereotype=f"{plus} {n}.", anti_stereotype=f"{minus}.")
            )
    put(cache, rows, "made")
    for pole in ("stereotype", "anti"):
        panel.points[pole][:] = rng.integers(5, 20, panel.points[pole].shape)
        counts = panel.numbers[f"n_{pole}"]
        counts[:] = rng.integers(3, 6, counts.shape)
    panel.numbers["l_stereotype"][0, panel.at(languages[0]), 4] = NAN
    return panel


def zipf_difference(cache: Cache, condition: str, language: str) -> np.ndarray:
    texts = item_texts_of(cache, "made")
    texts = texts[texts["condition"] == condition]

    def mean(text: str) -> float:
        words = wordfreq.lossy_tokenize(text, language)
        return np.mean([wordfreq.zipf_frequency(w, language, "small", 3.0) for w in words])

    return np.array(
        [
            mean(a) - mean(b)
            for a, b in zip(texts["stereotype"], texts["anti_stereotype"], strict=True)
        ]
    )


def by_hand(panel: Panel, cache: Cache, language: str, covered: tuple[str, ...]):
    """Changes of the rows (model, item) and what a regression leaves of them."""
    d = panel.changes("mean")[:, panel.at(language)]
    columns = []
    for condition in (language, "en"):
        k = panel.at(condition)
        columns.append(panel.numbers["n_stereotype"][:, k] - panel.numbers["n_anti"][:, k])
        columns.append(np.log(panel.points["stereotype"][k] / panel.points["anti"][k]) + 0 * d)
        if condition in covered:
            columns.append(zipf_difference(cache, condition, condition) + 0 * d)
    whole = np.isfinite(d)
    x = np.column_stack(
        [np.ones(whole.sum()), *(np.broadcast_to(c, d.shape)[whole] for c in columns)]
    )
    fit = OLS(d[whole], x).fit()
    left = np.full(d.shape, NAN)
    left[whole] = fit.resid
    return d, left, fit


def pairwise(values: np.ndarray) -> float:
    found = []
    for a, b in combinations(values, 2):
        both = np.isfinite(a) & np.isfinite(b)
        found.append(stats.pearsonr(a[both], b[both]).statistic)
    return np.mean(found)


@pytest.mark.parametrize(("language", "covered"), [("es", ("en", "es")), ("sw", ("en",))])
def test_what_surface_explains_agrees_with_statsmodels(cache, language, covered):
    panel = world(cache)
    row = only(surface(panel, REQUEST, cache).rows, condition=language)
    d, left, fit = by_hand(panel, cache, language, covered)
    assert row["r2"] == pytest.approx(fit.rsquared, abs=1e-10)
    assert row["n_rows"] == fit.nobs == np.isfinite(d).sum()
    assert row["r_changes"] == pytest.approx(pairwise(d), abs=1e-10)
    assert row["r_residuals"] == pytest.approx(pairwise(left), abs=1e-10)
    assert row["drop_rows"] == pytest.approx(-np.nanmean(d))
    assert (row["n_models"], row["n_items"], row["n_pairs"]) == (3, N, 3)
    assert (f"frequency {language}" in row["predictors"]) is (language in covered)


def test_swahili_has_no_frequencies_instead_of_english_ones(cache):
    found = surface(world(cache), REQUEST, cache)
    row = only(found.rows, condition="sw")
    assert row["zipf"] == "wordfreq has no word list of sw."
    assert "frequency sw" not in row["predictors"]
    assert "frequency en" in row["predictors"]
    assert found.notes == ("wordfreq has no word list of sw. Its word frequencies are left out.",)


def test_a_language_whose_words_need_another_package_says_which(cache, monkeypatch):
    def missing(texts, language):
        if language == "zh":
            raise ModuleNotFoundError("No module named 'jieba'", name="jieba")
        return mean_zipf(texts, language)

    monkeypatch.setattr(module, "mean_zipf", missing)
    row = only(surface(world(cache, ("zh",)), REQUEST, cache).rows, condition="zh")
    assert row["zipf"] == "wordfreq needs the package jieba for zh."
    assert row["predictors"] == "tokens zh, length zh, tokens en, length en, frequency en"


def test_poles_of_equal_length_are_those_of_the_models_own_tokens(cache):
    panel = world(cache)
    row = only(surface(panel, REQUEST, cache).rows, condition="es")
    d = -panel.changes("mean")[:, panel.at("es")]
    plus, minus = panel.numbers["n_stereotype"], panel.numbers["n_anti"]
    even = np.isfinite(d)
    for condition in ("es", "en"):
        even &= (plus == minus)[:, panel.at(condition)]
    assert (row["n_rows_equal"], row["n_items_equal"]) == (even.sum(), even.any(axis=0).sum())
    assert 3 < even.sum() < 60
    assert row["drop_rows_equal"] == pytest.approx(d[even].mean())
    draws = []
    for weights in bootstrap_weights(N, 200, rng=REQUEST.rng("surface")):
        at = np.repeat(np.arange(N), weights.astype(int))
        draws.append(d[:, at][even[:, at]].mean())
    expected = np.quantile(draws, [0.025, 0.975])
    assert (row["drop_rows_equal_low"], row["drop_rows_equal_high"]) == pytest.approx(
        tuple(expected)
    )


@pytest.mark.parametrize("language", ["en", "es", "fr", "ar", "hi", "nl"])
def test_mean_zipf_is_the_mean_over_the_words_of_wordfreq(language):
    texts = [
        "The head of the bank, aged 45, said that he would decide alone in 1999!",
        "Él no lo sabía: l'État, c'est moi.",
        "المعلمة لا تعرف شيئا",
        "नर्स ने कहा कि वह थकी हुई थी।",
        "xqzzv granietachtig",
    ]
    expected = [
        np.mean(
            [
                wordfreq.zipf_frequency(w, language, "small", 3.0)
                for w in wordfreq.lossy_tokenize(text, language)
            ]
        )
        for text in texts
    ]
    assert mean_zipf(texts, language) == pytest.approx(expected, abs=0.011)


def test_a_text_without_words_has_no_frequency():
    assert np.isnan(mean_zipf(["...", ""], "en")).all()


def test_texts_are_those_with_an_english_twin(cache):
    put(cache, [item("1"), item("1", "es"), item("2", "es", native=True)], "made")
    texts = item_texts_of(cache, "made")
    assert texts["condition"].tolist() == ["en", "es"]
    assert texts["stereotype"].tolist() == [
        "She was tired of 1 in en.",
        "She was tired of 1 in es.",
    ]
    assert texts["anti_stereotype"].iloc[1] == "He was tired of 1 in es."


def test_scores_without_token_counts_are_explained_by_the_rest(cache):
    panel = world(cache)
    numbers = panel.numbers | {"n_anti": np.full_like(panel.numbers["n_anti"], NAN)}
    row = only(surface(replace(panel, numbers=numbers), REQUEST, cache).rows, condition="es")
    assert row["predictors"] == "length es, frequency es, length en, frequency en"
    assert np.isfinite(row["r2"])
    assert (row["n_rows_equal"], row["reason"]) == (0, NO_EQUAL)
    assert np.isnan(row["drop_rows_equal"])


def test_one_model_has_nobody_to_agree_with(cache):
    row = only(surface(world(cache, n_models=1), REQUEST, cache).rows, condition="es")
    assert np.isfinite(row["r2"])
    assert np.isnan([row["r_changes"], row["r_residuals"]]).all()
    assert NO_AGREEMENT in row["reason"]


def test_what_cannot_be_said_is_nan_with_a_reason(cache):
    panel = world(cache)
    few = {name: values.copy() for name, values in panel.numbers.items()}
    few["l_stereotype"][:, :, 2:] = NAN
    row = only(surface(replace(panel, numbers=few), REQUEST, cache).rows, condition="es")
    assert row["n_rows"] == 6
    assert np.isnan([row["r2"], row["r_residuals"], row["drop_rows_equal_low"]]).all()
    assert row["reason"].startswith(NO_FIT)
    few["l_stereotype"][:] = NAN
    row = only(surface(replace(panel, numbers=few), REQUEST, cache).rows, condition="es")
    assert row["n_rows"] == 0
    assert np.isnan(row["drop_rows"])
    assert row["reason"].startswith(NO_PREDICTOR)


def test_only_english_gives_an_empty_table_with_its_columns(cache):
    put(cache, [item(f"i{n}") for n in range(4)], "made")
    rows = surface(made_panel({"en": np.full((1, 4), 0.6)}), REQUEST, cache).rows
    assert rows.empty
    assert "drop_rows_equal_low" in rows.columns
