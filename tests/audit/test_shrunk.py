"""Shrunk drops of an audit against linear algebra and planted drops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.cells import cells
from core.analysis.audit.crossed import crossed
from core.analysis.audit.names import FEW_ITEMS, NO_TRANSLATION
from core.analysis.audit.request import AuditRequest
from core.analysis.audit.shrunk import shrunk
from core.stats.levels import LEAST_ITEMS
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_resamples=499, n_bootstrap=2000)


def _scores(drops: np.ndarray, n_items: int = 120, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    english = np.tile(rng.uniform(0.4, 0.6, n_items), (len(drops), 1))
    noise = rng.normal(0, 0.06, n_items) + rng.normal(0, 0.06, english.shape)
    return {"en": english, "hi": english - drops[:, None] + noise}


def _table(scores: dict[str, np.ndarray], request: AuditRequest = REQUEST) -> pd.DataFrame:
    panel = made_panel(scores)
    return shrunk(panel, request, cells(panel, request)).rows


def _posterior(y: np.ndarray, s: np.ndarray) -> dict[str, np.ndarray]:
    """By conditioning joint normals on a grid of tau, the common mean under a very wide prior."""
    grid = np.linspace(0.00005, 0.3, 3000)
    one = np.ones((len(y), len(y)))
    logs, means, variances, centres = [], [], [], []
    for tau in grid:
        prior = tau**2 * np.eye(len(y)) + 100 * one
        v = prior + s
        logs.append(-0.5 * (np.linalg.slogdet(v)[1] + y @ np.linalg.solve(v, y)))
        means.append(prior @ np.linalg.solve(v, y))
        variances.append(np.diag(prior - prior @ np.linalg.solve(v, prior)))
        centres.append(100 * np.linalg.solve(v, y).sum())
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = weights @ np.array(means)
    spread = weights @ (np.array(variances) + (np.array(means) - mean) ** 2)
    median = grid[np.searchsorted(np.cumsum(weights), 0.5)]
    return {
        "shrunk": mean,
        "shrunk_error": np.sqrt(spread),
        "language_drop": weights @ np.array(centres),
        "tau_median": median,
    }


def test_posterior_is_that_of_joint_normals_with_the_plug_in_covariance() -> None:
    scores = _scores(np.linspace(0, 0.02, 6))
    rows = _table(scores)
    d = scores["en"] - scores["hi"]
    y = d.mean(axis=1)
    centred = d - y[:, None]
    s = centred @ centred.T / d.shape[1] ** 2
    expected = _posterior(y, s)
    assert rows["language_drop"].tolist() == pytest.approx(
        [expected["language_drop"]] * 6, abs=2e-3
    )
    assert rows["shrunk"].to_numpy() == pytest.approx(expected["shrunk"], abs=4e-4)
    assert rows["shrunk_error"].to_numpy() == pytest.approx(expected["shrunk_error"], rel=0.1)
    assert rows["tau_median"].tolist() == pytest.approx([expected["tau_median"]] * 6, rel=0.1)
    assert (rows["shrunk"] - y).abs().max() > 0.002  # far more than that tolerance
    half = 1.96 * rows["shrunk_error"]
    assert (rows["shrunk_high"] - rows["shrunk"]).to_numpy() == pytest.approx(half, rel=1e-4)
    assert rows["drop"].to_numpy() == pytest.approx(y)
    assert rows["error"].to_numpy() == pytest.approx(np.sqrt(np.diag(s)), rel=0.1)
    assert rows["n"].tolist() == [120] * 6
    assert rows["n_bootstrap"].tolist() == [2000] * 6


def test_reliable_cells_come_nearer_to_their_planted_drops() -> None:
    """Forty worlds of ten models: what passed the test exaggerates, its shrunk twin less."""
    plain, pulled = [], []
    for seed in range(40):
        true = np.random.default_rng(100 + seed).normal(0.012, 0.004, 10)
        rows = _table(
            _scores(true, seed=seed),
            AuditRequest(dataset="made", n_resamples=499, n_bootstrap=300),
        )
        passed = rows["reliable"].to_numpy(bool)
        plain += list(rows["drop"][passed] - true[passed])
        pulled += list(rows["shrunk"][passed] - true[passed])
    assert len(plain) > 30
    assert np.mean(plain) > 0.003
    assert np.mean(pulled) < 0.9 * np.mean(plain)
    assert np.mean(np.square(pulled)) < np.mean(np.square(plain))


def test_tests_stand_beside_the_cells_they_are_of() -> None:
    panel = made_panel(_scores(np.array([0.0, 0.03, 0.09])))
    tested = cells(panel, REQUEST)
    rows = shrunk(panel, REQUEST, tested).rows
    both = rows.merge(tested.rows, on=["scorer_id", "condition"], suffixes=("", "_cell"))
    assert len(both) == 3
    for name in ("pvalue", "qvalue", "reliable", "reliable_rise", "n"):
        assert both[name].tolist() == both[f"{name}_cell"].tolist()
    assert rows["drop"].to_numpy() == pytest.approx(-both["mean_change"].to_numpy())


@pytest.mark.parametrize("n_models", [1, 2])
def test_few_models_are_not_shrunk_and_say_so(n_models: int) -> None:
    rows = _table(_scores(np.full(n_models, 0.03)))
    assert rows["drop"].notna().all()
    assert rows[["shrunk", "shrunk_low", "tau"]].isna().all().all()
    assert rows["reason"].str.contains("at least 3 models").all()


def test_models_with_few_items_are_not_shrunk_and_pull_nobody() -> None:
    scores = _scores(np.linspace(0, 0.06, 5))
    scores["hi"][2, 2:] = NAN
    scores["hi"][4, LEAST_ITEMS:] = NAN
    rows = _table(scores)
    assert rows["n"].tolist() == [120, 120, 2, 120, LEAST_ITEMS]
    assert rows["drop"].notna().all()
    for name in ("error", "shrunk", "shrunk_low", "shrunk_error"):
        assert rows[name].isna().tolist() == [False, False, True, False, False]
    assert rows["reason"].tolist() == ["", "", FEW_ITEMS, "", ""]
    assert rows["n_models"].tolist() == [4] * 5


def test_a_model_without_scores_has_no_drop_and_takes_none_from_the_others() -> None:
    scores = _scores(np.linspace(0, 0.06, 4))
    scores["hi"][2] = NAN
    rows = _table(scores)
    assert rows["drop"].isna().tolist() == [False, False, True, False]
    assert rows["shrunk"].isna().tolist() == [False, False, True, False]
    assert rows["n_models"].tolist() == [3] * 4
    assert rows["reason"].ne("").tolist() == [False, False, True, False]


def test_no_translation_gives_an_empty_table_that_says_so() -> None:
    panel = made_panel({"en": np.full((6, 3), 0.5)})
    for table in (shrunk(panel, REQUEST, cells(panel, REQUEST)), crossed(panel, REQUEST)):
        assert table.rows.empty
        assert table.notes == (NO_TRANSLATION,)
