"""Names short enough for an axis, and still telling models apart."""

from __future__ import annotations

import pytest

from core.words import counted, listed_or, short_labels


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        ([], []),
        (["demo, float32, cpu, batched"], ["demo"]),
        (["a/b-1, float32, cpu", "a/b-2, float32, cpu"], ["b-1", "b-2"]),
        (["m, float32, cpu", "m, nf4, cpu"], ["m, float32", "m, nf4"]),
        (["x/m, float32, cpu", "y/m, float32, cpu"], ["x/m, float32, cpu", "y/m, float32, cpu"]),
        (["/models/m/, float32", "n, float32, exact"], ["m", "n"]),
    ],
)
def test_what_all_share_is_left_out(labels, short):
    assert short_labels(labels) == short


def test_a_count_stands_before_its_noun():
    assert counted(1, "item") == "1 item"
    assert counted(0, "item") == "0 items"
    assert counted(1200, "category", "categories") == "1,200 categories"


def test_the_last_of_several_names_stands_behind_or():
    assert listed_or(["source"]) == "source"
    assert listed_or(["source", "category"]) == "source or category"
    assert listed_or(["source", "category", "dimension"]) == "source, category or dimension"
