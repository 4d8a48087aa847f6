"""The Axes page: its list, strip and overview tell what was planted, filters and all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.heads.axis_view import axis_view
from core.analysis.heads.chosen import choose, parse_choice
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.random_directions import random_table
from core.analysis.heads.stored import compute_and_store, compute_axes
from core.analysis.heads.uncertainty import HalvesDifference, halves_of_axes
from core.analysis.heads.validity import length_table
from core.store.gate import Cache
from core.types import HeadReader
from pages.shared.heads import axis_list, worth
from pages.shared.heads.rows import OTHER
from tests.audit_pages import address, opened, words
from tests.heads_pages import (
    LABELLED,
    LONE,
    MODEL,
    N_LABELLED,
    ONE,
    SECOND,
    WARM,
    asked,
    figures,
    frames,
    many_concepts,
    numbers,
    planted,
    stepped,
    trace,
    with_tab,
)
from tests.planted_cache import (
    AXES,
    CONCEPTS,
    N_CONCEPTS,
    REFERENCE,
    STEREOTYPED,
    made_axes,
)

MADE = made_axes(len(MODEL.axes))
IDS = [axis.axis_id for axis in MADE]
NAMES = [f"word{2 * i} – word{2 * i + 1}" for i in range(len(IDS))]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def reader(cache: Cache) -> HeadReader:
    return planted(cache)


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "axes")


def question(reader: HeadReader, **fields) -> HeadsQuestion:
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE, "k": 3}
    return HeadsQuestion(reader_id=reader.reader_id, **(names | fields))


def test_the_list_is_the_table_and_planted_axes_lead_it(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="k3"))
    (table,) = frames(app, "statistic")
    expected = compute_axes(cache, question(reader)).table
    assert table["statistic"].tolist() == expected["statistic"].tolist()
    assert set(table["axis"][:3]) == {NAMES[i] for i in STEREOTYPED}
    assert table["says"][:3].tolist() == ["lies elsewhere"] * 3
    assert table["stability"][:3].tolist() == ["well-powered"] * 3
    assert (table["difference_low"][:3] > 0).all()
    lengths = length_table(cache, compute_axes(cache, question(reader)))
    expected_r = lengths.loc[expected["axis_id"], "length_r"].tolist()
    assert table["length_r"].tolist() == expected_r
    assert (table["difference"][:3] > 0.3).all()  # towards the second pole, where they were put
    assert (table["qvalue"][3:] > 0.05).all()
    assert table["open"].tolist() == ["▸", *[""] * 7]
    n = int(expected["flagged"].sum())
    said = f"{n} of 8 axes flagged (p < 0.05), 3 at q < 0.05; chance alone would flag 0.4"
    assert f"{said}. Axes share phrases, so that how many" in words(app)


@pytest.mark.parametrize("axis", [1, 3])
def test_the_strip_draws_the_values_of_the_analysis(show, cache, reader, axis: int) -> None:
    app = show(cache.folder, **asked(reader, axis=IDS[axis], heads="k3"))
    view = axis_view(cache, question(reader), IDS[axis])
    found = choose(view, parse_choice("k3", *view.shape), seed=question(reader).seed)
    strip = figures(app)[0]
    cloud, dots = trace(strip, "reference phrases"), trace(strip, "concepts")
    np.testing.assert_allclose(numbers(dots["x"]), np.sort(found.values[:N_CONCEPTS]))
    np.testing.assert_allclose(numbers(cloud["x"]), np.sort(found.values[N_CONCEPTS:]))
    apart = numbers(dots["x"]).mean() - numbers(cloud["x"]).mean()
    assert (apart > 0.5) == (axis in STEREOTYPED)
    ends = [note["text"] for note in strip["layout"]["annotations"]]
    assert f"word{2 * axis}" in ends[0]
    assert f"word{2 * axis + 1}" in ends[1]
    assert f"n = {N_CONCEPTS}" in dots["name"]
    assert f"n = {N_CONCEPTS}" in cloud["name"]
    (table,) = frames(app, "concept")
    np.testing.assert_allclose(table["value"], numbers(dots["x"]))


def test_people_s_labels_are_drawn_with_their_pole(show, cache, reader) -> None:
    fields = asked(reader, axes=WARM, concepts=LABELLED, heads="k3", axis=IDS[1])
    app = show(cache.folder, **fields)
    strip = figures(app)[0]
    marks = {side: trace(strip, f"held to be {side} warmth") for side in "−+"}
    assert [marks[side]["marker"]["symbol"] for side in "−+"] == [
        "triangle-left",
        "triangle-right",
    ]
    assert sum(len(numbers(mark["x"])) for mark in marks.values()) == N_LABELLED
    (table,) = frames(app, "concept")
    assert table["label"].value_counts().to_dict() == {"− warmth": 15, "+ warmth": 15}


def test_two_sets_of_phrases_stand_beside_each_other(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    for reference in (REFERENCE, SECOND):
        compute_and_store(cache, question(reader, reference=reference))
    app = show(cache.folder, **asked(reader, heads="k3", axis=IDS[4]))
    (table,) = frames(app, "statistic")
    second = compute_axes(cache, question(reader, reference=SECOND)).table.set_index("axis_id")
    first = compute_axes(cache, question(reader)).table
    expected = second.loc[first["axis_id"], "statistic"].tolist()
    assert table[f"statistic{OTHER}"].tolist() == expected
    assert f"Against {SECOND}:" in words(app)
    both = trace(figures(app)[-1], "flagged against both")
    drawn = {point[0] for point in both["customdata"]}
    assert {IDS[i] for i in STEREOTYPED} == drawn
    ring = trace(figures(app)[-1], "open:")
    assert numbers(ring["x"])[0] == first.set_index("axis_id").loc[IDS[4], "statistic"]


def test_filters_and_order_are_kept_on_the_walk_and_in_the_address(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="k3", axis_reads=["well-powered"]))
    assert "Showing 3 of 8 axes" in words(app)
    assert len(app.selectbox(key="field-axis").options) == 3
    app.text_input(key="field-axis_words").set_value("word9").run()
    assert "Showing 1 of 8 axes" in words(app)
    assert "The filters hide this axis" in words(app) or address(app)["axis"] == IDS[4]
    app.text_input(key="field-axis_words").set_value("nothing like it").run()
    assert "No axis passes these filters" in words(app)
    next(b for b in app.button if b.label == "Show all axes").click().run()
    assert address(app)["axis_words"] == ""
    assert len(frames(app, "statistic")[0]) == 8
    app.selectbox(key="field-axis_sort").select("axis").run()
    assert frames(app, "statistic")[0]["axis"].tolist() == sorted(NAMES)
    app.checkbox(key="field-beyond").check().run()
    flagged = compute_axes(cache, question(reader)).table.query("flagged")["axis_id"]
    assert set(frames(app, "statistic")[0]["axis"]) == {NAMES[IDS.index(i)] for i in flagged}


def test_an_axis_is_stepped_to_and_numbers_of_a_rectangle_are_its_own(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="rect:0,0,1,5", axis=IDS[1]))
    said = words(app)
    assert "Over 12 heads (layers 0 to 1, heads 0 to 5)" in said
    assert "not adjusted for choosing them" in said
    saved = figures(app)[0]["layout"]["meta"]["caution"]  # what files carry beside the caption
    assert saved.startswith("Over 12 heads") and saved.endswith("for choosing them.")
    before = address(app)["axis"]
    stepped(app, 1)
    assert address(app)["axis"] != before
    assert address(app)["heads"] == "rect:0,0,1,5"


def test_the_list_has_its_own_words_for_resamples() -> None:
    rows = pd.DataFrame({"stability": ["no sign of a difference", "well-powered", np.nan]})
    read = axis_list._in_words(rows)["stability"]
    assert read[:2].tolist() == ["seldom rejects", "well-powered"]
    assert pd.isna(read[2])
    assert f"stability{OTHER}" not in axis_list._in_words(rows)  # not tested against a second set


def test_axes_are_filtered_by_what_the_tests_say_and_by_length(show, cache, reader) -> None:
    expected = compute_axes(cache, question(reader)).table
    app = show(cache.folder, **asked(reader, heads="k3", axis_flags=["lies elsewhere"]))
    assert "Showing 3 of 8 axes" in words(app)
    assert app.multiselect(key="field-axis_flags").value == ["lies elsewhere"]
    app = show(cache.folder, **asked(reader, heads="k3", length_free="1"))
    lengths = length_table(cache, compute_axes(cache, question(reader)))
    free = set(lengths.index[~(lengths["length_qvalue"] < 0.05)])
    assert 0 < len(free) < len(expected)
    assert set(frames(app, "statistic")[0]["axis"]) == {NAMES[IDS.index(i)] for i in free}


@pytest.mark.parametrize("field", ["axis_reads", "axis_flags", "axis_dimensions"])
def test_a_filter_that_nothing_is_called_is_named_and_left_out(
    show, cache, reader, field: str
) -> None:
    app = show(cache.folder, **asked(reader, heads="k3", **{field: ["nope"]}))
    assert "nope" in words(app)
    assert len(frames(app, "statistic")[0]) == 8


def test_one_axis_one_concept_and_no_phrases(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, axes=ONE, heads="k3"))
    assert len(frames(app, "statistic")[0]) == 1
    assert "over 1 axis" in words(app)
    lone = show(cache.folder, **asked(reader, concepts=LONE, heads="k3"))
    assert "too few phrases" in words(lone)
    assert frames(lone, "statistic")[0]["statistic"].isna().all()
    without = show(cache.folder, **asked(reader, reference_set="(none)", heads="k3"))
    assert "no reference phrases were chosen" in words(without)
    assert "how widely just any phrase spreads is not known" in words(without)
    assert "held against one set of phrases" in words(without)


def test_five_thousand_concepts_are_cut_and_counted(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    app = show(cache.folder, **asked(reader, concepts=many_concepts(cache, reader, 5_000)))
    said = words(app)
    assert "Showing 200 of 5,000 (the 200 outermost)" in said
    assert len(numbers(trace(figures(app)[0], "concepts")["x"])) == 200


def test_what_a_job_has_to_compute_is_offered_and_one_axis_shown(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    name = many_concepts(cache, reader, 9_000)  # x 8 axes x 24 heads: no page waits for that
    app = show(cache.folder, **asked(reader, concepts=name))
    assert "The tests of all these axes are not computed yet" in words(app)
    assert any(b.label == "Compute the tests of all axes" for b in app.button)
    assert len(figures(app)) == 1


def test_the_axes_that_were_read_keep_their_tests_beside_one_that_was_not(
    show, cache, reader
) -> None:
    last = made_axes(len(IDS) + 1)[-1].axis_id
    app = show(cache.folder, **asked(reader, axes="unread", axis=last, heads="k3"))
    said = " or was not read; the first one is shown instead"
    assert f"The axis {last} is not in unread{said}" in words(app)
    assert app.selectbox(key="field-axis").options == NAMES[6:8]
    (table,) = frames(app, "statistic")
    alone = (
        compute_axes(cache, question(reader)).table.set_index("axis_id").loc[IDS[6:8], "statistic"]
    )
    assert sorted(table["statistic"]) == sorted(alone)
    assert "The heads were read for 2 of 3 axes of unread" in words(app)


def test_a_flag_is_held_against_directions_without_meaning(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, heads="k3", axis=IDS[1]))
    assert "random directions" not in words(app)
    with_tab(app, "axes-tabs", "What is it worth?")
    app.toggle(key="worth-shown").set_value(True).run()
    said = words(app)
    stored = compute_axes(cache, question(reader))
    row = random_table(cache, stored, [IDS[1]]).iloc[0]
    assert f"Of {row['n_directions']} random directions in the same 3 heads" in said
    assert f"{100 * row['share']:.0f} % are flagged" in said
    reached = f"{100 * row['share']:.0f} % of random directions are flagged: p"
    assert (reached in said) == (row["pvalue"] >= 0.05)  # beside the verdict, at once
    assert "100 % of the best heads in common" in said  # what is planted is in both halves
    assert "Choose a second model under" in said
    halves = halves_of_axes(cache, stored).set_index("axis_id").loc[IDS[1]]
    assert f"the correlation r = {halves['r']:.2f} and differ by" in said
    assert f"{halves['mean_difference']:.2f} sd on average (n = 40 concepts, 3 heads)" in said
    assert "Each concept's values from either half of the sentences" in said


def test_what_a_check_leaves_undefined_is_said_in_words() -> None:
    row = dict.fromkeys(
        ("halves_cosine", "halves_overlap", "halves_overlap_expected", "separability_first",
         "separability_held_out", "held_out_chance", "above_swapped", "above_swapped_expected",
         "length_r", "length_qvalue", "floor_statistic"), np.nan
    )  # fmt: skip
    row |= {"n_directions": 0, "n_heads_swapped": 0, "length_unit": "words", "n_phrases": 2}
    said = " ".join(worth._sentences(row | {"reason": "too few phrases"}))
    assert "nan" not in said
    assert "an undefined share of the best heads" in said
    assert "Whether values follow the phrases' length is undefined (n = 2)" in said


def test_halves_without_a_correlation_say_why() -> None:
    two = HalvesDifference(
        concepts=("a", "b"),
        first=np.array([0.0, 1.0]),
        second=np.array([0.5, 1.5]),
        r=np.nan,
        mean_difference=0.5,
        cosine=0.9,
        n_concepts=2,
        n_heads=3,
    )
    said = worth._halves_words(two)
    assert "r = undefined (fewer than three concepts, or" in said and "0.50 sd" in said
    none = replace(two, mean_difference=np.nan, n_concepts=0, n_heads=0)
    said = worth._halves_words(none)
    assert said.endswith("undefined (no head has a direction from both halves).")


RATINGS = "annotator,group,axis,rating\n"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("a,groups 0,word2.a.01~word3.a.01,7\n", "1 to 5"),
        ("a,martians,word2.a.01~word3.a.01,5\n", "not in the set, and left out: martians"),
        ("a,groups 0,nice~nasty,5\n", "not in the set, and left out: nice~nasty"),
    ],
)
def test_ratings_that_do_not_fit_are_explained(
    show, cache, reader, tmp_path: Path, rows: str, sentence: str
) -> None:
    (tmp_path / "ratings.csv").write_text(RATINGS + rows)
    app = show(cache.folder, **asked(reader, heads="k3", axis=IDS[1]))
    app.text_input(key="ratings-path").set_value(str(tmp_path / "ratings.csv")).run()
    assert not app.exception
    tables = [str(frame.value.to_dict()) for frame in app.dataframe]
    assert sentence in words(app) or any(sentence in table for table in tables)
    assert address(app)["axis"] == IDS[1]


def test_people_and_the_model_are_held_against_each_other(
    show, cache, reader, tmp_path: Path
) -> None:
    rows = [
        f"{who},groups {g},word{2 * i}.a.01~word{2 * i + 1}.a.01,{5 if i in STEREOTYPED else r}\n"
        for i in range(8)
        for g in range(3)
        for who, r in zip("abcd", (1, 2, 4, 5), strict=True)
    ]
    (tmp_path / "ratings.csv").write_text(RATINGS + "".join(rows))
    app = show(cache.folder, **asked(reader, heads="k3"))
    app.text_input(key="ratings-path").set_value(str(tmp_path / "ratings.csv")).run()
    (flags,) = frames(app, "only_people")
    flagged = int(compute_axes(cache, question(reader)).table["flagged"].sum())
    first = flags.iloc[0]
    assert (first["n"], first["both"], first["only_people"]) == (8, 3, 0)
    assert (first["only_model"], first["neither"]) == (flagged - 3, 8 - flagged)
    missing = tmp_path / "gone.csv"
    app.text_input(key="ratings-path").set_value(str(missing)).run()
    assert str(missing) in words(app)


def test_an_empty_cache_says_what_to_do(show, tmp_path: Path) -> None:
    assert "No model's heads were read yet" in words(show(tmp_path))
