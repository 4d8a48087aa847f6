"""The gap above the floor: loops over the changes, and what a model lacks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.analysis.audit.floor_vs_gap import LANGUAGE_DRAWS, floor_vs_gap
from core.analysis.audit.names import LANGUAGE, MODEL
from core.analysis.audit.request import AuditRequest
from tests.audit.test_floors import scores_around
from tests.made_panels import made_panel

NAN = math.nan
REQUEST = AuditRequest(dataset="made", n_resamples=500, n_bootstrap=300)


def test_each_gap_says_how_many_draws_its_interval_is_of() -> None:
    panel = made_panel(scores_around(es=0.1, en_p1=0.0))
    for n_bootstrap, of_language in ((300, 300), (LANGUAGE_DRAWS + 10, LANGUAGE_DRAWS)):
        rows = floor_vs_gap(panel, AuditRequest(dataset="made", n_bootstrap=n_bootstrap)).rows
        of_unit = rows.groupby("unit")["n_bootstrap"].unique().map(list).to_dict()
        assert of_unit == {MODEL: [n_bootstrap], LANGUAGE: [of_language]}


def test_gap_and_floor_of_models_and_of_languages() -> None:
    scores = scores_around(models=3, items=80, es=0.1, fr=-0.1, en_p1=0.0, en_p2=0.01)
    scores["fr"][1, :20] = NAN
    panel = made_panel(scores)
    found = floor_vs_gap(panel, REQUEST)
    assert found.notes == ()
    models = found.rows[found.rows["unit"] == MODEL]
    for m, row in enumerate(models.to_dict("records")):
        gap = np.mean([abs(np.nanmean((scores[c] - scores["en"])[m])) for c in ("es", "fr")])
        floor = np.mean([abs((scores[c] - scores["en"])[m].mean()) for c in ("en~p1", "en~p2")])
        assert (row["gap"], row["floor"]) == pytest.approx((gap, floor))
        assert row["difference"] == pytest.approx(gap - floor)
        assert row["difference_low"] < row["difference"] < row["difference_high"]
        assert row["above"]
        assert (row["n_languages"], row["n_rewordings"], row["n_items"]) == (2, 2, 80)
    languages = found.rows[found.rows["unit"] == LANGUAGE].set_index("condition")
    assert models["floor_of_mean"].isna().all()
    assert languages["floor"].isna().all()
    for language, n in (("es", 80), ("fr", 60)):
        items = slice(80 - n, None)
        d = {c: (scores[c] - scores["en"]).mean(axis=0)[items] for c in scores}
        assert languages.at[language, "gap"] == pytest.approx(abs(d[language].mean()))
        assert languages.at[language, "floor_of_mean"] == pytest.approx(
            np.mean([abs(d[c].mean()) for c in ("en~p1", "en~p2")])
        )
        assert languages.at[language, "n_items"] == n
        assert languages.at[language, "n_models"] == 3


def test_a_gap_that_is_noise_does_not_lie_above_the_floor() -> None:
    found = floor_vs_gap(made_panel(scores_around(es=0.0, fr=0.0, en_p1=0.0, en_p2=0.0)), REQUEST)
    assert found.rows["above"].tolist() == [False] * 4


def test_the_gap_of_a_model_without_one_of_the_languages_says_so() -> None:
    scores = scores_around(models=2, es=0.1, hi=0.2, en_p1=0.02)
    scores["hi"][1] = NAN
    reasons = floor_vs_gap(made_panel(scores), REQUEST).rows["reason"].tolist()
    assert reasons[0] == ""
    assert reasons[1].startswith("Over es alone")
