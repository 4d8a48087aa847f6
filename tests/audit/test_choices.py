"""Choices, fates and distances of an audit, counted by hand and by plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.audit.choices import NO_BAND, ONE_POLE, distance, fates, same_choice
from core.analysis.audit.names import NO_ITEM, NO_REWORDING, REWORDING
from core.analysis.audit.request import AuditRequest
from core.stats.agreement import same_choice as same_choice_of
from tests.audit.test_carry_over import made, only, pairs
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_bootstrap=200)
HAND = {
    "en": [[0.9, 0.8, 0.7, 0.6, 0.52, 0.4, 0.3, 0.2]],
    "es": [[0.8, 0.5, 0.3, NAN, 0.9, 0.3, 0.48, 0.7]],
    "en~p1": [[0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]],
    "en~p2": [[0.9, 0.1, NAN, NAN, NAN, NAN, NAN, NAN]],
}


def test_choices_counted_by_hand():
    row = only(same_choice(made_panel(HAND), REQUEST).rows, condition="es", group_kind="all")
    # Of seven rows 1, 5, 6 and 7 agree; es chooses the stereotype in 1, 5 and 8 (0.5 is no choice)
    assert (row["n"], row["n_items"]) == (7, 7)
    assert row["same_choice"] == pytest.approx(4 / 7)
    expected = 4 / 7 * 3 / 7 + 3 / 7 * 4 / 7
    assert row["same_choice_expected"] == pytest.approx(expected)
    assert row["kappa"] == pytest.approx((4 / 7 - expected) / (1 - expected))


def test_the_row_of_rewordings_is_the_mean_over_them():
    partial = [[*HAND["en~p1"][0][:7], NAN]]  # none of both covers all of English: both count
    table = same_choice(made_panel(HAND | {"en~p1": partial}), REQUEST).rows
    row = only(table, condition=REWORDING, group_kind="all")
    of_first = only(table, condition="en~p1", group_kind="all")["same_choice"]
    assert of_first == pytest.approx(6 / 7)
    assert row["same_choice"] == pytest.approx((6 / 7 + 1 / 2) / 2)  # not 7 of 9
    assert (row["n"], row["n_items"]) == (9, 7)
    ones = [only(table, condition=c, group_kind="all") for c in ("en~p1", "en~p2")]
    for name in ("same_choice", "same_choice_expected", "kappa"):
        assert row[name] == pytest.approx(np.mean([one[name] for one in ones]))


def test_a_partial_rewording_stays_out_of_the_row_of_rewordings():
    for table in (same_choice, fates):
        rows = table(made_panel(HAND), REQUEST).rows
        rows = rows[rows["group_kind"] == "all"] if "group_kind" in rows else rows
        rows = rows.set_index("condition").drop(columns="reason")
        pd.testing.assert_series_equal(rows.loc[REWORDING], rows.loc["en~p1"], check_names=False)


def test_rows_of_models_are_those_of_their_own_scores():
    panel = made()
    table = same_choice(panel, REQUEST).rows
    for m, model in enumerate(panel.models):
        row = only(table, condition="hi", model=model)
        found = same_choice_of(*pairs(panel, "hi", models=[m]))
        assert (row["n"], row["same_choice"], row["kappa"]) == (found.n, found.same, found.kappa)
        assert row["scorer_id"] == panel.scorers[m]
    row = only(table, condition="hi", group_kind="all")
    assert row["n"] == 3 * 24 - 1
    assert row["n_items"] == 24


def test_standardised_scores_choose_as_the_others_do():
    panel = made()
    plain = same_choice(panel, REQUEST).rows
    standardised = same_choice(panel, replace(REQUEST, kind="standardised")).rows
    assert plain.equals(standardised)


def test_fates_counted_by_hand():
    row = only(fates(made_panel(HAND), REQUEST).rows, condition="es")
    assert (row["n"], row["n_items"]) == (7, 7)
    assert row[["n_above", "kept", "neutral", "reversed"]].tolist() == [3, 1, 1, 1]
    assert row[["n_below", "kept_below", "neutral_below", "reversed_below"]].tolist() == [
        3,
        1,
        1,
        1,
    ]
    assert row[["share_kept", "share_reversed_below"]].tolist() == pytest.approx([1 / 3, 1 / 3])
    row = only(fates(made_panel(HAND), REQUEST).rows, condition=REWORDING)
    assert row[["n_above", "kept", "neutral", "reversed"]].tolist() == [4, 4, 0, 0]
    assert row["share_kept"] == pytest.approx(1)


def test_a_side_without_preferences_has_no_shares():
    panel = made_panel({"en": [[0.6, 0.7, 0.8]], "es": [[0.6, 0.5, 0.4]]})
    row = only(fates(panel, REQUEST).rows, condition="es")
    assert row["n_below"] == 0
    assert np.isnan(row["share_kept_below"])
    assert row["share_kept"] == pytest.approx(1 / 3)
    assert row["reason"] == "No preference is clearly below neutral before."


def test_standardised_scores_have_no_fates():
    found = fates(made(), replace(REQUEST, kind="standardised"))
    assert found.notes[0] == NO_BAND
    assert (found.rows["reason"] == NO_BAND).all()
    assert found.rows[["n_above", "kept", "share_kept"]].isna().all(axis=None)
    assert (found.rows["n"] > 0).all()


def test_distances_are_on_the_items_scored_in_both():
    panel = made_panel(HAND)
    table = distance(panel, REQUEST).rows
    row = only(table, condition="es", group_kind="all")
    assert row["n"] == 7
    assert row["distance"] == pytest.approx(np.mean([0.3, 0, 0.2, 0.4, 0.2, 0.02, 0.2]))
    assert row["distance_original"] == pytest.approx(np.mean([0.4, 0.3, 0.2, 0.02, 0.1, 0.2, 0.3]))
    english = only(table, condition="en", group_kind="model")
    assert english["distance"] == english["distance_original"]
    assert english["n"] == 8


def test_distances_of_models_are_their_own():
    panel = made()
    table = distance(panel, REQUEST).rows
    for m, model in enumerate(panel.models):
        x, y = pairs(panel, "es~p1", models=[m])
        both = np.isfinite(x) & np.isfinite(y)
        row = only(table, condition="es~p1", model=model)
        assert (row["n"], row["original"]) == (15, "es")
        assert row["distance"] == pytest.approx(np.abs(y[both] - 0.5).mean())
        assert row["distance_original"] == pytest.approx(np.abs(x[both] - 0.5).mean())
    row = only(table, condition="es~p1", group_kind="all")
    assert (row["n"], row["n_items"]) == (45, 15)


def test_what_cannot_be_said_is_nan_with_a_reason():
    nothing = made_panel({"en": [[0.4, NAN]], "es": [[NAN, 0.6]]})
    for table in (same_choice, fates, distance):
        found = table(nothing, REQUEST)
        row = found.rows[found.rows["condition"] == "es"].iloc[0]
        assert (row["n"], row["reason"]) == (0, NO_ITEM)
    row = only(same_choice(nothing, REQUEST).rows, condition="es", group_kind="all")
    assert np.isnan([row["same_choice"], row["same_choice_expected"], row["kappa"]]).all()
    one_pole = made_panel({"en": [[0.6, 0.7]], "es": [[0.8, 0.9]]})
    row = only(same_choice(one_pole, REQUEST).rows, condition="es", group_kind="all")
    assert (row["same_choice"], row["reason"]) == (1, ONE_POLE)
    assert np.isnan(row["kappa"])
    assert same_choice(one_pole, REQUEST).notes == (NO_REWORDING,)


@pytest.mark.parametrize("table", [same_choice, fates])
def test_only_english_gives_an_empty_table_with_its_columns(table):
    rows = table(made_panel({"en": np.full((1, 4), 0.6)}), REQUEST).rows
    assert rows.empty
    assert "reason" in rows.columns
