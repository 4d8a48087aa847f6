"""Quality of translations in an audit: counts by hand, drops and draws by plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from core.analysis.audit.metadata import judgments, metadata_numbers, metadata_values
from core.analysis.audit.names import FEW_ITEMS, ONE_ITEM
from core.analysis.audit.quality import ALL_LANGUAGES, quality
from core.analysis.audit.quality_filters import filter_masks
from core.analysis.audit.request import AuditRequest
from core.stats.levels import LEAST_ITEMS
from core.stats.resampling import bootstrap_weights
from tests.audit.test_carry_over import JUDGED, SOURCES, N, made, only, with_metadata
from tests.made_panels import made_panel

NAN = float("nan")
REQUEST = AuditRequest(dataset="made", n_bootstrap=200)
SIMILAR = ([0.95, 0.85, 0.75, "0.9", None, "n/a"] * 4)[:N]
SURVIVED = [True, "yes", 0, "False", None, "?"] * 4
WEIGHTS = bootstrap_weights(N, 200, rng=REQUEST.rng("quality"))


def known():
    """Spanish with similarity and blanks besides judgments, Hindi with judgments alone."""
    panel = with_metadata(made(), "es", "similarity", SIMILAR)
    return with_metadata(panel, "es", "blank_survived", SURVIVED)


def drops(panel, condition, rows):
    """The drop among chosen rows (M, N), and in each draw of items."""
    d = -panel.changes("mean")[:, panel.at(condition)]
    rows = rows & np.isfinite(d)
    drawn = []
    for weights in WEIGHTS:
        at = np.repeat(np.arange(N), weights.astype(int))
        chosen = d[:, at][rows[:, at]]
        drawn.append(chosen.mean() if len(chosen) else NAN)
    return d[rows].mean() if rows.any() else NAN, np.array(drawn)


def ends(draws):
    return tuple(np.nanquantile(draws, [0.025, 0.975]))


def items(chosen):
    return np.broadcast_to(np.array(chosen), (3, N))


def test_metadata_stand_where_their_versions_do():
    panel = known()
    values = metadata_values(panel, "similarity")
    assert values.shape == (len(panel.conditions), N)
    assert values[panel.at("es")].tolist() == SIMILAR
    assert set(values[panel.at("hi")]) == {None}
    numbers = metadata_numbers(panel, "similarity")[panel.at("es")]
    assert numbers[:4].tolist() == [0.95, 0.85, 0.75, 0.9]
    assert np.isnan(numbers[4:6]).all()
    assert judgments(panel)[panel.at("hi")].tolist() == JUDGED
    assert set(judgments(panel)[panel.english]) == {""}


def test_metadata_of_natives_belong_to_no_item():
    panel = made_panel({"en": [[0.4, 0.6]], "es": [[0.5, 0.6]]}, natives={"es": [[0.5]]})
    versions = panel.versions.copy()
    versions["metadata"] = [{"judgment": "lost"} if native else {} for native in versions["native"]]
    assert set(judgments(replace(panel, versions=versions)).ravel()) == {""}


@pytest.mark.parametrize("source", ["", "stereoset", "bbq"])
@pytest.mark.parametrize("word", ["preserved", "partly", "lost"])
def test_judgments_are_counted_and_their_drop_is_that_of_their_rows(source, word):
    panel = known()
    of = np.array([source in ("", s) for s in SOURCES])
    chosen = of & (np.array(JUDGED) == word)
    row = only(
        quality(panel, REQUEST).rows, kind="judgment", condition="hi", source=source, group=word
    )
    assert (row["n"], row["n_total"]) == (chosen.sum(), of.sum())
    assert row["share"] == pytest.approx(chosen.sum() / of.sum())
    drop, draws = drops(panel, "hi", items(chosen))
    assert row["drop_rows"] == pytest.approx(drop)
    few = chosen.sum() < LEAST_ITEMS
    expected = (NAN, NAN) if few else ends(draws)
    assert (row["drop_rows_low"], row["drop_rows_high"]) == pytest.approx(expected, nan_ok=True)
    assert row["reason"] == (FEW_ITEMS if few else "")
    assert row["n_undefined"] == np.isnan(draws).sum()
    assert row["n_items"] == chosen.sum()
    assert np.isnan(row["reduction"])


def test_all_languages_weigh_the_same():
    panel = known()
    row = only(
        quality(panel, REQUEST).rows,
        kind="judgment",
        condition=ALL_LANGUAGES,
        source="",
        group="partly",
    )
    found = [drops(panel, c, items(np.array(JUDGED) == "partly")) for c in ("es", "hi")]
    assert row["drop_rows"] == pytest.approx(np.mean([drop for drop, _ in found]))
    draws = np.mean([drawn for _, drawn in found], axis=0)
    assert (row["drop_rows_low"], row["drop_rows_high"]) == pytest.approx(ends(draws))
    assert (row["n"], row["n_total"], row["n_languages"], row["n_items"]) == (12, 48, 2, 6)


def test_a_language_without_such_rows_does_not_enter_the_mean():
    judged = {"es": ["lost", "preserved", "preserved"], "hi": ["preserved"] * 3}
    scores = {"en": [[0.5, 0.6, 0.7]], "es": [[0.2, 0.6, 0.8]], "hi": [[0.1, 0.2, 0.3]]}
    table = quality(made_panel(scores, judgments=judged), REQUEST).rows
    row = only(table, condition=ALL_LANGUAGES, group="lost")
    assert row["drop_rows"] == pytest.approx(0.3)
    assert (row["n"], row["n_total"], row["n_languages"]) == (1, 6, 1)
    hindi = only(table, condition="hi", group="lost")
    assert (hindi["n"], hindi["n_rows"]) == (0, 0)
    assert math.isnan(hindi["drop_rows"])
    assert hindi["reason"] == "No such row is scored in both versions."


def test_a_language_with_few_judgments_weighs_as_much_as_one_with_many():
    judged = {"es": ["lost", "", "", ""], "hi": ["lost", "preserved", "preserved", "preserved"]}
    scores = {c: [[0.5, 0.6, 0.7, 0.4]] for c in ("en", "es", "hi")}
    table = quality(made_panel(scores, judgments=judged), REQUEST).rows
    row = only(table, condition=ALL_LANGUAGES, kind="judgment", group="lost")
    assert (row["n"], row["n_total"]) == (2, 5)
    assert row["share"] == pytest.approx((1 / 1 + 1 / 4) / 2)  # not 2 of 5
    row = only(table, condition=ALL_LANGUAGES, kind="filter", group="judged preserved")
    assert row["share"] == pytest.approx((0 + 3 / 4) / 2)


def test_similarity_counts_what_reaches_the_threshold():
    row = only(quality(known(), REQUEST).rows, kind="similarity", condition="es", source="")
    assert (row["n"], row["n_total"]) == (12, 16)
    assert row["similarity"] == pytest.approx((0.95 + 0.85 + 0.75 + 0.9) / 4)
    assert row["share"] == 0.75
    row = only(quality(known(), REQUEST).rows, kind="similarity", condition="es", source="bbq")
    assert (row["n"], row["n_total"]) == (4, 8)


@pytest.mark.parametrize(
    ("name", "passing", "decided"),
    [
        ("similarity >= 0.9", [0, 3], [0, 1, 2, 3]),
        ("blank survived", [0, 1], [0, 1, 2, 3]),
        ("judged preserved", [0, 2, 4], [0, 1, 2, 3, 4, 5]),
    ],
)
def test_a_filter_is_paired_with_all_that_it_can_decide(name, passing, decided):
    panel = known()
    at = np.arange(N) % 6
    passes, known_rows = items(np.isin(at, passing)), items(np.isin(at, decided))
    if name == "judged preserved":
        passes = items(np.array(JUDGED) == "preserved")
    row = only(quality(panel, REQUEST).rows, kind="filter", condition="es", group=name)
    (before, all_draws), (after, draws) = (drops(panel, "es", r) for r in (known_rows, passes))
    assert (row["n"], row["n_total"]) == (passes.sum(), known_rows.sum())
    assert row["drop_rows"] == pytest.approx(after)
    assert row["drop_rows_unfiltered"] == pytest.approx(before)
    assert row["reduction"] == pytest.approx(before - after)
    assert (row["reduction_low"], row["reduction_high"]) == pytest.approx(ends(all_draws - draws))


def test_the_masks_of_the_filters_are_those_of_the_table():
    panel = known()
    masks, rows = filter_masks(panel), quality(panel, REQUEST).rows
    scored = np.isfinite(panel.changes("mean"))
    filters = rows[(rows["kind"] == "filter") & (rows["condition"] != ALL_LANGUAGES)]
    assert set(filters["group"]) == set(masks)
    for row in filters.to_dict("records"):
        k = panel.at(row["condition"])
        passes, decided = (int((m & scored)[:, k].sum()) for m in masks[row["group"]])
        assert (row["n"], row["n_total"]) == (passes, decided)


def test_the_filters_of_all_languages_are_the_mean_of_their_reductions():
    panel = known()
    table = quality(panel, REQUEST).rows
    table = table[(table["kind"] == "filter") & (table["group"] == "judged preserved")]
    ones = [only(table, condition=c) for c in ("es", "hi")]
    row = only(table, condition=ALL_LANGUAGES)
    for name in ("drop_rows", "drop_rows_unfiltered", "reduction"):
        assert row[name] == pytest.approx(np.mean([one[name] for one in ones]))
    pairs = []
    for condition in ("es", "hi"):
        both = [items(np.ones(N, bool)), items(np.array(JUDGED) == "preserved")]
        before, after = (drops(panel, condition, rows)[1] for rows in both)
        pairs.append(before - after)
    assert (row["reduction_low"], row["reduction_high"]) == pytest.approx(
        ends(np.mean(pairs, axis=0))
    )


def test_fluency_changes_filter_rows_and_question_items_are_left_out():
    panel = known()
    name = "similarity >= 0.9 and |fluency change| < 0.1"
    ss = panel.scores("mean")
    l_plus = -2 + np.log(ss / (1 - ss))
    fluent = expit(np.maximum(l_plus, -2) + 3)  # unrelated at -3
    change = fluent[:, panel.at("es")] - fluent[:, panel.english]
    decided = items((np.array(SOURCES) != "bbq") & np.isin(np.arange(N) % 6, [0, 1, 2, 3]))
    passes = decided & items(np.isin(np.arange(N) % 6, [0, 3])) & (np.abs(change) < 0.1)
    row = only(quality(panel, REQUEST).rows, kind="filter", condition="es", group=name)
    assert (row["n"], row["n_total"]) == (passes.sum(), decided.sum())
    assert 0 < passes.sum() < items(np.isin(np.arange(N) % 6, [0, 3])).sum()
    assert row["drop_rows"] == pytest.approx(drops(panel, "es", passes)[0])


def test_only_fill_in_items_can_lose_their_blank():
    forms = ["fill_in", "continuation"] * 12
    panel = with_metadata(known(), "en", "form", forms)
    row = only(quality(panel, REQUEST).rows, condition="es", group="blank survived")
    assert row["n_total"] == 3 * 8  # items 0 and 2 of six, the latter without its blank
    assert row["n"] == 3 * 4


def test_judgments_of_other_names_are_kept_and_said():
    judged = {"es": [" Preserved", "Unsure", "lost", ""]}
    scores = {"en": [[0.5, 0.6, 0.7, 0.8]], "es": [[0.2, 0.6, 0.8, 0.4]]}
    found = quality(made_panel(scores, judgments=judged), REQUEST)
    rows = found.rows[found.rows["kind"] == "judgment"]
    assert rows["group"].tolist() == ["preserved", "lost", "unsure"]
    assert (rows["n_total"] == 3).all()
    assert ALL_LANGUAGES not in rows["condition"].tolist()
    assert found.notes[-1].endswith("under their own name: unsure.")
    assert (rows["reason"] == ONE_ITEM).all()


def test_a_filter_that_all_pass_reduces_nothing():
    judged = {"es": ["preserved"] * 5}
    scores = {"en": [[0.5, 0.6, 0.7, 0.4, 0.5]], "es": [[0.2, 0.6, 0.8, 0.3, 0.7]]}
    table = quality(made_panel(scores, judgments=judged), REQUEST).rows
    row = only(table, kind="filter", condition="es")
    assert row["reduction"] == 0
    assert math.isnan(row["reduction_low"])
    assert row["reason"] == "Every row passes, so there is nothing to reduce the drop."


def test_without_metadata_the_table_is_empty_and_says_so():
    panel = made_panel({"en": [[0.5, 0.6]], "es": [[0.2, 0.6]]})
    found = quality(panel, REQUEST)
    assert found.rows.empty
    assert found.notes == (
        "No version has judgment in its metadata.",
        "No version has similarity in its metadata.",
        "No version has blank_survived in its metadata.",
    )


def test_versions_that_nobody_scored_are_counted_without_a_drop():
    panel = made_panel(
        {"en": [[0.5, 0.6]], "es": [[NAN, NAN]]}, judgments={"es": ["lost", "partly"]}
    )
    rows = quality(panel, REQUEST).rows
    assert rows["n"].tolist() == [1, 1]
    assert rows["drop_rows"].isna().all()
    assert (rows["reason"] == "No such row is scored in both versions.").all()
