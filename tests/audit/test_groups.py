"""Groups of an audit against the statsmodels formula, scipy and enumeration."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from core.analysis.audit.groups import groups
from core.analysis.audit.panel import Panel
from core.analysis.audit.request import AuditRequest, AuditTable
from tests.made_panels import made_panel

NAN = float("nan")
LEVELS = {"en": "high", "es": "high", "hi": "mid", "sw": "low"}
GROUPS = {"model-0": "English-focused", "model-1": "English-focused", "model-2": "multilingual"}
GROUPS |= {"model-3": "multilingual", "model-4": "multilingual"}
REQUEST = AuditRequest(dataset="made", model_groups=tuple(GROUPS.items()))
CATEGORIES = ["age", "gender", "age", "religion", "gender"] * 8


def _panel(seed: int = 0) -> Panel:
    rng = np.random.default_rng(seed)
    english = rng.uniform(0.35, 0.65, 40) + rng.normal(0, 0.03, (5, 40))
    scores = {c: english + rng.normal(0, 0.03, english.shape) for c in ("en", *("es", "hi", "sw"))}
    scores["sw"] -= 0.05
    scores["en~p1"] = english - 0.2  # never in the comparison
    scores["hi"][1, 3:9] = NAN
    panel = made_panel(
        scores, fields={"category": CATEGORIES}, natives={"sw": np.full((5, 3), 0.9)}
    )
    panel.versions["resource_level"] = panel.versions["condition"].map(LEVELS).fillna("")
    return panel


def _long(panel: Panel) -> pd.DataFrame:
    scores = panel.scores("mean")
    rows = [
        (i, m, LEVELS[c], GROUPS[f"model-{m}"], CATEGORIES[i], scores[m, panel.at(c), i])
        for m, c, i in itertools.product(range(5), LEVELS, range(40))
    ]
    columns = ["item", "model", "resource", "group", "category", "y"]
    return pd.DataFrame(rows, columns=columns).dropna().reset_index(drop=True)


def _of(table: AuditTable, kind: str) -> pd.DataFrame:
    return table.rows[table.rows["kind"] == kind]


def test_ols_is_that_of_the_formula_with_errors_clustered_by_item() -> None:
    panel = _panel()
    long = _long(panel)
    fit = smf.ols(
        "y ~ C(resource, Treatment('high')) + C(group) + C(category, Treatment('age'))", long
    ).fit(cov_type="cluster", cov_kwds={"groups": long["item"]}, use_t=True)
    found = _of(groups(panel, REQUEST), "ols").set_index("level")
    assert len(found) == len(fit.params) == 6
    for name, estimate in fit.params.items():
        row = found.loc[name.partition("[T.")[2].rstrip("]")]
        assert row["estimate"] == pytest.approx(estimate, abs=1e-10)
        assert row["error"] == pytest.approx(fit.bse[name])
        assert row["statistic"] == pytest.approx(fit.tvalues[name])
        assert row["pvalue"] == pytest.approx(fit.pvalues[name])
        assert (row["low"], row["high"]) == pytest.approx(tuple(fit.conf_int().loc[name]))
    assert found.loc["low", "baseline"] == "high"
    assert found.loc["multilingual", "baseline"] == "English-focused"
    assert found.loc["", "n"] == len(long)
    assert (found.loc["low", "n"], found.loc["low", "n_models"]) == (200, 5)
    assert found.loc["multilingual", "n_models"] == 3
    assert found.loc["gender", "n_items"] == 16


def test_kruskal_wallis_and_label_permutation_are_of_the_models_means() -> None:
    panel = _panel()
    table = groups(panel, REQUEST)
    at = [panel.at(c) for c in ("es", "hi", "sw")]
    for outcome, values in (
        ("score", panel.scores("mean")[:, at]),
        ("drop", -panel.changes("mean")[:, at]),
    ):
        means = np.nanmean(values, axis=2).mean(axis=1)
        expected = stats.kruskal(means[:2], means[2:])
        row = _of(table, "kruskal_wallis").set_index("outcome").loc[outcome]
        assert row["statistic"] == pytest.approx(expected.statistic)
        assert row["pvalue"] == pytest.approx(expected.pvalue)
        assert (row["n"], row["n_groups"]) == (5, 2)
        above = [
            stats.kruskal(means[list(two)], np.delete(means, two)).statistic
            >= expected.statistic - 1e-9
            for two in itertools.combinations(range(5), 2)
        ]
        row = _of(table, "label_permutation").set_index("outcome").loc[outcome]
        assert row["pvalue"] == pytest.approx(np.mean(above))
        assert (row["n_labelings"], row["exact"]) == (10, True)


def test_groups_are_found_by_scorer_id_label_or_the_models_own_name() -> None:
    panel = replace(_panel(), models=tuple(f"model-{m}, float32, cpu" for m in range(5)))
    by_id = replace(
        REQUEST, model_groups=tuple((f"s{m}", g) for m, g in enumerate(GROUPS.values()))
    )
    by_label = replace(REQUEST, model_groups=tuple(zip(panel.models, GROUPS.values(), strict=True)))
    expected = groups(panel, REQUEST)
    assert expected.rows["level"].tolist() == groups(_panel(), REQUEST).rows["level"].tolist()
    for request in (by_id, by_label):
        pd.testing.assert_frame_equal(groups(panel, request).rows, expected.rows)


def test_without_groups_the_rest_stands_and_the_group_says_why() -> None:
    table = groups(_panel(), replace(REQUEST, model_groups=()))
    ols = _of(table, "ols").set_index("factor")
    assert np.isnan(ols.loc["model group", "estimate"])
    assert ols.loc["model group", "reason"] == "No row has a known model group."
    assert ols.loc["resource level", "pvalue"].notna().all()
    for kind in ("kruskal_wallis", "label_permutation"):
        rows = _of(table, kind)
        assert rows["pvalue"].isna().all()
        assert rows["reason"].str.startswith("No model is in a group").all()


def test_one_group_and_a_group_of_one_model() -> None:
    one = replace(REQUEST, model_groups=tuple((m, "a") for m in GROUPS))
    rows = _of(groups(_panel(), one), "kruskal_wallis")
    assert rows["reason"].str.startswith("The models are in one group").all()
    alone = replace(REQUEST, model_groups=(("model-0", "a"), ("model-1", "b"), ("model-2", "b")))
    table = groups(_panel(), alone)
    assert any("A group of one model" in note for note in table.notes)
    assert any("model-3; model-4" in note for note in table.notes)
    assert _of(table, "label_permutation")["n"].tolist() == [3, 3]
    assert _of(table, "ols").set_index("level").loc["", "n_models"] == 3


def test_unknown_levels_of_everything_and_a_single_item_raise_nothing() -> None:
    for scores in (
        {"en": [[0.5]], "hi": [[0.4]]},
        {"en": [[0.5, 0.6], [0.4, 0.3]], "hi": [[NAN, NAN], [NAN, NAN]]},
        {"en": [[NAN, NAN]]},
        {"en": np.full((3, 4), 0.5), "hi": np.full((3, 4), 0.5)},
    ):
        table = groups(made_panel(scores), REQUEST)
        assert (table.rows.loc[table.rows["pvalue"].isna(), "reason"] != "").all()
        assert table.rows["n"].notna().all()
