"""The points of the scatter against loops over the panel, its lines, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.attenuation import attenuation
from core.analysis.audit.carry_over import association
from core.analysis.audit.kept import (
    CARRIES,
    LESS,
    TURNED,
    UNADJUSTED,
    UNDECIDED,
    UNDEFINED,
    bounds,
    kept,
    number,
)
from core.analysis.audit.points import MEAN, ceiling_line, fitted_line, points, versions
from core.analysis.audit.request import AuditRequest
from tests.made_panels import made_panel
from tests.thin_panels import thin_panel

REQUEST = AuditRequest(dataset="made", n_bootstrap=200)
M, N = 3, 40


def made(**keeps: float):
    """English, rewordings and languages that keep this much of what sets items apart."""
    rng = np.random.default_rng(7)
    english = rng.uniform(0.2, 0.8, (M, N))
    scores = {"en": english}
    for name, keep in {"en~p1": 0.7, "en~p2": 0.7, **keeps}.items():
        noise = rng.normal(0, 0.03, (M, N))
        scores[name.replace("_", "~")] = 0.5 + keep * (english - 0.5) + noise
    scores["en"][1, 3] = np.nan
    judged = {"hi": ["preserved", "lost"] * (N // 2)} if "hi" in keeps else {}
    return made_panel(scores, judgments=judged, fields={"category": ["a", "b"] * (N // 2)})


def tables(panel, request=REQUEST):
    return association(panel, request).rows, attenuation(panel, request).rows


def one(panel, condition="hi"):
    rows = kept(*tables(panel)).rows
    return rows[rows["condition"] == condition].iloc[0]


def test_a_point_is_one_score_of_an_item_under_a_model():
    panel = made(hi=0.3)
    found = points(panel, REQUEST, "hi")
    assert (found.n, found.n_items, len(found.rows)) == (M * N - 1, N, M * N - 1)
    scores = panel.scores("mean")
    for row in found.rows.to_dict("records"):
        at = panel.scorers.index(row["scorer_id"]), panel.item_ids.index(row["item_id"])
        assert row["before"] == scores[at[0], panel.at("en"), at[1]]
        assert row["after"] == scores[at[0], panel.at("hi"), at[1]]
        assert row["change"] == row["after"] - row["before"]
        assert row["category"] == panel.items["category"][at[1]]


def test_a_mean_is_over_the_models_that_have_both_scores():
    panel = made(hi=0.3)
    rows = points(panel, REQUEST, "hi", of=MEAN).rows
    assert rows["item_id"].tolist() == panel.item_ids
    assert rows["n_models"].tolist() == [2 if n == 3 else M for n in range(N)]
    scores = panel.scores("mean")[[0, 2], :, 3]
    assert rows["before"][3] == pytest.approx(scores[:, panel.at("en")].mean())
    assert rows["after"][3] == pytest.approx(scores[:, panel.at("hi")].mean())
    assert rows["model"][3] == "mean over 2 models"


def test_points_of_one_model_of_some_items_and_of_good_versions():
    panel = made(hi=0.3)
    assert set(points(panel, REQUEST, "hi", of="s1").rows["scorer_id"]) == {"s1"}
    assert points(panel, REQUEST, "hi", items=["i1", "i2", "gone"]).n == 2 * M
    good = points(panel, REQUEST, "hi", passing="judged preserved")
    assert set(good.rows["item_id"]) == {f"i{n}" for n in range(0, N, 2)}
    assert (good.n, good.n_failed) == (M * N // 2, M * N // 2 - 1)
    means = points(panel, REQUEST, "hi", of=MEAN, passing="judged preserved")
    assert (means.n, means.n_failed) == (N // 2, N // 2)


def test_a_sample_is_drawn_by_the_seed_and_says_of_how_many():
    panel = made(hi=0.3)
    found = points(panel, REQUEST, "hi", most=20)
    assert (len(found.rows), found.n, found.n_items) == (20, M * N - 1, N)
    pd.testing.assert_frame_equal(found.rows, points(panel, REQUEST, "hi", most=20).rows)
    other = points(panel, replace(REQUEST, seed=1), "hi", most=20).rows
    assert other["item_id"].tolist() != found.rows["item_id"].tolist()
    whole = points(panel, REQUEST, "hi").rows[["item_id", "scorer_id"]].apply(tuple, axis=1)
    sample = found.rows[["item_id", "scorer_id"]].apply(tuple, axis=1)
    assert [w for w in whole if w in set(sample)] == sample.tolist()


@pytest.mark.parametrize("of", ["", MEAN, "s2"])
def test_noise_is_the_spread_of_the_same_points_under_rewording(of):
    panel = made(hi=0.3)
    changes = panel.changes("mean")[:, [panel.at("en~p1"), panel.at("en~p2")]]
    if of == MEAN:
        changes = np.nanmean(changes, axis=0)
    elif of:
        changes = changes[[2]]
    known = changes[np.isfinite(changes)]
    found = points(panel, REQUEST, "hi", of=of)
    assert found.n_noise == len(known)
    assert found.noise == pytest.approx(known.std(ddof=1))


def test_translations_come_before_rewordings_and_prefixes_are_left_out():
    held = ("en", "en~p1", "en+true", "hi", "hi~p1", "sw")
    assert versions(held) == ["hi", "sw", "en~p1", "hi~p1"]
    assert versions(("en", "hi~p1")) == []


def test_the_line_is_that_of_the_points_where_the_table_has_it():
    panel = made(hi=0.3)
    rows = association(panel, REQUEST).rows
    for of, passing, model in (
        ("", "", "all models"),
        ("s1", "", "model-1"),
        ("", "judged preserved", "all models"),
    ):
        line = fitted_line(rows, "hi", of=of, passing=passing)
        drawn = points(panel, REQUEST, "hi", of=of, passing=passing).rows
        slope, at_zero = np.polyfit(drawn["before"], drawn["after"], 1)
        assert line.slope == pytest.approx(slope)
        assert line.at_neutral == pytest.approx(at_zero + slope / 2)
        assert (line.model, line.n_rows) == (model, len(drawn))
    assert fitted_line(rows, "hi", passing="judged preserved").group == "preserved"
    # No line of one model for one rewording: that of all, which says so.
    assert fitted_line(rows, "en~p1", of="s1").model == "all models"
    assert fitted_line(rows, "xx") is None


def test_the_ceiling_is_rewording_english_and_for_a_reworded_language_its_twin():
    rows = association(made(hi=0.3, hi_p1=0.2), REQUEST).rows
    whole = rows[(rows["condition"] == "rewording") & (rows["group_kind"] == "all")].iloc[0]
    assert ceiling_line(rows, "hi").slope == whole["slope"]
    assert ceiling_line(rows, "hi", of="s0").model == "model-0"
    twin = rows[(rows["condition"] == "hi~p1") & rows["same_items_in_english"]].iloc[0]
    assert ceiling_line(rows, "hi~p1").slope == twin["slope"]
    panel = made_panel({"en": [[0.2, 0.5, 0.9]], "hi": [[0.3, 0.5, 0.6]]})
    assert ceiling_line(association(panel, REQUEST).rows, "hi") is None


@pytest.mark.parametrize(("keep", "reads"), [(0.2, LESS), (0.9, CARRIES), (-0.6, TURNED)])
def test_what_it_reads_follows_from_the_intervals(keep, reads):
    row = one(made(hi=keep))
    assert row["reads"] == reads
    said = row["sentence"]
    assert ("do not keep" in said) == (keep < 0)
    assert f"{N} items, {M} models" in said
    ceiling = ceiling_line(tables(made(hi=keep))[0], "hi")
    assert f"mere rewording keeps {number(ceiling.slope)} " in said
    assert bounds(row["slope_low"], row["slope_high"]) in said
    assert "the two intervals lie apart" in said
    assert ("the language's above" in said) == (keep == 0.9)


def test_without_rewording_the_ceiling_is_not_known():
    rng = np.random.default_rng(1)
    english = rng.uniform(0.2, 0.8, (1, 12))
    row = one(made_panel({"en": english, "hi": rng.uniform(0.4, 0.6, (1, 12))}))
    assert row["reads"] == UNDECIDED
    assert "what mere rewording keeps is not known" in row["sentence"]
    assert row["sentence"].endswith("Whether anything carries over is not shown.")
    assert "1 model)" in row["sentence"]


def test_what_cannot_be_said_has_its_reason():
    row = one(made_panel({"en": [[0.2, 0.5]], "hi": [[0.3, 0.5]]}))
    assert row["reads"] == UNDEFINED
    assert row["sentence"].startswith("What items keep in Hindi cannot be said: 3 items with both")


def test_several_languages_are_not_adjusted_and_no_language_is_an_empty_table():
    assert kept(*tables(made(hi=0.3, es=0.4))).notes == (UNADJUSTED,)
    found = kept(*tables(made()))
    assert found.rows.empty
    assert found.notes == ()


def test_numbers_are_never_minus_zero():
    assert number(-0.001) == "0.00"
    assert number(-0.126) == "\u22120.13"
    assert bounds(float("nan"), 1.0) == "(no interval)"


@pytest.mark.parametrize("seed", range(25))
def test_thin_data_give_sentences_and_points(seed):
    panel = thin_panel(seed)
    for row in kept(*tables(panel, replace(REQUEST, n_bootstrap=20))).rows.to_dict("records"):
        assert "nan" not in row["sentence"]
        assert row["sentence"].endswith(".")
    for condition in versions(panel.conditions):
        for of in ("", MEAN, panel.scorers[0]):
            found = points(panel, REQUEST, condition, of=of)
            assert np.isfinite(found.rows[["before", "after", "change"]].to_numpy()).all()
