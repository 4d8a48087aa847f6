"""What the head map's browser side is told, read back and compared with the view."""

from __future__ import annotations

import base64
import dataclasses
import json

import numpy as np
import pytest

from core.analysis.heads.chosen import HeadChoice, choose
from core.errors import InputError
from core.stats.probes.projection import top_heads
from pages.shared.head_map.data import DRAWN, head_map_data
from tests.head_views import made_view

CHOICE = HeadChoice(box=(1, 0, 3, 2))
ORDER = [1, 2, 4, 5, 7, 8, 0, 3, 6]  # of nine concepts, of which every third has no label


def unpacked(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def told(view, choice=CHOICE, **more):
    """The message, as it arrives."""
    data = head_map_data(view, choose(view, choice, seed=1), choice=choice, model="one", **more)
    return json.loads(json.dumps(data, allow_nan=False))


def test_arrays_come_back_as_they_were():
    view = made_view(5, 4, 9, 7)
    model = told(view)["models"][0]
    columns = [*ORDER, *range(9, 16)]
    np.testing.assert_array_equal(unpacked(model["z"], "<f4").reshape(20, 16), view.z[:, columns])
    r = unpacked(model["separability"], "<f4")
    np.testing.assert_array_equal(r, view.separability.ravel().astype(np.float32))
    usable = np.isfinite(view.z).any(axis=1)
    expected = top_heads(view.separability, None, usable=usable)
    np.testing.assert_array_equal(unpacked(model["order"], "<i4"), expected)
    assert len(expected) == 17
    assert model["n_above"] == np.sum(view.separability > view.chance_level)


def test_numbers_are_those_of_python():
    view = made_view(5, 4, 9, 7)
    found = choose(view, CHOICE, seed=1)
    numbers = told(view)["models"][0]["numbers"]
    columns = [*ORDER, *range(9, 16)]
    np.testing.assert_array_equal(unpacked(numbers["values"], "<f8"), found.values[columns])
    interval = unpacked(numbers["interval"], "<f8").reshape(-1, 2)
    np.testing.assert_array_equal(interval, found.interval[ORDER])
    for name in ("statistic", "pvalue", "accuracy", "majority", "n_labelled", "n_reference"):
        assert numbers[name] == getattr(found, name)


def test_names_poles_and_labels_go_along():
    data = told(made_view(5, 4, 9, 7), provenance={"N": 30}, caption="Own words.")
    assert data["axis"]["poles"] == ["cold", "warm"]
    assert data["choice"] == "rect:1,0,3,2"
    assert [concept["label"] for concept in data["concepts"]] == [1, -1] * 3 + [None] * 3
    assert data["dimension"] == "warmth"
    assert data["provenance"] == {"N": "30"}
    assert data["said"] == "Own words."
    assert data["caption"].startswith("Colour:")
    assert data["usual"] == "all"


def test_a_long_name_is_short_beside_its_mark_and_whole_when_pointed_at():
    data = told(made_view(5, 4, 9, 7, names=("word " * 30,)))
    concept = next(c for c in data["concepts"] if c["text"].startswith("word"))
    assert concept["text"] == "word " * 30
    assert concept["short"].endswith("…")
    assert len(concept["short"]) <= 26


def test_of_many_concepts_the_labelled_ones_are_drawn_first():
    view = made_view(3, 3, 900, 260)
    labels = [None] * 900
    labels[-1] = labels[850] = 1
    view = dataclasses.replace(view, labels=tuple(labels))
    data = told(view)
    assert len(data["concepts"]) == len(data["reference"]) == DRAWN
    assert (data["n_concepts"], data["n_reference"]) == (900, 260)
    texts = [concept.text for concept in view.concepts]
    drawn = [concept["text"] for concept in data["concepts"]]
    assert drawn == [texts[850], texts[899], *texts[:198]]
    z = unpacked(data["models"][0]["z"], "<f4").reshape(9, 2 * DRAWN)
    expected = view.z[:, [850, 899, *range(198), *range(900, 1100)]]
    np.testing.assert_array_equal(z, expected)
    numbers = data["models"][0]["numbers"]
    assert numbers["n_concepts"] == 900  # the numbers are of all of them
    assert len(unpacked(numbers["values"], "<f8")) == 2 * DRAWN


def test_without_reference_phrases_the_test_is_undefined_with_its_reason():
    data = told(made_view(5, 4, 9, 0))
    numbers = data["models"][0]["numbers"]
    assert numbers["statistic"] is None
    assert numbers["reason"]
    assert data["reference"] == []


def test_without_labels_the_accuracy_is_undefined_with_its_reason():
    data = told(made_view(5, 4, 9, 7, dimension=""))
    numbers = data["models"][0]["numbers"]
    assert numbers["accuracy"] is None
    assert numbers["position_reason"]
    assert data["dimension"] == ""


def test_labels_that_are_all_the_same_give_no_accuracy():
    view = made_view(5, 4, 9, 7)
    data = told(dataclasses.replace(view, labels=(1,) * 9))
    numbers = data["models"][0]["numbers"]
    assert (numbers["accuracy"], numbers["majority"]) == (None, None)
    assert "are the same" in numbers["position_reason"]


def test_before_python_knows_there_are_no_numbers():
    data = head_map_data(made_view(5, 4, 9, 7), None, choice=CHOICE, model="one")
    assert data["models"][0]["numbers"] is None
    assert data["models"][0]["reason"] == ""


def test_two_models_have_a_message_each():
    first, second = made_view(5, 4, 9, 7), made_view(3, 2, 9, 7, seed=1)
    data = told(first, compare=(second, None), mode="side by side", compare_model="two")
    assert [model["name"] for model in data["models"]] == ["one", "two"]
    assert [model["layers"] for model in data["models"]] == [5, 3]
    assert (
        data["models"][1]["reason"] == "the rectangle lies outside this model's 3 layers of 2 heads"
    )
    more = told(
        *(first, HeadChoice(k=15)),
        compare=(second, None),
        mode="side by side",
        compare_model="two",
    )
    assert more["models"][1]["reason"] == "15 heads are more than this model's 3 layers of 2 heads"


def test_one_model_is_shown_alone_although_another_is_there():
    first, second = made_view(5, 4, 9, 7), made_view(5, 4, 9, 7, seed=1)
    assert len(told(first, compare=(second, choose(second, CHOICE, seed=1)))["models"]) == 1


def test_models_of_other_phrases_are_refused():
    first, second = made_view(5, 4, 9, 7), made_view(5, 4, 8, 7, seed=1)
    with pytest.raises(InputError, match="same axis and phrases"):
        told(first, compare=(second, None), mode="side by side")


def test_a_difference_of_other_grids_is_refused():
    first, second = made_view(5, 4, 9, 7), made_view(3, 2, 9, 7, seed=1)
    with pytest.raises(InputError, match=r"5 layers of 4 heads and 3 layers of 2 heads"):
        told(first, compare=(second, None), mode="difference")


def test_two_models_need_a_second_one():
    with pytest.raises(ValueError, match="second model"):
        told(made_view(5, 4, 9, 7), mode="difference")
