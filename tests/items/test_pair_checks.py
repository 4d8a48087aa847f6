"""What sentence pairs show when they are held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.files.places import Place
from core.items.alignment import mostly_different, split_words
from core.items.pair_checks import pair_notes
from core.items.pairs import is_mostly_different
from core.items.rows import Row
from core.types import Item, Problem


def pair(item_id: str, condition: str = "en", **values: Any) -> Row:
    direction = values.pop("direction", "stereo")
    item = Item(
        item_id=item_id,
        condition=condition,
        context="",
        stereotype=values.pop("more", f"The tall baker {item_id} {condition}."),
        anti_stereotype=values.pop("less", f"The short baker {item_id} {condition}."),
        category=values.pop("category", "appearance"),
        metadata={"stereo_antistereo": direction},
    )
    return Row(Place(f"{condition}.csv", 2, item_id, condition), item)


def notes(rows: Sequence[Row]) -> dict[tuple[str, str], Problem]:
    found = list(pair_notes(list(rows)))
    by_kind = {(p.kind, p.file): p for p in found}
    assert len(by_kind) == len(found)  # one note per kind and condition
    return by_kind


def test_pairs_that_agree_are_not_remarkable() -> None:
    rows = [pair(str(n), c) for c in ("en", "nl", "fr") for n in range(4)]
    assert notes(rows) == {}
    assert notes([]) == {}


def test_conditions_that_disagree_with_english_are_counted_with_their_first_ids() -> None:
    english = [pair(str(n)) for n in range(12)]
    dutch = [pair(str(n), "nl", direction="antistereo" if n else "stereo") for n in range(12)]
    french = [pair(str(n), "fr", category="age" if n in (3, 5) else "appearance") for n in range(6)]
    found = notes([*dutch, *english, *french])
    assert set(found) == {("other_direction", "nl.csv"), ("other_type", "fr.csv")}
    message = found["other_direction", "nl.csv"].message
    assert "The direction in nl is not that in en for 11 of 12 items" in message
    assert message.endswith(f"{', '.join(repr(str(n)) for n in range(1, 11))} and 1 more.")
    message = found["other_type", "fr.csv"].message
    assert "The type in fr is not that in en for 2 of 6 items" in message
    assert message.endswith("'3', '5'.")


def test_what_one_condition_lacks_is_no_disagreement() -> None:
    rows = [
        pair("1"),
        pair("2", category=""),
        pair("3"),
        pair("1", "nl", category=""),
        pair("2", "nl"),
        pair("3", "nl", direction=""),
        pair("4", "nl", direction="antistereo"),
    ]
    assert notes(rows) == {}


def test_without_english_the_first_condition_is_compared_with() -> None:
    rows = [pair("1", "nl"), pair("1", "fr", category="age")]
    found = notes(rows)
    assert set(found) == {("other_type", "fr.csv")}
    assert "in fr is not that in nl for 1 of 1 item;" in found["other_type", "fr.csv"].message


def test_repeated_pairs_are_counted_and_named() -> None:
    same = {"more": "He sang.", "less": "She sang."}
    rows = [
        pair("1", **same),
        pair("2", **same),
        pair("3"),
        pair("4", **same, direction="antistereo"),
        pair("5", more="A.", less="B."),
        pair("6", more="A.", less="B."),
        pair("7", "nl", **same),
    ]
    found = notes(rows)
    assert set(found) == {("repeated_pairs", "en.csv")}
    message = found["repeated_pairs", "en.csv"].message
    assert "The 6 pairs in en are 3 distinct ones" in message
    assert "of the 2 repeated, 1 have several directions or types" in message
    assert message.endswith("'1' = '2' = '4', '5' = '6'.")


def test_a_direction_may_be_of_any_type() -> None:
    same = {"more": "He sang.", "less": "She sang."}
    rows = [pair("1", **same, direction=["stereo"]), pair("2", **same, direction=1)]
    assert "1 have several" in notes(rows)["repeated_pairs", "en.csv"].message


def test_pairs_the_other_way_round_are_counted_and_named() -> None:
    rows = [
        pair("1", more="He sang.", less="She sang."),
        pair("2", more="She sang.", less="He sang."),
        pair("3", more="Same.", less="Same."),  # collapsed: not the other way round of itself
        pair("4"),
    ]
    found = notes(rows)
    assert set(found) == {("opposite_pairs", "en.csv")}
    assert found["opposite_pairs", "en.csv"].message.endswith("once: '1', '2'.")


def test_items_with_a_context_and_rows_with_an_error_are_left_alone() -> None:
    row = pair("1")
    assert row.item is not None
    question = Item(
        item_id="2", condition="en", context="Who?", stereotype="A", anti_stereotype="B"
    )
    again = Item(item_id="3", condition="en", context="Who?", stereotype="A", anti_stereotype="B")
    rows = [Row(row.place, None), Row(row.place, question), Row(row.place, again)]
    assert notes(rows) == {}


WORDS = st.lists(st.sampled_from(["a", "b", "(a)", "b.", "c", '"c".', "..."]), max_size=12)


@given(WORDS, WORDS, WORDS, WORDS)
def test_the_short_way_says_what_the_alignment_says(
    front: list[str], a: list[str], b: list[str], behind: list[str]
) -> None:
    more, less = " ".join([*front, *a, *behind]), " ".join([*front, *b, *behind])
    expected = mostly_different(split_words(more), split_words(less))
    assert is_mostly_different(more, less) == expected
