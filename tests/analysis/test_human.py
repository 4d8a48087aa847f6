"""People's ratings against a model's flags and sides: hand counts, statsmodels and scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats import inter_rater

from core.analysis.heads.human import (
    ALL_THE_SAME,
    NO_AXIS,
    NOT_RATED,
    empty_ratings,
    human_agreement,
    human_axes,
    human_sides,
    matched,
)
from core.analysis.heads.stored import StoredAxes, compute_axes
from core.axes.axis import Axis, Pole, user_pole
from core.errors import InputError
from core.store.gate import Cache
from tests.planted_cache import CONCEPTS, STEREOTYPED
from tests.planted_heads import planted_heads
from tests.planted_labels import fill_labelled

NAN = np.nan


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> StoredAxes:
    cache = Cache(tmp_path_factory.mktemp("people"))
    return compute_axes(cache, fill_labelled(cache, planted_heads()))


def _answers(found: StoredAxes, ratings: dict[int, list[float]], group: int = 0) -> pd.DataFrame:
    """Ratings of one group by as many annotators, by the place of the axis."""
    rows = [
        (f"p{i}", f"{CONCEPTS} {group}", found.held.axes[axis].axis_id, float(rating))
        for axis, given in ratings.items()
        for i, rating in enumerate(given)
    ]
    return pd.DataFrame(rows, columns=["annotator", "group", "axis", "rating"])


def _matched(found: StoredAxes, answers: pd.DataFrame):
    return matched(answers, found.held.axes, found.held.concepts)


NAMED_POLES = [
    ("dishonest", 1, "dishonorable"), ("honest", 1, "honorable"),
    ("cool", 1, "chilly"), ("warm", 2, "affectionate"),
]  # fmt: skip


def test_ratings_are_turned_with_the_poles_and_found_by_words_and_synsets():
    own = Axis(user_pole(("mean", "stingy")), user_pole(("generous",)), source="mine")
    axes = Axis(Pole("a.a.01", 1, ("a",)), Pole("b.a.01", 2, ("b",)), source="wordnet"), own
    answers = pd.DataFrame(
        [
            ("p", "nurse", "a.a.01~b.a.01", 2.0),
            ("q", "NURSE", "b.a.01~a.a.01", 2.0),
            ("r", "Nurse", "b.a.01~a.a.01", NAN),
            ("p", "Nurse", "mean|stingy~generous", 5.0),
            ("q", "Nurse", own.axis_id, 4.0),
            ("p", "Pilot", "a.a.01~b.a.01", 3.0),
            ("p", "Nurse", "c.a.01~d.a.01", 3.0),
            ("s", "Nurse", "stingey~generous", 3.0),
            ("s", "Nurse", "Stingy~generous", 3.0),
        ],
        columns=["annotator", "group", "axis", "rating"],
    )
    people = matched(answers, axes, ["Nurse"])
    assert people.answers["axis"].tolist() == [axes[0].axis_id] * 3 + [own.axis_id] * 3
    np.testing.assert_array_equal(people.answers["rating"], [2, 4, NAN, 5, 4, 3])
    assert set(people.answers["group"]) == {"Nurse"}
    assert people.notes == (
        "2 axes of the ratings not in the set, and left out: c.a.01~d.a.01, "
        "stingey~generous (nearest: mean|stingy~generous).",
        "1 group of the ratings not in the set, and left out: Pilot.",
    )


def test_words_that_two_axes_share_are_refused_only_where_they_are_used():
    axes = [Axis(user_pole(("bad",), meaning), user_pole(("good",)), "mine") for meaning in "xy"]
    row = ("p", "Nurse", "bad~good", 2.0)
    answers = pd.DataFrame([row], columns=["annotator", "group", "axis", "rating"])
    with pytest.raises(InputError, match=r"Several axes .* called 'bad~good'; write one of"):
        matched(answers, axes, ["Nurse"])
    answers["axis"] = "good~bad"
    with pytest.raises(InputError, match="Several axes"):
        matched(answers, axes, ["Nurse"])
    answers["axis"] = axes[1].axis_id
    assert matched(answers, axes, ["Nurse"]).answers["axis"].tolist() == [axes[1].axis_id]


def test_words_without_a_sense_are_enough_where_no_other_axis_has_them():
    poles = [Pole(f"{w}.a.0{n}", i, (w, more)) for i, (w, n, more) in enumerate(NAMED_POLES)]
    axes = [Axis(poles[0], poles[1], "wordnet"), Axis(poles[2], poles[3], "wordnet")]
    names = ["dishonest~honest", "honest~Dishonorable", "cool.a.03~warm.a.01", "cool.a.01~hot.a.01"]
    rows = [(f"p{i}", "Nurse", name, 2.0) for i, name in enumerate(names)]
    answers = pd.DataFrame(rows, columns=["annotator", "group", "axis", "rating"])
    people = matched(answers, axes, ["Nurse"])
    assert people.answers["axis"].tolist() == [axes[0].axis_id] * 2
    np.testing.assert_array_equal(people.answers["rating"], [2, 4])
    (note,) = people.notes
    assert "cool.a.03~warm.a.01 (nearest: cool.a.01~warm.a.02)" in note
    assert "cool.a.01~hot.a.01" in note


def test_an_empty_table_names_axes_so_that_they_are_found() -> None:
    same = [Axis(user_pole(("bad",), meaning), user_pole(("good",)), "mine") for meaning in "xy"]
    axes = [Axis(Pole("a.a.01", 1, ("a",)), Pole("b.a.01", 2, ("b",)), source="wordnet"), *same]
    table = empty_ratings(axes, ["Nurse", "Pilot"])
    assert table.columns.tolist() == ["annotator", "group", "axis", "rating"]
    assert table["axis"][0] == "a.a.01~b.a.01"
    assert set(table["annotator"]) == set(table["rating"]) == {""}
    filled = table.assign(annotator="p", rating=4.0)
    people = matched(filled, axes, ["Nurse", "Pilot"])
    assert people.notes == ()
    assert people.answers["axis"].tolist() == [a.axis_id for a in axes for _ in range(2)]


def test_an_axis_rated_twice_under_two_names_is_refused() -> None:
    axis = Axis(Pole("a.a.01", 1, ("a",)), Pole("b.a.01", 2, ("b",)), source="wordnet")
    turned = "b.a.01~a.a.01"
    rows = [
        ("p", "Nurse", axis.axis_id, 2.0),
        ("q", "Nurse", turned, 2.0),
        ("p", "NURSE", turned, 4.0),
    ]
    answers = pd.DataFrame(rows, columns=["annotator", "group", "axis", "rating"])
    assert len(matched(answers[:2], [axis], ["Nurse"]).answers) == 2
    with pytest.raises(InputError, match="'p' rated 'Nurse' more than once on the axis"):
        matched(answers, [axis], ["Nurse"])


def test_the_two_by_two_is_that_of_statsmodels_and_scipy(found):
    yes, no, middle, never = [5, 4, 5], [1, 3, 5], [3, 3, 4], [NAN, NAN, 1]
    ratings = {0: no, 1: yes, 2: middle, 3: no, 4: yes, 5: never, 6: no}  # 7 was not rated
    rows = human_agreement(found, _matched(found, _answers(found, ratings)))
    flagged = found.table.set_index("axis_id")["flagged"].astype(bool)
    model = [flagged[axis.axis_id] for axis in found.held.axes]
    for rule, people in (
        ("published", {0: 0, 1: 1, 2: 1, 3: 0, 4: 1, 6: 0}),
        ("sided", {0: 0, 1: 1, 2: 0, 3: 0, 4: 1, 6: 0}),
    ):
        table = np.zeros((2, 2), dtype=int)
        for axis, says in people.items():
            table[1 - int(model[axis]), 1 - says] += 1
        row = rows[(rows["rule"] == rule) & (rows["level"] == "all answers")].iloc[0]
        counts = row[["both", "only_model", "only_people", "neither"]].tolist()
        assert counts == table.ravel().tolist() and row["n"] == 6
        assert row["agreement"] == pytest.approx(np.trace(table) / 6)
        assert row["kappa"] == pytest.approx(inter_rater.cohens_kappa(table).kappa)
        assert row["pvalue"] == pytest.approx(stats.fisher_exact(table).pvalue)
        assert (row["n_not_applicable"], row["n_not_rated"]) == (1, 1)
        assert (row["n_annotators"], row["n_answers"], row["reason"]) == (3, 21, "")


def test_any_group_is_enough_at_its_level(found):
    both = pd.concat([_answers(found, {0: [5, 5], 1: [1, 1]}), _answers(found, {0: [1, 1]}, 1)])
    people = _matched(found, both)
    axis = found.held.axes[0].axis_id
    for level, expected in (("all answers", False), ("any group", True)):
        rows = human_axes(found, people, level=level).set_index("axis_id")
        assert rows.loc[axis, "stereotypical"] == expected
        assert rows.loc[axis, ["n_answers", "n_groups", "n_stereotypical_groups"]].tolist() == [
            4,
            2,
            2,
        ]
    unrated = rows.loc[found.held.axes[7].axis_id]
    assert (unrated["reason"], unrated["n_answers"]) == (NOT_RATED, 0)
    assert pd.isna(unrated["stereotypical"])
    never = _matched(found, _answers(found, {0: [NAN, NAN, 1]}))
    row = human_axes(found, never, level="any group").set_index("axis_id").loc[axis]
    assert pd.isna(row["stereotypical"]) and row["reason"] == "applies to no group"


def test_where_all_say_the_same_nothing_is_tested(found):
    flagged = {place: [5, 5] for place in range(8)}
    rows = human_agreement(found, _matched(found, _answers(found, flagged)))
    assert rows["pvalue"].isna().all() and set(rows["reason"]) == {ALL_THE_SAME}
    nobody = matched(_answers(found, flagged).head(0), found.held.axes, found.held.concepts)
    empty = human_agreement(found, nobody)
    assert set(empty["reason"]) == {NO_AXIS} and empty["agreement"].isna().all()
    assert (empty["n_not_rated"] == 8).all()


def test_sides_of_people_are_compared_where_a_majority_has_one(found):
    axis, group = STEREOTYPED[0], 3
    side = 5 if found.held.of_concepts[axis, group] > 0 else 1
    answers = _answers(found, {axis: [side, side, 3], 0: [3, 3, 3], 2: [1, 5]}, group)
    (row,) = human_sides(found, _matched(found, answers)).to_dict("records")
    assert (row["n"], row["agreement"], row["n_axes"]) == (1, 1, 1)
    turned = answers.assign(rating=6 - answers["rating"])
    (row,) = human_sides(found, _matched(found, turned)).to_dict("records")
    assert (row["n"], row["agreement"]) == (1, 0)
    (none,) = human_sides(found, _matched(found, answers.head(0))).to_dict("records")
    assert none["n"] == 0 and none["reason"] == "no group on an axis has a side by most people"


def test_undefined_axes_of_the_model_are_not_judged(found):
    table = found.table.assign(
        flagged=found.table["flagged"].mask(found.table.index == 0),
        reason=np.where(found.table.index == 0, "the projections do not vary", ""),
    )
    thinned = replace(found, table=table)
    ratings = {place: [1, 3, 5] for place in range(7)} | {7: [5, 5, 5]}
    people = _matched(found, _answers(found, ratings))
    assert set(human_agreement(thinned, people)["n"]) == {7}
    rows = human_axes(thinned, people)
    assert rows["reason"].tolist() == ["the projections do not vary"] + [""] * 7
