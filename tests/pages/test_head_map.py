"""The Head map page: what it draws is what was planted, and every bad choice is explained."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.heads.axis_view import axis_view
from core.analysis.heads.chosen import choose, parse_choice
from core.analysis.heads.question import HeadsQuestion
from core.analysis.heads.stored import compute_and_store
from core.selection import Selection, parse_link
from core.store.gate import Cache
from core.store.head_readers import readers
from core.types import HeadReader
from pages.shared.data import open_cache
from pages.shared.heads.choice import Asked
from pages.shared.heads.share import heads_stem
from tests.audit_pages import address, opened, words
from tests.heads_pages import (
    LABELLED,
    LONE,
    MODEL,
    ONE,
    SECOND,
    WARM,
    asked,
    figures,
    frames,
    many_concepts,
    map_data,
    numbers,
    planted,
    possible,
    stepped,
    trace,
    unpacked,
    with_tab,
)
from tests.planted_cache import AXES, CONCEPTS, N_CONCEPTS, REFERENCE, made_axes
from tests.planted_heads import planted_heads

IDS = [axis.axis_id for axis in made_axes(len(MODEL.axes))]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("heads"))


@pytest.fixture(scope="module")
def reader(cache: Cache) -> HeadReader:
    return planted(cache, other=planted_heads(n_layers=3, n_heads=5, seed=4))


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch):
    return partial(opened, monkeypatch, "head_map")


def question(reader: HeadReader, **fields) -> HeadsQuestion:
    names = {"axes": AXES, "concepts": CONCEPTS, "reference": REFERENCE, "k": None}
    return HeadsQuestion(reader_id=reader.reader_id, **(names | fields))


@pytest.mark.parametrize("axis", [0, 1, 6])
def test_the_map_is_brightest_where_the_axis_was_planted(show, cache, reader, axis: int) -> None:
    app = show(cache.folder, **asked(reader, axis=IDS[axis], heads="k3"))
    data = map_data(app)
    (model,) = data["models"]
    r = unpacked(model["separability"], "<f4")
    best = np.argsort(-r)[:3]
    assert set(best.tolist()) == MODEL.heads[axis]
    assert r[best].min() > 3 * np.delete(r, best).max()
    assert unpacked(model["order"], "<i4")[:3].tolist() == best.tolist()
    assert (model["layers"], model["heads"]) == (4, 6)
    assert data["axis"]["poles"] == [f"word{2 * axis}", f"word{2 * axis + 1}"]
    with_tab(app, "map-tabs", "Heads and layers")
    bars = trace(figures(app)[0], "mean")
    at = [sum(head // 6 == layer for head in MODEL.heads[axis]) for layer in range(4)]
    assert numbers(bars["y"]).tolist() == at
    (heads,) = frames(app, "rank")
    assert heads.loc[heads["chosen"], "rank"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("heads", ["k3", "all", "rect:1,1,3,4", "head:2,5"])
def test_numbers_are_those_of_the_analysis(show, cache, reader, heads: str) -> None:
    app = show(cache.folder, **asked(reader, axis=IDS[4], heads=heads))
    view = axis_view(cache, question(reader), IDS[4])
    found = choose(view, parse_choice(heads, *view.shape), seed=question(reader).seed)
    shown = map_data(app)["models"][0]["numbers"]
    assert shown["statistic"] == found.statistic
    np.testing.assert_array_equal(unpacked(shown["values"], "<f8"), found.values)
    (table,) = frames(app, "concept")
    expected = np.sort(found.values[:N_CONCEPTS])
    np.testing.assert_allclose(table["value"], expected)
    assert address(app)["heads"] == heads
    said = words(app)
    caption = map_data(app)["said"]  # of saved pictures
    table = f"in {'all 24 heads' if heads != 'k3' else 'the 3 heads of highest R'}"
    assert table in said
    if heads.startswith("k") or heads == "all":
        assert table in caption
        assert "over 8 axes" in caption
    else:
        assert caption.startswith(f"Over {len(found.heads)} head")
        assert "over 8 axes" not in caption
    by_hand = "not adjusted for choosing them"
    assert (by_hand in said, by_hand in caption) == (heads != "all",) * 2
    assert ("so that it is too high" in said) == (heads == "k3")


def test_a_stereotyped_axis_is_flagged_and_another_is_not(show, cache, reader) -> None:
    flagged = words(show(cache.folder, **asked(reader, axis=IDS[1], heads="k3")))
    assert "groups lie elsewhere than phrases" in flagged
    assert f"n = {N_CONCEPTS} and {N_CONCEPTS}" in flagged
    assert "further towards word3" in flagged
    quiet = words(show(cache.folder, **asked(reader, axis=IDS[0], heads="k3")))
    assert "not shown to lie elsewhere" in quiet
    assert "does not show that the model treats groups alike" in quiet
    assert " is fair" not in flagged + quiet


def test_steps_and_choices_change_the_address_and_a_link_gives_them_back(
    show, cache, reader
) -> None:
    app = show(cache.folder, **asked(reader, heads="k3"))
    first = address(app)["axis"]
    stepped(app, 1)
    second = address(app)["axis"]
    assert second != first
    app.selectbox(key="field-axis").select(IDS[6]).run()
    assert address(app)["axis"] == IDS[6]
    link = next(
        code.value for code in app.code if code.value.startswith("http") or "v=1" in code.value
    )
    selection, problems = parse_link(link)
    assert not problems
    assert (selection.axis, selection.heads, selection.axes) == (IDS[6], "k3", AXES)
    again = show(cache.folder, **address(app))
    assert map_data(again)["models"] == map_data(app)["models"]
    assert words(again) == words(app)


def test_two_models_are_shown_side_by_side_and_as_a_difference(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache, other=planted_heads(seed=4))
    other = _other(show(cache.folder, **asked(reader)), reader)
    fields = {"reader_compare": other, "axis": IDS[1], "heads": "k3"}
    for grid in ("side by side", "difference"):
        app = show(cache.folder, **asked(reader, grid=grid, **fields))
        data = map_data(app)
        assert data["mode"] == grid
        assert len(data["models"]) == 2
        assert data["said"].startswith(f"{data['models'][0]['name']}: word2")
        assert not app.warning[1:]


def test_sentences_and_numbers_are_of_both_models_by_name(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache, other=planted_heads())
    other = next(i for i in readers(cache)["reader_id"] if i != reader.reader_id)
    fields = {"reader_compare": other, "axis": IDS[1], "grid": "side by side"}
    app = show(cache.folder, **asked(reader, heads="rect:0,0,1,5", **fields))
    names = [model["name"] for model in map_data(app)["models"]]
    assert map_data(app)["said"].startswith(f"{names[0]}: Over 12 heads")
    assert f" {names[1]}: Over 12 heads" in map_data(app)["said"]
    assert all(f"**{name}**" in words(app).replace("\\", "") for name in names)
    (table,) = frames(app, "model")
    assert table["model"].value_counts().to_dict() == dict.fromkeys(names, N_CONCEPTS)
    asked_alone = HeadsQuestion(
        reader_id=other, axes=AXES, concepts=CONCEPTS, reference=REFERENCE, k=3
    )
    view = axis_view(cache, asked_alone, IDS[1])
    found = choose(view, parse_choice("rect:0,0,1,5", *view.shape), seed=asked_alone.seed)
    of_other = table[table["model"] == names[1]]["value"]
    np.testing.assert_allclose(np.sort(of_other), np.sort(found.values[:N_CONCEPTS]))


def test_heads_chosen_by_hand_are_tested_against_both_sets_of_phrases(show, cache, reader) -> None:
    compute_and_store(
        cache,
        HeadsQuestion(
            reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference=SECOND, k=3
        ),
    )
    app = show(cache.folder, **asked(reader, axis=IDS[1], heads="rect:0,0,1,5"))
    said = map_data(app)["said"]
    for reference in (REFERENCE, SECOND):
        question = HeadsQuestion(
            reader_id=reader.reader_id, axes=AXES, concepts=CONCEPTS, reference=reference, k=3
        )
        view = axis_view(cache, question, IDS[1])
        found = choose(view, parse_choice("rect:0,0,1,5", *view.shape), seed=question.seed)
        assert f" {reference}: KS D = {found.statistic:.2f} (n = {found.n_concepts}" in said
    assert said.count("not adjusted for choosing them") == 1


def test_the_sense_of_both_poles_stands_above_the_map(show, cache, reader) -> None:
    said = words(show(cache.folder, **asked(reader, axis=IDS[1]))).replace("\\", "")
    poles = (axis := made_axes(2)[1]).negative, axis.positive
    assert all(f"{pole.lemmas[0]}: {pole.definition}" in said for pole in poles)


def test_phrases_are_not_offered_as_concepts_and_are_never_held_against_themselves(
    show, cache, reader
) -> None:
    app = show(cache.folder, **asked(reader, axis=IDS[1]))
    options = app.selectbox(key="field-concepts").options
    assert not any(option.startswith(f"{REFERENCE}-") for option in options)
    app = show(cache.folder, **asked(reader, concepts=CONCEPTS, reference_set=CONCEPTS))
    said = words(app).replace("\\", "")
    assert f"{CONCEPTS} is what is placed, so that it is not held against itself" in said
    assert f"{CONCEPTS} was not read" not in said


def test_long_names_in_a_link_are_cut_where_they_are_repeated(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, axes="a" * 3_000, axis="b" * 3_000))
    assert "a" * 80 in words(app)
    assert not any(letter * 100 in words(app) for letter in "ab")


def test_files_of_values_say_which_heads_they_are_of() -> None:
    question = HeadsQuestion(reader_id="r", axes=AXES, concepts=CONCEPTS, reference=REFERENCE)
    some = Asked(Selection(), question, {"r": "planted"}, {"r": (4, 6)}, "", "k3", "")
    axis = made_axes(2)[1]
    choices = ("k3", "all", "rect:0,0,1,5", "head:1,1")
    stems = [heads_stem(replace(some, heads=heads), axis) for heads in choices]
    assert stems[0] == "word2-word3-planted-k3"
    assert len(set(stems)) == len(choices)


def test_all_heads_by_number_are_not_called_chosen(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, axis=IDS[1], heads="k24"))
    assert "chosen by R" not in words(app)
    assert "not adjusted for choosing them" not in words(app)


def test_a_model_of_other_layers_has_no_difference_and_says_so(show, cache, reader) -> None:
    other = _other(show(cache.folder, **asked(reader)), reader)
    fields = {"reader_compare": other, "axis": IDS[1]}
    app = show(cache.folder, **asked(reader, grid="difference", heads="k3", **fields))
    assert "show the two models side by side" in words(app)
    assert len(map_data(app)["models"]) == 1
    app = show(cache.folder, **asked(reader, grid="side by side", heads="rect:3,5,3,5", **fields))
    second = map_data(app)["models"][1]
    assert second["numbers"] is None
    assert "outside" in second["reason"]


def test_one_axis_has_nothing_to_step_to(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, axes=ONE))
    assert "Axis 1 of 1" in words(app)
    assert possible(app) == [False, False]


def test_one_concept_is_shown_without_a_test(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, concepts=LONE))
    assert "too few phrases" in words(app)
    (table,) = frames(app, "concept")
    assert len(table) == 1


def test_without_reference_phrases_nothing_is_tested(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, reference_set="(none)", heads="k3"))
    assert "no reference phrases were chosen" in words(app)
    assert map_data(app)["n_reference"] == 0
    assert map_data(app)["models"][0]["numbers"]["statistic"] is None


def test_labels_give_positions_and_their_absence_says_why(show, cache, reader) -> None:
    without = show(cache.folder, **asked(reader, heads="k3"))
    assert "Positions are not compared with people's" in words(without)
    fields = asked(reader, axes=WARM, concepts=LABELLED, heads="k3", axis=IDS[1])
    app = show(cache.folder, **fields)
    assert "of 30 labelled concepts lie on the side of their label" in words(app)
    assert "commoner label reaches 50 %" in words(app)
    with_tab(app, "map-tabs", "Accuracy against k")
    app.toggle(key="positions-shown").set_value(True).run()
    (table,) = frames(app, "accuracy")
    assert table["k"].tolist()[:5] == [1, 2, 4, 8, 16]
    line = trace(figures(app)[-1], "warmth: accuracy")
    warm = table[table["dimension"] == "warmth"]
    np.testing.assert_allclose(numbers(line["y"]), warm["accuracy"])


@pytest.mark.parametrize(
    ("heads", "sentence"),
    [
        ("k0", "take at least one"),
        ("k25", "take at most 24"),
        ("rect:0,0,9,9", "outside the model's heads"),
        ("nonsense", "chooses no heads"),
    ],
)
def test_heads_that_are_not_there_are_explained(show, cache, reader, heads, sentence) -> None:
    app = show(cache.folder, **asked(reader, heads=heads, axis=IDS[1]))
    assert sentence in words(app)
    assert map_data(app)["choice"] == "all"
    assert address(app)["axis"] == IDS[1]


def test_an_axis_that_was_not_read_leaves_the_others_open(show, cache, reader) -> None:
    last = made_axes(len(IDS) + 1)[-1].axis_id
    app = show(cache.folder, **asked(reader, axes="unread", axis=last))
    assert f"The axis {last} is not in unread or was not read" in words(app)
    assert map_data(app)["axis"]["id"] == IDS[7]  # of those that were read, the largest D


def test_five_thousand_concepts_are_cut_and_counted(show, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    reader = planted(cache)
    name = many_concepts(cache, reader, 5_000)
    app = show(cache.folder, **asked(reader, concepts=name, heads="k3"))
    data = map_data(app)
    assert len(data["concepts"]) == 200
    assert data["n_concepts"] == 5_000
    (table,) = frames(app, "concept")
    assert len(table) == 5_000


def test_what_a_link_asks_for_and_is_not_there_is_named(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, axes="gone", axis="a~b", concepts="nobody"))
    said = words(app)
    assert "The set of axes gone was not read here" in said
    assert "The set of concepts nobody was not read here" in said
    changed = asked(reader, content="7-40-40-0000000000000000")
    assert "The sets have changed since this link was made" in words(show(cache.folder, **changed))
    same = address(show(cache.folder, **asked(reader)))
    assert "have changed" not in words(show(cache.folder, **same))


def test_a_second_set_of_phrases_is_offered(show, cache, reader) -> None:
    app = show(cache.folder, **asked(reader, reference_set=SECOND, heads="k3", axis=IDS[1]))
    assert "n = 40 and 20" in words(app)


def test_an_empty_cache_says_what_to_do(show, tmp_path: Path) -> None:
    app = show(tmp_path)
    assert "No model's heads were read yet" in words(app)
    assert any("core axes" in code.value for code in app.code)


def _other(app: AppTest, reader: HeadReader) -> str:
    """The id of the other reader."""
    options = app.selectbox(key="field-reader_compare").options
    assert len(options) == 2
    ids = readers(open_cache())["reader_id"].tolist()
    return next(i for i in ids if i != reader.reader_id)
