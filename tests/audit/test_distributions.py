"""Distributions of item changes: loops, SciPy's density, thin data."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
import scipy.stats

from core.analysis.audit.distributions import (
    N_PLACES,
    NO_CONDITION,
    ONE_CHANGE,
    QUANTILES,
    TRANSLATION,
    density,
    distributions,
)
from core.analysis.audit.names import ALL_MODELS, NO_ITEM, REWORDING
from core.analysis.audit.request import AuditRequest
from tests.made_panels import made_panel
from tests.thin_panels import thin_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made")


def scores(models: int = 2, items: int = 30, conditions=("en", "en~p1", "es", "es~a")):
    rng = np.random.default_rng(0)
    item = rng.uniform(0.3, 0.7, items)
    return {c: item + rng.normal(0, 0.05, (models, items)) for c in conditions}


def test_every_row_has_the_numbers_of_its_changes_by_hand() -> None:
    made = scores()
    made["es"][1, :4] = NAN
    made["es"][0, 0] = NAN
    panel = made_panel(made)
    for scorer_id, models in (("", [0, 1]), ("s1", [1])):
        table = distributions(panel, REQUEST, scorer_id).table.rows.set_index("condition")
        assert table.index.tolist() == ["en~p1", "es~a", "es"]
        assert table["change_of"].tolist() == [REWORDING, REWORDING, TRANSLATION]
        assert table["original"].tolist() == ["en", "es", "en"]
        assert set(table["model"]) == {ALL_MODELS if not scorer_id else "model-1"}
        for condition, row in table.iterrows():
            d = (made[condition] - made[row["original"]])[models].ravel()
            d = d[np.isfinite(d)]
            assert row["n"] == len(d)
            assert row["mean_change"] == pytest.approx(statistics.fmean(d))
            assert row["sd"] == pytest.approx(statistics.stdev(d))
            assert (row["lowest"], row["highest"]) == pytest.approx((min(d), max(d)))
            for name, q in QUANTILES.items():
                assert row[name] == pytest.approx(np.quantile(d, q))
        assert table.at["es", "n_items"] == (29 if not scorer_id else 26)
        assert table.at["es", "n_models"] == len(models)


def test_the_curve_is_the_kernel_density_of_scipy() -> None:
    made = scores(models=3, items=200)
    found = distributions(made_panel(made), REQUEST)
    for condition, curve in found.curves.groupby("condition"):
        original = "es" if condition == "es~a" else "en"
        d = (made[condition] - made[original]).ravel()
        expected = scipy.stats.gaussian_kde(d)(curve["change"])
        assert len(curve) == N_PLACES
        assert curve["density"].to_numpy() == pytest.approx(expected, abs=0.02 * expected.max())
    places = [g["change"].tolist() for _, g in found.curves.groupby("condition")]
    assert all(p == places[0] for p in places)
    assert places[0][N_PLACES // 2] == pytest.approx(0)


def test_a_density_has_the_area_one() -> None:
    places = np.linspace(-2, 2, 2001)
    area = np.trapezoid(density(np.random.default_rng(1).normal(0, 0.2, 50), places), places)
    assert area == pytest.approx(1, abs=1e-3)


def test_prefixed_versions_are_neither_wording_nor_language() -> None:
    panel = made_panel(scores(conditions=("en", "en+true", "en~p1", "hi", "hi+true")))
    table = distributions(panel, REQUEST).table.rows
    assert table["condition"].tolist() == ["en~p1", "hi"]


def test_what_cannot_be_said_is_said() -> None:
    only_english = distributions(made_panel(scores(conditions=("en",))), REQUEST)
    assert only_english.table.rows.empty
    assert only_english.table.notes == (NO_CONDITION,)
    assert only_english.curves.empty
    no_rewording = distributions(made_panel(scores(conditions=("en", "es"))), REQUEST)
    assert "no rewording" in no_rewording.table.notes[0]
    no_language = distributions(made_panel(scores(conditions=("en", "en~p1"))), REQUEST)
    assert "no translation" in no_language.table.notes[0]
    some = distributions(
        made_panel(scores(conditions=("en", "en~p1", "es", "es~a", "hi"))), REQUEST
    )
    assert some.table.notes[0].startswith("hi: without rewordings")


@pytest.mark.parametrize(("n", "reason"), [(0, NO_ITEM), (1, ONE_CHANGE)])
def test_thin_conditions_say_why(n: int, reason: str) -> None:
    made = scores(models=1)
    made["es"][:, n:] = NAN
    found = distributions(made_panel(made), REQUEST)
    row = found.table.rows.set_index("condition").loc["es"]
    assert (row["n"], row["reason"]) == (n, reason)
    assert math.isnan(row["sd"])
    assert "es" not in set(found.curves["condition"])


def test_changes_that_are_all_alike_have_no_curve_and_an_sd_of_zero() -> None:
    made = scores(models=1, conditions=("en", "es"))
    made["es"] = made["en"]
    found = distributions(made_panel(made), REQUEST)
    assert found.curves.empty
    assert found.table.rows["sd"].tolist() == [0]


def test_an_unknown_scorer_is_refused() -> None:
    with pytest.raises(ValueError, match="x"):
        distributions(made_panel(scores()), REQUEST, "x")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["mean", "binary", "standardised"])
def test_what_is_undefined_in_thin_data_has_a_reason(seed: int, kind) -> None:
    found = distributions(thin_panel(seed), AuditRequest(dataset="made", kind=kind))
    rows = found.table.rows
    assert (rows.loc[rows["sd"].isna(), "reason"] != "").all()
    assert found.curves["density"].notna().all()
