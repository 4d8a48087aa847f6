"""CSS, CLCI and rank stability: against naive loops and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.analysis.audit.css_clci import clci, css_clci, rank_correlation
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest
from tests.made_panels import made_panel

NAN = float("nan")
D = AuditRequest(dataset="made", n_resamples=2000, n_bootstrap=2000)


def drawn(n_models: int, n_items: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 0.9, (n_models, n_items))


@pytest.fixture(scope="module")
def panel() -> Panel:
    spanish = drawn(4, 60, 2)
    spanish[2, 7] = NAN
    p1 = drawn(4, 60, 4)
    return made_panel(
        {"en": drawn(4, 60, 1), "es": spanish, "hi": drawn(4, 60, 3) - 0.08, "en~p1": p1},
        fields={"source": ["bbq"] * 20 + ["written"] * 40},
        collapsed={"hi": [0, 59]},
        l_unrelated=-1.5,
    )


def _in_both(panel: Panel, m: int, i: int, *conditions: str) -> bool:
    return all(np.isfinite(panel.scores("mean")[m, panel.at(c), i]) for c in conditions)


@pytest.mark.parametrize("reference", ["en", "hi"])
def test_gaps_and_consistency_equal_naive_loops(panel: Panel, reference: str) -> None:
    request = AuditRequest(dataset="made", reference=reference)
    found = css_clci(panel, request).rows
    languages = [c for c in ("en", "es", "hi") if c != reference]
    scores = panel.scores("mean")
    for m, model in enumerate(panel.models):
        own = found[found["model"] == model]
        gaps = []
        for language in languages:
            d = scores[m, panel.at(language)] - scores[m, panel.at(reference)]
            gaps.append(abs(np.nanmean(d)))
            row = own[(own["quantity"] == "css") & (own["condition"] == language)].iloc[0]
            assert row["value"] == pytest.approx(gaps[-1])
            assert (row["n"], row["reference"]) == (np.isfinite(d).sum(), reference)
        row = own[(own["quantity"] == "clci") & (own["reference"] == reference)].iloc[0]
        assert (row["value"], row["n_languages"]) == (pytest.approx(1 - np.mean(gaps)), 2)
        pairs = [
            (i, c) for i in range(60) for c in languages if _in_both(panel, m, i, c, reference)
        ]
        assert (row["n"], row["n_changes"]) == (len({i for i, _ in pairs}), len(pairs))
    assert (found["quantity"] == "css").sum() == 4 * 2


def test_rank_stability_is_spearmans_correlation(panel: Panel) -> None:
    found = css_clci(panel, D).rows
    by_reference = found[found["quantity"] == "clci"].set_index("reference")["value"]
    for reference in ("es", "hi"):
        row = found[(found["quantity"] == "rank_stability") & (found["reference"] == reference)]
        expected = stats.spearmanr(by_reference["en"], by_reference[reference]).statistic
        assert row["value"].item() == pytest.approx(expected)
        assert row["n_models"].item() == 4
        assert row["n"].item() == 60  # items, not models


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=12))
def test_rank_correlation_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=np.float64).T
    found = rank_correlation(np.append(a, NAN), np.append(b, 1))
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


def test_consistency_leaves_out_what_is_missing() -> None:
    assert clci(np.array([[0.1, 0.3], [NAN, 0.2], [NAN, NAN]])).tolist() == pytest.approx(
        [0.8, 0.8, NAN], nan_ok=True
    )


def test_two_models_have_no_ranking() -> None:
    found = css_clci(made_panel({"en": drawn(2, 9), "es": drawn(2, 9, 1)}), D).rows
    row = found[found["quantity"] == "rank_stability"].iloc[0]
    assert math.isnan(row["value"])
    assert "three models" in row["reason"]


def test_an_unknown_reference_is_named_and_the_rest_is_given(panel: Panel) -> None:
    found = css_clci(panel, AuditRequest(dataset="made", reference="ko"))
    assert any("The reference ko is neither English" in note for note in found.notes)
    assert set(found.rows["quantity"]) == {"clci", "rank_stability"}


def _naive_consistency(panel: Panel, m: int, reference: str, languages: list[str]) -> float:
    scores = panel.scores("mean")[m]
    gaps = []
    for language in languages:
        both = zip(scores[panel.at(language)], scores[panel.at(reference)], strict=True)
        d = [a - b for a, b in both if not math.isnan(a - b)]
        gaps.append(abs(sum(d) / len(d)))
    return 1 - sum(gaps) / len(gaps)


def test_models_are_ranked_over_the_languages_that_all_of_them_have() -> None:
    """A model that lacks the language of large gaps would look more consistent than the rest."""
    far = drawn(4, 30, 3) - 0.09
    far[1] = NAN
    scores = {"en": drawn(4, 30), "es": drawn(4, 30, 1), "fr": drawn(4, 30, 2), "hi": far}
    panel = made_panel(scores)
    rows = css_clci(panel, D).rows
    row = rows[(rows["quantity"] == "rank_stability") & (rows["reference"] == "es")].iloc[0]
    expected = stats.spearmanr(
        [_naive_consistency(panel, m, "en", ["es", "fr"]) for m in range(4)],
        [_naive_consistency(panel, m, "es", ["en", "fr"]) for m in range(4)],
    ).statistic
    assert row["value"] == pytest.approx(expected)
    assert (row["languages"], row["n_languages"], row["n_models"]) == ("es, fr", 2, 4)
    clci_rows = rows[(rows["quantity"] == "clci") & (rows["reference"] == "en")]
    assert clci_rows["languages"].tolist() == ["es, fr, hi", "es, fr", "es, fr, hi", "es, fr, hi"]
    ranked = rows[(rows["quantity"] == "rank_stability") & (rows["reference"] == "hi")].iloc[0]
    assert (ranked["n_models"], ranked["languages"]) == (3, "es, fr, hi")  # one has no gap to hi


def test_models_without_a_language_in_common_have_no_ranking() -> None:
    spanish, french = drawn(3, 9, 1), drawn(3, 9, 2)
    spanish[0, :4] = NAN
    english = drawn(3, 9)
    english[0, 4:] = NAN  # this model has no item in English and Spanish
    french[1] = NAN  # and that one none in French
    rows = css_clci(made_panel({"en": english, "es": spanish, "fr": french}), D).rows
    row = rows[(rows["quantity"] == "rank_stability") & (rows["reference"] == "es")].iloc[0]
    assert (row["n_models"], row["n_languages"], row["n"]) == (3, 0, 0)
    assert math.isnan(row["value"])
    assert "under every one of these models" in row["reason"]


def test_a_model_without_scores_has_no_gap() -> None:
    spanish = drawn(3, 9, 1)
    spanish[0] = NAN
    found = css_clci(made_panel({"en": drawn(3, 9), "es": spanish}), D).rows
    of_it = found[(found["model"] == "model-0")]
    assert of_it["value"].isna().all()
    assert (of_it["reason"] != "").all()
    assert (of_it["n"] == 0).all()
