"""Group comparisons against statsmodels, scipy and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from core.stats.groups import Factor, clustered_ols
from core.stats.ranks import rank_test

NAN = float("nan")


def _rows(seed: int = 0, n_items: int = 40, n_models: int = 4) -> pd.DataFrame:
    """Every item under every model in three languages, with item effects."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        itertools.product(range(n_items), range(n_models), ["high", "medium", "low"]),
        columns=["item", "model", "resource"],
    )
    kinds = rng.choice(["age", "gender", "religion"], n_items)
    rows["category"] = kinds[rows["item"]]
    rows["group"] = np.where(rows["model"] < 2, "English-focused", "multilingual")
    rows["y"] = (
        0.5
        + rng.normal(0, 0.1, n_items)[rows["item"]]
        - 0.03 * (rows["resource"] == "low")
        + 0.02 * (rows["group"] == "multilingual")
        + rng.normal(0, 0.05, len(rows))
    )
    return rows


def _factors(rows: pd.DataFrame) -> list[Factor]:
    return [
        Factor("resource", rows["resource"].tolist(), "high"),
        Factor("group", rows["group"].tolist(), "english_focused"),
        Factor("category", rows["category"].tolist()),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_estimates_errors_and_p_are_those_of_the_statsmodels_formula(seed: int) -> None:
    rows = _rows(seed)
    rows = rows.drop(index=rows.index[::7]).reset_index(drop=True)  # unbalanced
    base = rows["category"].value_counts().sort_index().idxmax()
    fit = smf.ols(
        f"y ~ C(resource, Treatment('high')) + C(group) + C(category, Treatment('{base}'))", rows
    ).fit(cov_type="cluster", cov_kwds={"groups": rows["item"]}, use_t=True)
    found = clustered_ols(rows["y"], rows["item"], _factors(rows))
    assert (found.n, found.n_clusters) == (len(rows), 40)
    names = {t.level: t for t in found.terms}
    assert names["low"].baseline == "high"
    assert names["multilingual"].baseline == "English-focused"
    assert len(found.terms) == len(fit.params) == 6
    for name, estimate in fit.params.items():
        level = name.partition("[T.")[2].rstrip("]")
        term = names[level]
        assert term.estimate == pytest.approx(estimate, abs=1e-12)
        assert term.error == pytest.approx(fit.bse[name])
        assert term.pvalue == pytest.approx(fit.pvalues[name])
        assert term.confidence_interval == pytest.approx(tuple(fit.conf_int().loc[name]))
        if level:
            of_level = (rows[["resource", "group", "category"]] == level).any(axis=1)
            assert term.n == of_level.sum()
            assert term.n_clusters == rows.loc[of_level, "item"].nunique()


def test_clustered_errors_equal_the_sandwich_by_hand() -> None:
    rows = _rows(1)
    found = clustered_ols(rows["y"], rows["item"], [_factors(rows)[2]])
    levels = [t.level for t in found.terms[1:]]
    x = np.column_stack([np.ones(len(rows)), *(rows["category"] == level for level in levels)])
    y = rows["y"].to_numpy()
    bread = np.linalg.inv(x.T @ x)
    e = y - x @ bread @ x.T @ y
    meat = sum(
        np.outer(v, v) for v in (x[rows["item"] == g].T @ e[rows["item"] == g] for g in range(40))
    )
    n, k = x.shape
    covariance = bread @ meat @ bread * 40 / 39 * (n - 1) / (n - k)
    assert [t.error for t in found.terms] == pytest.approx(np.sqrt(np.diag(covariance)))


def test_rows_without_value_or_level_are_left_out() -> None:
    rows = _rows()
    gaps = pd.concat([rows, rows.head(4), rows.head(4)], ignore_index=True)
    gaps.loc[len(rows) : len(rows) + 3, "y"] = NAN
    gaps.loc[len(rows) + 4 :, "group"] = ""
    found = clustered_ols(gaps["y"], gaps["item"], _factors(gaps))
    assert found == clustered_ols(rows["y"], rows["item"], _factors(rows))


@pytest.mark.parametrize("level", ["multilingual", ""])
def test_a_factor_of_one_or_no_level_is_a_reason_and_harms_no_other(level: str) -> None:
    rows = _rows()
    rows["group"] = level
    found = clustered_ols(rows["y"], rows["item"], _factors(rows))
    without = [f for f in _factors(rows) if f.name != "group"]
    assert found.terms[:-1] == clustered_ols(rows["y"], rows["item"], without).terms
    last = found.terms[-1]
    assert last.factor == "group"
    assert "nothing to compare with" in last.reason if level else "No row" in last.reason
    assert math.isnan(last.estimate)
    assert math.isnan(last.pvalue)


def test_a_level_of_a_single_item_has_an_estimate_and_no_error() -> None:
    """Its residuals sum to zero within the one cluster, so the sandwich would say zero."""
    rows = _rows()
    rows.loc[rows["item"] == 3, "category"] = "alone"
    found = {t.level: t for t in clustered_ols(rows["y"], rows["item"], _factors(rows)).terms}
    assert math.isfinite(found["alone"].estimate)
    assert math.isnan(found["alone"].error)
    assert math.isnan(found["alone"].pvalue)
    assert found["alone"].reason == "Only one item has the category alone."
    assert found["low"].error > 0
    assert found["low"].reason == ""


def test_a_baseline_of_a_single_item_takes_the_errors_of_its_factor() -> None:
    rows = _rows()
    rows.loc[rows["item"] == 3, "category"] = "alone"
    factors = [Factor("category", rows["category"].tolist(), "alone")]
    for term in clustered_ols(rows["y"], rows["item"], factors).terms:
        assert math.isfinite(term.estimate)
        assert math.isnan(term.error)
        assert "alone" in term.reason


def test_a_level_that_another_factor_already_tells_has_no_estimate() -> None:
    rows = _rows()
    twin = rows["group"].map({"English-focused": "small", "multilingual": "large"})
    factors = [*_factors(rows), Factor("size", twin.tolist(), "small")]
    found = clustered_ols(rows["y"], rows["item"], factors)
    assert found.terms[:-1] == clustered_ols(rows["y"], rows["item"], factors[:-1]).terms
    assert "cannot be told apart" in found.terms[-1].reason
    assert math.isnan(found.terms[-1].estimate)


def test_a_baseline_that_does_not_occur_gives_way_to_the_most_frequent_level() -> None:
    rows = _rows()
    factor = Factor("resource", rows["resource"].tolist(), "none of them")
    assert {t.baseline for t in clustered_ols(rows["y"], rows["item"], [factor]).terms[1:]} == {
        "high"
    }


@pytest.mark.parametrize(
    ("y", "items"),
    [
        ([], []),
        ([NAN, NAN], [1, 2]),
        ([0.5], [1]),
        ([0.5, 0.6], [1, 1]),
        ([0.5, 0.6], [1, 2]),
        ([0.5, 0.5, 0.5, 0.5], [1, 2, 3, 4]),
        ([0.2, 0.5, 0.8, 0.5, 0.2, 0.5, 0.8, 0.5], [1, 1, 1, 1, 2, 2, 2, 2]),
        ([0.2, 0.5, 0.8, 0.5] * 3, [1] * 4 + [2] * 4 + [3] * 4),
    ],
)
def test_thin_data_give_reasons_and_no_garbage(y: list[float], items: list[int]) -> None:
    levels = ["a", "b"] * (len(y) // 2) or ["a"] * len(y)
    found = clustered_ols(y, items, [Factor("f", levels)])
    assert found.n == np.isfinite(y).sum()
    for term in found.terms:
        assert math.isnan(term.error)
        assert math.isnan(term.pvalue)
        assert term.reason


def test_rank_test_is_scipys_and_its_permutation_p_an_enumeration() -> None:
    rng = np.random.default_rng(2)
    x = np.round(rng.normal(0.5, 0.05, 7), 2)  # ties
    groups = ["a", "b", "a", "c", "b", "a", "c"]
    found = rank_test(x, groups, rng=rng)
    of = {g: [v for v, name in zip(x, groups, strict=True) if name == g] for g in "abc"}
    expected = stats.kruskal(*of.values())
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.pvalue == pytest.approx(expected.pvalue)
    assert found.sizes == {"a": 3, "b": 2, "c": 2}
    distinct = set(itertools.permutations(groups))
    assert (found.exact, found.n_labelings) == (True, len(distinct))
    above = 0
    for labels in distinct:
        under = [[v for v, name in zip(x, labels, strict=True) if name == g] for g in "abc"]
        above += stats.kruskal(*under).statistic >= expected.statistic - 1e-9
    assert found.pvalue_permutation == pytest.approx(above / len(distinct))


def test_many_labelings_are_sampled_and_agree_with_all_of_them() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(0.5, 0.05, 10) + np.repeat([0, 0.05], 5)
    groups = ["a"] * 5 + ["b"] * 5
    exact = rank_test(x, groups, rng=rng)
    sampled = rank_test(x, groups, n_resamples=251, rng=rng)
    assert (exact.exact, exact.n_labelings) == (True, 252)
    assert (sampled.exact, sampled.n_labelings) == (False, 251)
    assert sampled.pvalue_permutation == pytest.approx(exact.pvalue_permutation, abs=0.08)
    assert (sampled.pvalue_permutation * 252) % 1 == pytest.approx(0, abs=1e-9)  # the +1 rule


@pytest.mark.parametrize(
    ("x", "groups"),
    [
        ([], []),
        ([0.5], ["a"]),
        ([0.5, 0.6], ["a", "a"]),
        ([0.5, 0.6, 0.7], ["a", "a", ""]),
        ([0.5, 0.5], ["a", "b"]),
        ([0.5, NAN], ["a", "b"]),
    ],
)
def test_ranks_without_two_groups_or_spread_are_undefined(x: list, groups: list) -> None:
    found = rank_test(x, groups, rng=np.random.default_rng(0))
    assert np.isnan([found.statistic, found.pvalue, found.pvalue_permutation]).all()


def test_groups_of_one_model_each_can_never_differ() -> None:
    found = rank_test([0.1, 0.5, 0.9], ["a", "b", "c"], rng=np.random.default_rng(0))
    assert found.pvalue_permutation == 1
    assert found.n_labelings == 6
